//! Words of other languages, and what they are here: the hints for names that nobody has defined.
//!
//! Sorted by what somebody wants to do. The words are those of Python and NumPy, C, Haskell, ML, Julia and R, in
//! lower case; what the library has under the same name is not here, but for `var`, which is no call where it declares.
//! The manual finds by them what they mean, too.

/// What a word of another language is here. Such a word is only looked up where the program does not define it.
pub(crate) fn foreign_word(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    let rows = [form, number, float, sequence, part, reduction, keyed, matrix, of_text, outside];
    rows.iter().find_map(|row| row(&word))
}

/// Keywords.
fn form(word: &str) -> Option<&'static str> {
    Some(match word {
        "true" => "true is written `t`",
        "false" => "false is written `f`",
        "for" | "foreach" | "while" | "loop" => {
            "something is done for each element by `{body : name in sequence}`, and again and again by a function that calls itself"
        }
        "repeat" => {
            "`tile(v, n)` is v n times, `repeat_each(v, n)` each element; again and again is done by a function that calls itself"
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
        "assert" | "raise" | "throw" | "panic" => "`error(s)` ends a program with a message",
        "try" | "catch" | "except" => "errors end a program, nothing catches them: ask before by `if`",
        "np" | "numpy" | "math" | "plt" | "pd" => "the library needs no prefix: `sum(v)`, `sqrt(x)`",
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
        "divmod" => "both are `(a / b, rem(a, b))`",
        "pow" | "power" => "powers are written `a ^ n`, and `expt(a, b)` for floats",
        "cbrt" => "it is `expt(x, 1.0 / 3.0)`",
        "sqr" | "square" => "the square of x is `x * x`, or `x ^ 2`",
        "fabs" | "absolute" => "it is `abs(x)`",
        "arctan2" => "it is `atan2(y, x)`",
        "arcsin" | "arccos" | "arctan" => "they are `asin(x)`, `acos(x)` and `atan(x)`",
        "lcm" => "it is `a / gcd(a, b) * b`",
        "is_even" | "even" | "iseven" => "it is `evenp(n)`",
        "is_odd" | "odd" | "isodd" => "it is `oddp(n)`",
        "factorial" => "it is `product([1:n + 1])`",
        "random" | "randint" | "uniform" => "`rand(n)` is a random number below n, and `rand(1.0)` one below 1",
        "iff" | "ifelse" | "cond" | "ternary" => "a choice is written `if c then a else b`",
        "logical_and" | "logical_or" | "logical_not" => "they are `a and b`, `a or b` and `not(a)`",
        _ => return None,
    })
}

/// Floats, and values between others.
fn float(word: &str) -> Option<&'static str> {
    Some(match word {
        "clip" | "bound" => "it is `clamp(x, low, high)`, of all elements `{clamp(x, low, high) : x in v}`",
        "isnan" | "is_nan" | "isfinite" | "isinf" => "x is nan where `x /= x`, and finite where `x - x == 0.0`",
        "nansum" | "nanmean" | "dropna" => "the elements that are not nan are `{x in v | x == x}`",
        "fillna" | "nan_to_num" => "0 for what is nan: `{if x == x then x else 0.0 : x in v}`",
        "isclose" | "allclose" | "isapprox" => "nearly equal: `abs(x - y) < 0.000001`",
        "degrees" | "radians" | "deg2rad" | "rad2deg" => "180 degrees are pi: `x * pi / 180.0`, `x * 180.0 / pi`",
        "randn" | "gauss" | "standard_normal" => "it is `normal(0.0, 1.0)`",
        "choice" | "choices" | "permutation" | "randperm" => {
            "`shuffle(v)` is a random order, `sample(v, n)` n of the elements, `v[rand(#v)]` one"
        }
        "seed" | "srand" | "set_seed" => "it is `rand_seed(n)`",
        "astype" | "as_type" | "to_numeric" => {
            "`{float(n) : n in v}` makes floats of ints, `{trunc(x) : x in v}` ints of floats"
        }
        "interp1d" | "interpolate" | "linear_interpolation" => {
            "between points it is `interp(x, xs, ys)`, for many places `{interp(x, xs, ys) : x in v}`"
        }
        "trapz" | "trapezium" | "integrate" => "the integral of points is `trapezoid(x, y)`",
        "polyfit" => "it is `polynomial_fit(x, y, n)`, whose coefficients begin with that of x ^ 0",
        "polyval" => "it is `polynomial_value(v, x)`, whose coefficients begin with that of x ^ 0",
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
        "arrays" | "array" | "asarray" | "list" | "vector" => "a sequence is written `[1, 2, 3]`",
        "concat" | "concatenate" | "extend" => {
            "sequences are joined by `v ++ w`, and a sequence of sequences by `flatten(m)`"
        }
        "ravel" | "concat_map" | "flatmap" | "flat_map" => "rows after one another are `flatten(m)`",
        "push" | "push_back" | "add_last" => "an element is appended by `v ++ [x]`",
        "deque" => "a sequence grows by `v ++ [x]`, and shrinks by `drop(v, 1)` and `take(v, #v - 1)`",
        "insert" => "an element comes in by `take(v, i) ++ [x] ++ drop(v, i)`",
        "pop" | "delete" | "remove" => "elements go by `{x in v | x /= 3}`, the last one by `take(v, #v - 1)`",
        "vectorize" | "apply" | "applymap" => "what is done for each element is `{x * x : x in v}`",
        "zeros" | "ones" | "full" | "fill_with" | "replicate" => "n times the same value is `dist(x, n)`",
        "zeros_like" | "ones_like" | "full_like" => "as many of one value as v has elements: `dist(0.0, #v)`",
        "logspace" => "it is `{expt(10.0, x) : x in linspace(a, b, n)}`",
        "filter" | "select_where" => "a filter comes after `|`: `{x in v | x > 0}`",
        "zipwith" | "map2" => "two sequences go side by side: `{x + y : x in v; y in w}`",
        "enum_list" | "with_index" => "elements with their places are `{(i, x) : x in v; i in index(#v)}`",
        _ => return None,
    })
}

