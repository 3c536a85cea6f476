//! Expressions of core to instructions.
//!
//! One [`Lowering`] makes one function of VCODE: an instance of a source function at concrete types, in its serial
//! version or in a lifted one. The rules are in `lift`, one family per file; this file holds what they share and the
//! rules that need no family of their own.
//!
//! # Invariants
//! * Code in a lifted context runs only where there is at least one instance: [`Lowering::guarded`] sees to it at every
//!   apply-to-each, and conditionals run a branch only if an instance takes it, or if nothing in it is a hazard. So
//!   recursion ends, and a computation on invariant values may be done once in a lifted context: every instance would
//!   have done it.
//! * *Hazards* are instructions that must not run where there are no instances: calls, and serial computations that can
//!   fail or cost. An apply-to-each whose body has none needs no guard.
//! * Elements are computed on one by one only after `compact`: elements outside the segments are nobody's.

pub(crate) mod lift;
pub(crate) mod packing;
pub(crate) mod repr;
mod state;
pub(crate) mod written_back;

use crate::instance::{Instances, Version};
use crate::supply::Supply;
use crate::value::{Pattern, Value};
use lift::looped::Looping;
use nesl_frontend::core::effects::Effect;
use nesl_frontend::core::{Expr, ExprKind, GlobalId, VariableId};
use nesl_frontend::ty::Type;
use nesl_prim::ScalarOp;
use nesl_span::Span;
use nesl_vcode::build::FunctionBuilder;
use nesl_vcode::{Block, Constants, Operand, VectorOp};
use repr::int;
use state::state_type;
use std::collections::{HashMap, HashSet};
use written_back::Whereabouts;

/// For how many instances code computes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Context {
    /// One.
    Serial,
    /// As many as this int says, at least one at run time.
    Lifted(Operand),
}

impl Context {
    pub(crate) fn is_lifted(self) -> bool {
        matches!(self, Context::Lifted(_))
    }
}

/// A function of VCODE in the making.
pub(crate) struct Lowering<'a, 'p> {
    pub(crate) instances: &'a mut Instances<'p>,
    pub(crate) builder: FunctionBuilder,
    /// What the type parameters of the source function stand for.
    pub(crate) type_arguments: Vec<Type>,
    pub(crate) environment: HashMap<VariableId, Value>,
    pub(crate) globals: HashMap<GlobalId, Value>,
    /// The current seed of the random numbers, in functions that draw: lifted in a lifted context.
    pub(crate) seed: Option<Value>,
    /// What the instances of this lifted code have printed since it began; nothing in serial code, which prints at
    /// once.
    pub(crate) printed: Option<Value>,
    /// Whether the instructions since the last guard include a hazard.
    pub(crate) hazard: bool,
    /// Whether the function has scalars alone to do with: conditionals in it are no functions of their own.
    pub(crate) is_scalar_function: bool,
    /// By the number of instances of a branch that is merged in the loop around it, their flags among more instances,
    /// and how many these are.
    pub(crate) joined: HashMap<Operand, (Operand, Operand)>,
    /// The loop that the function is, if it is one.
    pub(crate) looping: Option<Looping>,
    /// Where values were taken from.
    pub(crate) whereabouts: Whereabouts,
    /// Descriptors whose segments are known to lie one after another, with nothing between them.
    pub(crate) packed: HashSet<Operand>,
    /// Whether all that the function gives is packed, and so what it takes: see [`packing`].
    pub(crate) gives_packed: bool,
    /// Whether instructions keep the place of what is around them.
    pub(crate) span_stays: bool,
}

impl<'a, 'p> Lowering<'a, 'p> {
    pub(crate) fn new(instances: &'a mut Instances<'p>, name: &str, span: Span, type_arguments: Vec<Type>) -> Self {
        Lowering {
            instances,
            builder: FunctionBuilder::new(name, span),
            type_arguments,
            environment: HashMap::new(),
            globals: HashMap::new(),
            seed: None,
            printed: None,
            hazard: false,
            is_scalar_function: false,
            joined: HashMap::new(),
            looping: None,
            whereabouts: Whereabouts::default(),
            packed: HashSet::new(),
            gives_packed: false,
            span_stays: false,
        }
    }

