; Colours of NESL programs. Of two patterns that name one part, the later one counts.

(identifier) @variable
(qualified_identifier) @variable
(type_identifier) @type

; Constants.

(integer) @number
(float) @number.float
(boolean) @boolean
(character) @character
(string) @string
(escape_sequence) @string.escape
(function_definition documentation: (string) @string.documentation)

; Comments.

(comment) @comment @spell
(script_line) @keyword.directive

; Words.

["let" "in" "time"] @keyword
["if" "then" "else"] @keyword.conditional
"function" @keyword.function
"datatype" @keyword.type
["import" "as"] @keyword.import
["and" "nand" "or" "nor" "xor"] @keyword.operator

; Signs.

["->" "<-" "^" "*" "/" "||" "+" "-" "++" "==" "/=" "<" ">" "<=" ">=" "#" "@" "=" "|=" "=>" ":="] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" "$" ":" "::" "|" "'"] @punctuation.delimiter

; Functions.

(function_definition name: (identifier) @function)
(assignment left: (identifier) @function right: (lambda_expression))
(binding pattern: (identifier) @function value: (lambda_expression))
(call_expression function: [(identifier) (qualified_identifier)] @function.call)
(quoted_name [(identifier) (qualified_identifier)] @function)

; Parameters.

(parameters (identifier) @variable.parameter)
(parameters (parenthesized_pattern (identifier) @variable.parameter))
(parameters (parenthesized_pattern (tuple_pattern (identifier) @variable.parameter)))
(parameters (typed_pattern pattern: (identifier) @variable.parameter))
(parameters (parenthesized_pattern (typed_pattern pattern: (identifier) @variable.parameter)))
(parameters (parenthesized_pattern (tuple_pattern (typed_pattern pattern: (identifier) @variable.parameter))))
(function_definition parameters: (identifier) @variable.parameter)
(default_parameter name: (identifier) @variable.parameter)
(named_argument name: (identifier) @variable.parameter)
(lambda_expression parameter: (identifier) @variable.parameter)
(lambda_expression parameter: (parenthesized_pattern (identifier) @variable.parameter))
(lambda_expression parameter: (parenthesized_pattern (tuple_pattern (identifier) @variable.parameter)))
(lambda_expression parameter: (parenthesized_pattern (typed_pattern pattern: (identifier) @variable.parameter)))
(lambda_expression
  parameter: (parenthesized_pattern (tuple_pattern (typed_pattern pattern: (identifier) @variable.parameter))))

; Datatypes, types and files.

(datatype_definition name: (type_identifier) @type.definition)
(record_pattern constructor: [(identifier) (qualified_identifier)] @constructor)
((type_identifier) @type.builtin
  (#any-of? @type.builtin "int" "float" "bool" "char" "stream"))
(constraint class: (type_identifier) @type.builtin)
(import_declaration path: (string) @string.special.path)
(import_declaration alias: (identifier) @module)
