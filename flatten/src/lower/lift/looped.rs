//! Loops: lifted functions that can come back to themselves by calls that end them ([`nesl_frontend::core::tail`]).
//!
//! Their instances do not return through as many merges as there were steps. The body runs for those that are left; who
//! leaves writes its results where they belong, and the others begin again, in a call that ends the function:
//!
//! ```text
//! f/L n x:
//!     f/L/loop n n (iota n) x (room for the results of n)
//! f/L/loop m n at x out:
//!     the body on m instances; `at` says which of the n they are
//!     at an end with the value r:        out becomes scatter out at r
//!     at an end with a step to f on x':  (at, x') go on
//!     if nobody goes on:                 out
//!     if half of the n or fewer do:      scatter out at (each f on x')
//!     else:                              f/L/loop m' n at' x' out
//! ```
//!
//! So a loop takes no depth, and no memory but for the instances that are left and for the results; a step costs what
//! it does for those that take it. Where half of them have left, the rest is an `each` of its own: the machine chooses
//! anew how to run them. Calls are no deeper than the logarithm of n by that.
//!
//! Functions that end by calling one another have a loop each, and go on with those of the others ([`super::onward`]).
//! What instances print is carried along, as the seed is.

use super::onward::{Onward, Target};
use super::room::Room;
use crate::free;
use crate::instance::Version;
use crate::lower::state::state_type;
use crate::lower::{Context, Lowering};
use crate::supply::Supply;
use crate::value::{Pattern, Value};
use nesl_frontend::core::effects::Effect;
use nesl_frontend::core::{Expr, ExprKind, FunctionId, VariableId, tail};
use nesl_frontend::ty::Type;
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::{Block, Operand, VectorOp};
use std::sync::Arc;

/// The loop whose body is being made.
pub(crate) struct Looping {
    pub(super) function: FunctionId,
    body: Arc<Expr>,
    /// Its argument, as it is at the beginning of the body.
    parameter: Value,
    /// What it gives, the state after it included.
    pub(super) result_type: Type,
    pub(super) effect: Effect,
    /// How many instances there were at the beginning.
    pub(super) all: Operand,
    /// Which of them the instances are for which code is being made.
    at: Operand,
    /// The results of those that have left.
    pub(super) room: Room,
    /// Those that go on.
    pub(super) onward: Vec<Onward>,
}

/// A block that ends, or may end, instances: what it has besides its instructions.
struct Branch {
    block: Block,
    room: Room,
    onward: Vec<Onward>,
}

impl Lowering<'_, '_> {
    /// The results of a lifted function that is a loop, as those of the loop itself.
    pub(crate) fn enter_loop(
        &mut self,
        target: &Target,
        argument: Value,
        result_type: &Type,
        effect: Effect,
        count: Operand,
    ) -> Vec<Operand> {
        let result_type = with_state(result_type, effect);
        let at = self.builder.vector(VectorOp::Iota, &[count]);
        let room = Room::new(self, &result_type, count);
        let seed = if effect.draws { self.seed.clone() } else { None };
        let text = effect.prints.then(|| self.literal_text(""));
        let text = text.map(|text| self.lift(text, count));
        let onward = Onward {
            target: target.clone(),
            span: self.builder.current_span(),
            count,
            at,
            state: seed.into_iter().chain(text).collect(),
            argument,
        };
        let room = self.go_on_with(&onward, count, &room, &result_type);
        room.into_value(self).operands()
    }

    /// The parameters of a loop, between the number of its instances and the results so far.
    pub(crate) fn loop_parameters(
        &mut self,
        argument_type: &Type,
        pattern: &Pattern,
        effect: Effect,
    ) -> (Operand, Operand, Value) {
        let all = self.parameter(&Type::INT, &Pattern::Part(false)).operand();
        let at = self.parameter(&Type::INT, &Pattern::Part(true)).operand();
        if effect.draws {
            self.seed = Some(self.parameter(&Type::INT, &Pattern::Part(true)));
        }
        if effect.prints {
            self.printed = Some(self.parameter(&Type::sequence(Type::CHAR), &Pattern::Part(true)));
        }
        (all, at, self.parameter(argument_type, pattern))
    }

