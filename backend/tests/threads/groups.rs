//! Groups as kernels: checked by the engine itself against the reference engine, in new columns and in place.

use crate::maker::Maker;
use crate::random::Random;
use crate::{LENGTHS, column, reductions};
use nesl_backend::{Addresses, Columns, Engine, Group, Native, Pack, Reference, Scheduler, Slot, Threads, Vector};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::{Block, Constants, Instruction, Op, Operand, Register, RegisterType, VectorOp};

/// Lengths of the groups of which there are many.
const SHORT: &[usize] = &[0, 1, 2, 3, 4, 5, 15, 17, 255, 1023, 1024, 1025, 2047, 2049, 5000];

pub(crate) fn engines() -> Vec<Threads> {
    let mut engines = [1, 2, 3].map(|threads| Threads::new(threads, None).expect("the system starts threads"));
    engines.iter_mut().for_each(|engine| engine.set_native(Native::Check));
    engines.into()
}

#[test]
fn random_groups_are_what_their_instructions_are() {
    let mut engines = engines();
    for seed in 0..600u64 {
        let mut random = Random(0x6b65_726e_656c + seed);
        let length = SHORT[random.below(SHORT.len())];
        let mut maker = Maker::new(&mut random, length);
        let (count, may_fail) = (2 + maker.random.below(14), maker.random.below(4) == 0);
        while maker.instructions.len() < count {
            maker.instruction(may_fail);
        }
        let engine = &mut engines[seed as usize % 3];
        maker.run(engine, &format!("seed {seed}, length {length}"));
    }
}

#[test]
fn every_operation_is_that_of_the_table() {
    let mut engines = engines();
    for (number, &op) in ScalarOp::ALL.iter().enumerate() {
        for length in [5, 3000] {
            let mut random = Random(number as u64);
            let mut maker = Maker::new(&mut random, length);
            for ty in ScalarType::ALL {
                // What is packed, too.
                let flags = maker.elements.iter().find(|it| it.1 == ScalarType::Bool).unwrap().0;
                let operands = vec![maker.element(ty, 0).unwrap().into(), flags.into()];
                maker.filters = vec![flags];
                let packed = maker.add(Op::Vector(VectorOp::Pack), operands, RegisterType::Column(ty));
                maker.elements.push((packed, ty, 1));
            }
            maker.map(op, 0);
            maker.map(op, 1);
            maker.map(op, 0);
            maker.run(&mut engines[number % 3], &format!("{op}, length {length}"));
        }
    }
}

#[test]
fn every_end_of_every_operation_at_every_length() {
    let mut engines = engines();
    let operations: Vec<ScalarOp> = reductions().collect();
    for (number, &op) in operations.iter().enumerate() {
        let ty = op.row().result;
        for (turn, &length) in LENGTHS.iter().filter(|&&length| length < 5000).enumerate() {
            let mut random = Random((1000 * number + turn) as u64);
            let mut maker = Maker::new(&mut random, length);
            let flags = maker.element(ScalarType::Bool, 0).unwrap();
            let element = maker.element(ty, 0).unwrap();
            let packed =
                maker.add(Op::Vector(VectorOp::Pack), vec![element.into(), flags.into()], RegisterType::Column(ty));
            let descriptor = maker.descriptors[turn % 2].0;
            let (scalar, column) = (RegisterType::Scalar(ty), RegisterType::Column(ty));
            let by_segment = vec![element.into(), descriptor.into()];
            let mut ends = vec![
                (VectorOp::Reduce(op), vec![element.into()], scalar),
                (VectorOp::Scan(op), vec![element.into()], column),
                (VectorOp::Reduce(op), vec![packed.into()], scalar),
                (VectorOp::Scan(op), vec![packed.into()], column),
                (VectorOp::SegReduce(op), by_segment.clone(), column),
                (VectorOp::SegScan(op), by_segment.clone(), column),
            ];
            if op.is_extreme() {
                let [index, indices] = [RegisterType::Scalar, RegisterType::Column].map(|kind| kind(ScalarType::Int));
                ends.push((VectorOp::ReduceIndex(op), vec![element.into()], index));
                ends.push((VectorOp::SegReduceIndex(op), by_segment, indices));
            }
            // Some of them, so that what one needs is not always there for another.
            let ends_count = ends.len();
            for (position, (end, operands, ty)) in ends.into_iter().enumerate() {
                if maker.random.below(3) > 0 || position == turn % ends_count {
                    maker.add(Op::Vector(end), operands, ty);
                }
            }
            for engine in &mut engines {
                let mut again = Random(0);
                let maker = Maker {
                    registers: maker.registers.clone(),
                    values: maker.values.clone(),
                    instructions: maker.instructions.clone(),
                    results: maker.results.clone(),
                    text: maker.text.clone(),
                    ..Maker::empty(&mut again, length)
                };
                maker.run(engine, &format!("{op}, length {length}"));
            }
        }
    }
}

