//! Turns of a loop in which all indices are within bounds are turns without checks: for code that runs one instance
//! after another.
//!
//! A loop is a function that ends by calling itself ([`crate::tail`]). Where a number only grows, or only shrinks,
//! from turn to turn, an index that is this number and what does not vary is within bounds while the number is in a
//! range that is known before the loop. So the range of all such checks is computed where the loop is entered, together
//! with that of the comparisons on which the loop goes on. Turns in the range have neither; any other turn is as it
//! was, and fails, or ends, where it did. This is *range check elimination* by *index-set splitting*; where a turn is
//! small, and is not the last for another reason, four of them are one (*loop unrolling*).
//!
//! ```text
//! function f(a, n, i) {                where f is called:
//!   if i < n {                           e = minimum (length a) n
//!     j = check_index i (length a)       b = select (0 <= i) e least
//!     x = extract a j                    call f/within a n i b
//!     …                                function f/within(a, n, i, b) {
//!     call f a n (i + 1)                 if i < b { x = extract a i; …; call f/within a n (i + 1) b }
//!   } else { … }                         else { if i < n { j = check_index i (length a); …
//! }                                             call f/within a n (i + 1) b } else { … } }
//!                                      }
//! ```
//!
//! Only loops that call nothing have a second kind of turn: loops in loops do not multiply.

mod range;
mod turn;

use crate::passes::entering;
use crate::passes::inline::{Body, Sites};
use crate::passes::writer::Writer;
use crate::program::{Block, Function, FunctionId, Instruction, Op, Operand, Place, Program, Register};
use crate::register::RegisterType;
use crate::tail;
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use range::int;
use std::collections::{HashMap, HashSet};
use turn::{Constraint, Kind, Linear, Turn, visit_turn};

/// Loops with more instructions stay.
const LONGEST: usize = 96;

/// The most counters that a turn is looked at for.
const COUNTERS: usize = 3;

/// So many turns without checks are one, where a loop is counted and a turn has at most so many instructions.
const TURNS: [(i64, usize); 2] = [(4, 24), (2, 48)];

/// Lets turns in which all indices are within bounds be turns without checks.
pub fn run(program: &mut Program) {
    let mut entered: Vec<Option<Function>> = Vec::new();
    for index in 0..program.functions.len() {
        let (id, own) = (FunctionId(index as u32), FunctionId(program.functions.len() as u32));
        let split = split(&program.functions[index], id, own, &mut program.sites);
        entered.push(split.map(|(enters, within)| {
            program.functions.push(within);
            enters
        }));
    }
    entering::enter(program, &entered);
}

/// What a counter is in turns without checks.
struct Counted<'a> {
    counter: Register,
    goes_up: bool,
    constraints: Vec<&'a Constraint>,
}

/// The function that enters a loop, and the loop with both kinds of turns, if there are checks that can go.
fn split(function: &Function, id: FunctionId, own: FunctionId, sites: &mut Vec<Place>) -> Option<(Function, Function)> {
    if function.body.size() > LONGEST {
        return None;
    }
    let turn = Turn::of(function, id)?;
    let known = known(function, &turn);
    let counted = counted(function, &turn, &known);
    if counted.is_empty() {
        return None;
    }
    let place = Place::from(function.span);
    let times = times(function, &known);
    let mut registers = function.registers.clone();
    let mut entry = Writer::at(place, &mut registers);
    let mut own_registers = function.registers.clone();
    let (mut bounds, mut passed) = (Vec::new(), Vec::new());
    for Counted { counter, goes_up, constraints } in &counted {
        let range = entry.range(constraints, turn.steps_of(*counter), times);
        passed.push(entry.bound(*goes_up, range, *counter));
        bounds.push(Register::add(&mut own_registers, RegisterType::Scalar(ScalarType::Int)));
    }
    let replaced: HashMap<Register, Instruction> = known
        .iter()
        .filter(|known| counted.iter().any(|counted| counted.counter == known.constraint.of.counter))
        .map(|known| (known.instruction.results[0], known.replacement()))
        .collect();

    let mut enters = entry.instructions;
    let parameters = function.parameters.iter().map(|&parameter| Operand::Register(parameter));
    let results = Register::add_all(&mut registers, function.result_types());
    let values = results.iter().map(|&result| result.into()).collect();
    enters.push(Instruction::new(Op::Call(own), parameters.chain(passed).collect(), results, place));
    let enters = Function { registers, body: Block::new(enters, values), ..function.clone() };

    let within = Within { function, id, own, counted: &counted, bounds: &bounds, times };
    let body = within.body(&replaced, &mut own_registers, sites);
    let parameters = [&function.parameters[..], &bounds[..]].concat();
    let name = format!("{}/within", function.name);
    Some((enters, Function { name, parameters, registers: own_registers, body, ..function.clone() }))
}

