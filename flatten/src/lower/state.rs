//! The state that effects thread through code: the seed of the random numbers, and what instances have printed.
//!
//! Code that draws takes the seed and gives the one after it. Serial code prints at once; in lifted code every instance
//! has a text of its own, to which each part of the code adds what it prints ([`Lowering::printed`]), and which the
//! apply-to-each around joins, in the order of the instances. So the state of a block, a branch or a function is a
//! value that follows its own among its results: the seed, the text, the pair of both, or nothing.

use crate::lower::{Context, Lowering};
use crate::supply::Supply;
use crate::value::{Pattern, Value};
use nesl_frontend::core::Intrinsic;
use nesl_frontend::core::effects::Effect;
use nesl_frontend::ty::Type;
use nesl_prim::{HostOp, ScalarOp, ScalarType};
use nesl_vcode::{Operand, RegisterType, VectorOp};

/// The type of the state after code with an effect.
pub(crate) fn state_type(effect: Effect, is_lifted: bool) -> Option<Type> {
    let text = || Type::sequence(Type::CHAR);
    match (effect.draws, effect.prints && is_lifted) {
        (true, true) => Some(Type::pair(Type::INT, text())),
        (true, false) => Some(Type::INT),
        (false, true) => Some(text()),
        (false, false) => None,
    }
}

impl Lowering<'_, '_> {
    /// The state after code with an effect. The text leaves this code: what is printed from now on is added elsewhere.
    pub(crate) fn state(&mut self, effect: Effect, context: Context) -> Option<Value> {
        let ty = state_type(effect, context.is_lifted())?;
        let text = match context {
            Context::Lifted(count) if effect.prints => {
                let text = self.printed.take().unwrap_or_else(|| self.literal_text(""));
                Some(self.lift(text, count))
            }
            _ => None,
        };
        Some(match text {
            Some(text) if matches!(ty, Type::Pair(..)) => Value::pair(self.current_seed().clone(), text),
            Some(text) => text,
            None => self.current_seed().clone(),
        })
    }

    /// Goes on with the state after code with an effect: with its seed, and its text after what was printed before.
    pub(crate) fn set_state(&mut self, effect: Effect, state: Value, context: Context) {
        let text = match (effect.draws, effect.prints && context.is_lifted()) {
            (true, true) => {
                let (seed, text) = state.into_pair();
                self.seed = Some(seed);
                text
            }
            (true, false) => return self.seed = Some(state),
            _ => state,
        };
        self.print_text(text, context);
    }

    /// Prints the texts of the instances.
    pub(crate) fn print_text(&mut self, text: Value, context: Context) {
        match (context, self.printed.take()) {
            (Context::Serial, _) => {
                let (_, characters) = text.into_sequence();
                self.builder.host(HostOp::Print, &[characters.operand()]);
            }
            (Context::Lifted(_), None) => self.printed = Some(text),
            (Context::Lifted(_), Some(before)) => self.printed = Some(self.join(vec![before, text], context)),
        }
    }

    /// What the elements of an apply-to-each printed, one after another.
    pub(crate) fn print_elements(&mut self, extent: Operand, texts: Value, context: Context) {
        let string = Type::sequence(Type::CHAR);
        let text = match context {
            Context::Lifted(count) => {
                self.segmented(Intrinsic::Flatten, Value::segments(extent, texts), &string, count)
            }
            Context::Serial => self.unsegmented(Intrinsic::Flatten, Value::sequence(extent, texts), &string),
        };
        self.print_text(text, context);
    }

    /// The texts of all elements, where only those with a flag have one.
    pub(crate) fn texts_of_all(&mut self, texts: &Value, flags: Operand, count: Operand, kept: Operand) -> Value {
        let others = self.builder.scalar(ScalarOp::SubtractInt, &[count, kept]);
        let nothing = self.literal_text("");
        let nothing = self.lift(nothing, others);
        self.move_elements(&[texts, &nothing], &mut |lowering, columns| {
            lowering.builder.vector(VectorOp::Merge, &[flags, columns[0], columns[1]])
        })
    }

    /// The registers of results: of a value, then of the state.
    pub(crate) fn result_registers(
        &self,
        ty: &Type,
        pattern: &Pattern,
        effect: Effect,
        is_lifted: bool,
    ) -> Vec<RegisterType> {
        let mut registers = pattern.registers(ty);
        if let Some(state) = state_type(effect, is_lifted) {
            registers.extend(Pattern::uniform(&state, is_lifted).registers(&state));
        }
        registers
    }

    /// Takes results apart again, and goes on with the state among them.
    pub(crate) fn take_results(
        &mut self,
        operands: Vec<Operand>,
        ty: &Type,
        pattern: &Pattern,
        effect: Effect,
        context: Context,
    ) -> Value {
        let mut operands = Supply::of(operands);
        let value = pattern.value(ty, &mut operands);
        if let Some(state) = state_type(effect, context.is_lifted()) {
            let state = Pattern::uniform(&state, context.is_lifted()).value(&state, &mut operands);
            self.set_state(effect, state, context);
        }
        value
    }

    /// Results of a block or function: a value, then the state.
    pub(crate) fn results(&mut self, value: &Value, effect: Effect, context: Context) -> Vec<Operand> {
        let mut operands = value.operands();
        operands.extend(self.state(effect, context).iter().flat_map(Value::operands));
        operands
    }

    /// The current seed.
    ///
    /// # Panics
    /// In a function that does not draw.
    pub(crate) fn current_seed(&self) -> &Value {
        match &self.seed {
            Some(seed) => seed,
            None => panic!("random numbers in a function without a seed"),
        }
    }

    /// Draws from the current seed, of one instance or of all.
    pub(crate) fn rand(&mut self, bound: &Value) -> Value {
        let seed = self.current_seed().clone();
        let op = match bound.scalar_type() {
            ScalarType::Float => ScalarOp::RandomFloat,
            _ => ScalarOp::RandomInt,
        };
        let operands = [seed.operand(), bound.operand()];
        if seed.is_invariant() {
            let drawn = self.builder.scalar(op, &operands);
            let next = self.builder.scalar(ScalarOp::SeedNext, &operands[..1]);
            self.seed = Some(Value::scalar(next, ScalarType::Int));
            return Value::scalar(drawn, op.row().result);
        }
        let drawn = self.builder.map(op, &operands);
        let next = self.builder.map(ScalarOp::SeedNext, &operands[..1]);
        self.seed = Some(Value::column(next, ScalarType::Int));
        Value::column(drawn, op.row().result)
    }
}
