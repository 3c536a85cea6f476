//! Typed core: the program after inference, with explicit types and without sugar.
//!
//! Core is what flattening takes apart and what the reference evaluator runs. It is polymorphic: a call carries the
//! type arguments of its function, and types inside a function mention its scheme's parameters. Every function has one
//! parameter. Patterns, operators, ranges, short forms of apply-to-each and tuples of more than two parts are gone:
//!
//! ```text
//! function f(a, b) = a + b      f = λp. let a = first p in let b = rest p in call '+ [t] (a, b)
//! {x in v; y in w | c}          each x in v; y in w | c : x
//! ```
//!
//! A serial apply-to-each, `{* e : x in v}`, is a call of the library's `serial_each` on a lambda.
//!
//! # Records
//!
//! A record is its payload under another type: [`ExprKind::Construct`] and [`ExprKind::Payload`] change the type alone.
//! A constructor that is used as a value is a function whose body constructs its parameter.
//!
//! # Function values
//!
//! A function value is made by [`ExprKind::Closure`] and called by [`ExprKind::Apply`]. It is the tuple of the values
//! it captured; which function it is says the [`Identity`](crate::ty::Identity) in its type, also as a function
//! parameter, a result, an element or a global. At types without parameters the identity at an `Apply` is always known
//! (never [`Identity::NOBODY`](crate::ty::Identity::NOBODY)), so
//!
//! ```text
//! apply g x, where g : t -> u has the identity { function: k, type_arguments: s, captured }
//!     = call k [s] x          if captured is empty
//!     = call k [s] (g, x)     otherwise, with g the captured values as a right-nested tuple (the value itself if one)
//! ```
//!
//! So the one parameter of a lifted lambda is its argument if it captures nothing, and else the pair of the captured
//! values and its argument. Named functions, built-in ones too, capture nothing. A lambda's function has the same type
//! parameters as the function around it; one at the top level has none. Captured values may be function values
//! themselves. An `Apply` of a scalar function evaluates all operands: only a `Call` of `and` and `or` does not.
//!
//! # What holds
//!
//! Core is well typed, and [`verify`] checks it:
//!
//! * The type of an expression is the one that follows from its parts and from what it mentions ([`typing`]), and the
//!   parts have the types that their places want. An empty sequence and a record say their type themselves.
//! * A variable is bound once in the whole program, and mentioned where it is bound: in the body of its function or
//!   `let`, in the filter and body of its apply-to-each. Sources do not see one another.
//! * Types mention parameters of the scheme around them, and functions and datatypes that exist, at as many type
//!   arguments as these have parameters, of the classes of these. A class contains the scalars that it lists,
//!   parameters of classes within it and, if it is that of any type, all types of values.
//! * A function type whose identity is known is that of this function value. What nobody determines is never applied.
//! * What a closure captures are variables, and its function is one of [`Program::function_values`].
//! * Forms mention no type parameters.

pub mod effects;

pub mod pair;

pub mod parse;

pub mod print;

pub mod tail;

pub mod typing;

pub mod verify;

pub mod walk;

/// What `abrev_string` leaves out.
pub mod short {
    /// The levels of brackets that it shows.
    pub const LEVELS: usize = 3;
    /// What stands for a tuple or sequence below them.
    pub const HIDDEN: &str = "**";
    /// The elements of a sequence that it shows, before dots.
    pub const ELEMENTS: i64 = 5;
}

use crate::ast::Symbol;
use crate::ty::{Scheme, Type};
use nesl_prim::{Direction, HostKind, HostOp, ScalarValue};
use nesl_span::Span;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The number of a function in [`Program::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub usize);

/// The number of a global value in [`Program::globals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GlobalId(pub usize);

/// The number of a local variable, unique in the whole program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub usize);

/// Everything defined so far: the library, then the user's forms in order.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// All functions.
    pub functions: Vec<Function>,
    /// How many of them are of the library: the first ones.
    pub library_functions: usize,
    /// All global values.
    pub globals: Vec<Global>,
    /// The number of local variables in use: the next free [`VariableId`].
    pub variables: usize,
    /// The functions that some function or form of the session uses as a value, lambdas included.
    pub function_values: BTreeSet<FunctionId>,
}

impl Program {
    /// The function with this number.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0]
    }

    /// Whether a function belongs to the library, its lambdas included.
    pub fn is_of_library(&self, id: FunctionId) -> bool {
        id.0 < self.library_functions
    }

    /// The global with this number.
    pub fn global(&self, id: GlobalId) -> &Global {
        &self.globals[id.0]
    }
}

