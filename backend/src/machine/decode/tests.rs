//! Slots and last uses of small functions.

use super::*;
use crate::machine::loaded::Loaded;
use nesl_prim::ScalarType;
use nesl_span::FileId;
use nesl_vcode::Program;
use nesl_vcode::RegisterType;
use nesl_vcode::build::FunctionBuilder;
use nesl_vcode::passes::last_use;

const INT: RegisterType = RegisterType::Scalar(ScalarType::Int);

fn builder() -> FunctionBuilder {
    FunctionBuilder::new("f", Span::new(FileId(0), 0, 0))
}

/// The decoded function, with its last uses marked.
fn marked(function: Function) -> Code {
    let mut program = Program { functions: vec![function], ..Program::default() };
    last_use::run(&mut program);
    nesl_vcode::verify(&program).unwrap();
    Loaded::new(Arc::new(program.clone())).decoded(FunctionId(0))
}

#[test]
fn slots_are_used_again_after_last_uses() {
    let mut f = builder();
    let x = Operand::from(f.parameter(INT));
    let mut y = x;
    for _ in 0..100 {
        y = f.scalar(ScalarOp::MultiplyInt, &[y, x]);
    }
    let function = f.finish(vec![y]);
    assert_eq!(decode(&function, HashSet::new()).slots, 101);
    let code = marked(function);
    assert_eq!(code.slots, 2);
    assert_eq!(*code.lines.last().unwrap(), Line::Return(Box::new([Source::Take(0)])));
}

#[test]
fn the_last_of_equal_operands_takes() {
    let mut f = builder();
    let x = Operand::from(f.parameter(INT));
    let y = f.scalar(ScalarOp::AddInt, &[x, x]);
    let code = marked(f.finish(vec![y, y]));
    let Line::Execute { operands, result, .. } = &code.lines[0] else { panic!("{:?}", code.lines) };
    assert_eq!((&**operands, *result), (&[Source::Copy(0), Source::Take(0)][..], Some(0)));
    assert_eq!(code.lines[1], Line::Return(Box::new([Source::Copy(0), Source::Take(0)])));
}

#[test]
fn branches_drop_what_only_the_other_reads() {
    let mut f = builder();
    let condition = Operand::from(f.parameter(RegisterType::Scalar(ScalarType::Bool)));
    let (x, y) = (Operand::from(f.parameter(INT)), Operand::from(f.parameter(INT)));
    let unread = f.parameter(INT);
    f.begin_block();
    let then_block = f.end_block(vec![x, x]);
    f.begin_block();
    let negated = f.scalar(ScalarOp::NegateInt, &[y]);
    let else_block = f.end_block(vec![negated, x]);
    let results = f.if_(condition, then_block, else_block, &[INT, INT]);
    let code = marked(f.finish(vec![results[1]]));
    assert_eq!(code.parameters[3], None, "{unread:?} is read by nobody");
    // The first result is read by nobody: only the second moves. It is in the slot that the condition leaves.
    let moved = Line::Move(Box::new([(Source::Take(1), 0)]));
    assert!(matches!(code.lines[0], Line::Branch { condition: Source::Take(0), otherwise: 4, .. }));
    assert_eq!(code.lines[1..4], [Line::Drop(Box::new([2])), moved.clone(), Line::Jump(7)]);
    let Line::Execute { operands, result, .. } = &code.lines[4] else { panic!("{:?}", code.lines) };
    assert_eq!((&**operands, *result), (&[Source::Take(2)][..], Some(2)));
    assert_eq!(code.lines[5..], [moved, Line::Drop(Box::new([2])), Line::Return(Box::new([Source::Take(0)]))]);
}

#[test]
fn a_group_is_its_instructions_and_yields_where_they_are() {
    let mut program = nesl_vcode::parse(
        "function f(%0: column int, %1: column int) -> column int {
           %4, %5 = fused {
             %2 = map add.int %0 %1
             %3 = map negate.int %0
             yield %2 %3
           }
           return %4
         }",
    )
    .unwrap();
    last_use::run(&mut program);
    let code = Loaded::new(Arc::new(program.clone())).decoded(FunctionId(0));
    assert!(matches!(&code.lines[0], Line::Group(group) if *group.operands == [Source::Take(0), Source::Take(1)]
            && *group.results == [Some(1), None] && group.after == 4));
    assert!(
        matches!(&code.lines[1], Line::Execute { operands, result: Some(1), .. } if **operands == [Source::Copy(0), Source::Take(1)])
    );
    assert!(
        matches!(&code.lines[2], Line::Execute { operands, result: Some(0), .. } if **operands == [Source::Take(0)])
    );
    assert_eq!(code.lines[3..], [Line::Drop(Box::new([0])), Line::Return(Box::new([Source::Take(1)]))]);
}

