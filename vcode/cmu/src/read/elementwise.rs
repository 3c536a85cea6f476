//! Instructions on elements at equal positions.

use super::{Translation, int};
use crate::Result;
use crate::opcode::Opcode;
use ScalarType::{Bool, Float, Int};
use nesl_prim::{ScalarOp, ScalarType};
use nesl_vcode::op::VectorOp;
use nesl_vcode::program::Operand;

/// The scalar operation that an instruction does with each element.
fn scalar_op(opcode: Opcode, ty: ScalarType) -> Option<ScalarOp> {
    /// One of two by type.
    macro_rules! by {
        ($int:ident, $other:ident) => {
            if ty == Int { ScalarOp::$int } else { ScalarOp::$other }
        };
    }
    Some(match opcode {
        Opcode::Add => by!(AddInt, AddFloat),
        Opcode::Subtract => by!(SubtractInt, SubtractFloat),
        Opcode::Multiply => by!(MultiplyInt, MultiplyFloat),
        Opcode::Divide => by!(DivideInt, DivideFloat),
        Opcode::Remainder => ScalarOp::Remainder,
        Opcode::Less => by!(LessInt, LessFloat),
        Opcode::AtMost => by!(AtMostInt, AtMostFloat),
        Opcode::Greater => by!(GreaterInt, GreaterFloat),
        Opcode::AtLeast => by!(AtLeastInt, AtLeastFloat),
        Opcode::Equal => by!(EqualInt, EqualFloat),
        Opcode::Unequal => by!(UnequalInt, UnequalFloat),
        Opcode::ShiftLeft => ScalarOp::ShiftLeft,
        Opcode::ShiftRight => ScalarOp::ShiftRight,
        Opcode::Not => by!(NotInt, NotBool),
        Opcode::And => by!(AndInt, AndBool),
        Opcode::Or => by!(OrInt, OrBool),
        Opcode::Xor => by!(XorInt, XorBool),
        Opcode::Select => ScalarOp::select(ty),
        Opcode::Floor => ScalarOp::Floor,
        Opcode::Ceiling => ScalarOp::Ceiling,
        Opcode::Truncate => ScalarOp::Truncate,
        Opcode::Round => ScalarOp::Round,
        Opcode::Log => ScalarOp::NaturalLogarithm,
        Opcode::SquareRoot => ScalarOp::SquareRoot,
        Opcode::Exp => ScalarOp::Exponential,
        Opcode::Sin => ScalarOp::Sine,
        Opcode::Cos => ScalarOp::Cosine,
        Opcode::Tan => ScalarOp::Tangent,
        Opcode::Asin => ScalarOp::ArcSine,
        Opcode::Acos => ScalarOp::ArcCosine,
        Opcode::Atan => ScalarOp::ArcTangent,
        Opcode::Sinh => ScalarOp::HyperbolicSine,
        Opcode::Cosh => ScalarOp::HyperbolicCosine,
        Opcode::Tanh => ScalarOp::HyperbolicTangent,
        Opcode::IntToFloat => ScalarOp::IntToFloat,
        Opcode::BoolToInt => ScalarOp::BoolToInt,
        _ => return None,
    })
}

impl Translation<'_, '_> {
    /// An elementwise instruction; whether it is one.
    pub(super) fn elementwise(&mut self, opcode: Opcode, ty: ScalarType) -> Result<bool> {
        if let Some(op) = scalar_op(opcode, ty) {
            let mut operands = Vec::new();
            for &operand in op.row().operands.iter().rev() {
                operands.insert(0, self.pop_vector(operand)?);
            }
            for &other in &operands[1..] {
                self.check_equal_lengths(operands[0], other);
            }
            let result = self.builder.map(op, &operands);
            self.push_vector(result)?;
            return Ok(true);
        }
        match opcode {
            Opcode::IntToBool => {
                let ints = self.pop_vector(Int)?;
                let bools = self.builder.map(ScalarOp::UnequalInt, &[ints, int(0)]);
                self.push_vector(bools)?;
            }
            Opcode::Rand => {
                let bounds = self.pop_vector(Int)?;
                let seed = self.seed()?;
                let length = self.length(bounds);
                let positions = self.builder.vector(VectorOp::Iota, &[length]);
                let seeds = self.builder.map(ScalarOp::SeedSplit, &[seed, positions]);
                let drawn = self.builder.map(ScalarOp::RandomInt, &[seeds, bounds]);
                let next = self.builder.scalar(ScalarOp::SeedNext, &[seed]);
                self.state()?.seed = Some(next);
                self.push_vector(drawn)?;
            }
            Opcode::SetSeed => {
                let seed = self.pop_vector(Int)?;
                let seed = self.single(seed);
                self.state()?.seed = Some(seed);
                let done = self.builder.constants(nesl_prim::Constants::Bool(vec![true]));
                self.push_vector(done)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn seed(&mut self) -> Result<Operand> {
        match self.state()?.seed {
            Some(seed) => Ok(seed),
            None => self.wrong("no random numbers here"),
        }
    }
}

/// The operator of a scan or a reduction.
pub(super) fn operator(opcode: Opcode, ty: ScalarType) -> Option<ScalarOp> {
    let (of_int, of_other) = match opcode {
        Opcode::AddScan | Opcode::AddReduce => (ScalarOp::AddInt, ScalarOp::AddFloat),
        Opcode::MultiplyScan | Opcode::MultiplyReduce => (ScalarOp::MultiplyInt, ScalarOp::MultiplyFloat),
        Opcode::MaximumScan | Opcode::MaximumReduce => (ScalarOp::MaximumInt, ScalarOp::MaximumFloat),
        Opcode::MinimumScan | Opcode::MinimumReduce => (ScalarOp::MinimumInt, ScalarOp::MinimumFloat),
        Opcode::AndScan | Opcode::AndReduce => (ScalarOp::AndInt, ScalarOp::AndBool),
        Opcode::OrScan | Opcode::OrReduce => (ScalarOp::OrInt, ScalarOp::OrBool),
        Opcode::XorScan | Opcode::XorReduce => (ScalarOp::XorInt, ScalarOp::XorBool),
        _ => return None,
    };
    debug_assert!(matches!(ty, Int | Float | Bool), "characters are ints here");
    Some(if ty == Int { of_int } else { of_other })
}
