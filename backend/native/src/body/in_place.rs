//! Loops over columns in one place: two versions of a loop that writes to columns which it carries from turn to turn
//! ([`nesl_vcode::alias::InPlace`]).
//!
//! In the first version each write looks whether the column is the loop's own, and copies it if it is not. Once all of
//! those columns are the loop's own they stay where they are, whatever the turns write; so the loop goes over to the
//! second version, in which their addresses and lengths do not vary. Nothing is looked at, copied or moved there, and a
//! write is a store.
//!
//! ```text
//! f(v, i) = if i == n then v else f(scatter v [i] [x], i + 1)
//!
//!     v is own ? jump invariant
//!   general:
//!     i == n ? leave; target = v is own ? v : copy of v; target[i] = x; i += 1
//!     target is own ? jump invariant : jump general
//!   invariant:                                          // v does not vary from here on
//!     i == n ? leave; v[i] = x; i += 1; jump invariant
//! ```
//!
//! A loop within a loop whose columns do not vary has the second version alone. Where a turn gives a column that lies
//! elsewhere, the loop goes back to the first.

use super::loop_state::{Invariant, Loop, Version};
use super::single::Singles;
use super::{Body, Mark, is_direct};
use crate::state::TOP;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as Label, InstBuilder, Value, types};
use nesl_vcode::alias::InPlace;
use nesl_vcode::{FunctionId, Instruction, Op, Operand, Program, RegisterType, VectorOp};
use std::collections::{HashMap, HashSet};

/// What writing an element of a column may come to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Writes {
    /// The column is copied first where it is not the loop's own.
    Copy,
    /// It is.
    Store,
}

impl Body<'_, '_> {
    /// Emits the versions of the loop that is being emitted, whose first parameters have these values; those of its
    /// results, none if it never ends.
    pub(super) fn versions(&mut self, in_place: InPlace, values: &[Vec<Value>]) -> Option<Vec<Vec<Value>>> {
        let positions: Vec<usize> =
            (0..values.len()).filter(|&position| in_place.column(self.id, position) == Some(position)).collect();
        let is_invariant = positions.iter().all(|&position| self.owned.contains(&values[position][0]));
        if is_invariant && !self.calls_for_columns() {
            return self.invariant(in_place, &positions, (values, Vec::new()));
        }
        let function = self.function;
        let types: Vec<RegisterType> = function.parameters.iter().map(|&own| function.register_type(own)).collect();
        let result_types: Vec<RegisterType> =
            function.body.results.iter().map(|&result| self.type_of(result)).collect();
        let [invariant, done] = [&types, &result_types].map(|registers| self.label_for(registers));
        self.foresee_moves(Writes::Copy);
        let are_own = self.are_owned(&positions, values);
        self.emitter.jump_if(are_own, invariant, &values.concat());
        self.set_version(Version::General { positions: positions.clone(), invariant });
        let general = self.round(values);
        if let Some(results) = &general {
            self.emitter.jump(done, &results.concat());
        }
        self.emitter.builder.switch_to_block(invariant);
        let values = self.params_of(invariant, &types);
        let begins = self.tail_loop.as_mut().map(|tail_loop| std::mem::take(&mut tail_loop.begins));
        let found = self.invariant(in_place, &positions, (&values, begins.unwrap_or_default()));
        if general.is_none() {
            return found;
        }
        if let Some(results) = found {
            self.emitter.jump(done, &results.concat());
        }
        self.emitter.builder.switch_to_block(done);
        Some(self.params_of(done, &result_types))
    }

    /// Emits the version in which the columns at these positions do not vary.
    fn invariant(
        &mut self,
        in_place: InPlace,
        positions: &[usize],
        (values, general): (&[Vec<Value>], Vec<(FunctionId, Label)>),
    ) -> Option<Vec<Vec<Value>>> {
        let ranges = self.split_live_ranges(values, positions);
        let values = ranges.inside(values);
        let columns: HashMap<usize, [Value; 2]> =
            positions.iter().map(|&position| (position, [values[position][0], values[position][1]])).collect();
        let mark = self.emitter.load_state(TOP);
        let count = self.owned.len();
        self.owned.extend(columns.values().map(|column| column[0]));
        self.foresee_moves(Writes::Store);
        self.set_version(Version::Invariant(Invariant { in_place, columns, mark, general }));
        let results = self.round(&values);
        self.owned.truncate(count);
        results.map(|results| ranges.outside(&results))
    }

