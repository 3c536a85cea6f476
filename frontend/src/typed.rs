//! The tree that inference makes and elaboration reads: names resolved, operators and ranges turned into calls, every
//! type a [`TypeId`] that may still be refined. Patterns and apply-to-each are as in the source.

pub mod types;

use crate::ast::Symbol;
use crate::core::{FunctionId, GlobalId, VariableId};
use nesl_prim::ScalarValue;
use nesl_span::Span;
use std::sync::Arc;
use types::TypeId;

/// An expression.
#[derive(Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub ty: TypeId,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Debug)]
pub enum ExprKind {
    /// A scalar.
    Literal(ScalarValue),
    /// A string, or a sequence literal of constants.
    Constants(Arc<[ScalarValue]>),
    /// A local variable.
    Local(VariableId),
    /// A global.
    Global(GlobalId),
    /// `()`.
    Unit,
    /// A pair; tuples nest to the right.
    Pair(Box<Expr>, Box<Expr>),
    /// A record of its payload.
    Construct(Box<Expr>),
    /// A named function as a value.
    Function(Callee),
    /// A lambda.
    Lambda {
        /// The function that it becomes.
        function: FunctionId,
        /// Its parameter.
        parameter: Box<Pattern>,
        /// Its value.
        body: Box<Expr>,
        /// The variables from around it that it mentions, with their types, in order of mention.
        captured: Vec<(VariableId, TypeId)>,
    },
    /// The call of a function value.
    Apply {
        /// The function value.
        function: Box<Expr>,
        /// Its argument.
        argument: Box<Expr>,
    },
    /// A call.
    Call {
        /// The function.
        callee: Callee,
        /// Its argument.
        argument: Box<Expr>,
    },
    /// A conditional.
    If {
        /// The condition.
        condition: Box<Expr>,
        /// The value where it holds.
        then_branch: Box<Expr>,
        /// The value where it does not.
        else_branch: Box<Expr>,
    },
    /// Bindings, each visible in the later ones.
    Let {
        /// The bindings.
        bindings: Vec<(Pattern, Expr)>,
        /// The value.
        body: Box<Expr>,
    },
    /// A sequence by its elements; none for `[]`.
    Sequence(Vec<Expr>),
    /// Apply-to-each.
    Each {
        /// What is walked.
        sources: Vec<(Pattern, Expr)>,
        /// Which elements to keep.
        filter: Option<Box<Expr>>,
        /// The value for each.
        body: Box<Expr>,
    },
    /// Reported.
    Error,
}

/// What is called.
#[derive(Clone, Debug)]
pub enum Callee {
    /// A function whose scheme is known.
    Instance {
        /// The function.
        function: FunctionId,
        /// Its type arguments.
        type_arguments: Vec<TypeId>,
    },
    /// A function of the group being checked, by the number of its form: monomorphic until the group is done.
    Group(usize),
    /// A function made for a part of a form of the group: it has the type parameters of that form's function.
    Within(FunctionId, usize),
}

/// A pattern.
#[derive(Debug)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// The type of what it takes apart.
    pub ty: TypeId,
    /// Where it stands.
    pub span: Span,
}

/// One step on the way from a value to a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the first part of a pair.
    First,
    /// To the second part of a pair.
    Rest,
    /// To the payload of a record.
    Payload,
}

/// What is called for a variable of a pattern: its number, name, place with its type, and path.
type Visit<'v> = &'v mut dyn FnMut(VariableId, &Symbol, &Pattern, &[Step]);

/// The kinds of patterns.
#[derive(Debug)]
pub enum PatternKind {
    /// A variable.
    Variable(VariableId, Symbol),
    /// `()`.
    Unit,
    /// A pair.
    Pair(Box<Pattern>, Box<Pattern>),
    /// A record, by its payload.
    Record(Box<Pattern>),
    /// Reported.
    Error,
}

impl Expr {
    /// The first `count` parts of a right-nested tuple, the last one with all that follows.
    pub fn parts(&self, count: usize) -> Vec<&Expr> {
        let mut parts = Vec::new();
        let mut rest = self;
        while parts.len() + 1 < count
            && let ExprKind::Pair(first, tail) = &rest.kind
        {
            parts.push(&**first);
            rest = tail;
        }
        parts.push(rest);
        parts
    }
}

impl Pattern {
    /// The expression that has the pattern's shape and the values of its variables.
    pub fn to_expr(&self) -> Expr {
        let kind = match &self.kind {
            PatternKind::Variable(id, _) => ExprKind::Local(*id),
            PatternKind::Unit => ExprKind::Unit,
            PatternKind::Pair(first, rest) => ExprKind::Pair(Box::new(first.to_expr()), Box::new(rest.to_expr())),
            PatternKind::Record(payload) => ExprKind::Construct(Box::new(payload.to_expr())),
            PatternKind::Error => ExprKind::Error,
        };
        Expr { kind, ty: self.ty, span: self.span }
    }

    /// Calls `visit` with each variable of the pattern, its type, place and path.
    pub fn for_each_variable(&self, visit: Visit<'_>) {
        self.walk(&mut Vec::new(), visit);
    }

    fn walk(&self, path: &mut Vec<Step>, visit: Visit<'_>) {
        match &self.kind {
            PatternKind::Variable(id, name) => visit(*id, name, self, path),
            PatternKind::Pair(first, rest) => {
                path.push(Step::First);
                first.walk(path, visit);
                path.pop();
                path.push(Step::Rest);
                rest.walk(path, visit);
                path.pop();
            }
            PatternKind::Record(payload) => {
                path.push(Step::Payload);
                payload.walk(path, visit);
                path.pop();
            }
            PatternKind::Unit | PatternKind::Error => {}
        }
    }
}
