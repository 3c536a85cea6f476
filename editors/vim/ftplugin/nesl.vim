" What editing a NESL program needs.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal commentstring=%\ %s\ %
setlocal comments=
setlocal expandtab shiftwidth=2 softtabstop=2 textwidth=120
setlocal iskeyword=@,48-57,_,?,~
let b:undo_ftplugin = 'setlocal commentstring< comments< expandtab< shiftwidth< softtabstop< textwidth< iskeyword<'
