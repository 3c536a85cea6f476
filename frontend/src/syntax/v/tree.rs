//! The tree of a V text: what the parser makes, the rules are checked on, and [`super::lower`] turns into the tree that
//! all syntaxes share.

use crate::ast::Name;
use nesl_span::Span;

/// Something at the top of a text.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::syntax::v) struct Item {
    pub kind: ItemKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::syntax::v) enum ItemKind {
    /// `struct point { double x, y; };`
    Struct { name: Name, fields: Vec<Declaration> },
    /// `union value { int i; double d; };`, which there is not.
    Union(Span),
    /// `import "file";`, which the session has read.
    Import,
    /// `int limit = 100;`
    Global(Declaration),
    /// A function, or only its head.
    Function(Box<Function>),
    /// `f(x);`, whose value is shown.
    Expression(Expression),
    /// `x += 1;`, in an input of a session: globals are its variables.
    Statement(Box<Statement>),
    /// Unreadable; reported.
    Error,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::syntax::v) struct Function {
    pub is_pure: bool,
    pub result: Base,
    /// The name, the stars before it, and the dimensions of the result.
    pub declarator: Declarator,
    pub parameters: Vec<(Base, Declarator)>,
    pub body: Option<Vec<Statement>>,
    /// Where the body ends.
    pub end: Span,
}

/// `int a = 1, b[*];`
#[derive(Clone, Debug, PartialEq)]
pub(in crate::syntax::v) struct Declaration {
    pub base: Base,
    pub declarators: Vec<Declarator>,
}

/// The type that a declaration begins with.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::syntax::v) struct Base {
    pub kind: BaseKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::syntax::v) enum BaseKind {
    Int,
    Double,
    Char,
    Bool,
    Void,
    Struct(Name),
    Union(Name),
}

/// A name with what its declaration makes of the type before it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::syntax::v) struct Declarator {
    /// Where the stars before the name stand.
    pub pointers: Vec<Span>,
    /// Whether the stars are in parentheses: `(*p)[*]`, a pointer to a vector and no vector of pointers.
    pub is_grouped: bool,
    pub name: Name,
    pub dimensions: Vec<Dimension>,
    pub initial: Option<Expression>,
    pub span: Span,
}

/// `[*]`, `[10]` or `[]`.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::syntax::v) struct Dimension {
    pub kind: DimensionKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::syntax::v) enum DimensionKind {
    /// `[*]`: a vector of any length.
    Any,
    /// `[10]`: a vector of this length.
    Fixed(i64),
    /// `[]`: an array whose length nobody knows, which V does not have.
    Unknown,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::syntax::v) struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::syntax::v) enum StatementKind {
    Block(Vec<Statement>),
    Declaration(Declaration),
    /// `target = value`, `target += value`, `target++`.
    Assignment {
        target: Expression,
        /// The operator of `+=` and its like, and where it stands.
        operator: Option<(&'static str, Span)>,
        value: Expression,
    },
    Expression(Expression),
    If {
        condition: Expression,
        then_branch: Box<Statement>,
        else_branch: Option<Box<Statement>>,
    },
    Loop(Box<Loop>),
    Break,
    Continue,
    Return(Option<Expression>),
    Empty,
    /// Unreadable; reported.
    Error,
}

/// `while`, `do` and `for`.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::syntax::v) struct Loop {
    /// What is done once before.
    pub initial: Vec<Statement>,
    /// The condition, where there is one.
    pub condition: Option<Expression>,
    /// Whether the condition comes after the body.
    pub is_do: bool,
    /// What is done after the body, and by `continue`.
    pub step: Vec<Statement>,
    pub body: Statement,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::syntax::v) struct Expression {
    pub kind: ExpressionKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::syntax::v) enum ExpressionKind {
    Int(i64),
    Double(f64),
    Char(u8),
    Bool(bool),
    Text(Vec<u8>),
    Name(Name),
    Call {
        function: Name,
        arguments: Vec<Expression>,
    },
    Index(Box<Expression>, Box<Expression>),
    Field(Box<Expression>, Name),
    /// `-e`, `!e`, `~e`, `$e`, `&e`, `*e`, with the place of the operator.
    Unary(&'static str, Span, Box<Expression>),
    Binary(&'static str, Span, Box<Expression>, Box<Expression>),
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `[1, 2]`
    Vector(Vec<Expression>),
    /// `{1, 2}` after `=`, or after the name of a struct in parentheses.
    Braces(Option<Name>, Vec<Expression>),
    Each {
        body: Box<Expression>,
        sources: Vec<(Name, Expression)>,
        filter: Option<Box<Expression>>,
    },
    /// `(int) e`
    Cast(Base, Box<Expression>),
    /// Unreadable; reported.
    Error,
}
