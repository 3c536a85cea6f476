autocmd BufRead,BufNewFile *.nesl setfiletype nesl
