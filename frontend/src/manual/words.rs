//! What the language itself has: words, signs and constants, which no doc string describes; and words that people look
//! for, with the names that are meant.

/// A part of the language: its names, how it is written, and what it means, as a doc string says it.
pub(super) struct Part {
    /// The words and signs by which it is looked up.
    pub names: &'static [&'static str],
    /// How it is written.
    pub form: &'static str,
    /// What it means, with examples.
    pub doc: &'static str,
}

/// The parts of the language, in the order of `docs/language.md`.
pub(super) const SYNTAX: &[Part] = &[
    part(
        &["%", "comment"],
        "% TEXT %",
        "A comment, also over several lines; it does not nest. Example: 1 + % one more % 1 gives 2.",
    ),
    part(
        &["function"],
        "function NAME(PARAMETERS) : TYPE = BODY;",
        "Defines a function. The type may be left out; it is then the most general one. A text behind the parameters or the type documents it. Parameters with a default come last: function line(x, slope := 1) = slope * x.",
    ),
    part(
        &["datatype"],
        "datatype NAME(TYPE, …);",
        "Defines records with one constructor, which takes them apart, too: datatype point(float, float); p = point(3.0, 4.0); point(x, y) = p.",
    ),
    part(
        &["import"],
        "import \"FILE\" as NAME;",
        "Makes known what a file defines; with `as g` its names stand behind `g.`.",
    ),
    part(
        &["=", "assignment"],
        "PATTERN = EXPRESSION;",
        "Gives names to the parts of a value, at top level or in a let. A name may be assigned again at top level.",
    ),
    part(
        &["if", "then", "else"],
        "if CONDITION then A else B",
        "A where the condition is true, else B; only that one is evaluated. Both have one type, and B takes all that follows, also across commas: among arguments it stands in parentheses. Example: if 2 > 1 then \"yes\" else \"no\" gives \"yes\".",
    ),
    part(
        &["let"],
        "let PATTERN = A; … in B",
        "B, in which names stand for values. Example: let a = 2; (b, c) = (a + 1, a * a) in b * c gives 12.",
    ),
    part(
        &["{", "}", "in", "|", "each", "apply-to-each"],
        "{BODY : NAME in SEQUENCE; … | CONDITION}",
        "The body for each element, all at once; several sources are walked together; what stands behind | picks elements first. Example: {x * x : x in [1, 2, 3]} gives [1, 4, 9]. Example: {x in [3, 1, 2] | x > 1} gives [3, 2]. Example: {x + y : x in [1, 2]; y in [10, 20]} gives [11, 22]. Work that of all bodies, depth that of the deepest.",
    ),
    part(
        &["[", "]", ":", "index", "range"],
        "[A, B, …]   [START:END:STRIDE]   SEQUENCE[INDEX]   [] TYPE",
        "A sequence of values of one type; a range, which does not contain its end; an element, counted from 0; the empty sequence. Example: [0:10:3] gives [0, 3, 6, 9]. Example: [10, 20, 30][1] gives 20. Example: [] int gives [].",
    ),
    part(
        &["(", ")", ",", "tuple", "()", "unit"],
        "(A, B, …)   ()",
        "A tuple, which patterns take apart; () is nothing, the value of what only prints. Example: let (a, b) = (3, 4) in a * b gives 12.",
    ),
    part(
        &["\"", "string", "text"],
        "\"TEXT\"",
        "A sequence of characters; \\n, \\t, \\\" and \\\\ as in C. Example: \"wom\" ++ \"bat\" gives \"wombat\".",
    ),
    part(&["`", "char", "character"], "`c", "A character: a byte. Example: \"cat\"[0] == `c gives t."),
    part(&["#", "length"], "#SEQUENCE", "The number of elements. Example: #[5, 6, 7] gives 3. Work 1, depth 1."),
    part(
        &["@"],
        "@VALUE",
        "A value of any type as text. Example: @[1, 2] ++ \"!\" gives \"[1, 2]!\". Work the size of the text, depth log of it.",
    ),
    part(
        &["=>", "lambda"],
        "PATTERN => BODY",
        "A function without a name, which sees what is around it; in parentheses where it is an argument. Example: (x => x + 1)(3) gives 4. Example: map((x => x * x), [1, 2]) gives [1, 4].",
    ),
    part(&["'"], "'OPERATOR", "The function of an operator. Example: reduce('max, 0, [3, 7, 5]) gives 7."),
    part(
        &[":="],
        "NAME := VALUE",
        "A parameter with a default, or a parameter that a call gives by its name: plot(x, y, title := \"Growth\").",
    ),
    part(
        &["::", "any", "scalar", "number", "ordinal", "logical"],
        "TYPE :: (NAME in CLASS; …)",
        "The classes of type variables: any; scalar; number, which are int and float; ordinal, which are numbers and char; logical, which are int and bool.",
    ),
    part(
        &["time"],
        "time(EXPRESSION)",
        "The value of an expression, and the seconds that it took. Example: first(time(sum([0:1000]))) gives 499500.",
    ),
    part(
        &["int", "float", "bool", "stream", "types"],
        "int   float   bool   char   [TYPE]   (TYPE, …)   TYPE -> TYPE   stream   ()",
        "The types: ints and floats of 64 bits, truth values, characters, sequences, tuples, functions, open files, nothing. Example: char_code(`a) gives 97.",
    ),
];