    fn set_version(&mut self, version: Version) {
        if let Some(tail_loop) = &mut self.tail_loop {
            tail_loop.version = version;
        }
    }

    /// Ends a turn that goes on with a function, whose operands have these values.
    pub(super) fn end_turn(&mut self, mark: Mark, id: FunctionId, operands: &[Operand], values: &mut [Vec<Value>]) {
        let types: Vec<RegisterType> = operands.iter().map(|&operand| self.type_of(operand)).collect();
        let turn = Mark { moves: self.turn_moves, ..mark };
        match self.tail_loop.as_ref().map(|Loop { version, .. }| version) {
            None | Some(Version::Only) => self.give_back(turn, &types, values),
            Some(Version::General { positions, invariant }) => {
                let (positions, invariant, is_first) = (positions.clone(), *invariant, self.is_first(id));
                self.give_back(turn, &types, values);
                if is_first {
                    let are_own = self.are_owned(&positions, values);
                    self.emitter.jump_if(are_own, invariant, &values.concat());
                }
            }
            Some(Version::Invariant(_)) => self.end_invariant_turn(turn, id, &types, values),
        }
    }

    fn end_invariant_turn(&mut self, turn: Mark, id: FunctionId, types: &[RegisterType], values: &mut [Vec<Value>]) {
        let Some(Loop { version: Version::Invariant(invariant), .. }) = &self.tail_loop else { return };
        let of_turn = Mark { address: invariant.mark, ..turn };
        let general = invariant.general.iter().find(|(function, _)| *function == id).map(|(_, label)| *label);
        let column =
            |position: usize| invariant.in_place.column(id, position).map(|column| invariant.columns[&column][0]);
        let (kept, moving): (Vec<usize>, Vec<usize>) = (0..values.len()).partition(|&index| column(index).is_some());
        let pairs = kept.iter().filter_map(|&index| Some([values[index][0], column(index)?]));
        let elsewhere: Vec<[Value; 2]> = pairs.filter(|[found, expected]| found != expected).collect();
        if !elsewhere.is_empty() {
            let ins = &mut self.emitter.builder;
            let are_there: Vec<Value> = (elsewhere.into_iter())
                .map(|[found, expected]| ins.ins().icmp(IntCC::Equal, found, expected))
                .collect();
            let are_there = self.all(&are_there);
            match general {
                None => self.emitter.require(are_there),
                Some(general) => self.go_back(are_there, (id, general), turn, (types, values)),
            }
        }
        let moving_types: Vec<RegisterType> = moving.iter().map(|&index| types[index]).collect();
        let mut moving_values: Vec<Vec<Value>> = moving.iter().map(|&index| values[index].clone()).collect();
        self.give_back(of_turn, &moving_types, &mut moving_values);
        for (index, moved) in moving.into_iter().zip(moving_values) {
            values[index] = moved;
        }
    }

    /// Goes back to the first version unless all columns are where they were.
    fn go_back(
        &mut self,
        are_there: Value,
        (id, general): (FunctionId, Label),
        turn: Mark,
        (types, values): (&[RegisterType], &[Vec<Value>]),
    ) {
        let [elsewhere, next] = [(); 2].map(|()| self.emitter.builder.create_block());
        self.emitter.builder.set_cold_block(elsewhere);
        self.emitter.builder.ins().brif(are_there, next, &[], elsewhere, &[]);
        self.emitter.builder.switch_to_block(elsewhere);
        let mut values = values.to_vec();
        self.give_back(Mark { moves: 0, ..turn }, types, &mut values);
        let is_read = |position: &usize| !self.is_unread(id, *position);
        let values: Vec<Value> =
            (0..values.len()).filter(is_read).flat_map(|position| values[position].clone()).collect();
        self.emitter.jump(general, &values);
        self.emitter.builder.switch_to_block(next);
    }

