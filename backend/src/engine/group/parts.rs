//! A group over a part of its indices, as each of several processes runs it, and what it takes to put the results
//! together.
//!
//! A process gets the elements of its indices, the segments that lie there, where in the whole its part begins, and
//! those elements at other indices that it reads ([`nesl_native::PartPlan`]). Which these are it finds out beforehand,
//! from what the inputs of a part can be at most ([`Partial::bounds`]).

mod bounds;

pub use bounds::Inputs;

use super::Group;
use nesl_native::{Ending, Extent, Further, NodeOp, Plan, PlanOperand};
use nesl_prim::{ScalarOp, ScalarValue};
use nesl_vcode::{RegisterType, VectorOp};

/// A group over a part of its indices.
#[derive(Debug)]
pub struct Partial {
    /// What to run on a part.
    pub group: Group,
    /// What each input is; those that only parts have come last.
    pub roles: Vec<Role>,
    /// What each result is.
    pub yields: Vec<Yield>,
    /// What says how many indices the whole has.
    pub extent: Whole,
    /// The columns of which elements are read at other indices than that of the loop.
    pub reads: Vec<usize>,
    /// The whole.
    plan: Plan,
}

/// What an input of a group over a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A scalar, the same for all parts.
    Scalar,
    /// A column with an element for each index.
    Elements,
    /// Segments that cover the indices.
    Segments,
    /// A column with an element for each segment of this input.
    OfSegments(usize),
    /// The number of indices of the part.
    Count,
    /// The first index of the part.
    First,
    /// For each segment of this input how many of its elements lie before the part.
    Before(usize),
    /// A column that is only read at other indices.
    Elsewhere,
    /// Those of its elements that the part reads there.
    Read(usize),
    /// The index of the first of these.
    Offset(usize),
    /// The segments of a descriptor in the part, in these elements of a column.
    View {
        /// The descriptor.
        descriptor: usize,
        /// The column.
        column: usize,
    },
}

/// What a result of a group over a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// An element for each index.
    All,
    /// Elements that a filter kept.
    Kept,
    /// All elements combined by an associative operation.
    Reduced(ScalarOp),
    /// The same by segment of this input.
    BySegment(ScalarOp, usize),
    /// Elements to be combined by an operation whose order counts.
    Ordered(ScalarOp),
    /// The same by segment of this input, combined: of parts that have whole segments alone.
    OrderedBySegment(ScalarOp, usize),
    /// The index of what the result before this one is, of all elements. That one is for putting parts together alone.
    Index(ScalarOp),
    /// The same by segment of this input.
    IndexBySegment(ScalarOp, usize),
}

impl Yield {
    /// Whether it is combined by an operation whose order counts.
    pub fn is_ordered(&self) -> bool {
        matches!(self, Yield::Ordered(_) | Yield::OrderedBySegment(..))
    }
}

/// What says how many indices a group has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// This scalar of the program.
    Constant(ScalarValue),
    /// This input: a scalar, or by the number of its elements.
    Input(usize),
}

impl Partial {
    /// The reduction of segments that lie one after another, by an associative operation: of columns that nothing is
    /// known of before it runs. Its inputs are the column and the segments.
    ///
    /// # Panics
    /// If the operation is not associative.
    pub fn seg_reduce(op: ScalarOp) -> Partial {
        let partial = Partial::new(&Plan::seg_reduce(op));
        partial.unwrap_or_else(|| panic!("{op} has no part: it is not associative"))
    }

    /// The reduction of segments that lie anywhere in a column, by any operation. Its inputs are the same.
    pub fn seg_reduce_view(op: ScalarOp) -> Option<Partial> {
        Partial::new(&Plan::seg_reduce_view(op))
    }

    /// Where the extreme element of a column is, or of segments of it that lie one after another. Its inputs are the
    /// column, and the segments.
    ///
    /// # Panics
    /// If the operation chooses none of its operands.
    pub fn reduce_index(op: ScalarOp, has_segments: bool) -> Partial {
        let partial = Partial::new(&Plan::reduce_index(op, has_segments));
        partial.unwrap_or_else(|| panic!("{op} has no part: it chooses none of its operands"))
    }

    /// The results of the whole, without those that are only for putting parts together.
    pub fn without_extremes<T>(&self, results: Vec<T>) -> Vec<T> {
        let is_index = |kind: &Yield| matches!(kind, Yield::Index(_) | Yield::IndexBySegment(..));
        let is_kept = |at: &usize| !self.yields.get(at + 1).is_some_and(is_index);
        results.into_iter().enumerate().filter(|(at, _)| is_kept(at)).map(|(_, result)| result).collect()
    }

