; What can be folded, where it stands on several lines.

[
  (comment)
  (function_definition)
  (fields)
  (block)
  (initializer)
  (vector)
  (apply_to_each)
] @fold
