//! Functions whose nested sequences are packed when they take them and when they give them.
//!
//! An element within an element is replaced where it lies ([`super::written_back`]) if the segments lie one after
//! another. That is seen by looking at all of them: a loop that changes one element in each turn must do that once, not
//! in each turn. So a function that replaces elements within elements has two serial versions. One takes sequences as
//! they are, packs them, and calls the other:
//!
//! ```text
//! f/P(m, i) = … f/P(m with an element replaced, i + 1) …      m is packed; so is what f/P gives
//! f(m, i) = f/P(m packed, i)
//! ```
//!
//! Which descriptors are packed is known of registers ([`Lowering::packed`]): those of such parameters and results, and
//! those that both branches of an `if` give. Where a branch does not, it packs what it gives: done behind the `if`, it
//! would come after calls that end the function, and a loop would be none.

use crate::instance::{Instances, Source, Version};
use crate::lower::{Context, Lowering};
use crate::value::{Pattern, Value};
use nesl_frontend::core::FunctionId;
use nesl_frontend::core::effects::Effect;
use nesl_frontend::ty::Type;
use nesl_vcode::Operand;

impl Lowering<'_, '_> {
    /// The value with all nested sequences packed.
    pub(crate) fn packed_value(&mut self, value: Value) -> Value {
        match value {
            Value::Pair(first, rest) => {
                let first = self.packed_value(*first);
                Value::pair(first, self.packed_value(*rest))
            }
            Value::Sequence { extent, lifted: false, elements } => {
                let elements = self.packed_elements(*elements);
                Value::sequence(extent, elements)
            }
            other => other,
        }
    }

    fn packed_elements(&mut self, elements: Value) -> Value {
        match elements {
            Value::Pair(first, rest) => {
                let first = self.packed_elements(*first);
                Value::pair(first, self.packed_elements(*rest))
            }
            Value::Sequence { .. } => {
                let (descriptor, inner) = self.packed_segments(elements).into_sequence();
                Value::segments(descriptor, self.packed_elements(inner))
            }
            other => other,
        }
    }

    /// Segments one after another, with nothing between them.
    pub(crate) fn packed_segments(&mut self, segments: Value) -> Value {
        let (descriptor, elements) = segments.into_sequence();
        if self.packed.contains(&descriptor) {
            return Value::segments(descriptor, elements);
        }
        let (descriptor, elements) = self.compact(Value::segments(descriptor, elements)).into_sequence();
        self.packed.insert(descriptor);
        Value::segments(descriptor, elements)
    }

    /// Notes that all nested sequences of a value are packed.
    pub(crate) fn note_packed(&mut self, value: &Value) {
        match value {
            Value::Pair(first, rest) => {
                self.note_packed(first);
                self.note_packed(rest);
            }
            Value::Sequence { extent, lifted, elements } => {
                if *lifted {
                    self.packed.insert(*extent);
                }
                self.note_packed(elements);
            }
            Value::Scalar { .. } | Value::Nothing => {}
        }
    }

    /// What a branch of serial code gives.
    pub(crate) fn given_by_branch(&mut self, value: Value, context: Context) -> Value {
        match context {
            Context::Serial if self.gives_packed => self.packed_value(value),
            _ => value,
        }
    }

    /// Notes which registers are packed because what both branches give is.
    pub(crate) fn note_joined(&mut self, given: &[Vec<Operand>; 2], registers: &[Operand]) {
        for (index, &register) in registers.iter().enumerate() {
            if given.iter().all(|operands| self.packed.contains(&operands[index])) {
                self.packed.insert(register);
            }
        }
    }

    /// The call of the version of a function that takes and gives packed sequences.
    pub(crate) fn call_packed(
        &mut self,
        function: FunctionId,
        type_arguments: Vec<Type>,
        argument: Value,
        result_type: &Type,
        effect: Effect,
    ) -> Value {
        let argument = self.packed_value(argument);
        let value = self.call_serial(function, type_arguments, Version::Packed, &argument, result_type, effect);
        self.note_packed(&value);
        value
    }

    /// The call of a serial version of a function.
    pub(crate) fn call_serial(
        &mut self,
        function: FunctionId,
        type_arguments: Vec<Type>,
        version: Version,
        argument: &Value,
        result_type: &Type,
        effect: Effect,
    ) -> Value {
        let seed = effect.draws.then(|| self.current_seed().operand());
        let globals = self.instances.globals.function(self.instances.program, function, &type_arguments);
        let globals = globals.iter().map(|global| self.globals[global].clone());
        let operands = Instances::arguments(globals, None, seed, argument);
        let span = self.builder.current_span();
        let instance = self.instances.instance(Source::Function(function), type_arguments, version, span);
        let pattern = Pattern::uniform(result_type, false);
        let registers = self.result_registers(result_type, &pattern, effect, false);
        let results = self.builder.call(instance, &operands, &registers);
        self.take_results(results, result_type, &pattern, effect, Context::Serial)
    }
}
