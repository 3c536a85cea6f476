//! Slots and last uses of small functions.

use super::*;
use nesl_prim::ScalarType;
use nesl_span::FileId;
use nesl_vcode::RegisterType;
use nesl_vcode::build::FunctionBuilder;

const INT: RegisterType = RegisterType::Scalar(ScalarType::Int);

fn builder() -> FunctionBuilder {
    FunctionBuilder::new("f", Span::new(FileId(0), 0, 0))
}

#[test]
fn slots_are_used_again_after_last_uses() {
    let mut f = builder();
    let x = Operand::from(f.parameter(INT));
    let mut y = x;
    for _ in 0..100 {
        y = f.scalar(ScalarOp::MultiplyInt, &[y, x]);
    }
    let code = decode(&f.finish(vec![y]));
    assert_eq!(code.slots, 2);
    assert_eq!(*code.lines.last().unwrap(), Line::Return(Box::new([Source::Take(0)])));
}

#[test]
fn the_last_of_equal_operands_takes() {
    let mut f = builder();
    let x = Operand::from(f.parameter(INT));
    let y = f.scalar(ScalarOp::AddInt, &[x, x]);
    let code = decode(&f.finish(vec![y, y]));
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
    let code = decode(&f.finish(vec![results[1]]));
    assert_eq!(code.parameters[3], None, "{unread:?} is read by nobody");
    // The first result is read by nobody: only the second moves. It is in the slot that the condition leaves.
    let moved = Line::Move(Box::new([(Source::Take(1), 0)]));
    assert!(matches!(code.lines[0], Line::Branch { condition: Source::Take(0), otherwise: 4, .. }));
    assert_eq!(code.lines[1..4], [Line::Drop(Box::new([2])), moved.clone(), Line::Jump(6)]);
    assert!(matches!(&code.lines[4], Line::Execute { operands, result: None, .. } if **operands == [Source::Take(2)]));
    assert_eq!(code.lines[5..], [moved, Line::Return(Box::new([Source::Take(0)]))]);
}
