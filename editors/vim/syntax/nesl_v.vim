" Colours of V programs.
if exists('b:current_syntax')
  finish
endif
syntax case match
syntax iskeyword @,48-57,_,192-255

syntax keyword neslVKeyword if else while for do break continue return in
syntax keyword neslVModifier pure struct
syntax keyword neslVBoolean true false
syntax keyword neslVType int long double float char bool void
syntax keyword neslVReserved union goto switch case default typedef enum sizeof static const unsigned signed short extern volatile register auto inline
syntax match neslVImport +\<import\>\ze\s*"+
syntax match neslVImport +\%(" \)\@<=as\>+

syntax match neslVOperator "<<=\|>>=\|><\|->\|++\|--\|<<\|>>\|<=\|>=\|==\|!=\|&&\|||\|+=\|-=\|\*=\|/=\|%=\|&=\||=\|\^=\|[-=<>+*/%&|^~!$?]"
syntax match neslVNumber "\<\d\+\(\.\d*\)\?\([eE][+-]\?\d\+\)\?[lLfF]*"
syntax match neslVNumber "\.\d\+\([eE][+-]\?\d\+\)\?[fF]\?"
syntax match neslVNumber "\<0[xX]\x\+[lL]*\>"
syntax match neslVCharacter "'\(\\\(x\x\x\|.\)\|[^'\\]\)'"
syntax match neslVEscape "\\\(x\x\x\|.\)" contained
syntax region neslVString start=+"+ skip=+\\.+ end=+"+ contains=neslVEscape
syntax region neslVComment start="/\*" end="\*/" contains=neslVTodo,@Spell
syntax match neslVComment "//.*" contains=neslVTodo,@Spell
syntax keyword neslVTodo contained TODO FIXME
syntax match neslVScript "\%1l^#!.*"

highlight default link neslVKeyword Keyword
highlight default link neslVModifier StorageClass
highlight default link neslVBoolean Boolean
highlight default link neslVType Type
highlight default link neslVReserved Error
highlight default link neslVImport Include
highlight default link neslVOperator Operator
highlight default link neslVNumber Number
highlight default link neslVCharacter Character
highlight default link neslVEscape SpecialChar
highlight default link neslVString String
highlight default link neslVComment Comment
highlight default link neslVTodo Todo
highlight default link neslVScript PreProc

syntax sync fromstart
let b:current_syntax = 'nesl_v'
