//! The surface tree: what the parser makes and the checker reads.
//!
//! Every node has a span. Where the parser recovered from an error it leaves an `Error` node; such a tree is checked
//! for further mistakes but never elaborated.

mod places;

use nesl_prim::{ScalarType, ScalarValue};
use nesl_span::Span;
use std::sync::Arc;

/// A name as it is compared: lower case, because NESL does not distinguish case.
pub type Symbol = Arc<str>;

/// What a name begins with that means a function of the library, whatever the program calls by it. No syntax has such
/// names: they are for what a syntax stands for.
pub const LIBRARY: &str = "library.";

/// A name where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The lower-case name.
    pub symbol: Symbol,
    /// Where it stands.
    pub span: Span,
}

/// One form of a file or of a REPL input.
#[derive(Clone, Debug, PartialEq)]
pub struct TopLevel {
    /// What it is.
    pub kind: TopLevelKind,
    /// The whole form without its terminator.
    pub span: Span,
}

/// The kinds of top-level forms.
#[derive(Clone, Debug, PartialEq)]
pub enum TopLevelKind {
    /// `function name parameter [: type] = body`.
    Function(FunctionDefinition),
    /// `datatype name type [:: context]`.
    Datatype(DatatypeDefinition),
    /// `pattern = value`.
    Assignment {
        /// The names bound.
        pattern: Pattern,
        /// Their value.
        value: Expr,
    },
    /// An expression to evaluate.
    Expression(Expr),
    /// `import "path" [as name]`.
    Import(Import),
    /// A form the parser could not read; it has been reported.
    Error,
}

/// A file whose definitions a text uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// Where the file is, seen from the folder of the text, as written.
    pub path: String,
    /// Where the path stands, with its quotes.
    pub span: Span,
    /// What stands before the names of the file, with a point; without it they are plain.
    pub alias: Option<Name>,
}

/// A function definition, or a declaration if it has no body.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionDefinition {
    /// The function's name; an operator's token for `function '+ …`.
    pub name: Name,
    /// Its one parameter: `f(a, b)` has the parameter pattern `a, b`, `f()` the pattern `()`. Without those that have a
    /// default.
    pub parameter: Pattern,
    /// The parameters with a default, which calls pass by name: `f(a, b := 3)`.
    pub keywords: Vec<KeywordParameter>,
    /// The signature.
    pub signature: Option<Signature>,
    /// The doc string.
    pub doc: Option<String>,
    /// The body; the library declares built-in functions without one.
    pub body: Option<Expr>,
}

/// `name := default` in a parameter list.
#[derive(Clone, Debug, PartialEq)]
pub struct KeywordParameter {
    /// The parameter.
    pub name: Name,
    /// Its type: `name : type := default`.
    pub ty: Option<TypeExpr>,
    /// Its value where a call does not give one.
    pub default: Expr,
}

/// A record type with its constructor.
#[derive(Clone, Debug, PartialEq)]
pub struct DatatypeDefinition {
    /// The name of both.
    pub name: Name,
    /// What it wraps, with the classes of its type parameters.
    pub payload: Signature,
}

