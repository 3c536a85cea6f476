//! The instances of a loop that go on, and what the loop does with them.

use super::room::Room;
use crate::instance::{Source, Version};
use crate::lower::repr::int;
use crate::lower::{Context, Lowering};
use crate::supply::Supply;
use crate::value::{Pattern, Value};
use nesl_frontend::core::FunctionId;
use nesl_frontend::ty::Type;
use nesl_prim::{ScalarOp, ScalarType};
use nesl_span::Span;
use nesl_vcode::{Block, Constants, Operand, RegisterType};

/// The loop that instances go on with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Target {
    pub function: FunctionId,
    pub type_arguments: Vec<Type>,
    pub pattern: Pattern,
}

/// Instances that go on.
#[derive(Clone, Debug)]
pub(crate) struct Onward {
    pub target: Target,
    /// The call.
    pub span: Span,
    /// How many there are.
    pub count: Operand,
    /// Which of all they are.
    pub at: Operand,
    /// Their seeds, if they draw; then what they have printed, if they print.
    pub state: Vec<Value>,
    pub argument: Value,
}

impl Onward {
    /// All that they are, but for whom they are.
    fn values(&self) -> Vec<Value> {
        let mut values = vec![Value::scalar(self.count, ScalarType::Int), Value::column(self.at, ScalarType::Int)];
        values.extend(self.state.iter().cloned());
        values.push(self.argument.clone());
        values
    }

    /// The same with other values.
    fn of(&self, values: impl IntoIterator<Item = Value>) -> Onward {
        let mut values: Vec<Value> = values.into_iter().collect();
        let argument = values.pop().unwrap_or(Value::Nothing);
        let state = values.split_off(2);
        let (count, at) = (values[0].operand(), values[1].operand());
        Onward { target: self.target.clone(), span: self.span, count, at, state, argument }
    }

    pub fn operands(&self) -> Vec<Operand> {
        self.values().iter().flat_map(Value::operands).collect()
    }

    /// The same in other registers.
    pub fn with(&self, operands: &mut Supply) -> Onward {
        self.of(self.values().iter().map(|value| value.with(operands)).collect::<Vec<_>>())
    }

    /// Nobody, with registers of the same types.
    pub fn nobody(&self, lowering: &mut Lowering<'_, '_>) -> Onward {
        let values: Vec<Value> = self.values().iter().map(|value| lowering.none_of(value)).collect();
        self.of(values)
    }
}

impl Lowering<'_, '_> {
    /// A value of the same form without instances or elements.
    fn none_of(&mut self, value: &Value) -> Value {
        match value {
            Value::Scalar { lifted: false, scalar_type, .. } => {
                Value::scalar(Operand::Constant(scalar_type.zero()), *scalar_type)
            }
            Value::Scalar { scalar_type, .. } => {
                let nothing = Constants::from_scalars(*scalar_type, &[]);
                Value::column(self.builder.constants(nothing), *scalar_type)
            }
            Value::Pair(first, rest) => {
                let first = self.none_of(first);
                Value::pair(first, self.none_of(rest))
            }
            Value::Sequence { lifted, elements, .. } => {
                let elements = self.none_of(elements);
                if !lifted {
                    return Value::sequence(int(0), elements);
                }
                let lengths = self.builder.constants(Constants::Int(Vec::new()));
                Value::segments(self.packed(lengths), elements)
            }
            Value::Nothing => Value::Nothing,
        }
    }

    /// What comes after the body of a loop; its results.
    pub(super) fn go_on(&mut self) -> Vec<Operand> {
        let mut all: Vec<Onward> = Vec::new();
        for onward in std::mem::take(&mut self.looping().onward) {
            match all.iter().position(|other| other.target == onward.target) {
                Some(position) => all[position] = self.together(&all[position].clone(), &onward),
                None => all.push(onward),
            }
        }
        let room = self.looping().room.clone();
        let Some((last, others)) = all.split_last_mut() else { return room.operands() };
        // Those of one target end the loop. Where there are several, the others come to their end before.
        let mut room = room;
        let rest: Vec<Operand> = others.iter().skip(1).map(|other| other.count).chain([last.count]).collect();
        for (index, onward) in others.iter_mut().enumerate() {
            let left = rest[index..].iter().copied();
            let left = left.reduce(|sum, count| self.builder.scalar(ScalarOp::AddInt, &[sum, count])).unwrap_or(int(0));
            let (none, alone) = (self.is_zero(onward.count), self.is_zero(left));
            let stays = self.builder.scalar(ScalarOp::OrBool, &[none, alone]);
            let stay = Block::new(Vec::new(), [room.operands(), vec![onward.count]].concat());
            self.builder.begin_block();
            let (all, result_type) = (self.looping().all, self.looping().result_type.clone());
            let done = self.go_on_with(onward, all, &room, &result_type);
            let go = self.builder.end_block([done.operands(), vec![int(0)]].concat());
            let mut types = Room::registers(&result_type);
            types.push(RegisterType::Scalar(ScalarType::Int));
            let mut results = Supply::of(self.builder.if_(stays, stay, go, &types));
            room = room.with(&mut results);
            onward.count = results.next();
        }
        self.end_with(&all, &room)
    }