/// Groups of numbers alone: those of which all operations have a form for two indices are computed so.
#[test]
fn arithmetic_alone() {
    let mut engines = engines();
    for (number, &op) in ScalarOp::ALL.iter().enumerate().filter(|(_, op)| !op.row().fallible) {
        for &length in SHORT {
            let mut random = Random((number * 100_000 + length) as u64);
            let mut maker = Maker::new(&mut random, length);
            // Truth values come from comparisons.
            maker.elements.retain(|element| element.1 != ScalarType::Bool);
            maker.map(ScalarOp::LessInt, 0);
            maker.map(ScalarOp::GreaterFloat, 0);
            maker.map(op, 0);
            let Some(&(result, ty, _)) = maker.elements.last() else { continue };
            let (result, ty) = match ty {
                ScalarType::Bool => {
                    maker.map(ScalarOp::BoolToInt, 0);
                    (*maker.results.last().unwrap(), ScalarType::Int)
                }
                ty => (result, ty),
            };
            let mut yields = vec![result];
            for reduction in reductions().filter(|reduction| reduction.row().result == ty) {
                let instruction = Op::Vector(VectorOp::Reduce(reduction));
                yields.push(maker.add(instruction, vec![result.into()], RegisterType::Scalar(ty)));
            }
            if length % 2 == 1 {
                let descriptor = maker.descriptors[number % 2].0;
                let place = maker.add(
                    Op::Vector(VectorOp::SegIota),
                    vec![descriptor.into()],
                    RegisterType::Column(ScalarType::Int),
                );
                for reduction in reductions() {
                    let reduced = reduction.row().result;
                    let Some(element) = [(result, ty), (place, ScalarType::Int)].into_iter().find(|it| it.1 == reduced)
                    else {
                        continue;
                    };
                    let operands = vec![element.0.into(), descriptor.into()];
                    // With indices no loop over one segment takes two at once.
                    let (instruction, ty) = match reduction.is_extreme() && number % 3 == 0 {
                        true => (VectorOp::SegReduceIndex(reduction), ScalarType::Int),
                        false => (VectorOp::SegReduce(reduction), reduced),
                    };
                    yields.push(maker.add(Op::Vector(instruction), operands, RegisterType::Column(ty)));
                }
            }
            maker.results = yields;
            maker.run(&mut engines[length % 3], &format!("{op}, length {length}"));
        }
    }
}

/// Filters whose elements are put one after another write them so, in whatever order.
#[test]
fn what_is_put_together_is_written_so() {
    const LENGTH: i64 = 1_000_000;
    let int = RegisterType::Column(ScalarType::Int);
    let registers = vec![int; 4].into_iter().chain([RegisterType::Column(ScalarType::Bool); 2]).collect::<Vec<_>>();
    let span = nesl_span::Span::new(nesl_span::FileId(0), 0, 0);
    let instruction = |result: Register, op, operands| Instruction::new(op, operands, vec![result], span);
    let half = Operand::Constant(ScalarValue::Int(LENGTH / 3));
    let [numbers, less, more, is_less, is_more] = [0, 1, 2, 4, 5].map(Register);
    let instructions = vec![
        instruction(is_less, Op::Map(ScalarOp::LessInt), vec![numbers.into(), half]),
        instruction(less, Op::Vector(VectorOp::Pack), vec![numbers.into(), is_less.into()]),
        instruction(is_more, Op::Map(ScalarOp::GreaterInt), vec![numbers.into(), half]),
        instruction(more, Op::Vector(VectorOp::Pack), vec![numbers.into(), is_more.into()]),
    ];
    let block = Block::new(instructions, vec![less.into(), more.into()]);
    for threads in [1, 2, 3] {
        let mut engine = Threads::new(threads, None).expect("the system starts threads");
        for order in [[0, 1], [1, 0]] {
            let (group, _) = Group::new(&block, &registers).expect("it is a group");
            let group = group.with_beside(vec![order.to_vec()]);
            // Seven steps through all remainders.
            let numbers = (0..5 * LENGTH).map(|index| index * 7 % LENGTH).collect();
            let mut operands = [Slot::Column(column(&Constants::Int(numbers)))];
            let kept = engine.group(&group, &mut operands).expect("there is a kernel").expect("there is memory");
            let parts = order.map(|index| match &kept[index] {
                Slot::Column(column) => column.clone(),
                other => panic!("{other:?} is no column"),
            });
            let whole = engine.pack(Pack::Concat(&parts)).expect("there is memory");
            let [first, second] = &parts;
            assert_eq!((first.len() + second.len()) as i64, 5 * LENGTH - 5);
            assert_eq!(
                engine.address(&whole),
                engine.address(first),
                "{threads} threads, {order:?}: nothing is copied"
            );
            let is_part =
                |part: &Vector, start: usize| part.elements::<i64>() == &whole.elements::<i64>()[start..][..part.len()];
            assert!(is_part(first, 0) && is_part(second, first.len()));
        }
    }
}