    /// None for a group that needs more than the elements of a part, or whose results parts cannot put together.
    pub(super) fn new(plan: &Plan) -> Option<Partial> {
        let plan = &plan.with_extremes();
        let yields = (0..plan.yields.len()).map(|index| match plan.ending(index) {
            Ending::Store(source) if plan.space_of(source) == 0 => Some(Yield::All),
            Ending::Store(_) => Some(Yield::Kept),
            Ending::Reduce(op, _) => Some(Yield::Reduced(op)),
            Ending::SegReduce(op, _, segments) => Some(Yield::BySegment(op, segments)),
            Ending::Sum(op, PlanOperand::Node(_)) => Some(Yield::Ordered(op)),
            Ending::SegSum(op, _, segments) => Some(Yield::OrderedBySegment(op, segments)),
            Ending::Sum(..) | Ending::Scan(..) => None,
            Ending::ReduceIndex(op, _) => Some(Yield::Index(op)),
            Ending::SegReduceIndex(op, _, segments) => Some(Yield::IndexBySegment(op, segments)),
            Ending::Scatter { .. } | Ending::SegScatter { .. } | Ending::Combine { .. } => None,
        });
        let yields = yields.collect::<Option<Vec<Yield>>>()?;
        let roles = (0..plan.inputs.len()).map(|input| role(plan, input));
        let mut roles = roles.collect::<Option<Vec<Role>>>()?;
        if plan.nodes.iter().any(|node| node.scanned().is_some()) {
            return None;
        }
        let extent = match plan.extent {
            Extent::Value(PlanOperand::Constant(value)) => Whole::Constant(value),
            Extent::Value(PlanOperand::Input(input)) | Extent::Column(input) | Extent::Total(input) => {
                Whole::Input(input)
            }
            Extent::Value(PlanOperand::Node(_)) => return None,
        };
        if matches!(plan.extent, Extent::Column(input) if roles[input] == Role::Elsewhere) {
            return None;
        }
        let part = plan.on_part();
        roles.extend(part.further.iter().map(|further| match *further {
            Further::Count => Role::Count,
            Further::First => Role::First,
            Further::Before(segments) => Role::Before(segments),
            Further::Read(column) => Role::Read(column),
            Further::Offset(column) => Role::Offset(column),
            Further::View { descriptor, column } => Role::View { descriptor, column },
        }));
        let mut reads: Vec<usize> = plan.nodes.iter().filter_map(|node| Some(node.read_elsewhere()?.0)).collect();
        reads.sort_unstable();
        reads.dedup();
        Some(Partial { group: Group::of(part.plan), roles, yields, extent, reads, plan: plan.clone() })
    }
}

