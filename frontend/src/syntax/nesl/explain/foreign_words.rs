//! Words of other languages, and what they are here: the hints for names that nobody has defined.
//!
//! Sorted by what somebody wants to do. The words are those of Python and NumPy, C, Haskell, ML, Julia and R, in
//! lower case; what the library has under the same name is not here, but for `var`, which is no call where it declares.

/// What a word of another language is here. Such a word is only looked up where the program does not define it.
pub(super) fn foreign_word(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    form(&word).or_else(|| number(&word)).or_else(|| sequence(&word)).or_else(|| of_text(&word))
}

/// Keywords.
fn form(word: &str) -> Option<&'static str> {
    Some(match word {
        "true" => "true is written `t`",
        "false" => "false is written `f`",
        "for" | "foreach" | "while" | "repeat" | "loop" => {
            "something is done for each element by `{body : name in sequence}`, and again and again by a function that calls itself"
        }
        "where" | "when" => "a filter comes after `|`: `{body : name in sequence | filter}`",
        "return" => "the value of a function is its body: there is nothing to return from",
        "def" | "fun" | "fn" | "func" | "define" | "lambda" => {
            "a function is `function name(parameter) = body`, or without a name `parameter => body`"
        }
        "import" | "include" | "require" | "open" | "use" | "using" | "load" => {
            "a file is read by `import \"name.nesl\";`; the library is there without"
        }
        "var" | "val" | "const" => "a value is `name = value`, or inside of an expression `let name = value in …`",
        "null" | "nil" | "none" => "there is no empty value: a sequence may be empty, `[]`",
        "struct" | "class" | "record" | "data" | "enum" | "type" => "a type of your own is `datatype name (type, …)`",
        "elif" | "elseif" | "elsif" => "write `else if`",
        "switch" | "case" | "match" => "a choice is written `if c then a else b`",
        "assert" => "`error(s)` ends a program with a message",
        _ => return None,
    })
}

/// Numbers.
fn number(word: &str) -> Option<&'static str> {
    Some(match word {
        "int" | "integer" | "to_int" | "toint" | "int_of_float" => {
            "trunc, round, floor or ceil make an int of a float, char_code one of a character"
        }
        "double" | "real" | "to_float" | "tofloat" | "float_of_int" => "float(n) makes a float of an int",
        "modulo" => "the remainder of ints is `rem(a, b)`, or `mod(a, b)` with the sign of b",
        "div" | "floor_div" | "floordiv" => "`/` of ints gives an int",
        "pow" | "power" => "powers are written `a ^ n`, and `expt(a, b)` for floats",
        "sqr" | "square" => "the square of x is `x * x`, or `x ^ 2`",
        "fabs" | "absolute" => "it is `abs(x)`",
        "arctan2" => "it is `atan2(y, x)`",
        "arcsin" | "arccos" | "arctan" => "they are `asin(x)`, `acos(x)` and `atan(x)`",
        "lcm" => "it is `a / gcd(a, b) * b`",
        "is_even" | "even" | "iseven" => "it is `evenp(n)`",
        "is_odd" | "odd" | "isodd" => "it is `oddp(n)`",
        "random" | "randint" | "uniform" => "`rand(n)` is a random number below n, and `rand(1.0)` one below 1",
        "iff" | "ifelse" | "cond" | "ternary" => "a choice is written `if c then a else b`",
        _ => return None,
    })
}