/// `type :: (context)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// The type.
    pub type_expr: TypeExpr,
    /// The classes of the type variables: `a in number`.
    pub context: Vec<(Name, Name)>,
    /// The whole signature.
    pub span: Span,
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeExpr {
    /// What it is.
    pub kind: TypeExprKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of types as written.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeExprKind {
    /// `int`, `float`, `bool`, `char`.
    Scalar(ScalarType),
    /// Any other name: a type variable, or a datatype without parameters.
    Name(Name),
    /// `name(t1, t2, …)`: a datatype at these types.
    Record(Name, Vec<TypeExpr>),
    /// `[t]`.
    Sequence(Box<TypeExpr>),
    /// `()`.
    Unit,
    /// `(t1, t2, …)`, two or more.
    Tuple(Vec<TypeExpr>),
    /// `t1 -> t2`.
    Function(Box<TypeExpr>, Box<TypeExpr>),
    /// Unreadable; reported.
    Error,
}

/// A pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of patterns.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternKind {
    /// A variable.
    Variable(Symbol),
    /// `()`.
    Unit,
    /// `p1, p2, …`, two or more, right-nested: `a, b, c` takes the pair `(a, (b, c))` apart.
    Tuple(Vec<Pattern>),
    /// `name(p)`: takes a record of this datatype apart. Bound by a `let` it is a local function where there is no such
    /// datatype.
    Record(Name, Box<Pattern>),
    /// `p : type`, in parentheses: what it binds is of this type.
    Typed(Box<Pattern>, TypeExpr),
    /// Unreadable; reported.
    Error,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

impl FunctionDefinition {
    /// The pattern of all its parameters, those with a default included.
    pub fn whole_parameter(&self) -> Pattern {
        if self.keywords.is_empty() {
            return self.parameter.clone();
        }
        let mut parts = match &self.parameter.kind {
            PatternKind::Unit => Vec::new(),
            PatternKind::Tuple(parts) => parts.clone(),
            _ => vec![self.parameter.clone()],
        };
        parts.extend(self.keywords.iter().map(|keyword| {
            let span = keyword.name.span;
            let name = Pattern { kind: PatternKind::Variable(keyword.name.symbol.clone()), span };
            match &keyword.ty {
                Some(ty) => Pattern { span: span.to(ty.span), kind: PatternKind::Typed(Box::new(name), ty.clone()) },
                None => name,
            }
        }));
        Pattern { kind: PatternKind::Tuple(parts), span: self.parameter.span }
    }
}

impl Pattern {
    /// Adds the names that it binds.
    pub fn names(&self, names: &mut Vec<Symbol>) {
        match &self.kind {
            PatternKind::Variable(name) => names.push(name.clone()),
            PatternKind::Tuple(parts) => parts.iter().for_each(|part| part.names(names)),
            PatternKind::Record(_, inner) | PatternKind::Typed(inner, _) => inner.names(names),
            PatternKind::Unit | PatternKind::Error => {}
        }
    }

    /// The pattern without the types that are written behind it.
    pub fn bare(&self) -> &Pattern {
        match &self.kind {
            PatternKind::Typed(inner, _) => inner.bare(),
            _ => self,
        }
    }
}

impl Expr {
    /// The expressions directly inside of it.
    pub fn parts(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Literal(_)
            | ExprKind::Text(_)
            | ExprKind::Name(_)
            | ExprKind::Unit
            | ExprKind::Empty(_)
            | ExprKind::Error => Vec::new(),
            ExprKind::Tuple(parts) | ExprKind::Sequence(parts) => parts.iter().collect(),
            ExprKind::Call { function, argument } => vec![function, argument],
            ExprKind::Index { sequence, index } => vec![sequence, index],
            ExprKind::Unary { operand, .. } => vec![operand],
            ExprKind::Binary { left, right, .. } => vec![left, right],
            ExprKind::If { condition, then_branch, else_branch } => vec![condition, then_branch, else_branch],
            ExprKind::Let { bindings, body } => {
                bindings.iter().map(|binding| &binding.value).chain([&**body]).collect()
            }
            ExprKind::Range { start, end, stride } => [&**start, end].into_iter().chain(stride.as_deref()).collect(),
            ExprKind::Lambda { body, .. } => vec![body],
            ExprKind::Keyword { value, .. } | ExprKind::Typed { value, .. } => vec![value],
            ExprKind::Each { body, sources, filter, .. } => {
                let sequences = sources.iter().filter_map(|source| source.sequence.as_ref());
                sequences.chain(filter.as_deref()).chain(body.as_deref()).collect()
            }
        }
    }
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number, truth value or character.
    Literal(ScalarValue),
    /// A string: its bytes after escapes.
    Text(Vec<u8>),
    /// A variable, global or function. `'op` names an operator's function in the same way.
    Name(Symbol),
    /// `()`.
    Unit,
    /// `e1, e2, …`, two or more, right-nested.
    Tuple(Vec<Expr>),
    /// `f(e)` and `f e`.
    Call {
        /// What is called.
        function: Box<Expr>,
        /// Its one argument: a tuple for `f(a, b)`, `()` for `f()`.
        argument: Box<Expr>,
    },
    /// `v[i]`.
    Index {
        /// The sequence.
        sequence: Box<Expr>,
        /// The index.
        index: Box<Expr>,
    },
    /// `-e`, `#e`, `@e`.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Where it stands.
        op_span: Span,
        /// Its operand.
        operand: Box<Expr>,
    },
    /// `e1 op e2`.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Where it stands.
        op_span: Span,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
    },
    /// `if c then a else b`.
    If {
        /// The condition.
        condition: Box<Expr>,
        /// The value where it holds.
        then_branch: Box<Expr>,
        /// The value where it does not.
        else_branch: Box<Expr>,
    },
    /// `let p1 = e1; … in body`.
    Let {
        /// The bindings, each visible in the later ones.
        bindings: Vec<Binding>,
        /// The value.
        body: Box<Expr>,
    },
    /// `[e1, e2, …]`, one or more elements.
    Sequence(Vec<Expr>),
    /// `[] type`, or `[]` where inference finds the type.
    Empty(Option<TypeExpr>),
    /// `[start : end : stride]`.
    Range {
        /// The first element.
        start: Box<Expr>,
        /// The first number not included.
        end: Box<Expr>,
        /// The step; 1 if absent.
        stride: Option<Box<Expr>>,
    },
    /// `parameter => body`.
    Lambda {
        /// The parameter.
        parameter: Box<Pattern>,
        /// The value.
        body: Box<Expr>,
    },
    /// `name := value`: an argument by name, which only a call may contain.
    Keyword {
        /// The parameter.
        name: Name,
        /// The argument.
        value: Box<Expr>,
    },
    /// `value : type`, in parentheses: a pattern, which only `=`, `=>` or `in` behind it can tell.
    Typed {
        /// What is said to be of the type.
        value: Box<Expr>,
        /// The type.
        ty: TypeExpr,
    },
    /// `{body : p1 in s1; … | filter}`.
    Each {
        /// Whether it is written `{* …}`, for one element after the other.
        is_serial: bool,
        /// The body; the value of the first pattern if absent.
        body: Option<Box<Expr>>,
        /// The sources, walked together.
        sources: Vec<Source>,
        /// Which elements to keep.
        filter: Option<Box<Expr>>,
    },
    /// Unreadable; reported.
    Error,
}