/// A function: one that was defined, a constructor, or a lambda.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name; of a lambda its place, `lambda at 3:5`.
    pub name: Symbol,
    /// Where its name stands in its definition; of a lambda the whole of it.
    pub span: Span,
    /// Its type.
    pub scheme: Scheme,
    /// The parts of its parameter pattern as written, for messages: `f(a, (b, c))` has `a` and `(b, c)`.
    pub parameters: Vec<String>,
    /// Its parameters with a default, which come after the others in its type.
    pub keywords: Vec<Keyword>,
    /// What a call does.
    pub body: FunctionBody,
    /// Its doc string.
    pub doc: Option<String>,
}

/// A parameter with a default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keyword {
    /// Its name.
    pub name: Symbol,
    /// The default as it is written, on one line.
    pub text: String,
    /// The function of any int that gives the default, with the type parameters of the function whose parameter it is.
    pub default: FunctionId,
}

impl Function {
    /// The expression that a call evaluates; none where it is built in or missing.
    pub fn expression(&self) -> Option<&Expr> {
        match &self.body {
            FunctionBody::Defined { body, .. } => Some(body),
            FunctionBody::Intrinsic(_) | FunctionBody::Missing => None,
        }
    }

    /// Whether it is a lambda: its name is then a description that no program can write.
    pub fn is_lambda(&self) -> bool {
        self.name.starts_with("lambda ")
    }
}

/// What a call does.
#[derive(Clone, Debug)]
pub enum FunctionBody {
    /// Binds the parameter and evaluates an expression.
    Defined {
        /// The parameter.
        parameter: Variable,
        /// The expression.
        body: Arc<Expr>,
    },
    /// A built-in operation.
    Intrinsic(Intrinsic),
    /// A declaration whose definition has not come yet. No checked form can reach it.
    Missing,
}

/// A top-level value.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its name.
    pub name: Symbol,
    /// Where its name stands.
    pub span: Span,
    /// Its type: never polymorphic.
    pub ty: Type,
}

/// What a top-level form means.
#[derive(Clone, Debug)]
pub enum Form {
    /// A function was defined (or redefined); for a datatype, its constructor.
    Function(FunctionId),
    /// Values to compute and keep. The value of `value` is taken apart: each global gets the part found by following
    /// its path (`false` = first, `true` = rest). A record on the way stands for its payload.
    Assignment {
        /// The globals with their paths.
        targets: Vec<(GlobalId, Vec<bool>)>,
        /// The value.
        value: Arc<Expr>,
    },
    /// An expression to evaluate and show.
    Expression(Arc<Expr>),
}

/// A local variable with its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its number.
    pub id: VariableId,
    /// Its name, for messages and listings.
    pub name: Symbol,
    /// Its type.
    pub ty: Type,
}

/// An expression with its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// The source it came from.
    pub span: Span,
}

/// The kinds of expressions of core.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A scalar.
    Literal(ScalarValue),
    /// `()`.
    Unit,
    /// A sequence of scalar constants: strings, and literals whose elements are all constants. The type tells the
    /// scalar type, also when it is empty.
    Constants(Arc<[ScalarValue]>),
    /// A local variable.
    Variable(VariableId),
    /// A global value.
    Global(GlobalId),
    /// `(a, b)`.
    Pair(Box<Expr>, Box<Expr>),
    /// The first part of a pair.
    First(Box<Expr>),
    /// The second part of a pair.
    Rest(Box<Expr>),
    /// `let x = value in body`.
    Let {
        /// The variable.
        variable: Variable,
        /// Its value.
        value: Box<Expr>,
        /// The expression that sees it.
        body: Box<Expr>,
    },
    /// `if condition then … else …`.
    If {
        /// The condition.
        condition: Box<Expr>,
        /// The value where it holds.
        then_branch: Box<Expr>,
        /// The value where it does not.
        else_branch: Box<Expr>,
    },
    /// A record of its payload; the type says which.
    Construct(Box<Expr>),
    /// The payload of a record.
    Payload(Box<Expr>),
    /// A function value.
    Closure {
        /// The function.
        function: FunctionId,
        /// Its type arguments.
        type_arguments: Vec<Type>,
        /// What it captures: variables of the place where it is made. Their types are those in the identity.
        captured: Vec<Expr>,
    },
    /// The call of a function value.
    Apply {
        /// The function value.
        function: Box<Expr>,
        /// Its argument.
        argument: Box<Expr>,
    },
    /// `[e1, e2, …]`; empty for a typed empty sequence. The type tells the element type.
    Sequence(Vec<Expr>),
    /// A call. Type arguments are in the order of the scheme's parameters.
    Call {
        /// The function.
        function: FunctionId,
        /// Its type arguments.
        type_arguments: Vec<Type>,
        /// Its argument.
        argument: Box<Expr>,
    },
    /// Apply-to-each: the body for each element that passes the filter, all sources walked together.
    Each {
        /// At least one source.
        sources: Vec<(Variable, Expr)>,
        /// Which elements to keep. It is evaluated for every element, the body only for those kept.
        filter: Option<Box<Expr>>,
        /// The value for each element.
        body: Box<Expr>,
    },
}