    /// The concrete type of an expression.
    pub(crate) fn type_of(&self, expr: &Expr) -> Type {
        expr.ty.instantiate(&self.type_arguments)
    }

    /// Adds parameters for a value.
    pub(crate) fn parameter(&mut self, ty: &Type, pattern: &Pattern) -> Value {
        let registers: Vec<Operand> =
            pattern.registers(ty).into_iter().map(|register| self.builder.parameter(register).into()).collect();
        let value = pattern.value(ty, &mut Supply::of(registers));
        self.measured(value)
    }

    /// The same value, whose sequences have their lengths from their elements, not from the parameters that say so,
    /// too: then passes know that they are equal.
    fn measured(&mut self, value: Value) -> Value {
        match value {
            Value::Pair(first, rest) => {
                let first = self.measured(*first);
                Value::pair(first, self.measured(*rest))
            }
            Value::Sequence { lifted: false, elements, extent } => {
                let length = match first_component(&elements) {
                    Some((column, true)) => self.builder.vector(VectorOp::Segments, &[column]),
                    Some((column, false)) => self.builder.vector(VectorOp::Length, &[column]),
                    None => extent,
                };
                Value::sequence(length, *elements)
            }
            other => other,
        }
    }

    /// The instructions for an expression; its value.
    pub(crate) fn eval(&mut self, expr: &Expr, context: Context) -> Value {
        let span = if self.span_stays { self.builder.current_span() } else { expr.span };
        let outer = self.builder.set_span(span);
        let value = self.eval_kind(expr, context);
        self.builder.set_span(outer);
        value
    }

    fn eval_kind(&mut self, expr: &Expr, context: Context) -> Value {
        match &expr.kind {
            ExprKind::Literal(value) => Value::scalar(Operand::Constant(*value), value.scalar_type()),
            ExprKind::Unit => Value::Nothing,
            ExprKind::Constants(values) => {
                let scalar_type = self.type_of(expr).element().scalar();
                let column = self.builder.constants(Constants::from_scalars(scalar_type, values));
                Value::sequence(int(values.len() as i64), Value::column(column, scalar_type))
            }
            ExprKind::Variable(id) => match self.environment.get(id) {
                Some(value) => value.clone(),
                None => panic!("variable {id:?} is not in scope: core is resolved"),
            },
            ExprKind::Global(id) => match self.globals.get(id) {
                Some(value) => value.clone(),
                None => panic!("global {id:?} is not a parameter of its function"),
            },
            ExprKind::Pair(first, rest) => {
                let first = self.eval(first, context);
                Value::pair(first, self.eval(rest, context))
            }
            ExprKind::Construct(inner) | ExprKind::Payload(inner) => self.eval(inner, context),
            ExprKind::Closure { captured, .. } => {
                let captured: Vec<Value> = captured.iter().map(|captured| self.eval(captured, context)).collect();
                let tuple = captured.into_iter().rev().reduce(|rest, first| Value::pair(first, rest));
                tuple.unwrap_or(Value::Nothing)
            }
            ExprKind::First(pair) => self.eval(pair, context).into_pair().0,
            ExprKind::Rest(pair) => self.eval(pair, context).into_pair().1,
            ExprKind::Let { variable, value, body } => {
                let value = self.eval(value, context);
                self.environment.insert(variable.id, value);
                self.eval(body, context)
            }
            ExprKind::If { condition, then_branch, else_branch } => {
                if let Context::Lifted(count) = context
                    && let Some(value) = self.part(expr, count)
                {
                    return value;
                }
                let condition = self.eval(condition, context);
                self.conditional(expr, condition, then_branch, else_branch, context)
            }
            ExprKind::Sequence(elements) => self.sequence(expr, elements, context),
            ExprKind::Call { function, type_arguments, argument } => {
                let type_arguments = type_arguments.iter().map(|ty| ty.instantiate(&self.type_arguments)).collect();
                self.call(expr, *function, type_arguments, argument, context)
            }
            ExprKind::Apply { function, argument } => self.apply(expr, function, argument, context),
            ExprKind::Each { sources, filter, body } => self.each(expr, sources, filter.as_deref(), body, context),
        }
    }

