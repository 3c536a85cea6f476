//! What may be computed for instances that do not need it.
//!
//! To split instances by flags moves every element of what a branch reads and of what it gives; to compute a few
//! operations more for all of them and select moves nothing, and what is selected stays in one loop with all around
//! it. So a branch is computed for all if that cannot be told but by its time: it has only scalars to do with, no
//! operation in it can fail, draws, prints or reads a sequence, and it ends, that is, it calls no function that is
//! being called. Conditionals, `let`, `==` and calls in it change nothing: of nested branches all are computed.
//!
//! Operations count by what they cost in machine code; those of a function that is called count where it is called.
//! Both branches of a conditional together may count [`LIMIT`], which is about what splitting costs for one element.
//!
//! Branches that have only scalars to do with, but may fail or read an element of a sequence, need not be kept from
//! instances that do not take them by asking first whether any does: on none of them they do nothing. They may count
//! [`JOINED`], beyond which one question is cheap beside them.

use crate::lower::Lowering;
use nesl_frontend::core::{Expr, ExprKind, FunctionBody, FunctionId, Intrinsic};
use nesl_frontend::ty::Type;
use nesl_prim::{Cost, ScalarOp, ScalarValue};

/// What operations that are computed in vain may count together.
const LIMIT: usize = 24;

/// What operations of branches may count that become part of the loop around them: those of a dozen reads in two
/// dimensions do. A loop with more is long to compile.
const JOINED: usize = 256;

/// What branches have to be.
#[derive(Clone, Copy, PartialEq)]
enum Demand {
    /// Computed by one instance that may not need it, for less than a branch costs.
    Straight,
    /// Computed for instances that do not need it.
    Total,
    /// Computed for those that need it alone, by operations at the index of a loop.
    AtIndex,
}

/// What an operation counts.
fn weight(op: ScalarOp) -> usize {
    match op.row().cost {
        Cost::Direct => 1,
        Cost::Several => 2,
        Cost::Call => 8,
        Cost::Long => 12,
    }
}

impl Lowering<'_, '_> {
    /// Whether these expressions may be computed for all instances, whichever of them need which.
    pub(crate) fn is_speculable<'e>(&self, parts: impl IntoIterator<Item = &'e Expr>) -> bool {
        self.speculates(parts, Demand::Total)
    }

    /// Whether these branches can be parts of the loop around them.
    pub(crate) fn is_joinable<'e>(&self, parts: impl IntoIterator<Item = &'e Expr>) -> bool {
        self.speculates(parts, Demand::AtIndex)
    }

    /// Whether an expression may be computed by one instance that may not need it: there a branch moves nothing, so what
    /// has branches or calls is not.
    pub(crate) fn is_speculable_for_one(&self, part: &Expr) -> bool {
        self.speculates([part], Demand::Straight)
    }

    fn speculates<'e>(&self, parts: impl IntoIterator<Item = &'e Expr>, demand: Demand) -> bool {
        let left = if demand == Demand::AtIndex { JOINED } else { LIMIT };
        let mut speculation = Speculation { lowering: self, demand, left, callers: Vec::new() };
        parts.into_iter().all(|part| speculation.accepts(part, &self.type_arguments))
    }
}

/// A look at expressions that may become speculative.
struct Speculation<'a, 'b, 'p> {
    lowering: &'a Lowering<'b, 'p>,
    /// What they have to be.
    demand: Demand,
    /// What further operations may count.
    left: usize,
    /// The functions whose bodies are being looked at.
    callers: Vec<FunctionId>,
}

