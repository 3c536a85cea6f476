; Colours of V programs. Of two patterns that name one part, the later one counts.

(identifier) @variable
(type_identifier) @type
(field_identifier) @variable.member

; Constants.

(number) @number
(boolean) @boolean
(character) @character
(string) @string
(escape_sequence) @string.escape

; Comments.

(comment) @comment @spell
(script_line) @keyword.directive

; Words.

["if" "else"] @keyword.conditional
["while" "for" "do" "break" "continue" "in"] @keyword.repeat
"return" @keyword.return
"pure" @keyword.modifier
["struct" "union"] @keyword.type
["import" "as"] @keyword.import
["int" "long" "double" "float" "char" "bool" "void"] @type.builtin

; Signs.

[
  "=" "+=" "-=" "*=" "/=" "%=" "&=" "|=" "^=" "<<=" ">>=" "++" "--"
  "||" "&&" "|" "^" "&" "==" "!=" "<" ">" "<=" ">=" "<<" ">>" "+" "-" "><" "*" "/" "%"
  "!" "~" "$" "->" "?"
] @operator
(pointer) @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" ":" "."] @punctuation.delimiter
(conditional_expression ":" @operator)

; Functions.

(function_definition name: (identifier) @function)
(call_expression function: (identifier) @function.call)
(qualified_identifier file: (identifier) @module name: (identifier) @function.call)

; Parameters, fields, structs and files.

(parameter name: (identifier) @variable.parameter)
(fields (declaration (declarator name: (identifier) @variable.member)))
(struct_definition name: (type_identifier) @type.definition)
(union_definition name: (type_identifier) @type.definition)
(import_declaration path: (string) @string.special.path)
(import_declaration alias: (identifier) @module)
