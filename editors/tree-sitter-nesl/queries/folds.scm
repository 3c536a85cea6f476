; What can be folded, where it stands on several lines.

[
  (comment)
  (function_definition)
  (datatype_definition)
  (assignment)
  (let_expression)
  (if_expression)
  (apply_to_each)
  (sequence)
] @fold
