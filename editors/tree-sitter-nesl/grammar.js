/**
 * @file NESL, a nested data-parallel language.
 * @license MIT
 *
 * The rules are those of the compiler's parser (frontend/src/syntax/nesl), with two liberties that help while one
 * types: the last form of a text, and one before a definition, may be without its `;`.
 */

// From loose to tight, as in the table of docs/differences.md.
const POWER = {
  // The end of an expression that more could follow: what can follow always belongs to it.
  whole: -1,
  or: 1,
  and: 2,
  compare: 3,
  add: 4,
  multiply: 5,
  // Looser than a power, tighter than a product: `-2 ^ 2` is -4.
  sign: 6,
  power: 7,
  write: 8,
  read: 9,
  prefix: 10,
  postfix: 11,
};

const INFIX = [
  { power: POWER.or, words: ['or', 'nor', 'xor'] },
  { power: POWER.and, words: ['and', 'nand'] },
  { power: POWER.compare, signs: ['==', '/=', '<', '>', '<=', '>='] },
  { power: POWER.add, signs: ['+', '-', '++'] },
  { power: POWER.multiply, signs: ['*', '/', '||'] },
  { power: POWER.power, signs: ['^'], isFromRight: true },
  { power: POWER.write, signs: ['<-'] },
  { power: POWER.read, signs: ['->'], isFromRight: true },
];

/** A word in which case does not matter. */
const letters = (text) => new RegExp([...text].map((letter) => `[${letter}${letter.toUpperCase()}]`).join(''));

/** One of the words of the language. */
const word = (text) => alias(letters(text), text);

// The words that are no names. `import` and `as` are names, too.
const WORDS = ['if', 'then', 'else', 'let', 'in', 'function', 'datatype', 'time', 't', 'f']
  .concat(INFIX.flatMap(({ words = [] }) => words));

const operators = ({ signs = [], words = [] }) => [...signs, ...words.map(word)];

const one = (rules) => (rules.length === 1 ? rules[0] : choice(...rules));

const separated = (separator, rule) => seq(rule, repeat(seq(separator, rule)));

const START = '[\\p{Alphabetic}_?~]';
const REST = '[\\p{Alphabetic}_?~0-9]*';

