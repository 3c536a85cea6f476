" Colours of NESL programs.
if exists('b:current_syntax')
  finish
endif
syntax case ignore
" Names have these letters, and those of other files a point.
syntax iskeyword @,48-57,_,192-255,?,~,.

syntax keyword neslKeyword if then else let in function datatype time
syntax keyword neslWordOperator and nand or nor xor
syntax keyword neslReserved closure defconfig pair
syntax match neslImport +\<import\>\ze\s*"+
syntax match neslImport +\%(" \)\@<=as\>+
syntax keyword neslBoolean t f
syntax keyword neslType int float bool char

syntax match neslOperator "->\|<-\|++\|||\|==\|/=\|<=\|>=\|=>\|:=\||=\|\^\|\*\|/\|+\|-\|<\|>\|#\|@\|="
syntax match neslNumber "\<\d\+\(\.\d*\)\?\(e[+-]\?\d\+\)\?"
syntax match neslNumber "\.\d\+\(e[+-]\?\d\+\)\?"
syntax match neslCharacter "`\(\\\(x\x\x\|[nt\\]\)\|\_.\)"
syntax match neslEscape "\\\(x\x\x\|.\)" contained
syntax region neslString start=+"+ skip=+\\.+ end=+"+ contains=neslEscape
syntax region neslComment start="%" end="%" contains=neslTodo,@Spell
syntax keyword neslTodo contained TODO FIXME
syntax match neslScript "\%1l^#!.*"

highlight default link neslKeyword Keyword
highlight default link neslImport Include
highlight default link neslWordOperator Operator
highlight default link neslReserved Error
highlight default link neslBoolean Boolean
highlight default link neslType Type
highlight default link neslOperator Operator
highlight default link neslNumber Number
highlight default link neslCharacter Character
highlight default link neslEscape SpecialChar
highlight default link neslString String
highlight default link neslComment Comment
highlight default link neslTodo Todo
highlight default link neslScript PreProc

syntax sync fromstart
let b:current_syntax = 'nesl'
