//! The library's functions have the types that section 2 of the language's reference gives them, group by group in its
//! order. The only differences are equality and order, which are for all types here.

use nesl_frontend::{Session, manual};
use nesl_span::SourceMap;
use std::collections::HashMap;

/// Names and their common type. A class in parentheses is that of the type variables before it.
const TYPES: &[(&str, &str)] = &[
    // 2.1 Logical
    ("not", "a -> a :: (a in logical)"),
    ("or and xor nor nand", "(a, a) -> a :: (a in logical)"),
    // 2.2 Comparison
    ("== /=", "(a, a) -> bool :: (a in any)"),
    ("< > <= >=", "(a, a) -> bool :: (a in ordinal)"),
    // 2.3 Predicates
    ("plusp minusp zerop", "a -> bool :: (a in number)"),
    ("oddp evenp", "int -> bool"),
    // 2.4 Arithmetic
    ("+ - * /", "(a, a) -> a :: (a in number)"),
    ("negate abs one zero", "a -> a :: (a in number)"),
    ("diff", "(a, a) -> a :: (a in number)"),
    ("rem mod lshift rshift gcd", "(int, int) -> int"),
    ("max min", "(a, a) -> a :: (a in ordinal)"),
    ("sqrt ln log2 log10 exp sin cos tan asin acos atan sinh cosh tanh reciprocal", "float -> float"),
    ("isqrt", "int -> int"),
    ("log expt atan2 hypot", "(float, float) -> float"),
    ("^", "(a, int) -> a :: (a in number)"),
    // 2.5 Conversion, random
    ("btoi", "bool -> int"),
    ("code_char", "int -> char"),
    ("char_code", "char -> int"),
    ("float", "int -> float"),
    ("ceil floor trunc round", "float -> int"),
    ("float_num", "a -> float :: (a in number)"),
    ("int_to_any", "(int, a) -> a :: (a in number)"),
    ("float_to_any", "(float, a) -> a :: (a in number)"),
    ("rand", "a -> a :: (a in number)"),
    ("rand_seed", "int -> bool"),
    // 2.6 Basic sequence functions
    ("length", "[a] -> int :: (a in any)"),
    ("dist", "(a, int) -> [a] :: (a in any)"),
    ("elt", "([a], int) -> a :: (a in any)"),
    ("rep", "([a], a, int) -> [a] :: (a in any)"),
    ("zip", "([a], [b]) -> [(a, b)] :: (a in any; b in any)"),
    ("zip3", "([a], [b], [c]) -> [(a, b, c)] :: (a in any; b in any; c in any)"),
    ("unzip", "[(a, b)] -> ([a], [b]) :: (a in any; b in any)"),
    ("first", "(a, b) -> a :: (a in any; b in any)"),
    ("rest", "(a, b) -> b :: (a in any; b in any)"),
    ("iseq", "(int, int, int) -> [int]"),
    ("index", "int -> [int]"),
    ("iseq1 iseqm1", "(int, int) -> [int]"),
    ("fseq", "(float, float, float) -> [float]"),
    ("vpair", "(a, a) -> [a] :: (a in any)"),
    ("vsep", "[a] -> (a, a) :: (a in any)"),
    ("cons", "(a, [a]) -> [a] :: (a in any)"),
    ("snoc previous next", "([a], a) -> [a] :: (a in any)"),
    ("++ append", "([a], [a]) -> [a] :: (a in any)"),
    ("reverse odd_elts even_elts", "[a] -> [a] :: (a in any)"),
    ("rotate drop take", "([a], int) -> [a] :: (a in any)"),
    ("subseq", "([a], int, int) -> [a] :: (a in any)"),
    ("interleave", "([a], [a]) -> [a] :: (a in any)"),
    // 2.7 Scans and reductions
    ("plus_scan mult_scan", "[a] -> [a] :: (a in number)"),
    ("sum product", "[a] -> a :: (a in number)"),
    ("max_scan min_scan", "[a] -> [a] :: (a in ordinal)"),
    ("max_val min_val", "[a] -> a :: (a in ordinal)"),
    ("or_scan and_scan xor_scan", "[a] -> [a] :: (a in logical)"),
    ("any all parity", "[a] -> a :: (a in logical)"),
    ("count", "[bool] -> int"),
    ("enumerate", "[bool] -> [int]"),
    ("max_index min_index", "[a] -> int :: (a in ordinal)"),
    ("scan", "((a, a) -> a, a, [a]) -> ([a], a) :: (a in any)"),
    // 2.8 Moving data
    ("-> read get permute", "([a], [int]) -> [a] :: (a in any)"),
    ("<- write eput", "([a], [(int, a)]) -> [a] :: (a in any)"),
    ("put", "([a], [int], [a]) -> [a] :: (a in any)"),
    ("cond_put", "([a], [int], [bool], [a]) -> [a] :: (a in any)"),
    ("pack", "[(a, bool)] -> [a] :: (a in any)"),
    ("pack_index", "[bool] -> [int]"),
    ("flag_merge", "([bool], [a], [a]) -> [a] :: (a in any)"),
    ("join", "([a], [int], [a], [int]) -> [a] :: (a in any)"),
    ("length_from_flags", "[bool] -> [int]"),
    ("select", "(bool, a, a) -> a :: (a in any)"),
    // 2.9 Nesting
    ("partition", "([a], [int]) -> [[a]] :: (a in any)"),
    ("flatten", "[[a]] -> [a] :: (a in any)"),
    ("split flag_partition", "([a], [bool]) -> [[a]] :: (a in any)"),
    ("split_index", "[bool] -> ([int], [int])"),
    ("bottop", "[a] -> [[a]] :: (a in any)"),
    ("head_rest", "[a] -> (a, [a]) :: (a in any)"),
    ("rest_tail", "[a] -> ([a], a) :: (a in any)"),
    ("transpose", "[[a]] -> [[a]] :: (a in any)"),
    ("group_by", "([a], int) -> [[a]] :: (a in any)"),
    // 2.10 Larger sequence functions
    ("rank rank_down", "[a] -> [int] :: (a in any)"),
    ("char_rank", "[char] -> [int]"),
    ("sort", "[a] -> [a] :: (a in any)"),
    ("kth_smallest", "([a], int) -> a :: (a in ordinal)"),
    ("median", "[a] -> a :: (a in ordinal)"),
    ("find", "(a, [a]) -> int :: (a in any)"),
    ("search_for_subseqs", "([a], [a]) -> [int] :: (a in any)"),
    ("eql", "(a, a) -> bool :: (a in any)"),
    ("identity", "a -> a :: (a in any)"),
    ("map", "(a -> b, [a]) -> [b] :: (a in any; b in any)"),
    // 2.11 Strings
    ("string", "a -> [char] :: (a in any)"),
    ("exp_string", "(float, int) -> [char]"),
    ("||", "([char], int) -> [char]"),
    ("linify wordify", "[char] -> [[char]]"),
    ("group_by_space", "([char], [char]) -> [[char]]"),
    ("lowercase uppercase", "char -> char"),
    ("string_eql", "([char], [char]) -> bool"),
    ("parse_int parse_unsigned_int", "[char] -> (int, bool)"),
    ("parse_int_vect", "[char] -> ([int], bool)"),
    ("parse_float", "[char] -> (float, bool)"),
    ("justify_text", "([char], int) -> [[char]]"),
    ("digitp", "char -> bool"),
];

#[test]
fn functions_have_the_types_of_the_reference() {
    let mut sources = SourceMap::default();
    let session = Session::new(&mut sources);
    let library: HashMap<String, String> =
        manual::entries(&session, &sources).into_iter().map(|entry| (entry.name, entry.ty)).collect();
    let wrong: Vec<String> = (TYPES.iter())
        .flat_map(|(names, ty)| names.split(' ').map(move |name| (name, *ty)))
        .filter(|(name, ty)| library.get(*name).is_none_or(|found| found != ty))
        .map(|(name, ty)| format!("{name} : {ty}, but is {:?}", library.get(name)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
