//! What of the language random programs use, for counting.

/// Declares the features once: the type, and the list of all.
macro_rules! features {
    ($($name:ident: $text:literal,)*) => {
        /// A part of the language, or a situation, that programs are to contain.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Feature { $(#[doc = $text] $name,)* }

        impl Feature {
            /// All of them.
            pub const ALL: &[Feature] = &[$(Feature::$name,)*];

            /// What to call it.
            pub fn text(self) -> &'static str {
                match self { $(Feature::$name => $text,)* }
            }
        }
    };
}

features! {
    Datatype: "datatype",
    ParametrisedDatatype: "parametrised datatype",
    NestedDatatype: "datatype in a datatype",
    Construction: "record",
    LetPattern: "pattern in let",
    RecordPattern: "record pattern",
    ParameterPattern: "pattern of a parameter",
    EachPattern: "pattern in apply-to-each",
    GlobalPattern: "pattern of a global",
    Equality: "equality of structures",
    Text: "string function",
    Literal: "string literal",
    TextOfValue: "text of a value",
    Order: "rank, sort, selection",
    Lambda: "lambda",
    LocalFunction: "function in let",
    EachOfFunctions: "sequence of closures",
    FunctionArgument: "function as argument",
    FunctionResult: "function as result",
    FunctionInTuple: "function in a tuple",
    FunctionInSequence: "function in a sequence literal",
    FunctionInRecord: "function in a record",
    GlobalFunction: "function as global",
    NamedFunction: "named function as value",
    Operator: "operator as value",
    Map: "map",
    Scan: "scan with a function",
    CountedRecursion: "recursion on a number",
    BothBranches: "recursion in both branches",
    TwoCalls: "two recursive calls in a branch",
    RecursionInEach: "recursion in apply-to-each",
    Halves: "recursion on halves",
    Filtered: "recursion on filtered parts",
    Mutual: "mutual recursion",
    Growing: "loop in which sequences grow",
    Call: "call of a user's function",
    Keyword: "keyword parameter given",
    Default: "keyword parameter left out",
    Unit: "unit value",
    UnitPattern: "pattern of the unit value",
    NoParameters: "function without parameters",
    Filter: "filter",
    SerialEach: "serial apply-to-each",
    TwoSources: "two sources",
    Deep: "apply-to-each three deep",
    Deepest: "apply-to-each four deep",
    Ragged: "source that varies by instance",
    Empty: "empty sequence",
    Single: "sequence of one element",
    Long: "thousands of elements",
    Views: "view of a view",
    Write: "write",
    Combine: "values combined by index",
    Nesting: "partition, split",
    Rand: "rand",
    RandSeed: "rand_seed",
    Print: "printing",
    Risk: "place that may fail",
    Boundary: "int at a boundary",
    WrappingLengths: "lengths at boundaries",
}
