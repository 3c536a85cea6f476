//! One scalar operation at two indices at once, in vectors of 128 bits: what [`crate::scalar`] is for one. Truth values
//! are masks here, of ones or of zeros.

use crate::emitter::{Emitter, machine_type};
use crate::scalar::{float_comparison, int_comparison};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use nesl_prim::{Property, ScalarOp, ScalarType};

/// Indices in a vector.
pub(crate) const LANES: usize = 2;

/// Columns begin anywhere.
pub(crate) const UNALIGNED: MemFlagsData = MemFlagsData::new().with_notrap();

impl Emitter<'_> {
    /// The same number for both indices.
    pub(crate) fn splat(&mut self, value: Value) -> Value {
        let ty = self.builder.func.dfg.value_type(value);
        self.builder.ins().splat(if ty == types::F64 { types::F64X2 } else { types::I64X2 }, value)
    }

    /// An index and the next one.
    pub(crate) fn index_wide(&mut self, first: Value) -> Value {
        let second = self.builder.ins().iadd_imm_s(first, 1);
        let both = self.splat(first);
        self.builder.ins().insertlane(both, second, 1)
    }

    /// The elements of a column of numbers at two indices.
    pub(crate) fn load_wide(&mut self, ty: ScalarType, address: Value, offset: i32) -> Value {
        self.builder.ins().load(wide_type(ty), UNALIGNED, address, offset)
    }

    /// The same, read where they are needed: in a loop that writes nothing, from an address that depends on its index.
    pub(crate) fn load_wide_where_needed(&mut self, ty: ScalarType, address: Value, offset: i32) -> Value {
        self.builder.ins().load(wide_type(ty), UNALIGNED.with_readonly().with_can_move(), address, offset)
    }

    /// An operation that [has a form](is_wide_op) for two indices.
    pub(crate) fn wide_operation(&mut self, op: ScalarOp, operands: &[Value]) -> Value {
        let ins = &mut self.builder;
        let (a, b) = (operands[0], operands.get(1).copied().unwrap_or(operands[0]));
        if let Some(condition) = int_comparison(op) {
            return ins.ins().icmp(condition, a, b);
        }
        if let Some(condition) = float_comparison(op) {
            return ins.ins().fcmp(condition, a, b);
        }
        if op == ScalarOp::MultiplyInt {
            return self.product(a, b);
        }
        match op {
            ScalarOp::AddInt => ins.ins().iadd(a, b),
            ScalarOp::SubtractInt => ins.ins().isub(a, b),
            ScalarOp::NegateInt => ins.ins().ineg(a),
            ScalarOp::AddFloat => ins.ins().fadd(a, b),
            ScalarOp::SubtractFloat => ins.ins().fsub(a, b),
            ScalarOp::MultiplyFloat => ins.ins().fmul(a, b),
            ScalarOp::DivideFloat => ins.ins().fdiv(a, b),
            ScalarOp::NegateFloat => ins.ins().fneg(a),
            ScalarOp::AbsoluteFloat => ins.ins().fabs(a),
            ScalarOp::SquareRoot => ins.ins().sqrt(a),
            ScalarOp::AndInt | ScalarOp::AndBool => ins.ins().band(a, b),
            ScalarOp::OrInt | ScalarOp::OrBool => ins.ins().bor(a, b),
            ScalarOp::XorInt | ScalarOp::XorBool => ins.ins().bxor(a, b),
            ScalarOp::NotInt | ScalarOp::NotBool => ins.ins().bnot(a),
            // A mask of ones is -1.
            ScalarOp::BoolToInt => ins.ins().ineg(a),
            ScalarOp::SelectInt => ins.ins().bitselect(a, b, operands[2]),
            ScalarOp::SelectFloat => {
                let flags = MemFlagsData::new().with_endianness(cranelift_codegen::ir::Endianness::Little);
                let mask = ins.ins().bitcast(types::F64X2, flags, a);
                ins.ins().bitselect(mask, b, operands[2])
            }
            ScalarOp::MaximumInt => {
                let is_greater = ins.ins().icmp(IntCC::SignedGreaterThan, a, b);
                ins.ins().bitselect(is_greater, a, b)
            }
            ScalarOp::MinimumInt => {
                let is_less = ins.ins().icmp(IntCC::SignedLessThan, a, b);
                ins.ins().bitselect(is_less, a, b)
            }
            other => unreachable!("{other} has no form for two indices"),
        }
    }
}

/// The vector of two numbers.
pub(crate) fn wide_type(ty: ScalarType) -> Type {
    if ty == ScalarType::Float { types::F64X2 } else { types::I64X2 }
}

/// Whether elements are of a size of which a vector has two.
pub(crate) fn is_number(ty: ScalarType) -> bool {
    machine_type(ty).bytes() == 8
}

/// Whether an operation has a form for two indices.
pub(crate) fn is_wide_op(op: ScalarOp) -> bool {
    op.is(Property::Vector)
}