    fn sequence(&mut self, expr: &Expr, elements: &[Expr], context: Context) -> Value {
        let ty = self.type_of(expr);
        let element_type = ty.element();
        let length = int(elements.len() as i64);
        if elements.is_empty() {
            let elements = self.empty(element_type);
            return Value::sequence(length, elements);
        }
        let values: Vec<Value> = elements.iter().map(|element| self.eval(element, context)).collect();
        match context {
            Context::Lifted(count) if !values.iter().all(Value::is_invariant) => {
                let lifted: Vec<Value> = values.into_iter().map(|value| self.lift(value, count)).collect();
                let elements = self.move_elements(&lifted.iter().collect::<Vec<_>>(), &mut |lowering, columns| {
                    lowering.builder.vector(VectorOp::Interleave, columns)
                });
                let lengths = self.builder.vector(VectorOp::Dist, &[length, count]);
                Value::segments(self.packed(lengths), elements)
            }
            _ => {
                self.serial_work(context);
                Value::sequence(length, self.build(&values))
            }
        }
    }

    /// Notes that a computation on invariant values, which can fail or cost, is about to be emitted.
    pub(crate) fn serial_work(&mut self, context: Context) {
        self.hazard |= context.is_lifted();
    }

    /// The value of `expr` for `count` instances, lifted throughout; of none, without evaluating it, where there are
    /// none and that matters. The state of the instances becomes that after it.
    pub(crate) fn guarded(&mut self, expr: &Expr, count: Operand) -> Value {
        let ty = self.type_of(expr);
        let effect = self.instances.effects.expr(expr);
        let context = Context::Lifted(count);
        let outer_hazard = std::mem::replace(&mut self.hazard, false);
        let printed = self.printed.take();
        self.builder.begin_block();
        let value = self.eval(expr, context);
        let value = self.lift(value, count);
        let results = self.results(&value, effect, context);
        let block = self.builder.end_block(results);
        self.printed = printed;
        let hazard = std::mem::replace(&mut self.hazard, outer_hazard);
        let pattern = Pattern::uniform(&ty, true);
        let surely_some = matches!(count, Operand::Constant(_)) && count != int(0);
        if !hazard || surely_some {
            let operands = self.builder.splice(block);
            return self.take_results(operands, &ty, &pattern, effect, context);
        }
        let none = self.builder.scalar(ScalarOp::EqualInt, &[count, int(0)]);
        let empty_block = self.empty_block(&ty, effect);
        let registers = self.result_registers(&ty, &pattern, effect, true);
        let operands = self.builder.if_(none, empty_block, block, &registers);
        self.take_results(operands, &ty, &pattern, effect, context)
    }

    /// A block that yields the value of no instances, and their state.
    pub(crate) fn empty_block(&mut self, ty: &Type, effect: Effect) -> Block {
        self.builder.begin_block();
        let mut results = self.empty(ty).operands();
        if let Some(state) = state_type(effect, true) {
            results.extend(self.empty(&state).operands());
        }
        self.builder.end_block(results)
    }

    /// The version of a function for arguments like this one in a context.
    pub(crate) fn version(&self, argument: &Value, effect: Effect, context: Context) -> Version {
        match context {
            Context::Lifted(_) if effect.any() || !argument.is_invariant() => Version::Lifted(argument.pattern()),
            _ => Version::Serial,
        }
    }
}

/// The first component of elements: a descriptor (`true`) or a column; none where they have none.
pub(crate) fn first_component(elements: &Value) -> Option<(Operand, bool)> {
    match elements {
        Value::Scalar { operand, .. } => Some((*operand, false)),
        Value::Sequence { extent, .. } => Some((*extent, true)),
        Value::Pair(first, rest) => first_component(first).or_else(|| first_component(rest)),
        Value::Nothing => None,
    }
}