/// How many turns without checks are one. A loop that may end at any turn does not go round often.
fn times(function: &Function, known: &[Known<'_>]) -> i64 {
    let mut is_counted = function.body.functions().len() == 1;
    visit_turn(&function.body, &mut |_, condition| {
        let is_known =
            |condition| known.iter().any(|known| Operand::Register(known.instruction.results[0]) == condition);
        is_counted &= condition.is_none_or(|(condition, _)| is_known(condition));
    });
    let fits = TURNS.into_iter().find(|&(_, most)| is_counted && function.body.size() <= most);
    fits.map_or(1, |(times, _)| times)
}

/// What is known of an instruction in turns without checks.
struct Known<'a> {
    instruction: &'a Instruction,
    constraint: Constraint,
    /// For a comparison, what it gives.
    gives: Option<bool>,
}

impl Known<'_> {
    /// What stands there instead: the index itself, or the constant.
    fn replacement(&self) -> Instruction {
        let (op, operands) = match self.gives {
            Some(value) => (ScalarOp::AndBool, vec![Operand::Constant(ScalarValue::Bool(value)); 2]),
            None => (ScalarOp::AddInt, vec![self.instruction.operands[0], int(0)]),
        };
        Instruction { op: Op::Scalar(op), operands, ..self.instruction.clone() }
    }
}

/// The checks of indices that are counted, and the comparisons of counters on which a loop goes on.
fn known<'a>(function: &'a Function, turn: &Turn<'a>) -> Vec<Known<'a>> {
    let (mut conditions, mut in_all) = (HashMap::new(), HashSet::new());
    visit_turn(&function.body, &mut |before, condition| {
        in_all.extend(before.iter().filter_map(|instruction| instruction.results.first().copied()));
        if let Some((Operand::Register(condition), value)) = condition {
            conditions.insert(condition, value);
        }
    });
    let mut known = Vec::new();
    function.body.visit(&mut |instruction| {
        let Some(result) = instruction.results.first() else { return };
        let gives = conditions.get(result).copied();
        let constraint = match (&instruction.op, gives) {
            (Op::Scalar(ScalarOp::CheckIndex), _) => turn.index(instruction),
            (Op::Scalar(_), Some(value)) => turn.comparison(instruction, value),
            _ => None,
        };
        known.extend(constraint.map(|constraint| Known { instruction, constraint, gives }));
    });
    // What only some turns look at may be another element, which others do not have: `if i > 0 then a[i - 1]`.
    let is_in_all = |known: &Known<'_>| in_all.contains(&known.instruction.results[0]);
    let sums: Vec<Linear> =
        known.iter().filter(|known| is_in_all(known)).map(|known| known.constraint.of.clone()).collect();
    known.retain(|known| is_in_all(known) || known.constraint.of.is_counter() || sums.contains(&known.constraint.of));
    known
}