/// Parts of sequences, and where something is.
fn part(word: &str) -> Option<&'static str> {
    Some(match word {
        "chunks" | "batch" | "batches" | "array_split" => "parts of n elements each are `group_by(v, n)`",
        "rolling" | "moving_average" | "rolling_mean" | "sliding_window" | "sliding_window_view" => {
            "the mean of each n neighbours is `{mean(w) : w in windows(v, n)}`"
        }
        "roll" | "circshift" | "shift" => "it is `rotate(v, n)`",
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
        "nonzero" | "flatnonzero" | "findall" | "which" => "where flags are true: `pack_index({x > 0 : x in v})`",
        "bisect" | "searchsorted" | "binary_search" => {
            "in a sorted sequence: `lower_bound(v, x)` and `upper_bound(v, x)`"
        }
        _ => return None,
    })
}

/// What is computed of all elements, and their order.
fn reduction(word: &str) -> Option<&'static str> {
    Some(match word {
        "foldl" | "foldr" | "fold" => {
            "sum, max_val, min_val, any and all reduce sequences, `reduce('max, 0, v)` by a function"
        }
        "accumulate" | "scanl" | "prefix_sum" | "prefix_sums" | "exclusive_scan" => {
            "`plus_scan(v)` has the sums before each element, and `cumsum(v)` those up to it"
        }
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
        "countif" | "count_if" | "count_nonzero" | "sum_if" => {
            "it is `count({x > 0 : x in v})`, and `sum({x in v | x > 0})` of the elements"
        }
        "intersect" => "it is `intersection(v, w)`",
        "setdiff" | "difference" | "minus" => "it is `set_difference(v, w)`",
        "corrcoef" | "corr" | "pearsonr" | "cor" => "it is `correlation(v, w)`",
        "percentile" => "it is `quantile(v, 0.95)`, of a part from 0.0 to 1.0",
        "describe" | "summary" => "there are mean(v), std(v), min_val(v), max_val(v) and quantile(v, 0.5)",
        "cumulative_sum" | "accumulate_sum" | "running_sum" => "it is `cumsum(v)`",
        _ => return None,
    })
}

/// Values by keys.
fn keyed(word: &str) -> Option<&'static str> {
    Some(match word {
        "counter" | "value_counts" | "bincount" | "tally" | "countmap" => {
            "how often each value is there: `histogram(v)`"
        }
        "most_common" => "it is `take_most(sort_down_by((x, k) => k, histogram(v)), n)`",
        "groupby" | "group" | "defaultdict" | "multimap" => {
            "`collect(zip(v, w))` has for each key in v all its values in w, `group_by_key(g, v)` for each g(x) all x"
        }
        "dict" | "hashmap" | "dictionary" | "map_of" | "ordereddict" | "unordered_map" => {
            "values by keys are a table: `search_table(v, create_table(zip(v, w)))` finds them"
        }
        "set" | "hashset" | "frozenset" => {
            "`unique(v)` has each value once; there are union(v, w), intersection(v, w), set_difference(v, w)"
        }
        _ => return None,
    })
}