/// Filters that keep elements together at one place, so that pieces have room for all that they take, or for none.
#[test]
fn what_filters_keep_lies_anywhere() {
    let mut engines = engines();
    type IsKept = fn(usize, usize) -> bool;
    let patterns: [(&str, IsKept); 8] = [
        ("none", |_, _| false),
        ("all", |_, _| true),
        ("the first", |i, _| i == 0),
        ("the last", |i, length| i + 1 == length),
        ("the first half", |i, length| i < length / 2),
        ("the second half", |i, length| i >= length / 2),
        ("every other", |i, _| i % 2 == 1),
        ("in runs", |i, _| i / 700 % 2 == 0),
    ];
    for (name, is_kept) in patterns {
        for &length in SHORT {
            for op in [ScalarOp::GreaterInt, ScalarOp::GreaterFloat] {
                let mut random = Random(length as u64);
                let mut maker = Maker::new(&mut random, length);
                let ty = op.row().operands[0];
                let number = maker.element(ty, 0).unwrap();
                let kept = (0..length).map(|i| is_kept(i, length));
                let (numbers, zero) = match ty {
                    ScalarType::Int => (Constants::Int(kept.map(i64::from).collect()), ScalarValue::Int(0)),
                    _ => {
                        let floats = kept.map(|kept| if kept { 0.5 } else { -0.5 }).collect();
                        (Constants::Float(floats), ScalarValue::Float(0.0))
                    }
                };
                maker.values[number.0 as usize] = Some(Slot::Column(column(&numbers)));
                let operands = vec![number.into(), Operand::Constant(zero)];
                let flags = maker.add(Op::Map(op), operands, RegisterType::Column(ScalarType::Bool));
                for ty in ScalarType::ALL {
                    let operands = vec![maker.element(ty, 0).unwrap().into(), flags.into()];
                    maker.add(Op::Vector(VectorOp::Pack), operands, RegisterType::Column(ty));
                }
                maker.run(&mut engines[length % 3], &format!("{op}, {name} of {length}"));
            }
        }
    }
}