/// The counters by which indices are known to be within bounds.
fn counted<'a>(function: &Function, turn: &Turn<'_>, known: &'a [Known<'_>]) -> Vec<Counted<'a>> {
    let mut all = Vec::new();
    for &counter in &function.parameters {
        let of = |known: &&Known<'_>| known.constraint.of.counter == counter;
        let constraints: Vec<&Constraint> = known.iter().filter(of).map(|known| &known.constraint).collect();
        let indices = constraints.iter().filter(|constraint| matches!(constraint.kind, Kind::Index(_))).count();
        // A loop that does not go on by comparing the number asks whether it does so in each turn all the same.
        if indices > 0 && indices < constraints.len() {
            all.push(Counted { counter, goes_up: turn.steps_of(counter).goes_up, constraints });
        }
    }
    all.truncate(COUNTERS);
    all
}

/// What a loop with both kinds of turns is made of.
struct Within<'a> {
    function: &'a Function,
    id: FunctionId,
    own: FunctionId,
    counted: &'a [Counted<'a>],
    /// What each of these is compared with: parameters that the loop has besides.
    bounds: &'a [Register],
    /// How many turns without checks are one.
    times: i64,
}

impl Within<'_> {
    fn body(
        &self,
        replaced: &HashMap<Register, Instruction>,
        registers: &mut Vec<RegisterType>,
        sites: &mut Vec<Place>,
    ) -> Block {
        let function = self.function;
        let place = Place::from(function.span);
        let mut writer = Writer::at(place, registers);
        let mut is_within = Operand::Constant(ScalarValue::Bool(true));
        for (Counted { counter, goes_up, .. }, bound) in self.counted.iter().zip(self.bounds) {
            let op = if *goes_up { ScalarOp::LessInt } else { ScalarOp::GreaterInt };
            let is_inside = writer.bool(op, [(*counter).into(), (*bound).into()]);
            is_within = writer.bool(ScalarOp::AndBool, [is_within, is_inside]);
        }
        let mut instructions = writer.instructions;

        let mut unchecked = replace(&function.body, replaced);
        tail::rename_ends(&mut unchecked, self.id, self.own, self.bounds);
        // Its registers are others than those of turns with checks.
        let parameters = function.parameters.iter().chain(self.bounds).map(|&parameter| parameter.into()).collect();
        let itself = Instruction::new(Op::Call(self.own), parameters, Vec::new(), place);
        let parameters = [&function.parameters[..], self.bounds].concat();
        let copied = Function { parameters, registers: registers.clone(), body: unchecked, ..function.clone() };
        let mut sites = Sites::new(sites);
        let mut unchecked = Body::at(&itself, &copied, registers, &mut sites).block(&copied.body);
        for _ in 1..self.times {
            self.go_on(&mut unchecked, &copied, registers, &mut sites);
        }

        let mut checked = function.body.clone();
        tail::rename_ends(&mut checked, self.id, self.own, self.bounds);
        let results = Register::add_all(registers, function.result_types());
        let values = results.iter().map(|&result| result.into()).collect();
        let chooses = Op::If(Box::new(unchecked), Box::new(checked));
        instructions.push(Instruction::new(chooses, vec![is_within], results, place));
        Block::new(instructions, values)
    }

    /// Puts one more turn where a block goes on with the loop.
    fn go_on(&self, block: &mut Block, turn: &Function, registers: &mut Vec<RegisterType>, sites: &mut Sites<'_>) {
        if tail::last(block).is_none() {
            return;
        }
        let Some(mut last) = block.instructions.pop() else { return };
        match &mut last.op {
            Op::Call(callee) if *callee == self.own => {
                let call = Instruction { place: Place::from(turn.span), ..last };
                let next = Body::at(&call, turn, registers, sites).block(&turn.body);
                block.instructions.extend(next.instructions);
                block.results = next.results;
                return;
            }
            Op::If(then_block, else_block) => {
                self.go_on(then_block, turn, registers, sites);
                self.go_on(else_block, turn, registers, sites);
            }
            _ => {}
        }
        block.instructions.push(last);
    }
}

