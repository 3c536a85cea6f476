//! Conditionals.
//!
//! An invariant condition chooses one branch for all instances. A lifted one splits them:
//!
//! ```text
//! trues = count of the flags
//! a = if trues = 0  then nothing else the then-branch on the instances whose flag is true  (on all, unpacked, if all are)
//! b = if trues = n  then nothing else the else-branch on the others                        (on all, unpacked, if none are)
//! if trues = n then a else if trues = 0 then b else merge of a and b by the flags
//! ```
//!
//! Each branch is emitted once, so code stays linear in the source; neither runs without instances. Splitting moves one
//! element per instance and part: the sequences among the free variables become views. Branches that are cheap, total
//! and scalar ([`super::speculation`]) are both computed and selected from. Where they can fail or read sequences, but
//! do nothing else than that, nothing asks how many instances take which: the split, both branches and the merge can be
//! one loop, in which that is a branch.
//!
//! ```text
//! a = the then-branch on the instances whose flag is true
//! b = the else-branch on the others
//! merge of a and b by the flags
//! ```

use crate::free;
use crate::lower::repr::int;
use crate::lower::state::state_type;
use crate::lower::{Context, Lowering};
use crate::supply::Supply;
use crate::value::{Pattern, Value};
use nesl_frontend::core::effects::Effect;
use nesl_frontend::core::{Expr, VariableId};
use nesl_frontend::ty::Type;
use nesl_prim::{ScalarOp, ScalarValue};
use nesl_vcode::{Block, Operand, VectorOp};

impl Lowering<'_, '_> {
    pub(crate) fn conditional(
        &mut self,
        expr: &Expr,
        condition: Value,
        then_branch: &Expr,
        else_branch: &Expr,
        context: Context,
    ) -> Value {
        if let Operand::Constant(ScalarValue::Bool(chosen)) = condition.operand() {
            return self.eval(if chosen { then_branch } else { else_branch }, context);
        }
        match context {
            Context::Lifted(count) if !condition.is_invariant() => {
                if self.is_speculable([then_branch, else_branch]) {
                    let when_true = self.eval(then_branch, context);
                    let when_false = self.eval(else_branch, context);
                    return self.select(condition.operand(), &when_true, &when_false);
                }
                if self.is_joinable([then_branch, else_branch]) {
                    return self.joined_conditional(condition.operand(), then_branch, else_branch, count);
                }
                self.lifted_conditional(expr, condition.operand(), then_branch, else_branch, count)
            }
            _ => self.uniform_conditional(expr, condition.operand(), then_branch, else_branch, context),
        }
    }

    /// All instances take the same branch.
    fn uniform_conditional(
        &mut self,
        expr: &Expr,
        condition: Operand,
        then_branch: &Expr,
        else_branch: &Expr,
        context: Context,
    ) -> Value {
        let ty = self.type_of(expr);
        let effect = self.effect_of([then_branch, else_branch]);
        // What both branches yield must be lifted alike. Where nothing in them varies, nothing needs to be.
        let varies = effect.any()
            || free::variables([then_branch, else_branch]).iter().any(|id| !self.environment[id].is_invariant());
        let count = match context {
            Context::Lifted(count) if varies => Some(count),
            _ => None,
        };
        let (seed, printed) = (self.seed.clone(), self.printed.take());
        // What does not vary is computed once: the condition says whether it is.
        let joined = std::mem::take(&mut self.joined);
        let branch = |lowering: &mut Self, branch: &Expr| -> Block {
            lowering.seed.clone_from(&seed);
            lowering.builder.begin_block();
            let value = lowering.eval(branch, context);
            let value = match count {
                Some(count) => lowering.lift(value, count),
                None => lowering.given_by_branch(value, context),
            };
            let results = lowering.results(&value, effect, context);
            lowering.builder.end_block(results)
        };
        let then_block = branch(self, then_branch);
        let else_block = branch(self, else_branch);
        self.printed = printed;
        self.joined = joined;
        let pattern = Pattern::uniform(&ty, count.is_some());
        let registers = self.result_registers(&ty, &pattern, effect, context.is_lifted());
        let given = [&then_block, &else_block].map(|block| block.results.clone());
        let operands = self.builder.if_(condition, then_block, else_block, &registers);
        self.note_joined(&given, &operands);
        self.take_results(operands, &ty, &pattern, effect, context)
    }