/// Indices that go up, or down, evenly within segments: those of a column, and some that leave it or only come back to
/// it.
#[test]
fn indices_that_go_evenly_by_segments() {
    const SIZE: i64 = 5000;
    let mut engines = engines();
    let mut random = Random(17);
    for turn in 0..60 {
        let (mut firsts, mut steps, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..random.below(200) {
            let step: i64 = [1, 2, 3, 7, 100, 1000, 0, -1, -5, -700][random.below(10)];
            let first = random.below(SIZE as usize) as i64;
            let most = if step >= 0 { SIZE - 1 - first } else { first } / step.abs().max(1);
            let length = random.below(most.clamp(1, 3000) as usize + 1) as i64;
            firsts.push(first);
            steps.push(if length == 1 { step * (1 << 50) } else { step });
            lengths.push(length);
        }
        // Every third time one of them is wrong at its end, at its beginning, or between.
        if let (2, Some(place)) = (turn % 3, lengths.len().checked_sub(1)) {
            (firsts[place], steps[place], lengths[place]) =
                [(SIZE - 4, 2, 3), (-1, 1, 5), (7, 1 << 62, 5), (SIZE, -1, 2), (3, -2, 3), (7, i64::MIN, 3)]
                    [turn / 3 % 6];
        }
        let length = lengths.iter().sum::<i64>() as usize;
        let mut maker = Maker::new(&mut random, length);
        let [firsts, steps] =
            [firsts, steps].map(|ints| maker.outside(Slot::Column(column(&Constants::Int(ints)))).into());
        let lengths = column(&Constants::Int(lengths));
        let descriptor = Reference::new(None).descriptor(None, lengths).expect("there is memory");
        let descriptor: Operand = maker.outside(Slot::Descriptor(descriptor)).into();
        let size = Operand::Constant(ScalarValue::Int(SIZE));
        let data = maker.random_column(ScalarType::Float, SIZE as usize);
        let target = maker.random_column(ScalarType::Bool, SIZE as usize);
        let (ints, floats) = (RegisterType::Column(ScalarType::Int), RegisterType::Column(ScalarType::Float));
        let within = maker.add(Op::Vector(VectorOp::SegIota), vec![descriptor], ints);
        let steps = maker.add(Op::Vector(VectorOp::SegDist), vec![steps, descriptor], ints);
        let firsts = maker.add(Op::Vector(VectorOp::SegDist), vec![firsts, descriptor], ints);
        let further = maker.add(Op::Map(ScalarOp::MultiplyInt), vec![within.into(), steps.into()], ints);
        let index = maker.add(Op::Map(ScalarOp::AddInt), vec![firsts.into(), further.into()], ints);
        let checked = maker.add(Op::Map(ScalarOp::CheckIndex), vec![index.into(), size], ints);
        let flag = Operand::Constant(ScalarValue::Bool(true));
        let flags = maker.add(
            Op::Vector(VectorOp::Dist),
            vec![flag, maker.count.into()],
            RegisterType::Column(ScalarType::Bool),
        );
        let gathered = maker.add(Op::Vector(VectorOp::Gather), vec![data.into(), checked.into()], floats);
        let written = vec![target.into(), checked.into(), flags.into()];
        let written = maker.add(Op::Vector(VectorOp::Scatter), written, RegisterType::Column(ScalarType::Bool));
        // What they are computed from is sometimes seen, too.
        maker.results = match turn % 4 {
            0 => vec![written],
            1 => vec![gathered, checked],
            2 => vec![written, gathered, within],
            _ => vec![index, written],
        };
        maker.run(&mut engines[turn % 3], &format!("turn {turn}, length {length}"));
    }
}

/// Segments of a column are written over by what is computed from them, and from what lies there otherwise.
#[test]
fn segments_are_written_over_by_what_they_become() {
    let mut engines = engines();
    let mut random = Random(23);
    for turn in 0..60 {
        // Gaps, and segments, some of which change.
        let (mut parts, mut places) = (Vec::new(), random.below(3) as i64);
        for _ in 0..random.below(150) {
            let length = random.below([2, 20, 300][turn % 3]) as i64;
            parts.push((places, length));
            places += length + random.below(2) as i64;
        }
        if turn % 2 == 0 {
            parts.reverse();
        }
        parts.retain(|_| random.below(3) > 0);
        let length = parts.iter().map(|part| part.1).sum::<i64>() as usize;
        let mut maker = Maker::new(&mut random, length);
        let (starts, lengths): (Vec<i64>, Vec<i64>) = parts.into_iter().unzip();
        let [starts, lengths] = [starts, lengths].map(|ints| column(&Constants::Int(ints)));
        let others = Reference::new(None).descriptor(Some(starts), lengths).expect("there is memory");
        let others: Operand = maker.outside(Slot::Descriptor(others)).into();
        for ty in ScalarType::ALL {
            let column = RegisterType::Column(ty);
            let target: Operand = maker.random_column(ty, places as usize).into();
            let before = maker.add(Op::Vector(VectorOp::Compact), vec![target, others], column);
            maker.elements.push((before, ty, 0));
            for _ in 0..turn % 4 {
                maker.instruction(false);
            }
            let Some(value) = maker.element(ty, 0) else { continue };
            maker.add(Op::Vector(VectorOp::SegScatter), vec![target, others, value.into()], column);
        }
        maker.run(&mut engines[turn % 3], &format!("turn {turn}, length {length}"));
    }
}

/// Of elements that are written to one place the last one stays, whichever thread writes it.
#[test]
fn the_last_of_those_that_are_written_to_one_place_stays() {
    let mut engines = engines();
    for (seed, &length) in SHORT.iter().enumerate() {
        for places in [1, 2, 63, 1000] {
            let mut random = Random((1000 * seed + places) as u64);
            let mut maker = Maker::new(&mut random, length);
            let indices = (0..length).map(|_| maker.random.below(places) as i64).collect();
            let indices: Operand = maker.outside(Slot::Column(column(&Constants::Int(indices)))).into();
            let flags = maker.element(ScalarType::Bool, 0).unwrap();
            let ints = RegisterType::Column(ScalarType::Int);
            let packed = maker.add(Op::Vector(VectorOp::Pack), vec![indices, flags.into()], ints);
            for ty in ScalarType::ALL {
                let target = maker.random_column(ty, places);
                let values = maker.element(ty, 0).unwrap();
                let column = RegisterType::Column(ty);
                let all = vec![target.into(), indices, values.into()];
                let all = maker.add(Op::Vector(VectorOp::Scatter), all, column);
                let kept = maker.add(Op::Vector(VectorOp::Pack), vec![values.into(), flags.into()], column);
                // The same target once more, or another one.
                let target = if length % 2 == 0 { target } else { maker.random_column(ty, places) };
                let some = vec![target.into(), packed.into(), kept.into()];
                let some = maker.add(Op::Vector(VectorOp::Scatter), some, column);
                maker.results.extend([all, some]);
            }
            maker.run(&mut engines[seed % 3], &format!("{length} elements, {places} places"));
        }
    }
}

/// Elements that go to one place are combined with what is there, whichever thread does it: of all indices, and of some.
#[test]
fn those_that_go_to_one_place_are_combined_there() {
    let mut engines = engines();
    for (seed, &length) in SHORT.iter().enumerate() {
        for places in [1, 63, 1000] {
            let mut random = Random((1000 * seed + places) as u64);
            let mut maker = Maker::new(&mut random, length);
            let indices = (0..length).map(|_| maker.random.below(places) as i64).collect();
            let indices: Operand = maker.outside(Slot::Column(column(&Constants::Int(indices)))).into();
            let flags = maker.element(ScalarType::Bool, 0).unwrap();
            let ints = RegisterType::Column(ScalarType::Int);
            let packed = maker.add(Op::Vector(VectorOp::Pack), vec![indices, flags.into()], ints);
            // Those of floats that are combined in order leave others no threads.
            let is_any_order = seed % 2 == 0;
            for op in reductions().filter(|op| op.row().associative || !is_any_order) {
                let ty = op.row().result;
                let (target, values) = (maker.random_column(ty, places), maker.element(ty, 0).unwrap());
                let combine = |maker: &mut Maker<'_>, operands| {
                    maker.add(Op::Vector(VectorOp::CombineByIndex(op)), operands, RegisterType::Column(ty))
                };
                let all = combine(&mut maker, vec![target.into(), indices, values.into()]);
                let kept = vec![values.into(), flags.into()];
                let kept = maker.add(Op::Vector(VectorOp::Pack), kept, RegisterType::Column(ty));
                let target = maker.random_column(ty, places);
                let some = combine(&mut maker, vec![target.into(), packed.into(), kept.into()]);
                maker.results.extend([all, some]);
            }
            maker.run(&mut engines[seed % 3], &format!("{length} elements, {places} places"));
        }
    }
}