/// Matrices and linear algebra.
fn matrix(word: &str) -> Option<&'static str> {
    Some(match word {
        "matmult" | "mm" | "multiply_matrices" => "it is `matmul(a, b)`",
        "identity_matrix" | "ident" | "identity_of" => "it is `eye(n)`",
        "shape" | "nrow" | "ncol" => "a matrix has `#m` rows of `#m[0]` elements",
        "ndim" | "axis" => "a matrix is a sequence of rows: `{sum(r) : r in m}` and `{sum(c) : c in transpose(m)}`",
        "vstack" | "hstack" | "stack" | "column_stack" | "vcat" | "hcat" | "rbind" | "cbind" => {
            "rows are `[v, w]`, columns `transpose([v, w])`; matrices come below one another by `a ++ b`, and beside \
             by `{r ++ s : r in a; s in b}`"
        }
        "meshgrid" | "cartesian" | "outer_product" | "cross_join" => {
            "all pairs are `{{(x, y) : x in v} : y in w}`, all products `outer(v, w)`"
        }
        "einsum" | "tensordot" | "inner" | "vdot" => {
            "sums of products are `dot(v, w)`, `matvec(m, v)`, `matmul(a, b)`, or `{sum({x * y : x in r; y in v}) : r in m}`"
        }
        "diag" | "diagonal" | "trace" => "the diagonal is `{r[i] : r in m; i in index(#m)}`",
        "inv" | "pinv" | "invert" => "it is `inverse(m)`; equations are solved by `solve(m, v)`",
        "det" => "it is `determinant(m)`",
        "lstsq" | "linregress" | "lm" => {
            "it is `least_squares(m, v)`, and the line through points `polynomial_fit(x, y, 1)`"
        }
        "eig" | "eigh" | "eigvals" | "eigen" | "svd" | "qr" | "lu" | "cholesky" => {
            "the library has no decompositions: there are `solve(m, v)`, `least_squares(m, v)`, `inverse(m)` and \
             `determinant(m)`"
        }
        _ => return None,
    })
}

/// Texts.
fn of_text(word: &str) -> Option<&'static str> {
    Some(match word {
        "println" | "printf" | "puts" | "pprint" | "echo" | "display" | "write_stdout" => {
            "a line is printed by `print_line(s)`, with values in it by `print_line(\"x = \" ++ @x)`"
        }
        "print_lines" | "put_lines" => "lines are printed by `{print_line(s) : s in lines}`",
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
            "`split_string(s, \",\")` has the parts between commas, `wordify(s)` the words, `linify(s)` the lines"
        }
        "implode" | "intercalate" | "unwords" | "unlines" => "`join_strings(lines, s)` puts a text between others",
        "substring" | "substr" => "a part of a text is `subseq(s, start, end)`",
        "isdigit" | "is_digit" => "it is `digitp(c)`",
        "isspace" | "is_space" => "it is `whitep(c)`",
        "isalpha" | "is_alpha" | "isletter" => "a letter is what has two cases: `lowercase(c) /= uppercase(c)`",
        "startswith" | "has_prefix" => "it is `starts_with(s, w)`",
        "endswith" | "has_suffix" => "it is `ends_with(s, w)`",
        "ljust" | "rjust" | "pad" | "zfill" => "`s || n` fills up with spaces to a width, `s || -n` before the text",
        "hex" => "it is `hex_string(n)`",
        "encode" | "decode" => "`code_points(s)` reads UTF-8, `utf8_string(v)` writes it",
        _ => return None,
    })
}

/// What goes in and out.
fn outside(word: &str) -> Option<&'static str> {
    Some(match word {
        "input" | "readline" | "getline" | "readln" | "scanf" => {
            "`prompt(s)` asks, and `read_line(stream)` reads from a stream"
        }
        "readfile" | "read_file" | "slurp" | "load_text" => {
            "`read_string_from_file(name)`, `read_lines_from_file(name)` and `read_csv_from_file(name)` read files"
        }
        "read_csv" | "read_table" => {
            "`read_csv_from_file(name)` has rows of texts, of which `csv_float_named(rows, \"price\")` is a column"
        }
        "loadtxt" | "genfromtxt" | "fromfile" | "read_npy" => {
            "`read_vector_from_file([] float, name)` and `read_matrix_from_file([] float, name)` read texts, .npy and .csv"
        }
        "writefile" | "write_file" | "save_text" => "`write_string_to_file(s, name)` writes a file",
        "writelines" => "lines are written by `write_lines_to_file(lines, name)`",
        "savetxt" | "tofile" => "numbers are written as lines by `write_lines_to_file({@x : x in v}, name)`",
        "to_csv" => "rows of texts are written by `write_csv_to_file({{@x : x in r} : r in m}, name)`",
        "save" | "savez" | "npzwrite" => {
            "files for NumPy are written by `write_vector_to_npy(v, name)` and `write_matrix_to_npy(m, name)`, an array each"
        }
        "savefig" => "a picture is written by `plot(x, y, file := \"a.svg\")`",
        "figure" | "subplot" | "subplots" => "a picture is `plot(x, y)`, `scatter(x, y)` or `histogram_plot(v)`",
        "hist" => "it is `histogram_plot(v)`, and as numbers `histogram(v)`",
        "imshow" | "imsave" | "imwrite" => {
            "a matrix is shown by `heatmap(m)`, written by `image(m, file := \"a.png\")`"
        }
        "getenv" | "environ" => "it is `get_environment_variable(name)`",
        "system" | "subprocess" | "exec" => "a command is run by `shell_command(s, \"\")`",
        "clock" | "now" | "timeit" | "tic" | "perf_counter" => {
            "`time(e)` gives the value of e and the seconds that it took"
        }
        "argv" | "args" | "sys_argv" => "the arguments of a program are the parameters of its function `main`",
        "quit" => "`exit(n)` ends a program with a code",
        _ => return None,
    })
}