    /// Whether all of some conditions are true.
    fn all(&mut self, conditions: &[Value]) -> Value {
        let all = conditions.iter().copied().reduce(|all, next| self.emitter.builder.ins().band(all, next));
        all.unwrap_or_else(|| self.emitter.builder.ins().iconst(types::I8, 1))
    }

    fn is_first(&self, id: FunctionId) -> bool {
        self.tail_loop.as_ref().is_some_and(|Loop { first, .. }| *first == id)
    }

    /// Whether all of the columns at these positions are the function's own.
    fn are_owned(&mut self, positions: &[usize], values: &[Vec<Value>]) -> Value {
        let are_own: Vec<Value> = positions.iter().map(|&position| self.owns(values[position][0])).collect();
        self.all(&are_own)
    }

    /// Whether a function of the loop calls one, emitted elsewhere, that gives columns: where these lie is not known
    /// before it runs.
    fn calls_for_columns(&self) -> bool {
        self.functions_of_loop().iter().any(|&id| {
            self.any_in(id, &mut |instruction| match instruction.op {
                Op::Call(callee) => {
                    !self.functions_of_loop().contains(&callee)
                        && !self.is_inlined(callee)
                        && gives_columns(self.program, callee)
                }
                _ => false,
            })
        })
    }

    /// Says that the top may have moved where the loop ends, if turns may move it: the end may be written before them.
    pub(super) fn foresee_moves(&mut self, writes: Writes) {
        if self.turns_make_columns(writes) {
            self.emitter.move_top();
        }
    }

    /// Whether a turn of the loop may take scratch memory.
    fn turns_make_columns(&self, writes: Writes) -> bool {
        self.functions_of_loop().iter().any(|&id| self.makes_columns(id, writes))
    }

    /// Whether a function, of the loop or emitted in it, may.
    fn makes_columns(&self, id: FunctionId, writes: Writes) -> bool {
        let singles = Singles::of(&self.program.functions[id.0 as usize]);
        self.any_in(id, &mut |instruction| match &instruction.op {
            Op::Scalar(_) | Op::If(..) | Op::Constants(_) => false,
            Op::Vector(VectorOp::Build) => !singles.contains(instruction.results[0]),
            Op::Vector(op) if op.is_update() => writes == Writes::Copy || !singles.are_written(instruction),
            // It makes the starts.
            Op::Vector(VectorOp::Packed) => true,
            Op::Vector(op) => !is_direct(*op) || op.row().fresh,
            Op::Call(callee) if *callee == id || self.functions_of_loop().contains(callee) => false,
            Op::Call(callee) if self.is_inlined(*callee) => self.makes_columns(*callee, Writes::Copy),
            Op::Call(callee) => gives_columns(self.program, *callee),
            Op::Map(_) | Op::Fused(_) | Op::Each(_) | Op::Host(_) => true,
        })
    }

    fn functions_of_loop(&self) -> &HashSet<FunctionId> {
        match &self.tail_loop {
            Some(Loop { functions, .. }) => functions,
            None => unreachable!("a loop is being emitted"),
        }
    }

    fn any_in(&self, id: FunctionId, is_it: &mut dyn FnMut(&Instruction) -> bool) -> bool {
        let mut found = false;
        self.program.functions[id.0 as usize].body.visit(&mut |instruction| found |= is_it(instruction));
        found
    }
}

/// Whether there are columns among the results of a function.
fn gives_columns(program: &Program, id: FunctionId) -> bool {
    let function = &program.functions[id.0 as usize];
    function.body.results.iter().any(|&result| !matches!(function.operand_type(result), RegisterType::Scalar(_)))
}

#[cfg(test)]
mod tests {
    use crate::function::tests::{column_of, numbered};

