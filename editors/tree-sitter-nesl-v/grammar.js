/**
 * @file V, nested data parallelism in the syntax of C.
 * @license MIT
 *
 * The rules are those of the compiler's parser (frontend/src/syntax/v). What it reads only to say what is wrong with it
 * is read here, too: unions, pointers that are no parameters, arrays without a length.
 */

// From loose to tight.
const INFIX = [
  ['||'],
  ['&&'],
  ['|'],
  ['^'],
  ['&'],
  ['==', '!='],
  ['<', '>', '<=', '>='],
  ['<<', '>>'],
  ['+', '-', '><'],
  ['*', '/', '%'],
];

const POWER = { conditional: -1, prefix: INFIX.length, postfix: INFIX.length + 1 };

// The words that are no names. Those of C that V does without are no names either, but they are nowhere in a program.
const WORDS = [
  ...['int', 'long', 'double', 'float', 'char', 'bool', 'void', 'struct', 'union', 'pure', 'if', 'else', 'while'],
  ...['for', 'do', 'break', 'continue', 'return', 'in', 'true', 'false'],
];

const one = (rules) => (rules.length === 1 ? rules[0] : choice(...rules));

const separated = (separator, rule) => seq(rule, repeat(seq(separator, rule)));

module.exports = grammar({
  name: 'nesl_v',

  word: ($) => $.identifier,

  extras: ($) => [/\s/, $.comment],

  reserved: {
    words: (_) => WORDS,
  },

  supertypes: ($) => [$.expression, $.statement, $.type],

  inline: ($) => [$._name],

  conflicts: ($) => [
    // `g.f` is a function if `(` follows, and a field otherwise.
    [$.expression, $.qualified_identifier],
  ],

  rules: {
    source_file: ($) => seq(optional($.script_line), repeat($._item)),

    script_line: (_) => /#![^\n]*/,

    comment: (_) => choice(/\/\/[^\n]*/, /\/\*[^*]*\*+([^*\/][^*]*\*+)*\//),

    _item: ($) =>
      choice(
        $.import_declaration,
        $.struct_definition,
        $.union_definition,
        $.function_definition,
        $.declaration,
        $.expression_statement,
        $.empty_statement,
      ),

    // Items.

    import_declaration: ($) =>
      prec(
        POWER.postfix,
        seq('import', field('path', $.string), optional(seq('as', field('alias', $.identifier))), ';'),
      ),

    struct_definition: ($) =>
      seq('struct', field('name', alias($.identifier, $.type_identifier)), field('body', $.fields), ';'),

    union_definition: ($) =>
      seq('union', field('name', alias($.identifier, $.type_identifier)), field('body', $.fields), ';'),

    fields: ($) => seq('{', repeat($.declaration), '}'),

    function_definition: ($) =>
      seq(
        optional('pure'),
        field('type', $.type),
        $._starred,
        field('parameters', $.parameters),
        repeat($.dimension),
        choice(field('body', $.block), ';'),
      ),

    parameters: ($) => seq('(', optional(choice('void', separated(',', $.parameter))), ')'),

    parameter: ($) => seq(field('type', $.type), $._declarator),

    // Declarations.

    declaration: ($) => seq(field('type', $.type), separated(',', $.declarator), ';'),

    declarator: ($) => $._declarator,

    _declarator: ($) => seq($._starred, repeat($.dimension), optional($._initial)),

    // The stars before a name, and the name.
    _starred: ($) =>
      choice(
        seq(repeat($.pointer), field('name', $.identifier)),
        seq('(', repeat($.pointer), field('name', $.identifier), ')'),
      ),

    pointer: (_) => '*',

    dimension: ($) => seq('[', optional(choice('*', $.number)), ']'),

    _initial: ($) => seq('=', field('value', choice($.expression, $.initializer))),

    initializer: ($) =>
      seq(
        '{',
        optional(seq(separated(',', choice($.expression, $.initializer)), optional(','))),
        '}',
      ),

    // Types.

    type: ($) => choice($.primitive_type, $.struct_type, $.union_type),

    primitive_type: (_) =>
      choice('int', 'double', 'float', 'char', 'bool', 'void', prec.right(seq(repeat1('long'), optional('int')))),

    struct_type: ($) => seq('struct', field('name', alias($.identifier, $.type_identifier))),

    union_type: ($) => seq('union', field('name', alias($.identifier, $.type_identifier))),

    // Statements.

    statement: ($) =>
      choice(
        $.empty_statement,
        $.block,
        $.declaration,
        $.if_statement,
        $.while_statement,
        $.do_statement,
        $.for_statement,
        $.break_statement,
        $.continue_statement,
        $.return_statement,
        $.assignment_statement,
        $.expression_statement,
      ),

    empty_statement: (_) => ';',

    block: ($) => seq('{', repeat($.statement), '}'),

    _condition: ($) => seq('(', field('condition', $.expression), ')'),

    if_statement: ($) =>
      prec.right(
        seq(
          'if',
          $._condition,
          field('consequence', $.statement),
          optional(seq('else', field('alternative', $.statement))),
        ),
      ),

    while_statement: ($) => seq('while', $._condition, field('body', $.statement)),

    do_statement: ($) => seq('do', field('body', $.statement), 'while', $._condition, ';'),

    for_statement: ($) =>
      seq(
        'for',
        '(',
        choice(field('initial', $.declaration), seq(optional(separated(',', field('initial', $._simple))), ';')),
        optional(field('condition', $.expression)),
        ';',
        optional(separated(',', field('step', $._simple))),
        ')',
        field('body', $.statement),
      ),

    break_statement: (_) => seq('break', ';'),

    continue_statement: (_) => seq('continue', ';'),

    return_statement: ($) => seq('return', optional($.expression), ';'),

    assignment_statement: ($) => seq($.assignment, ';'),

    expression_statement: ($) => seq($.expression, ';'),

    _simple: ($) => choice($.assignment, $.expression),

    assignment: ($) =>
      choice(
        seq(
          field('target', $.expression),
          field('operator', choice('=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>=')),
          field('value', $.expression),
        ),
        seq(field('target', $.expression), field('operator', choice('++', '--'))),
        seq(field('operator', choice('++', '--')), field('target', $.expression)),
      ),

    // Expressions.

    expression: ($) =>
      choice(
        $.conditional_expression,
        $.binary_expression,
        $.unary_expression,
        $.cast_expression,
        $.index_expression,
        $.field_expression,
        $.call_expression,
        $.parenthesized_expression,
        $.struct_value,
        $.vector,
        $.apply_to_each,
        $.number,
        $.boolean,
        $.character,
        $.string,
        $._name,
      ),

    conditional_expression: ($) =>
      prec.right(
        POWER.conditional,
        seq(
          field('condition', $.expression),
          '?',
          field('consequence', $.expression),
          ':',
          field('alternative', $.expression),
        ),
      ),

    binary_expression: ($) =>
      choice(
        ...INFIX.map((signs, power) =>
          prec.left(
            power,
            seq(field('left', $.expression), field('operator', one(signs)), field('right', $.expression)),
          ),
        ),
      ),

    unary_expression: ($) =>
      prec(
        POWER.prefix,
        seq(field('operator', choice('-', '+', '!', '~', '$', '&', '*')), field('operand', $.expression)),
      ),

    cast_expression: ($) => prec(POWER.prefix, seq('(', field('type', $.type), ')', field('value', $.expression))),

    index_expression: ($) =>
      prec(POWER.postfix, seq(field('vector', $.expression), '[', field('index', $.expression), ']')),

    field_expression: ($) =>
      prec(
        POWER.postfix,
        seq(
          field('record', $.expression),
          field('operator', choice('.', '->')),
          field('field', alias($.identifier, $.field_identifier)),
        ),
      ),

    // `g.f(x)` is a function of a file that is imported as `g`.
    call_expression: ($) =>
      prec(
        POWER.postfix,
        seq(field('function', choice($._name, $.qualified_identifier)), field('arguments', $.arguments)),
      ),

    qualified_identifier: ($) => seq(field('file', $._name), '.', field('name', $.identifier)),

    arguments: ($) => seq('(', optional(separated(',', $.expression)), ')'),

    parenthesized_expression: ($) => seq('(', $.expression, ')'),

    struct_value: ($) => seq('(', field('type', $.type), ')', field('values', $.initializer)),

    vector: ($) => seq('[', optional(separated(',', $.expression)), ']'),

    apply_to_each: ($) =>
      seq('[', field('body', $.expression), ':', separated(';', $.source), optional(seq(':', $.filter)), ']'),

    source: ($) => seq(field('name', $.identifier), 'in', field('vector', $.expression)),

    filter: ($) => field('condition', $.expression),

    // Words.

    number: (_) =>
      choice(
        /[0-9]+[lL]*/,
        /0[xX][0-9a-fA-F]+[lL]*/,
        /([0-9]+\.[0-9]*([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+([eE][+-]?[0-9]+)?|[0-9]+)[fF]*/,
      ),

    boolean: (_) => choice('true', 'false'),

    character: ($) => seq("'", choice($.escape_sequence, token.immediate(/[^'\\\n]/)), token.immediate("'")),

    string: ($) =>
      seq('"', repeat(choice(token.immediate(prec(1, /[^"\\\n]+/)), $.escape_sequence)), token.immediate('"')),

    escape_sequence: (_) => token.immediate(prec(1, /\\(x[0-9a-fA-F]{2}|[^x]|x)/)),

    identifier: (_) => /[\p{Alphabetic}_][\p{Alphabetic}_0-9]*/u,

    // At the beginning of an item `import` is a name where no text follows it.
    _name: ($) => choice($.identifier, alias('import', $.identifier)),
  },
});