module.exports = grammar({
  name: 'nesl',

  word: ($) => $.identifier,

  extras: ($) => [/\s/, $.comment],

  // Editors whose tree-sitter is older do not know of this; for them it makes the tables smaller.
  reserved: {
    words: (_) => WORDS.map(letters),
  },

  supertypes: ($) => [$.expression, $.pattern, $.type],

  inline: ($) => [$._definition, $._name, $._inner_pattern],

  conflicts: ($) => [
    // `(a, b)` and `point(a, b)` are patterns if `=`, `=>` or `in` follows.
    [$._argument, $.pattern],
    [$._argument, $.record_pattern],
    [$.unit, $.unit_pattern],
    // `x : int` is a parameter with a default if `:=` follows.
    [$.pattern, $.default_parameter],
  ],

  rules: {
    // A form before a definition may lack its end.
    source_file: ($) =>
      seq(
        optional($.script_line),
        repeat(seq($._form, repeat($._definition), $._end)),
        optional(seq($._form, repeat($._definition))),
      ),

    script_line: (_) => /#![^\n]*/,

    comment: (_) => /%[^%]*%/,

    _end: (_) => choice(';', '$'),

    _form: ($) => choice($._definition, $.import_declaration, $.assignment, $._list),

    _definition: ($) => choice($.function_definition, $.datatype_definition),

    // Forms.

    function_definition: ($) =>
      seq(
        word('function'),
        field('name', choice($.identifier, $.quoted_name)),
        field('parameters', choice($.identifier, $.parameters)),
        optional(field('documentation', $.string)),
        optional(seq(':', field('type', $.signature))),
        optional(field('documentation', $.string)),
        optional(seq('=', field('body', $._list))),
      ),

    parameters: ($) =>
      seq('(', optional(separated(',', choice($.pattern, $.typed_pattern, $.default_parameter))), ')'),

    default_parameter: ($) =>
      seq(
        field('name', $.identifier),
        optional(seq(':', field('type', $.type))),
        ':=',
        field('value', $.expression),
      ),

    datatype_definition: ($) =>
      seq(
        word('datatype'),
        field('name', alias($.identifier, $.type_identifier)),
        field('type', alias($._datatype_signature, $.signature)),
      ),

    _datatype_signature: ($) => seq($._single_type, optional(seq('::', $.context))),

    import_declaration: ($) =>
      prec(
        POWER.postfix,
        seq(
          word('import'),
          field('path', $.string),
          optional(seq(word('as'), field('alias', $.identifier))),
        ),
      ),

    assignment: ($) => seq(field('left', $._patterns), choice('=', '|='), field('right', $._list)),

    // Expressions. With commas they are tuples; conditionals and `let` take all commas that follow.

    _list: ($) => choice(prec(POWER.whole, $.expression), $.tuple),

    tuple: ($) => prec.right(seq($.expression, repeat1(seq(',', $.expression)))),

    expression: ($) => choice($.lambda_expression, $.named_argument, $._operation),

    lambda_expression: ($) => seq(field('parameter', $.pattern), '=>', field('body', $.expression)),

    named_argument: ($) => seq(field('name', $._name), ':=', field('value', $.expression)),

    _operation: ($) =>
      choice(
        $.unary_expression,
        $.binary_expression,
        $.call_expression,
        $.index_expression,
        $.sequence,
        $.empty_sequence,
        $.range,
        $._argument,
      ),

    unary_expression: ($) =>
      choice(
        prec(POWER.sign, seq(field('operator', '-'), field('operand', $._operation))),
        prec(POWER.prefix, seq(field('operator', choice('#', '@')), field('operand', $._operation))),
      ),

    binary_expression: ($) =>
      choice(
        ...INFIX.map((level) =>
          (level.isFromRight ? prec.right : prec.left)(
            level.power,
            seq(
              field('left', $._operation),
              field('operator', one(operators(level))),
              field('right', $._operation),
            ),
          ),
        ),
      ),

    call_expression: ($) => prec(POWER.postfix, seq(field('function', $._operation), field('argument', $._argument))),

    index_expression: ($) =>
      prec(POWER.postfix, seq(field('sequence', $._operation), '[', field('index', $._list), ']')),

    // What may stand behind a function: all operands but those in square brackets, which would be an index.
    _argument: ($) =>
      choice(
        $.integer,
        $.float,
        $.boolean,
        $.character,
        $.string,
        $._name,
        $.qualified_identifier,
        $.quoted_name,
        $.if_expression,
        $.let_expression,
        $.time_expression,
        $.unit,
        $.parenthesized_expression,
        $.apply_to_each,
      ),

    if_expression: ($) =>
      prec(POWER.whole, seq(
        word('if'),
        field('condition', $._list),
        word('then'),
        field('consequence', $._list),
        word('else'),
        field('alternative', $._list),
      )),

    let_expression: ($) =>
      prec(POWER.whole, seq(
        word('let'),
        separated(';', $.binding),
        optional(';'),
        word('in'),
        field('body', $._list),
      )),

    binding: ($) => seq(field('pattern', $._patterns), '=', field('value', $._list)),

    time_expression: ($) => seq(word('time'), choice($.unit, $.parenthesized_expression)),

    unit: (_) => seq('(', ')'),

    parenthesized_expression: ($) => seq('(', $._list, ')'),

    apply_to_each: ($) =>
      seq(
        '{',
        optional('*'),
        choice(
          seq(field('body', $._list), ':', $._sources),
          $._sources,
        ),
        optional($.filter),
        '}',
      ),

    _sources: ($) => separated(';', $.source),

    source: ($) => seq(field('pattern', $._patterns), optional(seq(word('in'), field('sequence', $._list)))),

    filter: ($) => seq('|', field('condition', $._list)),

    sequence: ($) => seq('[', separated(',', $.expression), ']'),

    empty_sequence: ($) => prec.right(POWER.postfix, seq('[', ']', optional(field('type', $._single_type)))),

    range: ($) =>
      seq(
        '[',
        field('start', $.expression),
        ':',
        field('end', $._list),
        optional(seq(':', field('stride', $._list))),
        ']',
      ),

    quoted_name: ($) =>
      seq("'", choice($.identifier, $.qualified_identifier, ...INFIX.flatMap(operators), '#', '@')),

    // Patterns.

    _patterns: ($) => choice($.pattern, $.tuple_pattern),

    pattern: ($) => choice($._name, $.record_pattern, $.unit_pattern, $.parenthesized_pattern),

    tuple_pattern: ($) => seq($.pattern, repeat1(seq(',', $.pattern))),

    record_pattern: ($) =>
      seq(
        field('constructor', choice($._name, $.qualified_identifier)),
        field('parts', choice($.unit_pattern, $.parenthesized_pattern)),
      ),

    unit_pattern: (_) => seq('(', ')'),

    parenthesized_pattern: ($) =>
      seq('(', choice($._inner_pattern, alias($._inner_tuple_pattern, $.tuple_pattern)), ')'),

    // In parentheses a pattern may have a type.
    _inner_pattern: ($) => choice($.pattern, $.typed_pattern),

    _inner_tuple_pattern: ($) => seq($._inner_pattern, repeat1(seq(',', $._inner_pattern))),

    typed_pattern: ($) => seq(field('pattern', $.pattern), ':', field('type', $.type)),

    // Types.

    signature: ($) => seq($.type, optional(seq('::', $.context))),

    context: ($) => choice($.constraint, seq('(', separated(';', $.constraint), ')')),

    constraint: ($) =>
      seq(
        field('variable', alias($.identifier, $.type_identifier)),
        word('in'),
        field('class', alias($.identifier, $.type_identifier)),
      ),

    type: ($) => choice($.function_type, $._single_type),

    function_type: ($) => prec.right(seq(field('parameter', $._single_type), '->', field('result', $.type))),

    _single_type: ($) => choice($._type_name, $.generic_type, $.sequence_type, $.tuple_type),

    _type_name: ($) =>
      choice(
        alias($.identifier, $.type_identifier),
        alias($.qualified_identifier, $.type_identifier),
        alias(letters('import'), $.type_identifier),
      ),

    generic_type: ($) =>
      prec(1, seq(field('name', $._type_name), '(', separated(',', $.type), ')')),

    sequence_type: ($) => seq('[', $.type, ']'),

    tuple_type: ($) => seq('(', optional(separated(',', $.type)), ')'),

    // Words.

    boolean: (_) => choice(word('t'), word('f')),

    identifier: (_) => new RegExp(START + REST, 'u'),

    // At the beginning of a form `import` is a name where no text follows it.
    _name: ($) => choice($.identifier, alias(letters('import'), $.identifier)),

    // A name of an imported file.
    qualified_identifier: (_) => new RegExp(`${START}${REST}\\.${START}${REST}`, 'u'),

    integer: (_) => /[0-9]+/,

    float: (_) => /[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+([eE][+-]?[0-9]+)?/,

    character: (_) => /`(\\([nt\\]|x[0-9a-fA-F]{2})|[\x00-\x7f])/,

    string: ($) =>
      seq('"', repeat(choice(token.immediate(prec(1, /[^"\\]+/)), $.escape_sequence)), token.immediate('"')),

    escape_sequence: (_) => token.immediate(prec(1, /\\(x[0-9a-fA-F]{2}|[^x]|x)/)),
  },
});