/// A block in which some registers are defined otherwise.
fn replace(block: &Block, replaced: &HashMap<Register, Instruction>) -> Block {
    let instructions = block.instructions.iter().map(|instruction| {
        if let Op::If(then_block, else_block) = &instruction.op {
            let [then_block, else_block] = [then_block, else_block].map(|block| Box::new(replace(block, replaced)));
            return Instruction { op: Op::If(then_block, else_block), ..instruction.clone() };
        }
        let other = instruction.results.first().and_then(|result| replaced.get(result));
        other.unwrap_or(instruction).clone()
    });
    Block::new(instructions.collect(), block.results.clone())
}

#[cfg(test)]
mod tests {
    use crate::passes::testing::{becomes, stays};
    use crate::program::Program;

    fn tidied(program: &mut Program) {
        super::run(program);
        crate::passes::fold::run(program);
        crate::passes::dead::run(program);
        crate::passes::number::run(program);
    }

    /// A sum from an index on.
    fn sum(condition: &str, index: &str, step: &str) -> String {
        format!(
            "function sum(%0: int, %1: column int, %2: int, %3: int, %4: int) -> int, int {{
               %5 = length %1
               {condition}
               %7, %8 = if %6 {{
                 {index}
                 %10 = check_index %9 %5
                 %11 = extract %1 %10
                 %12 = add.int %4 %11
                 {step}
                 %14, %15 = call sum %0 %1 %2 %13 %12
                 yield %14 %15
               }} else {{ yield %4 %3 }}
               return %7 %8
             }}"
        )
    }

    #[test]
    fn several_turns_of_a_counted_loop_are_one_without_checks() {
        becomes(
            tidied,
            &sum("%6 = less.int %3 %0", "%9 = add.int %3 %2", "%13 = add.int %3 1"),
            "function sum(%0: int, %1: column int, %2: int, %3: int, %4: int) -> int, int {
               %5 = maximum.int %0 -4611686018427387904
               %6 = at_most.int -1152921504606846976 %2
               %7 = at_most.int %2 1152921504606846976
               %8 = and.bool %6 %7
               %9 = length %1
               %10 = subtract.int 0 %2
               %11 = subtract.int %9 %2
               %12 = select.int %8 %10 4611686018427387904
               %13 = select.int %8 %11 -4611686018427387904
               %14 = minimum.int %5 %13
               %15 = subtract.int %14 3
               %16 = at_most.int %12 %3
               %17 = select.int %16 %15 -9223372036854775808
               %18, %19 = call sum/within %0 %1 %2 %3 %4 %17
               return %18 %19
             }
             function sum/within(%0: int, %1: column int, %2: int, %3: int, %4: int, %5: int) -> int, int {
               %6 = less.int %3 %5
               %36, %37 = if %6 {
                 %7 = add.int %3 %2
                 %8 = extract %1 %7
                 %9 = add.int %4 %8
                 %10 = add.int %3 1
                 %11 = add.int %10 %2
                 %12 = extract %1 %11
                 %13 = add.int %9 %12
                 %14 = add.int %10 1
                 %15 = add.int %14 %2
                 %16 = extract %1 %15
                 %17 = add.int %13 %16
                 %18 = add.int %14 1
                 %19 = add.int %18 %2
                 %20 = extract %1 %19
                 %21 = add.int %17 %20
                 %22 = add.int %18 1
                 %23, %24 = call sum/within %0 %1 %2 %22 %21 %5
                 yield %23 %24
               } else {
                 %25 = length %1
                 %26 = less.int %3 %0
                 %34, %35 = if %26 {
                   %27 = add.int %3 %2
                   %28 = check_index %27 %25
                   %29 = extract %1 %28
                   %30 = add.int %4 %29
                   %31 = add.int %3 1
                   %32, %33 = call sum/within %0 %1 %2 %31 %30 %5
                   yield %32 %33
                 } else { yield %4 %3 }
                 yield %34 %35
               }
               return %36 %37
             }",
        );
    }

    #[test]
    fn loops_go_down_too_and_by_what_does_not_vary_and_may_end_early() {
        // From the end, by steps of %1, until an element is %2.
        becomes(
            tidied,
            "function search(%0: column int, %1: int, %2: int, %3: int) -> int {
               %4 = greater.int 1 %3
               %5 = if %4 { yield -1 } else {
                 %6 = length %0
                 %7 = check_index %3 %6
                 %8 = extract %0 %7
                 %9 = equal.int %8 %2
                 %10 = if %9 { yield %3 } else {
                   %11 = subtract.int %3 %1
                   %12 = call search %0 %1 %2 %11
                   yield %12
                 }
                 yield %10
               }
               return %5
             }",
            "function search(%0: column int, %1: int, %2: int, %3: int) -> int {
               %4 = length %0
               %5 = less.int 0 %1
               %6 = at_most.int %1 288230376151711744
               %7 = select.int %5 1 4611686018427387904
               %8 = select.int %5 %4 -4611686018427387904
               %9 = select.int %6 %7 4611686018427387904
               %10 = select.int %6 %8 -4611686018427387904
               %11 = add.int %9 -1
               %12 = less.int %3 %10
               %13 = select.int %12 %11 9223372036854775807
               %14 = call search/within %0 %1 %2 %3 %13
               return %14
             }
             function search/within(%0: column int, %1: int, %2: int, %3: int, %4: int) -> int {
               %5 = greater.int %3 %4
               %20 = if %5 {
                 %6 = extract %0 %3
                 %7 = equal.int %6 %2
                 %10 = if %7 { yield %3 } else {
                   %8 = subtract.int %3 %1
                   %9 = call search/within %0 %1 %2 %8 %4
                   yield %9
                 }
                 yield %10
               } else {
                 %11 = greater.int 1 %3
                 %19 = if %11 { yield -1 } else {
                   %12 = length %0
                   %13 = check_index %3 %12
                   %14 = extract %0 %13
                   %15 = equal.int %14 %2
                   %18 = if %15 { yield %3 } else {
                     %16 = subtract.int %3 %1
                     %17 = call search/within %0 %1 %2 %16 %4
                     yield %17
                   }
                   yield %18
                 }
                 yield %19
               }
               return %20
             }",
        );
    }

    #[test]
    fn other_loops_stay() {
        // Neither up nor down, an index that is no sum, a loop that does not go on by comparing the counter.
        let less = "%6 = less.int %3 %0";
        stays(super::run, &sum(less, "%9 = add.int %3 %2", "%13 = subtract.int %0 %3"));
        stays(super::run, &sum(less, "%9 = multiply.int %3 %2", "%13 = add.int %3 1"));
        stays(super::run, &sum("%6 = less.int %4 %0", "%9 = add.int %3 %2", "%13 = add.int %3 1"));
        // By what may be anything in a turn.
        stays(super::run, &sum(less, "%9 = add.int %3 %2", "%13 = add.int %3 %11"));
        // What only some turns look at would not let the range begin.
        stays(
            super::run,
            "function before(%0: column int, %1: int, %2: int) -> int {
               %3 = length %0
               %4 = less.int %1 %3
               %5 = if %4 {
                 %6 = less.int 0 %1
                 %7 = if %6 {
                   %8 = subtract.int %1 1
                   %9 = check_index %8 %3
                   %10 = extract %0 %9
                   yield %10
                 } else { yield 0 }
                 %11 = add.int %1 1
                 %12 = add.int %2 %7
                 %13 = call before %0 %11 %12
                 yield %13
               } else { yield %2 }
               return %5
             }",
        );
    }
}