    /// `f(n)`: what a loop of n turns makes of `[0:n+3]`, and that column behind it if it is `kept`.
    fn looped(turn: &str, next: &str, kept: bool) -> String {
        let end = if kept { "%3 = concat %2 %1" } else { "%3 = concat %2" };
        numbered(&format!(
            "function f(%0: int) -> int, column int {{
               %4 = add.int %0 3
               %1 = iota %4
               %2 = call g %0 0 %1
               {end}
               %5 = length %3
               return %5 %3
             }}
             function g(%0: int, %1: int, %2: column int) -> column int {{
               %10 = less.int %1 %0
               %99 = if %10 {{
                 %11 = add.int %1 1
                 {turn}
                 %98 = call g %0 %11 {next}
                 yield %98
               }} else {{ yield %2 }}
               return %99
             }}"
        ))
    }

    const TURNS: [i64; 6] = [0, 1, 2, 3, 40, 151];

    /// Checks a turn whose effect on the column is `change(column, i)`.
    fn check(others: &str, turn: &str, next: &str, change: impl Fn(&mut Vec<i64>, i64)) {
        for kept in [false, true] {
            let text = looped(turn, next, kept) + &numbered(others);
            for n in TURNS {
                let before: Vec<i64> = (0..n + 3).collect();
                let mut expected = before.clone();
                (0..n).for_each(|i| change(&mut expected, i));
                if kept {
                    expected.extend(before);
                }
                assert_eq!(column_of(&text, &[n as u64]), expected, "{n}, kept: {kept}\n{text}");
            }
        }
    }

    /// Writes `value` to the place of `index`, as register `result`.
    fn write(result: &str, index: &str, value: &str) -> String {
        format!(
            "%70 = length %2
             %71 = check_index {index} %70
             %72 = build %71
             %73 = build {value}
             {result} = scatter %2 %72 %73"
        )
    }

    #[test]
    fn elements_are_written_and_what_others_read_stays() {
        let turn = "%12 = extract %2 %11\n%13 = multiply.int %12 3\n".to_owned();
        check("", &(turn + &write("%14", "%1", "%13")), "%14", |column, i| column[i as usize] = 3 * (i + 1));
        // Not in each turn, and the first ones write nothing.
        let turn = format!(
            "%12 = remainder %1 5
             %13 = equal.int %12 4
             %14 = if %13 {{ {}
               yield %15 }} else {{ yield %2 }}",
            write("%15", "%1", "-1")
        );
        check("", &turn, "%14", |column, i| {
            if i % 5 == 4 {
                column[i as usize] = -1;
            }
        });
    }

    #[test]
    fn what_takes_the_place_of_the_column_is_another() {
        let turn = format!(
            "%12 = remainder %1 7
             %13 = equal.int %12 6
             %14 = if %13 {{ %16 = add.int %0 3
               %17 = iota %16
               yield %17 }} else {{ {}
               yield %15 }}",
            write("%15", "%11", "%0")
        );
        for n in TURNS {
            let text = looped(&turn, "%14", true);
            let mut expected: Vec<i64> = (0..n + 3).collect();
            for i in 0..n {
                match i % 7 {
                    6 => expected = (0..n + 3).collect(),
                    _ => expected[i as usize + 1] = n,
                }
            }
            expected.extend(0..n + 3);
            assert_eq!(column_of(&text, &[n as u64]), expected, "{n}");
        }
    }

    #[test]
    fn loops_within_write_to_the_same_column() {
        // h adds i to each element, one after another; m has a turn for every other one, in two functions.
        let inner = format!(
            "function h(%0: int, %1: int, %2: column int) -> column int {{
               %3 = length %2
               %4 = less.int %1 %3
               %9 = if %4 {{
                 %5 = extract %2 %1
                 %6 = add.int %5 %0
                 {}
                 %7 = add.int %1 1
                 %8 = call h %0 %7 %14
                 yield %8
               }} else {{ yield %2 }}
               return %9
             }}",
            write("%14", "%1", "%6")
        );
        let add = |column: &mut Vec<i64>, i| column.iter_mut().for_each(|element| *element += i);
        check(&inner, "%12 = call h %1 0 %2", "%12", add);
        // Behind what the turn makes, which the next one gets.
        let made = "%13 = iota %11
             %15 = reduce.add.int %13
             %12 = call h %15 0 %2";
        check(&inner, made, "%12", |column, i| add(column, i * (i + 1) / 2));
    }

    #[test]
    fn loops_of_several_functions_have_one_column() {
        // g goes on with itself, or by way of h, which writes.
        let text = numbered(&format!(
            "function f(%0: int) -> int, column int {{
               %1 = iota %0
               %2 = call g %0 0 %1
               %3 = concat %2 %1
               %4 = length %3
               return %4 %3
             }}
             function g(%0: int, %1: int, %2: column int) -> column int {{
               %3 = less.int %1 %0
               %4 = if %3 {{
                 %5 = remainder %1 3
                 %6 = equal.int %5 0
                 %7 = if %6 {{
                   %8 = add.int %1 1
                   %9 = call g %0 %8 %2
                   yield %9
                 }} else {{
                   %10 = call h %2 %1 %0
                   yield %10
                 }}
                 yield %7
               }} else {{ yield %2 }}
               return %4
             }}
             function h(%2: column int, %1: int, %0: int) -> column int {{
               {}
               %3 = add.int %1 1
               %4 = call g %0 %3 %14
               return %4
             }}",
            write("%14", "%1", "7")
        ));
        for n in TURNS {
            let written = (0..n).map(|i| if i % 3 == 0 { i } else { 7 });
            assert_eq!(column_of(&text, &[n as u64]), written.chain(0..n).collect::<Vec<_>>(), "{n}");
        }
    }

    #[test]
    fn a_column_that_comes_from_elsewhere_is_copied_again() {
        // h writes to more columns than can be granted to it: the last ones are copies.
        const COLUMNS: usize = 18;
        let registers = |from: usize| (0..COLUMNS).map(|k| format!("%{}", from + k)).collect::<Vec<_>>();
        let parameters = registers(2).iter().map(|own| format!("{own}: column int")).collect::<Vec<_>>().join(", ");
        let results = vec!["column int"; COLUMNS].join(", ");
        let [old, made, given, again] = [2, 30, 60, 230].map(|from| registers(from).join(" "));
        let commas = |text: &str| text.replace(' ', ", ");
        let write = |k: usize| {
            let (column, written, index, element, value) = (2 + k, 30 + k, 100 + k, 130 + k, 160 + k);
            format!(
                "%{value} = add.int %1 {k}
                 %{index} = build %0
                 %{element} = build %{value}
                 %{written} = scatter %{column} %{index} %{element}\n"
            )
        };
        let writes: String = (0..COLUMNS).map(write).collect();
        let text = numbered(&format!(
            "function f(%0: int) -> int, column int {{
               %1 = iota %0
               {} = call g %0 0 {}
               %200 = concat {given}
               %201 = length %200
               return %201 %200
             }}
             function g(%0: int, %1: int, {parameters}) -> {results} {{
               %200 = less.int %1 %0
               {} = if %200 {{
                 {} = call h %1 %0 {old}
                 %201 = add.int %1 1
                 {} = call g %0 %201 {made}
                 yield {again}
               }} else {{ yield {old} }}
               return {given}
             }}
             function h(%0: int, %1: int, {parameters}) -> {results} {{
               {writes}
               return {made}
             }}",
            commas(&given),
            vec!["%1"; COLUMNS].join(" "),
            commas(&given),
            commas(&made),
            commas(&again),
        ));
        for n in [0, 1, 2, 5, 33] {
            let expected: Vec<i64> = (0..COLUMNS as i64).flat_map(|k| (0..n).map(move |_| n + k)).collect();
            assert_eq!(column_of(&text, &[n as u64]), expected, "{n}");
        }
    }
}