    /// What some parts do together.
    pub(crate) fn effect_of<'e>(&self, parts: impl IntoIterator<Item = &'e Expr>) -> Effect {
        parts.into_iter().fold(Effect::default(), |effect, part| effect.and(self.instances.effects.expr(part)))
    }

    /// Every instance takes its own branch.
    fn lifted_conditional(
        &mut self,
        expr: &Expr,
        flags: Operand,
        then_branch: &Expr,
        else_branch: &Expr,
        count: Operand,
    ) -> Value {
        let ty = self.type_of(expr);
        let effect = self.effect_of([then_branch, else_branch]);
        let ones = self.builder.map(ScalarOp::BoolToInt, &[flags]);
        let trues = self.builder.vector(VectorOp::Reduce(ScalarOp::AddInt), &[ones]);
        let falses = self.builder.scalar(ScalarOp::SubtractInt, &[count, trues]);
        let others = self.builder.map(ScalarOp::NotBool, &[flags]);
        let (seed, printed) = (self.seed.clone(), self.printed.take());
        let when_true = self.branch(&ty, then_branch, flags, trues, falses, effect);
        self.seed = seed;
        let when_false = self.branch(&ty, else_branch, others, falses, trues, effect);
        self.printed = printed;
        let (all, none) = (self.is_zero(falses), self.is_zero(trues));
        let state = state_type(effect, true);
        let merged_type = match &state {
            Some(state) => Type::pair(ty, state.clone()),
            None => ty,
        };
        let registers = Pattern::uniform(&merged_type, true).registers(&merged_type);
        let yield_true = Block::new(Vec::new(), when_true.operands());
        let yield_false = Block::new(Vec::new(), when_false.operands());
        self.builder.begin_block();
        self.builder.begin_block();
        let merged = self.move_elements(&[&when_true, &when_false], &mut |lowering, columns| {
            lowering.builder.vector(VectorOp::Merge, &[flags, columns[0], columns[1]])
        });
        let merge = self.builder.end_block(merged.operands());
        let mixed = self.builder.if_(none, yield_false, merge, &registers);
        let otherwise = self.builder.end_block(mixed);
        let operands = self.builder.if_(all, yield_true, otherwise, &registers);
        let value = Pattern::uniform(&merged_type, true).value(&merged_type, &mut Supply::of(operands));
        if state.is_some() {
            let (value, state) = value.into_pair();
            self.set_state(effect, state, Context::Lifted(count));
            return value;
        }
        value
    }

    /// Every instance takes its own branch, in one loop over all.
    fn joined_conditional(&mut self, flags: Operand, then_branch: &Expr, else_branch: &Expr, count: Operand) -> Value {
        let ones = self.builder.map(ScalarOp::BoolToInt, &[flags]);
        let trues = self.builder.vector(VectorOp::Reduce(ScalarOp::AddInt), &[ones]);
        let falses = self.builder.scalar(ScalarOp::SubtractInt, &[count, trues]);
        let others = self.builder.map(ScalarOp::NotBool, &[flags]);
        let when_true = self.joined_branch(then_branch, flags, trues, count);
        let when_false = self.joined_branch(else_branch, others, falses, count);
        self.move_elements(&[&when_true, &when_false], &mut |lowering, columns| {
            lowering.builder.vector(VectorOp::Merge, &[flags, columns[0], columns[1]])
        })
    }

    /// One branch of that, on `own` instances, of which there may be none.
    fn joined_branch(&mut self, branch: &Expr, flags: Operand, own: Operand, count: Operand) -> Value {
        let outer = self.varying([branch]);
        for (id, value) in &outer {
            let value = self.restrict(value, flags);
            self.environment.insert(*id, value);
        }
        self.joined.insert(own, (flags, count));
        let value = self.guarded(branch, own);
        self.joined.remove(&own);
        self.environment.extend(outer);
        value
    }

    /// The variables that are free in some parts and vary by instance, with their values.
    fn varying<'e>(&self, parts: impl IntoIterator<Item = &'e Expr>) -> Vec<(VariableId, Value)> {
        let values = free::variables(parts).into_iter().map(|id| (id, self.environment[&id].clone()));
        values.filter(|(_, value)| !value.is_invariant()).collect()
    }

    /// One branch, on the instances whose flag is true, if there are any: its value, paired with the state after it if
    /// it has an effect.
    fn branch(
        &mut self,
        ty: &Type,
        branch: &Expr,
        flags: Operand,
        own: Operand,
        others: Operand,
        effect: Effect,
    ) -> Value {
        let outer = self.varying([branch]);
        let (none, all) = (self.is_zero(own), self.is_zero(others));
        self.builder.begin_block();
        let values: Vec<Value> = outer.iter().map(|(_, value)| value.clone()).chain(self.own_seed(effect)).collect();
        let mut restricted = Supply::of(self.restrict_unless(all, &values, flags));
        for (id, _) in &outer {
            self.environment.insert(*id, restricted.next());
        }
        if effect.draws {
            self.seed = Some(restricted.next());
        }
        let context = Context::Lifted(own);
        let value = self.eval(branch, context);
        let value = self.lift(value, own);
        let results = self.results(&value, effect, context);
        let block = self.builder.end_block(results);
        self.environment.extend(outer);

        let empty_block = self.empty_block(ty, effect);
        let pattern = Pattern::uniform(ty, true);
        let registers = self.result_registers(ty, &pattern, effect, true);
        let operands = self.builder.if_(none, empty_block, block, &registers);
        let value = self.take_results(operands, ty, &pattern, effect, context);
        match self.state(effect, context) {
            Some(state) => Value::pair(value, state),
            None => value,
        }
    }

    fn own_seed(&self, effect: Effect) -> Option<Value> {
        if effect.draws { self.seed.clone() } else { None }
    }

    /// The values restricted to the flagged instances; as they are where all instances are flagged.
    pub(crate) fn restrict_unless(&mut self, all: Operand, values: &[Value], flags: Operand) -> Vec<Value> {
        if values.is_empty() {
            return Vec::new();
        }
        let unrestricted = Block::new(Vec::new(), lifted_operands(values));
        self.builder.begin_block();
        let restricted: Vec<Value> = values.iter().map(|value| self.restrict(value, flags)).collect();
        let block = self.builder.end_block(lifted_operands(&restricted));
        let registers: Vec<_> =
            lifted_operands(values).into_iter().map(|operand| self.builder.register_type(operand)).collect();
        let mut operands = Supply::of(self.builder.if_(all, unrestricted, block, &registers));
        values.iter().map(|value| replace_lifted(value, &mut operands)).collect()
    }

    pub(crate) fn is_zero(&mut self, number: Operand) -> Operand {
        self.builder.scalar(ScalarOp::EqualInt, &[number, int(0)])
    }

    fn select(&mut self, flags: Operand, when_true: &Value, when_false: &Value) -> Value {
        match (when_true, when_false) {
            (Value::Pair(first, rest), Value::Pair(other_first, other_rest)) => {
                let first = self.select(flags, first, other_first);
                Value::pair(first, self.select(flags, rest, other_rest))
            }
            _ => {
                let scalar_type = when_true.scalar_type();
                let operands = [flags, when_true.operand(), when_false.operand()];
                Value::column(self.builder.map(ScalarOp::select(scalar_type), &operands), scalar_type)
            }
        }
    }
}

/// The operands of the lifted parts: those that a restriction changes. The elements of lifted sequences stay.
fn lifted_operands(values: &[Value]) -> Vec<Operand> {
    fn push(value: &Value, operands: &mut Vec<Operand>) {
        match value {
            Value::Pair(first, rest) => {
                push(first, operands);
                push(rest, operands);
            }
            Value::Scalar { operand, lifted: true, .. } => operands.push(*operand),
            Value::Sequence { extent, lifted: true, .. } => operands.push(*extent),
            _ => {}
        }
    }
    let mut operands = Vec::new();
    values.iter().for_each(|value| push(value, &mut operands));
    operands
}

/// The value with its lifted parts taken from `operands`, in the order of [`lifted_operands`].
fn replace_lifted(value: &Value, operands: &mut Supply) -> Value {
    match value {
        Value::Scalar { lifted: true, scalar_type, .. } => Value::column(operands.next(), *scalar_type),
        Value::Sequence { lifted: true, elements, .. } => Value::segments(operands.next(), (**elements).clone()),
        Value::Pair(first, rest) => {
            let first = replace_lifted(first, operands);
            Value::pair(first, replace_lifted(rest, operands))
        }
        invariant => invariant.clone(),
    }
}