impl Speculation<'_, '_, '_> {
    /// Whether an expression may be, of a function with these type arguments.
    fn accepts(&mut self, expr: &Expr, types: &[Type]) -> bool {
        has_scalars_only(&expr.ty.instantiate(types)) && self.accepts_kind(&expr.kind, types)
    }

    fn accepts_kind(&mut self, kind: &ExprKind, types: &[Type]) -> bool {
        match kind {
            ExprKind::Literal(_) | ExprKind::Variable(_) | ExprKind::Global(_) => true,
            ExprKind::Pair(first, rest) => self.accepts(first, types) && self.accepts(rest, types),
            ExprKind::First(inner) | ExprKind::Rest(inner) | ExprKind::Construct(inner) | ExprKind::Payload(inner) => {
                self.accepts(inner, types)
            }
            ExprKind::Let { value, body, .. } => {
                self.demand != Demand::Straight && self.accepts_argument(value, types) && self.accepts(body, types)
            }
            ExprKind::If { condition, then_branch, else_branch } => {
                self.demand != Demand::Straight
                    && self.spend(1)
                    && [condition, then_branch, else_branch].into_iter().all(|part| self.accepts(part, types))
            }
            ExprKind::Call { function, type_arguments, argument } => {
                self.accepts_argument(argument, types) && self.accepts_call(*function, type_arguments, argument, types)
            }
            _ => false,
        }
    }

    /// The same of an argument, in which there may be sequences to read elements of.
    fn accepts_argument(&mut self, argument: &Expr, types: &[Type]) -> bool {
        match &argument.kind {
            ExprKind::Pair(first, rest) => self.accepts_argument(first, types) && self.accepts_argument(rest, types),
            _ => self.accepts(argument, types) || self.accepts_sequence(argument, types),
        }
    }

    /// Whether an expression is a sequence that is there, or one of those in one.
    fn accepts_sequence(&mut self, expr: &Expr, types: &[Type]) -> bool {
        if self.demand != Demand::AtIndex || !matches!(expr.ty.instantiate(types), Type::Sequence(_)) {
            return false;
        }
        match &expr.kind {
            ExprKind::Variable(_) | ExprKind::Global(_) => true,
            ExprKind::Call { function, argument, .. } => {
                let body = &self.lowering.instances.program.function(*function).body;
                matches!(body, FunctionBody::Intrinsic(Intrinsic::Elt))
                    && self.spend(4)
                    && self.accepts_argument(argument, types)
            }
            _ => false,
        }
    }

    fn accepts_call(&mut self, function: FunctionId, own: &[Type], argument: &Expr, types: &[Type]) -> bool {
        let program = self.lowering.instances.program;
        let argument_type = argument.ty.instantiate(types);
        match &program.function(function).body {
            FunctionBody::Intrinsic(Intrinsic::Scalar(source)) => {
                let Some(op) = self.lowering.scalar_operation(source, &argument_type) else { return false };
                let is_total = !op.row().fallible || is_safe(op, argument);
                (is_total || self.demand == Demand::AtIndex) && self.spend(weight(op))
            }
            FunctionBody::Intrinsic(Intrinsic::Elt | Intrinsic::Length) => self.spend(2),
            FunctionBody::Intrinsic(Intrinsic::Equal) => {
                has_scalars_only(&argument_type) && self.spend(scalars(&argument_type))
            }
            // The call counts, too: so the walk through functions that do nothing but call ends.
            FunctionBody::Defined { body, .. }
                if self.demand != Demand::Straight && !self.callers.contains(&function) =>
            {
                let own: Vec<Type> = own.iter().map(|ty| ty.instantiate(types)).collect();
                self.callers.push(function);
                let accepts = self.spend(1) && self.accepts(body, &own);
                self.callers.pop();
                accepts
            }
            _ => false,
        }
    }

    fn spend(&mut self, operations: usize) -> bool {
        let left = self.left.checked_sub(operations);
        self.left = left.unwrap_or(0);
        left.is_some()
    }
}

/// Whether an operation that can fail does not where this is its argument: by its second operand, which is a constant.
fn is_safe(op: ScalarOp, argument: &Expr) -> bool {
    let ExprKind::Pair(_, second) = &argument.kind else { return false };
    matches!(second.kind, ExprKind::Literal(ScalarValue::Int(second)) if op.is_safe_with(second))
}

/// Whether values of a type are made of scalars.
fn has_scalars_only(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) => true,
        Type::Pair(first, rest) => has_scalars_only(first) && has_scalars_only(rest),
        Type::Record(..) => ty.payload().is_some_and(|payload| has_scalars_only(&payload)),
        _ => false,
    }
}

/// How many scalars a value of a type has.
fn scalars(ty: &Type) -> usize {
    match ty {
        Type::Pair(first, rest) => scalars(first) + scalars(rest),
        Type::Record(..) => ty.payload().map_or(0, |payload| scalars(&payload)),
        _ => 1,
    }
}
