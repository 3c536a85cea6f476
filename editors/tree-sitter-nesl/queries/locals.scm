; Where names are bound, and how far they are seen.

[
  (function_definition)
  (let_expression)
  (lambda_expression)
  (apply_to_each)
] @local.scope

(function_definition name: (identifier) @local.definition)
(datatype_definition name: (type_identifier) @local.definition)
(import_declaration alias: (identifier) @local.definition)

(parameters (identifier) @local.definition)
(function_definition parameters: (identifier) @local.definition)
(default_parameter name: (identifier) @local.definition)
(lambda_expression parameter: (identifier) @local.definition)

(assignment left: (identifier) @local.definition)
(binding pattern: (identifier) @local.definition)
(source pattern: (identifier) @local.definition)
(parenthesized_pattern (identifier) @local.definition)
(tuple_pattern (identifier) @local.definition)
(typed_pattern pattern: (identifier) @local.definition)

(identifier) @local.reference
(type_identifier) @local.reference