/// Scans that are read where they are computed, one of them computed from another.
#[test]
fn scans_of_scans() {
    let mut engines = engines();
    for (seed, &length) in SHORT.iter().enumerate() {
        for turn in 0..6 {
            let mut random = Random((100 * seed + turn) as u64);
            let mut maker = Maker::new(&mut random, length);
            let ints = RegisterType::Column(ScalarType::Int);
            let numbers = (0..length).map(|_| maker.random.below(2001) as i64 - 1000).collect();
            let numbers: Operand = maker.outside(Slot::Column(column(&Constants::Int(numbers)))).into();
            let scan =
                |maker: &mut Maker, op, of| Operand::from(maker.add(Op::Vector(VectorOp::Scan(op)), vec![of], ints));
            let map = |maker: &mut Maker, op, of: [Operand; 2]| maker.add(Op::Map(op), of.to_vec(), ints);
            let before = scan(&mut maker, ScalarOp::AddInt, numbers);
            let least = scan(&mut maker, ScalarOp::MinimumInt, before);
            let lower = map(&mut maker, ScalarOp::MinimumInt, [before, least]);
            let above = map(&mut maker, ScalarOp::SubtractInt, [before, lower.into()]);
            let greatest = scan(&mut maker, ScalarOp::MaximumInt, above.into());
            let more = map(&mut maker, ScalarOp::AddInt, [greatest, numbers]);
            let maximum = Op::Vector(VectorOp::Reduce(ScalarOp::MaximumInt));
            let result = maker.add(maximum, vec![above.into()], RegisterType::Scalar(ScalarType::Int));
            maker.results = match turn % 3 {
                0 => vec![result],
                1 => vec![more, result],
                _ => vec![above, more],
            };
            maker.run(&mut engines[turn % 3], &format!("{length} elements, turn {turn}"));
        }
    }
}
