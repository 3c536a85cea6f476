//! A group with an `each` ([`nesl_vcode::passes::fuse_each`]): the loop over the instances, in which their scalars are
//! computed, and what they give is reduced. Nothing of that is in a column, unless the group yields it.
//!
//! ```text
//! fused { %1 = map less.int %v %a; %2 = pack %v %1; %3 = map add.int %2 %b; %4 = each f … %3; %5 = reduce.add.int %4 }
//!
//!     total = 0
//!     for i in 0 .. length { if v[i] < a { total += f(v[i] + b) } }           // super::filter
//! ```

use super::elementwise::Elementwise;
use super::results::{Reduction, Source};
use super::{Instances, Part};
use crate::body::Body;
use crate::kernel::{Ending, Plan, PlanOperand};
use cranelift_codegen::ir::Value;
use nesl_prim::ScalarOp;
use nesl_vcode::{Block, EachPlan, Function, FunctionId, Instruction, Op, Operand, Register, RegisterType};

/// A group with an `each`, as its loop is made of it.
pub(crate) struct EachGroup<'a> {
    serial: FunctionId,
    plan: EachPlan,
    operands: &'a [Operand],
    /// What is computed before the instances, with the registers that it reads, if anything is.
    members: Option<(Plan, Vec<Register>)>,
    /// How each operand is computed that is, and where there are instances, if not everywhere.
    computed: Vec<Option<Elementwise>>,
    filter: Option<Elementwise>,
    /// What becomes of what instances give.
    reductions: Vec<(ScalarOp, Elementwise)>,
    /// What that reads besides scalars that it computes.
    sources: Vec<Source<Register>>,
    /// What the group yields.
    yields: Vec<Yield>,
}

/// What a group yields: a field of what instances give, or a reduction, by its position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Yield {
    Field(usize),
    Reduction(usize),
}