/// What an input of a plan is to all that read it at the index; none where that is not for parts, or not one thing.
fn role(plan: &Plan, input: usize) -> Option<Role> {
    let mut found = None;
    for node in &plan.nodes {
        let aligned = plan.aligned(node);
        let elsewhere = node.read_elsewhere();
        for (position, &source) in node.operands.iter().enumerate() {
            let is_elsewhere = match elsewhere {
                Some((_, Some(_))) => true,
                Some((_, None)) => position == 0,
                None => false,
            };
            if source != PlanOperand::Input(input) || is_elsewhere {
                continue;
            }
            let role = match (plan.inputs[input], node.op, node.operands.as_slice()) {
                (RegisterType::Scalar(_), ..) => Role::Scalar,
                (RegisterType::Column(_), ..) if aligned.contains(&position) => Role::Elements,
                (_, NodeOp::Vector(VectorOp::SegDist), &[_, PlanOperand::Input(segments)]) if position == 0 => {
                    Role::OfSegments(segments)
                }
                (RegisterType::Descriptor, ..) => Role::Segments,
                (RegisterType::Column(_), ..) => return None,
            };
            if found.is_some_and(|other| other != role) {
                return None;
            }
            found = Some(role);
        }
    }
    Some(found.unwrap_or(match plan.inputs[input] {
        RegisterType::Scalar(_) => Role::Scalar,
        RegisterType::Column(_) => Role::Elsewhere,
        RegisterType::Descriptor => Role::Segments,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reference;
    use crate::data::slot::Slot;
    use crate::data::vector::Vector;
    use crate::engine::Columns;
    use crate::engine::group::{AfterOperand, GroupResult, LocalSlot};
    use nesl_prim::Interval;
    use nesl_vcode::{Constants, Op};
    use std::ops::Range;

    /// The group in a function of one instruction.
    fn partial(parameters: &str, types: &str, body: &str, yields: &str) -> Option<Partial> {
        // Registers have numbers from 0 on: parameters, those of the group, its results.
        let defined = parameters.matches('%').count() + body.matches(" = ").count();
        let results: Vec<String> =
            yields.split(' ').enumerate().map(|(index, _)| format!("%{}", defined + index)).collect();
        let text = format!(
            "function f({parameters}) -> {types} {{\n{} = fused {{\n{body}\nyield {yields}\n}}\nreturn {}\n}}",
            results.join(", "),
            results.join(" ")
        );
        let program = nesl_vcode::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let function = &program.functions[0];
        let Op::Fused(block) = &function.body.instructions[0].op else { panic!("no group in {text}") };
        let (group, _) = Group::new(block, &function.registers)?;
        Partial::new(&group.plan)
    }

    fn ints(engine: &mut Reference, elements: &[i64]) -> Vector {
        engine.constants(&Constants::Int(elements.to_vec())).unwrap()
    }

    #[test]
    fn a_part_counts_from_where_it_begins() {
        let partial = partial(
            "%0: descriptor, %1: column int, %2: column int, %3: int",
            "column int, column int, column int, int, column int",
            "%4 = map multiply.int %1 %3
             %5 = seg_iota %0
             %6 = seg_dist %2 %0
             %7 = map less.int %1 %6
             %8 = pack %5 %7
             %9 = reduce.maximum.int %8
             %10 = seg_reduce.add.int %6 %0",
            "%4 %6 %8 %9 %10",
        )
        .unwrap();
        // Elements 4 to 8 of ten in segments of 3, 4 and 3, of which the first and the last are 10 to 19.
        let mut engine = Reference::new(None);
        let lengths = ints(&mut engine, &[3, 2]);
        let operand = |role: &Role| -> LocalSlot {
            let mut engine = Reference::new(None);
            match role {
                Role::Scalar => Slot::Scalar(ScalarValue::Int(2)),
                Role::Elements => Slot::Column(ints(&mut engine, &[14, 15, 16, 17, 18])),
                Role::Segments => Slot::Descriptor(engine.descriptor(None, lengths.clone()).unwrap()),
                Role::OfSegments(_) => Slot::Column(ints(&mut engine, &[16, 100])),
                Role::Before(_) => Slot::Column(ints(&mut engine, &[1, 0])),
                role => panic!("the group has no {role:?}"),
            }
        };
        let operands: Vec<LocalSlot> = partial.roles.iter().map(operand).collect();
        let results = partial.group.one_by_one(&mut engine, &operands).unwrap();
        let shown = |slot: &LocalSlot| match slot {
            Slot::Scalar(value) => vec![format!("{value:?}")],
            Slot::Column(column) => column.elements::<i64>().iter().map(i64::to_string).collect(),
            Slot::Descriptor(_) => panic!("a group yields no descriptor"),
        };
        let shown: Vec<String> = results.iter().map(|result| shown(result).join(" ")).collect();
        assert_eq!(shown, ["28 30 32 34 36", "16 16 16 100 100", "1 2 0 1", "Int(2)", "48 200"]);
        let (sum, most) = (ScalarOp::AddInt, ScalarOp::MaximumInt);
        let segments = partial.roles.iter().position(|role| *role == Role::Segments).unwrap();
        let reduced = [Yield::Reduced(most), Yield::BySegment(sum, segments)];
        assert_eq!(partial.yields[2..], [&[Yield::Kept], &reduced[..]].concat());
        assert_eq!(partial.yields[..2], [Yield::All, Yield::All]);
    }

    #[test]
    fn indices_are_those_of_the_whole() {
        let partial = partial("%0: int", "column int", "%1 = iota %0\n%2 = map multiply.int %1 %1", "%2").unwrap();
        let operand = |role: &Role| match role {
            Role::Count => Slot::Scalar(ScalarValue::Int(3)),
            Role::First => Slot::Scalar(ScalarValue::Int(7)),
            // The whole has a hundred.
            _ => Slot::Scalar(ScalarValue::Int(100)),
        };
        let operands: Vec<LocalSlot> = partial.roles.iter().map(operand).collect();
        let results = partial.group.one_by_one(&mut Reference::new(None), &operands).unwrap();
        let Slot::Column(column) = &results[0] else { panic!("a column") };
        assert_eq!(column.elements::<i64>(), [49, 64, 81]);
        assert_eq!(partial.extent, Whole::Input(0));
    }

    #[test]
    fn what_is_read_at_other_indices_is_an_input_of_its_own() {
        let columns = "%0: column int, %1: column int";
        let partial = partial(columns, "column int", "%2 = map add.int %1 1\n%3 = gather %0 %2", "%3").unwrap();
        assert_eq!(partial.roles, [Role::Elements, Role::Elsewhere, Role::Read(1), Role::Offset(1)]);
        // Of 100 elements those from 40 on, read behind 41, 45 and 43.
        let inputs = Inside { elements: vec![41, 45, 43], length: 100 };
        let [read] = &partial.bounds(&inputs)[..] else { panic!("one column is read") };
        assert_eq!(*read, 42..47);
        let mut engine = Reference::new(None);
        let read: Vec<i64> = (42..47).map(|index| 10 * index).collect();
        let operands = [
            Slot::Column(ints(&mut engine, &inputs.elements)),
            Slot::Scalar(ScalarValue::Int(0)),
            Slot::Column(ints(&mut engine, &read)),
            Slot::Scalar(ScalarValue::Int(42)),
        ];
        let results = partial.group.one_by_one(&mut engine, &operands).unwrap();
        let Slot::Column(column) = &results[0] else { panic!("a column") };
        assert_eq!(column.elements::<i64>(), [420, 460, 440]);
    }

    /// Three indices of a part, and a column that they read.
    struct Inside {
        elements: Vec<i64>,
        length: usize,
    }

    impl Inputs for Inside {
        fn input(&self, _: usize) -> Option<Interval> {
            Interval::of_numbers(&self.elements)
        }

        fn elements_in(&self, _: usize, _: Range<usize>) -> Option<Interval> {
            None
        }

        fn length(&self, _: usize) -> usize {
            self.length
        }

        fn indices(&self) -> Range<usize> {
            0..self.elements.len()
        }

        fn longest(&self, input: usize) -> usize {
            panic!("input {input} is no descriptor")
        }

        fn view(&self, input: usize) -> Range<usize> {
            panic!("input {input} is no descriptor")
        }
    }

    #[test]
    fn parts_yield_what_is_to_be_added_up_in_order() {
        let partial =
            partial("%0: column float", "float", "%1 = map negate.float %0\n%2 = reduce.add.float %1", "%2").unwrap();
        assert_eq!(partial.yields, [Yield::Ordered(ScalarOp::AddFloat)]);
        assert_eq!(partial.group.members(), 1);
    }

    #[test]
    fn columns_are_written_after_the_loop() {
        let text = "function f(%0: descriptor, %1: column int, %2: column int) -> column int, int {
                      %6, %7 = fused {
                        %3 = map multiply.int %2 %2
                        %4 = seg_scatter %1 %0 %3
                        %5 = reduce.add.int %2
                        yield %4 %5
                      }
                      return %6 %7
                    }";
        let function = nesl_vcode::parse(text).unwrap().functions.remove(0);
        let Op::Fused(block) = &function.body.instructions[0].op else { panic!("no group in {text}") };
        let (group, inputs) = Group::new(block, &function.registers).unwrap();
        let after = group.with_writes_after().unwrap();
        let input = |number: u32| inputs.iter().position(|register| register.0 == number).unwrap();
        let written = [AfterOperand::Input(input(1)), AfterOperand::Input(input(0)), AfterOperand::Result(0)];
        assert_eq!(
            after.outcomes,
            [GroupResult::Written(VectorOp::SegScatter, written.to_vec()), GroupResult::Loop(1)]
        );
        assert_eq!(after.unread, [input(1)]);
        let mut engine = Reference::new(None);
        let mut operands: Vec<LocalSlot> = vec![Slot::Scalar(ScalarValue::Int(0)); 3];
        operands[input(2)] = Slot::Column(ints(&mut engine, &[3, 4]));
        let results = after.group.one_by_one(&mut engine, &operands).unwrap();
        assert_eq!(results[0].as_column().elements::<i64>(), [9, 16]);
        assert_eq!(results[1].as_scalar(), ScalarValue::Int(7));
        assert!(after.group.with_writes_after().is_none());
        // A column that is written to, and read by who writes, is no longer what it was.
        let text = text.replace("seg_scatter %1 %0 %3", "seg_scatter %1 %0 %1");
        let function = nesl_vcode::parse(&text).unwrap().functions.remove(0);
        let Op::Fused(block) = &function.body.instructions[0].op else { panic!("no group in {text}") };
        let (group, _) = Group::new(block, &function.registers).unwrap();
        assert!(group.with_writes_after().is_none());
    }

    #[test]
    fn what_needs_other_elements_has_no_part() {
        let columns = "%0: column int, %1: column int";
        assert!(partial(columns, "column int", "%2 = map add.int %1 1\n%3 = scan.add.int %2", "%3").is_none());
    }
}
