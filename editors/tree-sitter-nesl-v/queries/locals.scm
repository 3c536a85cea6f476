; Where names are bound, and how far they are seen.

[
  (function_definition)
  (block)
  (for_statement)
  (apply_to_each)
] @local.scope

(function_definition name: (identifier) @local.definition)
(struct_definition name: (type_identifier) @local.definition)
(union_definition name: (type_identifier) @local.definition)
(import_declaration alias: (identifier) @local.definition)
(parameter name: (identifier) @local.definition)
(declaration (declarator name: (identifier) @local.definition))
(fields (declaration (declarator name: (identifier) @local.definition)))
(source name: (identifier) @local.definition)

(identifier) @local.reference
(type_identifier) @local.reference