impl<'a> EachGroup<'a> {
    /// A group as one with an `each`; none if it is another one, or has members that are not loops of this kind: before
    /// the `each` what is computed at the index alone, and behind it exact reductions of such things.
    pub fn of(block: &'a Block, function: &Function) -> Option<EachGroup<'a>> {
        let position = block.instructions.iter().position(|member| matches!(member.op, Op::Each(_)))?;
        let (before, each, behind) =
            (&block.instructions[..position], &block.instructions[position], &block.instructions[position + 1..]);
        let Op::Each(op) = &each.op else { return None };
        let own: Vec<Operand> = each.operands.iter().filter(|operand| defines(before, **operand)).copied().collect();
        let members = plan_of_some(before, own.clone(), function)?;
        let filter = members.as_ref().map_or(Some(None), |(plan, _)| filter(plan))?;
        let computed = |operand: &Operand| match own.iter().position(|it| it == operand).zip(members.as_ref()) {
            Some((index, (plan, _))) => Elementwise::of(plan, PlanOperand::Node(plan.yields[index])).map(Some),
            None => Some(None),
        };
        let reduced: Vec<Operand> = block.results.iter().filter(|result| defines(behind, **result)).copied().collect();
        let field = |register: Operand| each.results.iter().position(|&result| register == result.into());
        let yielded = |&result: &Operand| {
            let reduction = reduced.iter().position(|&it| it == result).map(Yield::Reduction);
            reduction.or_else(|| field(result).map(Yield::Field))
        };
        let yields = block.results.iter().map(yielded).collect::<Option<Vec<Yield>>>()?;
        if filter.is_some() && yields.iter().any(|it| matches!(it, Yield::Field(_))) {
            // It is not known before how many there are.
            return None;
        }
        let (mut reductions, mut sources) = (Vec::new(), Vec::new());
        if let Some((plan, inputs)) = plan_of_some(behind, reduced.clone(), function)? {
            let source = |&input: &Register| match (field(input.into()), function.register_type(input)) {
                (Some(position), _) => Some(Source::Field(position)),
                (None, RegisterType::Scalar(_)) => Some(Source::Scalar(input)),
                (None, _) => None,
            };
            sources = inputs.iter().map(source).collect::<Option<Vec<Source<Register>>>>()?;
            let reduction = |index| match plan.ending(index) {
                Ending::Reduce(op, source) => Some((op, Elementwise::of(&plan, source)?)),
                _ => None,
            };
            reductions = (0..reduced.len()).map(reduction).collect::<Option<Vec<(ScalarOp, Elementwise)>>>()?;
        }
        Some(EachGroup {
            serial: op.serial,
            plan: op.plan(),
            operands: &each.operands,
            computed: each.operands.iter().map(computed).collect::<Option<Vec<Option<Elementwise>>>>()?,
            members,
            filter,
            reductions,
            sources,
            yields,
        })
    }
}

/// Whether one of some instructions defines an operand.
fn defines(instructions: &[Instruction], operand: Operand) -> bool {
    operand.register().is_some_and(|register| instructions.iter().any(|member| member.results.contains(&register)))
}

/// The plan of some of the instructions of a group, which yield these of their results, if there are any, with the
/// registers that it reads. None for what is none, or can fail: that does so at all indices, whoever reads it.
#[allow(clippy::option_option, reason = "nothing is a plan, too")]
fn plan_of_some(
    instructions: &[Instruction],
    yields: Vec<Operand>,
    function: &Function,
) -> Option<Option<(Plan, Vec<Register>)>> {
    if instructions.is_empty() {
        return Some(None);
    }
    let (plan, inputs) = Plan::new(&Block::new(instructions.to_vec(), yields), &function.registers)?;
    (!plan.is_fallible()).then_some(Some((plan, inputs)))
}

/// Where there is an instance: in the one space within, if the scalars are of that; none where there are more spaces.
#[allow(clippy::option_option, reason = "everywhere is a place, too")]
fn filter(plan: &Plan) -> Option<Option<Elementwise>> {
    let mut spaces = plan.yields.iter().map(|&node| plan.nodes[node].space);
    match plan.spaces() {
        1 => Some(None),
        2 if spaces.len() > 0 && spaces.all(|space| space == 1) => {
            Elementwise::of(plan, plan.space(1)?.flags).map(Some)
        }
        _ => None,
    }
}

impl Body<'_, '_> {
    /// The values of what a group with an `each` yields.
    pub(in crate::body) fn each_group(&mut self, group: EachGroup<'_>) -> Vec<Value> {
        let EachGroup { serial, plan, operands, members, computed, filter, reductions, sources, yields } = group;
        let length = match &members {
            Some((plan, inputs)) => self.extent(plan, inputs),
            None => self.count(&plan, operands),
        };
        let bound = |body: &mut Self, elementwise| match &members {
            Some((plan, inputs)) => body.bound_to(elementwise, plan, inputs),
            None => elementwise,
        };
        let filter = filter.map(|filter| bound(self, filter));
        let mut parts = Vec::with_capacity(operands.len());
        for ((taken, &operand), computed) in plan.operands.iter().zip(operands).zip(computed) {
            parts.push(match computed {
                Some(elementwise) => Part::Computed(bound(self, elementwise)),
                None => self.part(taken, operand),
            });
        }
        let kept = self.keep_all(&plan, length, |field| yields.contains(&Yield::Field(field)));
        let reductions: Vec<Reduction> =
            reductions.into_iter().map(|(op, reduced)| self.begin_reduction(op, reduced, &sources)).collect();
        let (fields, kept_fields) = (&plan.results, &kept);
        self.run_all(&Instances { serial, parts, length, filter, fields, kept: kept_fields, reductions: &reductions });
        let kept = self.together(kept, length);
        let values = yields.into_iter().map(|it| match it {
            Yield::Field(field) => kept[field].clone(),
            Yield::Reduction(index) => vec![self.emitter.builder.use_var(reductions[index].variable)],
        });
        values.collect::<Vec<Vec<Value>>>().concat()
    }

    /// The number of instances, by what varies.
    fn count(&mut self, plan: &EachPlan, operands: &[Operand]) -> Value {
        let varying = plan.counted_by().map(|(_, position)| self.value(operands[position]));
        let count = varying.and_then(|values| values.last().copied());
        count.unwrap_or_else(|| unreachable!("something varies for instances in a group"))
    }
}

#[cfg(test)]
mod tests {
    use super::EachGroup;
    use crate::Status;
    use crate::function::tests::{column_of, numbered, run, run_in};
    use nesl_vcode::Op;