    /// The end of a loop where the instances of one of these at most go on: its results.
    fn end_with(&mut self, all: &[Onward], room: &Room) -> Vec<Operand> {
        let Some((onward, others)) = all.split_first() else { return room.operands() };
        let none = self.is_zero(onward.count);
        self.builder.begin_block();
        let results = self.end_with(others, room);
        let otherwise = self.builder.end_block(results);
        self.builder.begin_block();
        let results = self.end_or_rest(onward, room);
        let go = self.builder.end_block(results);
        let types = Room::registers(&self.looping().result_type);
        self.builder.if_(none, otherwise, go, &types)
    }

    /// The results of a loop with which some instances go on, of which there are any: as an `each` of its own where
    /// most have left.
    fn end_or_rest(&mut self, onward: &Onward, room: &Room) -> Vec<Operand> {
        let (all, result_type, effect) =
            (self.looping().all, self.looping().result_type.clone(), self.looping().effect);
        // What prints has no version for one instance there.
        if effect.prints {
            return self.go_on_with(onward, all, room, &result_type).operands();
        }
        let twice = self.builder.scalar(ScalarOp::AddInt, &[onward.count, onward.count]);
        let few = self.builder.scalar(ScalarOp::AtMostInt, &[twice, all]);
        self.builder.begin_block();
        let outer = self.builder.set_span(onward.span);
        let results = self.rest(onward, room);
        self.builder.set_span(outer);
        let rest = self.builder.end_block(results);
        self.builder.begin_block();
        let results = self.go_on_with(onward, all, room, &result_type).operands();
        let go = self.builder.end_block(results);
        self.builder.if_(few, rest, go, &Room::registers(&result_type))
    }

    /// The results of a loop, the rest of whose instances are an `each` of their own.
    fn rest(&mut self, onward: &Onward, room: &Room) -> Vec<Operand> {
        let Onward { target, count, at, state, argument, .. } = onward.clone();
        let effect = self.looping().effect;
        let seed = std::mem::replace(&mut self.seed, state.into_iter().next());
        let program = self.instances.program;
        let result_type = program.function(target.function).scheme.result.instantiate(&target.type_arguments);
        let value =
            self.each_call(&result_type, target.function, target.type_arguments, argument, target.pattern, count);
        let value = match self.state(effect, Context::Lifted(count)) {
            Some(state) => Value::pair(value, state),
            None => value,
        };
        self.seed = seed;
        room.filled(self, at, &value).operands()
    }

    /// Calls the loop that instances go on with: the results of all, when these have left, too.
    pub(super) fn go_on_with(&mut self, onward: &Onward, all: Operand, room: &Room, result_type: &Type) -> Room {
        let Onward { target, span, count, at, state, argument } = onward;
        let outer = self.builder.set_span(*span);
        let (program, types) = (self.instances.program, target.type_arguments.clone());
        let globals = self.instances.globals.function(program, target.function, &types);
        let globals: Vec<Operand> = globals.iter().flat_map(|global| self.globals[global].operands()).collect();
        let state = state.iter().flat_map(Value::operands).collect();
        let operands = [vec![*count, all, *at], state, argument.operands(), room.operands(), globals].concat();
        let version = Version::Loop(target.pattern.clone());
        let instance = self.instances.instance(Source::Function(target.function), types, version, *span);
        let results = self.builder.call(instance, &operands, &Room::registers(result_type));
        self.builder.set_span(outer);
        Room::of(result_type, &mut Supply::of(results))
    }

    /// The instances of two that go on with the same, those of one before those of the other.
    fn together(&mut self, first: &Onward, second: &Onward) -> Onward {
        let (no_first, no_second) = (self.is_zero(first.count), self.is_zero(second.count));
        let whole = |onward: &Onward| Block::new(Vec::new(), onward.operands());
        self.builder.begin_block();
        self.builder.begin_block();
        let count = self.builder.scalar(ScalarOp::AddInt, &[first.count, second.count]);
        let mut values = vec![Value::scalar(count, ScalarType::Int)];
        for (first, second) in first.values().iter().zip(second.values()).skip(1) {
            values.push(self.joined(first, &second));
        }
        let both = first.of(values);
        let both = self.builder.end_block(both.operands());
        let types: Vec<RegisterType> =
            first.operands().into_iter().map(|operand| self.builder.register_type(operand)).collect();
        let some = self.builder.if_(no_second, whole(first), both, &types);
        let some = self.builder.end_block(some);
        let results = self.builder.if_(no_first, whole(second), some, &types);
        let together = first.with(&mut Supply::of(results));
        self.with_own(together)
    }

    /// The values of some instances, then of others; what is the same for all is.
    fn joined(&mut self, first: &Value, second: &Value) -> Value {
        match (first, second) {
            (Value::Pair(first, rest), Value::Pair(other_first, other_rest)) => {
                let first = self.joined(first, other_first);
                Value::pair(first, self.joined(rest, other_rest))
            }
            _ if first.is_invariant() => first.clone(),
            _ => self.concat(&[first, second]),
        }
    }
}