    /// The parameters of a loop for the results so far, with their type.
    pub(crate) fn room_parameter(&mut self, result_type: &Type, effect: Effect) -> (Room, Type, Effect) {
        let ty = with_state(result_type, effect);
        let registers: Vec<Operand> =
            Room::registers(&ty).into_iter().map(|register| self.builder.parameter(register).into()).collect();
        (Room::of(&ty, &mut Supply::of(registers)), ty, effect)
    }

    /// The results of a loop: its body, for so many instances, and what comes after it. `all` of them there were at
    /// first.
    pub(crate) fn loop_body(
        &mut self,
        (function, body): (FunctionId, &Arc<Expr>),
        (all, at, parameter): (Operand, Operand, Value),
        (room, result_type, effect): (Room, Type, Effect),
        count: Operand,
    ) -> Vec<Operand> {
        let body = Arc::clone(body);
        let onward = Vec::new();
        let looping =
            Looping { function, body: Arc::clone(&body), parameter, result_type, effect, all, at, room, onward };
        self.looping = Some(looping);
        self.end(&body, count);
        self.go_on()
    }

    pub(super) fn looping(&mut self) -> &mut Looping {
        self.looping.as_mut().unwrap_or_else(|| panic!("the end of a loop where there is none"))
    }

    /// The instructions for an expression that ends the loop, for so many instances.
    fn end(&mut self, expr: &Expr, count: Operand) {
        let outer = self.builder.set_span(expr.span);
        self.end_kind(expr, count);
        self.builder.set_span(outer);
    }

    fn end_kind(&mut self, expr: &Expr, count: Operand) {
        let (program, context) = (self.instances.program, Context::Lifted(count));
        let caller = self.looping().function;
        if !self.instances.steps.has_step(program, expr, caller) {
            let value = self.eval(expr, context);
            return self.leave(value, count);
        }
        match &expr.kind {
            ExprKind::Let { variable, value, body } => {
                let value = self.eval(value, context);
                self.environment.insert(variable.id, value);
                self.end(body, count);
            }
            ExprKind::If { condition, then_branch, else_branch } => {
                let condition = self.eval(condition, context);
                self.end_conditional(&condition, [then_branch, else_branch], count);
            }
            ExprKind::Construct(inner) | ExprKind::Payload(inner) => self.end(inner, count),
            ExprKind::Call { function, type_arguments, argument } => {
                if let Some((source, left, right)) = tail::connective(program, expr) {
                    let left = self.eval(left, context);
                    let decided = ScalarValue::Bool(source == "or");
                    let decided = Expr { kind: ExprKind::Literal(decided), ty: Type::BOOL, span: expr.span };
                    let branches = if source == "or" { [&decided, right] } else { [right, &decided] };
                    return self.end_conditional(&left, branches, count);
                }
                let type_arguments = type_arguments.iter().map(|ty| ty.instantiate(&self.type_arguments)).collect();
                self.step(expr, *function, type_arguments, argument, count);
            }
            _ => unreachable!("what has a step is a binding, a conditional or a call"),
        }
    }

    /// Instances leave with a value.
    fn leave(&mut self, value: Value, count: Operand) {
        let value = self.lift(value, count);
        let effect = self.looping().effect;
        let value = match self.state(effect, Context::Lifted(count)) {
            Some(state) => Value::pair(value, state),
            None => value,
        };
        let (at, room) = (self.looping().at, self.looping().room.clone());
        let room = room.filled(self, at, &value);
        self.looping().room = room;
    }