    /// f(n, k) with a group over a column v = [0:n] and one of sequences [0:i], and what it returns; g gives two
    /// scalars and a sequence for two scalars and a sequence.
    fn text(group: &str, returned: &str) -> String {
        numbered(&format!(
            "function f(%0: int, %1: int) -> {returned}
               %2 = iota %0
               %30 = packed %2
               %31 = seg_iota %30
               {group}
             }}
             function g(%0: int, %1: int, %2: int, %3: column int) -> int, int, int, column int {{
               %4 = remainder %0 %1
               %5 = multiply.int %2 %0
               return %4 %5 %2 %3
             }}
             function g/L(%0: int, %1: column int, %2: int, %3: descriptor, %4: column int) \
                 -> column int, column int, descriptor, column int {{
               %5 = map remainder %1 %2
               %6 = lengths %3
               %7 = map multiply.int %6 %1
               return %5 %7 %3 %4
             }}"
        ))
    }

    const EACH: &str = "%20, %21, %22, %23 = each g g/L(of int, int, of [int]) -> int, int, [int]";

    #[test]
    fn results_are_reduced_and_stored_side_by_side() {
        // r = (i + k) % 7 reduced twice and stored, s = i * (i + k) with k * s + r reduced, the sequences put together.
        let group = format!(
            "%40, %41, %42, %43, %44, %45 = fused {{
               %3 = map add.int %2 %1
               {EACH} %3 7 %30 %31
               %24 = reduce.maximum.int %20
               %25 = reduce.add.int %20
               %27 = map multiply.int %21 %1
               %28 = map add.int %27 %20
               %26 = reduce.add.int %28
               yield %24 %20 %25 %26 %22 %23
             }}
             %46 = build %40 %42 %43
             %47 = lengths %44
             %48 = concat %41 %46 %47 %45
             %49 = length %48
             return %49 %48"
        );
        for n in [0, 1, 2, 5, 70] {
            for k in [0, 3, -9] {
                let remainders: Vec<i64> = (0..n).map(|i| (i + k) % 7).collect();
                let reduced = [
                    remainders.iter().copied().max().unwrap_or(i64::MIN),
                    remainders.iter().sum(),
                    (0..n).map(|i| i * (i + k) * k + (i + k) % 7).sum(),
                ];
                let elements: Vec<i64> = (0..n).flat_map(|i| 0..i).collect();
                let expected = [remainders, reduced.to_vec(), (0..n).collect(), elements].concat();
                let text = text(&group, "int, column int {");
                assert_eq!(column_of(&text, &[n as u64, k as u64]), expected, "{n} {k}");
            }
        }
    }

    #[test]
    fn what_is_reduced_alone_is_in_no_memory() {
        let text = numbered(
            "function f(%0: int) -> int, bool {
               %5, %6 = fused {
                 %1 = iota %0
                 %2 = map multiply.int %1 3
                 %3, %4 = each g g/L(of int) -> int, bool %2
                 %7 = reduce.minimum.int %3
                 %8 = reduce.or.bool %4
                 yield %7 %8
               }
               return %5 %6
             }
             function g(%0: int) -> int, bool {
               %1 = negate.int %0
               %2 = equal.int %0 9
               return %1 %2
             }
             function g/L(%0: int, %1: column int) -> column int, column bool {
               %2 = map negate.int %1
               %3 = map equal.int %1 9
               return %2 %3
             }",
        );
        let reduced = |n: u64| {
            let (status, words) = run_in(1 << 10, None, &text, &[n], 2);
            assert_eq!(status, Status::Done);
            (words[0] as i64, words[1])
        };
        assert_eq!([reduced(0), reduced(3), reduced(4)], [(i64::MAX, 0), (-6, 0), (-9, 1)]);
        assert_eq!(reduced(1 << 20), (-3 * ((1 << 20) - 1), 1));
    }

    #[test]
    fn an_instance_that_fails_gives_up() {
        let group = format!(
            "%40 = fused {{
               {EACH} %2 %1 %30 %31
               %24 = reduce.add.int %20
               yield %24
             }}
             return %40"
        );
        let text = text(&group, "int {");
        assert_eq!(run(&text, &[9, 4], 1), (Status::Done, vec![12]));
        assert_eq!(run(&text, &[9, 0], 1).0, Status::GaveUp);
        assert_eq!(run(&text, &[0, 0], 1), (Status::Done, vec![0]));
    }

    #[test]
    fn other_groups_are_not_taken() {
        let is_taken = |members: &str, yielded: &str| {
            let group = format!("%40 = fused {{\n{members}\nyield {yielded}\n}}\nreturn %1");
            let program = nesl_vcode::parse(&text(&group, "int {")).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(nesl_vcode::verify(&program), Ok(()));
            let function = &program.functions[0];
            let group = function.body.instructions.iter().find_map(|instruction| match &instruction.op {
                Op::Fused(block) => EachGroup::of(block, function),
                _ => None,
            });
            group.is_some()
        };
        let instances = format!("{EACH} %2 7 %30 %31");
        assert!(is_taken(&format!("%3 = map negate.int %2\n{EACH} %3 7 %30 %31"), "%20"));
        assert!(is_taken(&format!("{instances}\n%24 = map add.int %20 %1\n%25 = reduce.add.int %24"), "%25"));
        // What fails, whoever reads it; columns of what is computed from what instances give; reads elsewhere than at
        // the index, or of a column besides.
        assert!(!is_taken(&format!("%3 = map divide.int %2 %1\n{instances}"), "%20"));
        assert!(!is_taken(&format!("{instances}\n%24 = map negate.int %20"), "%24"));
        assert!(!is_taken(&format!("{instances}\n%24 = scan.add.int %20"), "%24"));
        assert!(!is_taken(&format!("{instances}\n%24 = map add.int %20 %2\n%25 = reduce.add.int %24"), "%25"));
        assert!(!is_taken(&format!("%3 = gather %2 %2\n{EACH} %3 7 %30 %31"), "%20"));
    }
}