/// Sequences.
fn sequence(word: &str) -> Option<&'static str> {
    Some(match word {
        "len" | "size" | "len_of" | "numel" | "length_of" => "the length of a sequence is `#v` or `length(v)`",
        "range" | "arange" | "seq" | "iota" | "indices" => {
            "the numbers from a to below b are `[a:b]`, by steps `[a:b:d]`"
        }
        "concat" | "concatenate" | "extend" | "hstack" | "vstack" => {
            "sequences are joined by `v ++ w`, and a sequence of sequences by `flatten(v)`"
        }
        "push" | "push_back" | "add_last" => "an element is appended by `v ++ [x]`",
        "foldl" | "foldr" | "fold" | "accumulate" => "sum, max_val, min_val, any and all reduce sequences",
        "scanl" | "prefix_sum" | "prefix_sums" | "exclusive_scan" => {
            "`plus_scan(v)` has the sums before each element, and `cumsum(v)` those up to it"
        }
        "head" | "car" | "front" => "the first element is `v[0]`",
        "last" | "back" => "the last element is `v[#v - 1]`",
        "tail" | "cdr" => "all elements but the first are `drop(v, 1)`",
        "init" | "butlast" => "all elements but the last are `take(v, #v - 1)`",
        "slice" | "sublist" | "subarray" => {
            "a part of a sequence is `subseq(v, start, end)`, `take(v, n)` or `drop(v, n)`"
        }
        "contains" | "elem" | "member" | "includes" | "is_in" | "isin" => {
            "whether x is an element of v is `any({x == y : y in v})`, and w a part of a text s `find_text(s, w) >= 0`"
        }
        "indexof" | "index_of" | "argwhere" | "position" => {
            "where x is in v: `find(x, v)`, or `{i in index(#v) | v[i] == x}`"
        }
        "enum_list" | "with_index" => "elements with their places are `{… : x in v; i in index(#v)}`",
        "filter" | "select_where" => "a filter comes after `|`: `{x in v | filter}`",
        "zipwith" | "map2" => "two sequences go side by side: `{x + y : x in v; y in w}`",
        "average" | "avg" => "it is `mean(v)`",
        "variance" => "it is `var(v)`",
        "stddev" | "stdev" | "sd" => "it is `std(v)`",
        "maximum" | "amax" | "max_of" | "max_element" => "it is `max_val(v)`",
        "minimum" | "amin" | "min_of" | "min_element" => "it is `min_val(v)`",
        "argmax" => "it is `max_index(v)`",
        "argmin" => "it is `min_index(v)`",
        "prod" => "it is `product(v)`",
        "sorted" | "order" => "it is `sort(v)`",
        "reversed" | "rev" | "flip" => "it is `reverse(v)`",
        "distinct" | "nub" | "dedup" => "it is `unique(v)` in ascending order, or `remove_duplicates(v)`",
        "counter" | "value_counts" | "bincount" | "tally" => "how often each value is there: `histogram(v)`",
        "groupby" | "group" => "`collect(pairs)` has for each key all its values",
        "zeros" | "ones" | "full" | "fill_with" | "replicate" => "n times the same value is `dist(x, n)`",
        "countif" | "count_if" | "count_nonzero" | "sum_if" => "it is `count({condition : x in v})`",
        "intersect" => "it is `intersection(v, w)`",
        "setdiff" | "difference" | "minus" => "it is `set_difference(v, w)`",
        "bisect" | "searchsorted" | "binary_search" => {
            "in a sorted sequence: `lower_bound(v, x)` and `upper_bound(v, x)`"
        }
        "cumulative_sum" | "accumulate_sum" | "running_sum" => "it is `cumsum(v)`",
        "matmult" | "mm" | "multiply_matrices" => "it is `matmul(a, b)`",
        "identity_matrix" | "ident" => "it is `eye(n)`",
        "chunks" | "batch" | "batches" => "parts of n elements each are `{subseq(v, i, i + n) : i in [0:#v:n]}`",
        _ => return None,
    })
}

/// Texts, and what goes in and out.
fn of_text(word: &str) -> Option<&'static str> {
    Some(match word {
        "println" | "printf" | "puts" | "echo" | "display" | "write_stdout" => {
            "print_line(s) prints a string, print(v) any value"
        }
        "print_lines" | "writelines" | "put_lines" => "lines are printed by `{print_line(s) : s in lines}`",
        "str" | "tostring" | "to_string" | "show" | "text" | "repr" | "int_to_string" | "itoa" | "format"
        | "to_text" => "`@x` is the text of a value",
        "atoi" | "stoi" | "parse" | "string_to_int" | "to_number" => {
            "`parse_int(s)` gives the int that a text is, and whether it is one; `parse_float(s)` a float"
        }
        "toupper" | "upper" | "to_upper" | "ucase" => {
            "`uppercase(c)` is for a character, `uppercase_string(s)` for a text"
        }
        "tolower" | "lower" | "to_lower" | "lcase" => {
            "`lowercase(c)` is for a character, `lowercase_string(s)` for a text"
        }
        "ord" | "asc" | "char_to_int" => "it is `char_code(c)`",
        "chr" | "int_to_char" => "it is `code_char(n)`",
        "strip" => "it is `trim(s)`",
        "strcmp" | "compare" => "strings are compared by `string_compare(a, b)`, and told apart by `a == b`",
        "strlen" => "the length of a sequence is `#v` or `length(v)`",
        "words" => "the words of a text are `wordify(s)`",
        "lines" => "the lines of a text are `linify(s)`",
        "split_on" | "tokenize" | "splitlines" => {
            "`split_string(s, t)` has the parts between texts t, `wordify(s)` the words, `linify(s)` the lines"
        }
        "implode" | "intercalate" | "unwords" | "unlines" => "`join_strings(v, s)` puts a text between others",
        "substring" | "substr" => "a part of a text is `subseq(s, start, end)`",
        "isdigit" | "is_digit" => "it is `digitp(c)`",
        "input" | "readline" | "getline" | "readln" | "scanf" => {
            "`prompt(s)` asks, and `read_line(stream)` reads from a stream"
        }
        "readfile" | "read_file" | "slurp" | "load_text" => {
            "`read_string_from_file(name)`, `read_lines_from_file(name)` and `read_csv_from_file(name)` read files"
        }
        "writefile" | "write_file" | "save_text" => "`write_string_to_file(s, name)` writes a file",
        "clock" | "now" | "timeit" | "tic" => "`time(e)` gives the value of e and the seconds that it took",
        "argv" | "args" | "sys_argv" => "the arguments of a program are the parameters of its function `main`",
        "quit" => "`exit(n)` ends a program with a code",
        _ => return None,
    })
}