    /// Instances call a function that can come back to this one.
    fn step(&mut self, expr: &Expr, function: FunctionId, type_arguments: Vec<Type>, argument: &Expr, count: Operand) {
        let context = Context::Lifted(count);
        let argument_type = self.type_of(argument);
        let argument = self.eval(argument, context);
        let effect = self.instances.effects.function(function);
        // Where all instances do the same it is done once; and what gives something else is no loop with this one.
        if with_state(&self.type_of(expr), effect) != self.looping().result_type
            || self.version(&argument, effect, context) == Version::Serial
        {
            let value = self.call_on(expr, function, type_arguments, argument, &argument_type, context);
            return self.leave(value, count);
        }
        let program = self.instances.program;
        let body = Arc::clone(&self.looping().body);
        let caller = self.looping().function;
        let is_only = self.instances.steps.count(program, &body, caller, function) == 1;
        let own = self.looping().parameter.clone();
        let is_own = function == caller && type_arguments == self.type_arguments;
        let argument = self.aligned(argument, is_own.then_some(&own), is_only, count);
        let text = effect.prints.then(|| self.printed.take().unwrap_or_else(|| self.literal_text("")));
        let text = text.map(|text| self.lift(text, count));
        let seed = if effect.draws { self.seed.clone() } else { None };
        let target = Target { function, type_arguments, pattern: argument.pattern() };
        let span = self.builder.current_span();
        let state = seed.into_iter().chain(text).collect();
        let at = self.looping().at;
        self.looping().onward.push(Onward { target, span, count, at, state, argument });
    }

    /// An argument of a step so that it fits with others: what is lifted in the function's own is lifted; what is the
    /// same for all instances stays so if this step is the only one, or if it is what the function got.
    fn aligned(&mut self, argument: Value, own: Option<&Value>, is_only: bool, count: Operand) -> Value {
        match (argument, own) {
            (Value::Pair(first, rest), own) => {
                let own = own.map(|own| own.clone().into_pair());
                let first = self.aligned(*first, own.as_ref().map(|own| &own.0), is_only, count);
                Value::pair(first, self.aligned(*rest, own.as_ref().map(|own| &own.1), is_only, count))
            }
            (argument, own) => {
                let is_own = own.is_some_and(|own| own.operands() == argument.operands());
                let is_lifted = own.is_some_and(|own| !own.is_invariant());
                if is_lifted || !(is_only || is_own) { self.lift(argument, count) } else { argument }
            }
        }
    }

    /// Instances take one of two branches.
    fn end_conditional(&mut self, condition: &Value, [then_branch, else_branch]: [&Expr; 2], count: Operand) {
        match (condition.operand(), condition.is_invariant()) {
            (Operand::Constant(ScalarValue::Bool(chosen)), _) => {
                self.end(if chosen { then_branch } else { else_branch }, count);
            }
            (condition, true) => {
                let when_true = self.branch_of_loop(|lowering| lowering.end(then_branch, count));
                let when_false = self.branch_of_loop(|lowering| lowering.end(else_branch, count));
                self.one_of(condition, when_true, when_false);
            }
            (flags, false) => {
                let ones = self.builder.map(ScalarOp::BoolToInt, &[flags]);
                let trues = self.builder.vector(VectorOp::Reduce(ScalarOp::AddInt), &[ones]);
                let falses = self.builder.scalar(ScalarOp::SubtractInt, &[count, trues]);
                let others = self.builder.map(ScalarOp::NotBool, &[flags]);
                self.end_some(then_branch, flags, trues, falses);
                self.end_some(else_branch, others, falses, trues);
            }
        }
    }

    /// One branch, for the instances whose flag is true, if there are any.
    fn end_some(&mut self, branch: &Expr, flags: Operand, own: Operand, others: Operand) {
        let (none, all) = (self.is_zero(own), self.is_zero(others));
        let room = self.looping().room.clone();
        let nobody = Branch { block: Block::new(Vec::new(), Vec::new()), room, onward: Vec::new() };
        let somebody = self.branch_of_loop(|lowering| {
            let outer: Vec<(VariableId, Value)> = free::variables([branch])
                .into_iter()
                .map(|id| (id, lowering.environment[&id].clone()))
                .filter(|(_, value)| !value.is_invariant())
                .collect();
            let at = lowering.looping().at;
            let mut values: Vec<Value> = outer.iter().map(|(_, value)| value.clone()).collect();
            values.push(Value::column(at, ScalarType::Int));
            let has_seed = lowering.looping().effect.draws;
            values.extend(lowering.seed.clone().filter(|_| has_seed));
            let has_text = lowering.printed.is_some();
            values.extend(lowering.printed.clone());
            let mut restricted = Supply::of(lowering.restrict_unless(all, &values, flags));
            for (id, _) in &outer {
                lowering.environment.insert(*id, restricted.next());
            }
            lowering.looping().at = restricted.next().operand();
            if has_seed {
                lowering.seed = Some(restricted.next());
            }
            if has_text {
                lowering.printed = Some(restricted.next());
            }
            lowering.end(branch, own);
            lowering.environment.extend(outer);
            lowering.looping().at = at;
        });
        self.one_of(none, nobody, somebody);
    }