/// An operation that the language cannot express in itself. The library declares its type; here is only which it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intrinsic {
    /// A scalar function or operator: the row of the primitive table with this source name and the operand types of the
    /// call. `and` and `or` on bools evaluate their second operand only where it is needed.
    Scalar(&'static str),
    /// `a == b` and `eql(a, b)` on any type: equal scalars (IEEE on floats) in equal shapes. Functions are always
    /// equal.
    Equal,
    /// `identity(a)`: the zero of the type of `a`: 0, 0.0, f, the character 0, the empty sequence, parts likewise.
    Identity,
    /// `element_identity(v)`: the zero of the type of the elements of `v`.
    ElementIdentity,
    /// `hash(x, n)`: an int from 0 up to n that is the same for equal values of any type, as `nesl_prim::meaning`
    /// defines it. All functions have the hash 0.
    Hash,
    /// `has_ordinal_numbers(v)`: whether the elements of `v` are of an ordinal type: ints, bools or characters.
    HasOrdinalNumbers,
    /// `ordinal_number(x)`: of an int itself, of a bool 0 or 1, of a character its code; 0 of all else.
    OrdinalNumber,
    /// `length(v)`, `#v`.
    Length,
    /// `dist(a, n)`: n copies.
    Dist,
    /// `elt(v, i)`, `v[i]`.
    Elt,
    /// `iseq(start, stride, end)`, `[start:end:stride]`.
    Iseq,
    /// `subseq(v, start, end)`.
    Subseq,
    /// `v -> i`: the elements of v at the indices i.
    Read,
    /// `d <- pairs`: d with (index, value) pairs written over it, the last one of equal indices winning.
    Write,
    /// d with the values of (index, value) pairs combined into its elements, one after another, by the scalar operator
    /// of this source name: `sum_by_index(d, pairs)` is `+`.
    CombineByIndex(&'static str),
    /// `permute(v, i)`: element k goes to position `i[k]`; i is a permutation.
    Permute,
    /// `v ++ w`.
    Append,
    /// `flatten(v)`.
    Flatten,
    /// `partition(v, lengths)`.
    Partition,
    /// A reduction with the scalar operator of this source name: `sum` is `+`.
    Reduce(&'static str),
    /// Where the extreme element by the scalar operator of this source name is: `min_index` is `min`. The index of the
    /// first of equal ones, or of the first nan; the largest int where there are no elements.
    ReduceIndex(&'static str),
    /// An exclusive scan with the scalar operator of this source name.
    Scan(&'static str),
    /// `rank(v)`, `rank_down(v)`, `char_rank(s)`: where each element is in the order of all, equal ones in their order.
    Rank(Direction),
    /// `string(v)`, `@v`: the text of a value of any type.
    Text,
    /// `abrev_string(v)`: the text without what [`short`] leaves out.
    ShortText,
    /// `text_float(s)`: the float that a text denotes, NaN where it denotes none.
    ParseFloat,
    /// `rand(bound)`: draws from the current seed.
    Rand,
    /// `rand_seed(n)`: sets the current seed; true.
    RandSeed,
    /// `host_write_object(v, stream)`: writes a value of any type without functions, vector by vector; the message.
    WriteObject,
    /// `host_read_object(prototype, stream)`: reads a value of the prototype's type; the value, or the prototype, and
    /// the message.
    ReadObject,
    /// An operation on the world outside: the row of the table of [`nesl_prim::host`] with this mnemonic and the
    /// operand types of the call. The argument is the tuple of the operands, with sequences for columns, the result the
    /// tuple of the results, the last of them the message of an operation that reports; true where there are none.
    /// `fail` has the result that its place wants.
    Host(&'static str),
}

/// The message of [`Intrinsic::WriteObject`] and [`Intrinsic::ReadObject`] about types with functions.
pub const NO_FUNCTIONS: &str = "no file can hold functions";

/// The message of [`Intrinsic::ReadObject`] where vectors could be read and do not belong together.
pub const NO_FIT: &str = "this is not an object of the type wanted: its lengths do not fit";

impl Intrinsic {
    /// The operation on the world outside with this mnemonic for an argument of this type, which has no type
    /// parameters.
    ///
    /// # Panics
    /// If there is none: core is typed.
    pub fn host_operation(mnemonic: &str, argument: &Type) -> HostOp {
        fn kinds(ty: &Type, found: &mut Vec<HostKind>) {
            match ty {
                Type::Pair(first, rest) => {
                    kinds(first, found);
                    kinds(rest, found);
                }
                Type::Scalar(scalar) => found.push(HostKind::Scalar(*scalar)),
                column => found.push(HostKind::Column(column.element().scalar())),
            }
        }
        let mut operands = Vec::new();
        kinds(argument, &mut operands);
        HostOp::resolve(mnemonic, &operands).unwrap_or_else(|| panic!("ill-typed core: no {mnemonic} on {argument}"))
    }

    /// The intrinsic that a library declaration without a body stands for.
    pub fn by_name(name: &str) -> Option<Intrinsic> {
        Some(match name {
            "==" | "eql" => Intrinsic::Equal,
            "identity" => Intrinsic::Identity,
            "element_identity" => Intrinsic::ElementIdentity,
            "hash" => Intrinsic::Hash,
            "has_ordinal_numbers" => Intrinsic::HasOrdinalNumbers,
            "ordinal_number" => Intrinsic::OrdinalNumber,
            "length" => Intrinsic::Length,
            "dist" => Intrinsic::Dist,
            "elt" => Intrinsic::Elt,
            "iseq" => Intrinsic::Iseq,
            "subseq" => Intrinsic::Subseq,
            "->" => Intrinsic::Read,
            "<-" => Intrinsic::Write,
            "sum_by_index" => Intrinsic::CombineByIndex("+"),
            "product_by_index" => Intrinsic::CombineByIndex("*"),
            "max_by_index" => Intrinsic::CombineByIndex("max"),
            "min_by_index" => Intrinsic::CombineByIndex("min"),
            "any_by_index" => Intrinsic::CombineByIndex("or"),
            "all_by_index" => Intrinsic::CombineByIndex("and"),
            "parity_by_index" => Intrinsic::CombineByIndex("xor"),
            "permute" => Intrinsic::Permute,
            "++" => Intrinsic::Append,
            "flatten" => Intrinsic::Flatten,
            "partition" => Intrinsic::Partition,
            "sum" => Intrinsic::Reduce("+"),
            "product" => Intrinsic::Reduce("*"),
            "max_val" => Intrinsic::Reduce("max"),
            "min_val" => Intrinsic::Reduce("min"),
            "max_index" => Intrinsic::ReduceIndex("max"),
            "min_index" => Intrinsic::ReduceIndex("min"),
            "any" => Intrinsic::Reduce("or"),
            "all" => Intrinsic::Reduce("and"),
            "parity" => Intrinsic::Reduce("xor"),
            "plus_scan" => Intrinsic::Scan("+"),
            "mult_scan" => Intrinsic::Scan("*"),
            "max_scan" => Intrinsic::Scan("max"),
            "min_scan" => Intrinsic::Scan("min"),
            "or_scan" => Intrinsic::Scan("or"),
            "and_scan" => Intrinsic::Scan("and"),
            "xor_scan" => Intrinsic::Scan("xor"),
            "rank" | "char_rank" => Intrinsic::Rank(Direction::Up),
            "rank_down" => Intrinsic::Rank(Direction::Down),
            "string" => Intrinsic::Text,
            "abrev_string" => Intrinsic::ShortText,
            "text_float" => Intrinsic::ParseFloat,
            "rand" => Intrinsic::Rand,
            "rand_seed" => Intrinsic::RandSeed,
            "host_write_object" => Intrinsic::WriteObject,
            "host_read_object" => Intrinsic::ReadObject,
            _ if name.starts_with("host_") => {
                let mut rows = HostOp::all().into_iter().map(|op| op.row().mnemonic);
                Intrinsic::Host(rows.find(|mnemonic| name.strip_prefix("host_") == Some(mnemonic))?)
            }
            _ => {
                let op = nesl_prim::ScalarOp::ALL.iter().find(|op| op.row().source == Some(name))?;
                Intrinsic::Scalar(op.row().source?)
            }
        })
    }
}