/// The constants, which the library defines.
pub(super) const CONSTANTS: &[Part] = &[
    part(&["t", "true"], "t : bool", "The truth value true. Example: 1 < 2 gives t."),
    part(&["f", "false"], "f : bool", "The truth value false. Example: 2 < 1 gives f."),
    part(&["pi"], "pi : float", "Half of a circle's circumference by its radius. Example: pi gives 3.141592653589793."),
    part(&["inf"], "inf : float", "Infinity, larger than all other floats. Example: -inf gives -inf."),
    part(&["nan"], "nan : float", "What is no number, equal to nothing. Example: nan == nan gives f."),
    part(&["max_int"], "max_int : int", "The largest int. Example: max_int gives 9223372036854775807."),
    part(&["min_int"], "min_int : int", "The least int. Example: min_int + max_int gives -1."),
    part(&["space"], "space : char", "A space. Example: [`a, space] gives \"a \"."),
    part(&["newline"], "newline : char", "The end of a line. Example: char_code(newline) gives 10."),
    part(&["tab"], "tab : char", "A tabulator. Example: char_code(tab) gives 9."),
    part(&["stdin"], "stdin : stream", "The standard input."),
    part(&["stdout"], "stdout : stream", "The standard output."),
    part(&["stderr"], "stderr : stream", "The standard error."),
    part(&["nullstr"], "nullstr : stream", "No stream: what a file that cannot be opened gives."),
];

const fn part(names: &'static [&'static str], form: &'static str, doc: &'static str) -> Part {
    Part { names, form, doc }
}

/// Words that people look for, and the names that are meant.
pub(super) const SOUGHT: &[(&[&str], &[&str])] = &[
    (&["append", "push", "add"], &["snoc", "++"]),
    (&["argmax", "argmin"], &["max_index", "min_index"]),
    (&["argsort", "order"], &["argsort"]),
    (&["average"], &["mean"]),
    (&["bincount"], &["histogram"]),
    (&["binary", "searchsorted", "bisect"], &["lower_bound", "partition_point"]),
    (&["clip", "clamp"], &["clamp"]),
    (&["concat", "concatenate", "join"], &["++", "flatten", "join_strings"]),
    (&["count", "size", "len"], &["#", "count"]),
    (&["cumulative", "cumsum", "prefix"], &["cumsum", "plus_scan", "scan"]),
    (&["date", "clock", "timing"], &["time"]),
    (&["dictionary", "dict", "map"], &["create_table", "search_table", "map"]),
    (&["linear", "equations"], &["solve", "least_squares", "inverse"]),
    (&["difference", "differences"], &["differences"]),
    (&["exit", "quit", "stop"], &["exit", "error"]),
    (&["frequency", "frequencies", "tally"], &["histogram", "histogram_of"]),
    (&["for", "while", "loop", "iterate"], &["{", "function"]),
    (&["format", "printf", "decimals"], &["fixed_string", "fill", "@"]),
    (&["linspace", "arange"], &["linspace", "["]),
    (&["multiprefix"], &["multi_scan", "scan_by_key"]),
    (&["pop", "last"], &["take", "drop"]),
    (&["parse", "string", "text", "to", "number", "int", "float"], &["parse_int", "parse_float", "text_float"]),
    (&["queue", "stack", "growing"], &["snoc", "take", "drop"]),
    (&["record", "struct", "class"], &["datatype"]),
    (&["reverse", "backwards"], &["reverse"]),
    (&["shuffle", "permutation"], &["shuffle"]),
    (&["sin", "cos", "trigonometry"], &["sin", "cos", "atan2"]),
    (&["slice", "part", "substring"], &["subseq", "take", "drop"]),
    (&["std", "deviation"], &["std"]),
    (&["trim", "strip"], &["trim"]),
    (&["unique", "distinct"], &["unique", "remove_duplicates"]),
    (&["zip", "pairs"], &["zip", "{"]),
];