    /// What some instructions, which end instances, are as a block; the state is as before.
    fn branch_of_loop(&mut self, emit: impl FnOnce(&mut Self)) -> Branch {
        let before = (self.seed.clone(), self.printed.clone(), self.looping().room.clone());
        let onward = std::mem::take(&mut self.looping().onward);
        self.builder.begin_block();
        emit(self);
        let block = self.builder.end_block(Vec::new());
        let room;
        (self.seed, self.printed, room) = before;
        let room = std::mem::replace(&mut self.looping().room, room);
        let onward = std::mem::replace(&mut self.looping().onward, onward);
        Branch { block, room, onward }
    }

    /// One of two blocks runs: its results are there, and its instances go on, nobody else's.
    fn one_of(&mut self, condition: Operand, mut first: Branch, mut second: Branch) {
        let nobody = |lowering: &mut Self, onward: &[Onward]| -> Vec<Operand> {
            onward.iter().flat_map(|onward| onward.nobody(lowering).operands()).collect()
        };
        let (no_first, no_second) = (nobody(self, &first.onward), nobody(self, &second.onward));
        let operands = |onward: &[Onward]| -> Vec<Operand> { onward.iter().flat_map(Onward::operands).collect() };
        let (of_first, of_second) = (operands(&first.onward), operands(&second.onward));
        let room = first.room.operands();
        first.block.results = [room.clone(), of_first.clone(), no_second].concat();
        second.block.results = [second.room.operands(), no_first, of_second.clone()].concat();
        let types: Vec<_> = [room, of_first, of_second].concat();
        let types: Vec<_> = types.into_iter().map(|operand| self.builder.register_type(operand)).collect();
        let mut results = Supply::of(self.builder.if_(condition, first.block, second.block, &types));
        self.looping().room = first.room.with(&mut results);
        for onward in first.onward.iter().chain(&second.onward) {
            let onward = onward.with(&mut results);
            let onward = self.with_own(onward);
            self.looping().onward.push(onward);
        }
    }

    /// Instances whose argument has, where several steps go to this loop and a part is the same for all instances, what
    /// the loop got: nothing else is.
    pub(super) fn with_own(&mut self, mut onward: Onward) -> Onward {
        fn restored(argument: Value, own: &Value) -> Value {
            match (argument, own) {
                (Value::Pair(first, rest), Value::Pair(own_first, own_rest)) => {
                    Value::pair(restored(*first, own_first), restored(*rest, own_rest))
                }
                (argument, own) if argument.is_invariant() => own.clone(),
                (argument, _) => argument,
            }
        }
        let (program, looping) = (self.instances.program, self.looping());
        let (body, caller, own) = (Arc::clone(&looping.body), looping.function, looping.parameter.clone());
        let is_own = onward.target.function == caller && onward.target.type_arguments == self.type_arguments;
        if is_own && self.instances.steps.count(program, &body, caller, caller) > 1 {
            onward.argument = restored(onward.argument, &own);
        }
        onward
    }
}

/// The type of a value with the state after it.
pub(crate) fn with_state(ty: &Type, effect: Effect) -> Type {
    match state_type(effect, true) {
        Some(state) => Type::pair(ty.clone(), state),
        None => ty.clone(),
    }
}