/// `pattern = value` in a `let`.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The names bound.
    pub pattern: Pattern,
    /// Their value.
    pub value: Expr,
}

/// `pattern in sequence`, or a bare `name` for `name in name`, in an apply-to-each.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The names bound to each element.
    pub pattern: Pattern,
    /// The sequence; the variable of the same name if absent.
    pub sequence: Option<Expr>,
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Negate,
    /// `#`
    Length,
    /// `@`
    String,
}

impl UnaryOp {
    /// The library function that the operator calls.
    pub fn function(self) -> &'static str {
        match self {
            UnaryOp::Negate => "negate",
            UnaryOp::Length => "length",
            UnaryOp::String => "string",
        }
    }
}

/// Infix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the token says it all: see BinaryOp::function")]
pub enum BinaryOp {
    Read,
    Write,
    Power,
    Multiply,
    Divide,
    Pad,
    Add,
    Subtract,
    Append,
    Equal,
    Unequal,
    Less,
    Greater,
    AtMost,
    AtLeast,
    And,
    Nand,
    Or,
    Nor,
    Xor,
}

impl BinaryOp {
    /// The library function that the operator calls: its own token.
    pub fn function(self) -> &'static str {
        match self {
            BinaryOp::Read => "->",
            BinaryOp::Write => "<-",
            BinaryOp::Power => "^",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Pad => "||",
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Append => "++",
            BinaryOp::Equal => "==",
            BinaryOp::Unequal => "/=",
            BinaryOp::Less => "<",
            BinaryOp::Greater => ">",
            BinaryOp::AtMost => "<=",
            BinaryOp::AtLeast => ">=",
            BinaryOp::And => "and",
            BinaryOp::Nand => "nand",
            BinaryOp::Or => "or",
            BinaryOp::Nor => "nor",
            BinaryOp::Xor => "xor",
        }
    }
}
