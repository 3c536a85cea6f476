autocmd BufRead,BufNewFile *.nesl setfiletype nesl
" Other languages call their files so, too: what has been recognised stays.
autocmd BufRead,BufNewFile *.v setfiletype nesl_v