#[test]
fn an_each_in_a_group_gets_the_number_of_its_instances() {
    let mut program = nesl_vcode::parse(
        "function f(%0: column int) -> int {
           %4 = fused {
             %1 = map negate.int %0
             %2 = each g g/L(of int) -> int %1
             %3 = reduce.add.int %2
             yield %3
           }
           return %4
         }
         function g(%0: int) -> int {
           return %0
         }
         function g/L(%0: int, %1: column int) -> column int {
           return %1
         }",
    )
    .unwrap();
    last_use::run(&mut program);
    assert_eq!(nesl_vcode::verify(&program), Ok(()));
    let code = Loaded::new(Arc::new(program.clone())).decoded(FunctionId(0));
    let [Line::Execute { result: Some(0), .. }, Line::Execute { operation, operands, .. }, Line::Each(each), ..] =
        &code.lines[..]
    else {
        panic!("{:?}", code.lines)
    };
    assert_eq!((operation, &**operands), (&Operation::Vector(VectorOp::Length), &[Source::Copy(0)][..]));
    assert_eq!((&*each.operands, &*each.results), (&[Source::Take(1), Source::Take(0)][..], &[Some(0)][..]));
}

#[test]
fn steps_take_the_place_of_their_function() {
    let mut program = nesl_vcode::parse(
        "function f(%0: int, %1: int) -> int {
           %2 = less.int %0 1
           %5 = if %2 { yield %1 } else {
             %3 = subtract.int %0 1
             %4 = call f %3 %1
             yield %4
           }
           return %5
         }",
    )
    .unwrap();
    last_use::run(&mut program);
    let code = Loaded::new(Arc::new(program.clone())).decoded(FunctionId(0));
    assert!(matches!(code.lines[1], Line::Branch { otherwise: 4, .. }), "{:?}", code.lines);
    assert_eq!(code.lines[2..4], [Line::Drop(Box::new([0])), Line::Return(Box::new([Source::Take(1)]))]);
    let Line::Step { function, operands, .. } = &code.lines[5] else { panic!("{:?}", code.lines) };
    assert_eq!((*function, &**operands), (FunctionId(0), &[Source::Take(0), Source::Take(1)][..]));
    assert_eq!(code.lines.len(), 6);
}

#[test]
fn lines_in_branches_that_are_merged_know_the_flags() {
    let text = "function f(%0: column int) -> column int, column int {
          %1 = map less.int %0 3
          %2 = map not.bool %1
          %3 = pack %0 %1
          %4 = pack %0 %2
          %5 = map divide.int 1 %3
          %6 = map divide.int 2 %4
          %7 = merge %1 %5 %6
          %8 = map divide.int 3 %3
          return %7 %8
        }";
    let mut program = nesl_vcode::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let sides = |program: &Program| {
        let code = decode(&program.functions[0], HashSet::new());
        let divisions =
            code.lines.iter().enumerate().filter(|(_, line)| {
                matches!(line, Line::Execute { operation: Operation::Map(ScalarOp::DivideInt), .. })
            });
        let side = |(line, _)| code.joins.get(&line).map(|sides| sides.iter().map(|side| side.1).collect::<Vec<_>>());
        divisions.map(side).collect::<Vec<_>>()
    };
    assert_eq!(sides(&program), [Some(vec![true]), Some(vec![false]), Some(vec![true])]);
    // Where the flags are used for the last time something else is in their slot afterwards.
    last_use::run(&mut program);
    assert_eq!(sides(&program), [Some(vec![true]), Some(vec![false]), None]);
}

#[test]
fn columns_that_wait_for_a_call_are_trimmed_before_it() {
    let mut program = nesl_vcode::parse(
        "function f(%0: int, %1: column int, %2: column int) -> column int {
           %3 = equal.int %0 0
           %7 = if %3 { yield %1 } else {
             %4 = slice %1 0 1
             %5 = call f 0 %2 %4
             %6 = concat %4 %5
             yield %6
           }
           return %7
         }
         function g(%0: int, %1: column int) -> column int {
           %2 = call f %0 %1 %1
           return %2
         }",
    )
    .unwrap();
    last_use::run(&mut program);
    let loaded = Loaded::new(Arc::new(program.clone()));
    let trimmed = |function: u32| -> Vec<Line> {
        let lines = loaded.decoded(FunctionId(function)).lines;
        lines.into_iter().filter(|line| matches!(line, Line::Trim(_))).collect()
    };
    // What the call gets for good is not the caller's any more.
    let code = loaded.decoded(FunctionId(0));
    let is_call = |line: &Line| matches!(line, Line::Call { .. });
    let call = code.lines.iter().position(is_call).expect("a call");
    let Line::Execute { result: Some(part), .. } = &code.lines[call - 2] else { panic!("{:?}", code.lines) };
    assert_eq!((&code.lines[call - 1], trimmed(0).len()), (&Line::Trim(Box::new([*part])), 1));
    assert_eq!(trimmed(1), []);
}
