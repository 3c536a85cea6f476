//! The range of a counter in which no check of a turn fails, as it is computed before the loop.
//!
//! Nothing wraps there: what is added to a counter is small, or the range is empty.

use super::turn::{Constraint, Kind, Linear, Source, Steps};
use crate::op::VectorOp;
use crate::passes::fold;
use crate::passes::writer::Writer;
use crate::program::{Op, Operand, Register};
use crate::register::RegisterType;
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};

/// No column is so long.
const LONGEST: i64 = 1 << 50;

/// What an index adds to a counter is at most this, or there is no range.
const MOST: i64 = 1 << 60;

/// What a turn adds to it is at most this, so that several turns together add less than [`MOST`].
const FARTHEST: i64 = MOST / 4;

const INT: RegisterType = RegisterType::Scalar(ScalarType::Int);
const BOOL: RegisterType = RegisterType::Scalar(ScalarType::Bool);

pub(super) const fn int(value: i64) -> Operand {
    Operand::Constant(ScalarValue::Int(value))
}

/// Where a counter has to be for several turns to be without checks. Where it goes up, from the first, up to and
/// without the second; where it goes down, beyond the first, and less than the second.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub begins: Operand,
    pub ends: Operand,
}

/// Where one constraint holds: from the first, up to and without the second.
struct Sides {
    begins: Option<Operand>,
    ends: Option<Operand>,
}

/// Nothing is in this range, or in what it becomes for several turns.
const NOTHING: Range = Range { begins: int(4 * MOST), ends: int(-4 * MOST) };

/// Scalar code; what is known is not computed.
impl Writer<'_> {
    /// The range in which all constraints on a counter hold in so many turns.
    pub(super) fn range(&mut self, constraints: &[&Constraint], steps: &Steps, turns: i64) -> Range {
        let sides: Vec<Sides> = constraints.iter().map(|constraint| self.sides(constraint)).collect();
        let begins = self.combined(ScalarOp::MaximumInt, sides.iter().filter_map(|sides| sides.begins));
        let ends = self.combined(ScalarOp::MinimumInt, sides.iter().filter_map(|sides| sides.ends));
        let (mut range, mut step) = (Range { begins, ends }, int(steps.most));
        if let Some(by) = steps.by {
            let is_positive = self.bool(ScalarOp::LessInt, [int(0), by.into()]);
            let is_small = self.bool(ScalarOp::AtMostInt, [by.into(), int(FARTHEST)]);
            range = self.range_if(is_positive, range);
            range = self.range_if(is_small, range);
            let by = self.int(ScalarOp::MinimumInt, [by.into(), int(FARTHEST)]);
            let by = self.int(ScalarOp::MaximumInt, [by, int(0)]);
            step = self.int(ScalarOp::MaximumInt, [by, step]);
        }
        let others = self.int(ScalarOp::MultiplyInt, [step, int(turns - 1)]);
        if steps.goes_up {
            range.ends = self.int(ScalarOp::SubtractInt, [range.ends, others]);
        } else {
            let before = self.int(ScalarOp::AddInt, [others, int(-1)]);
            range.begins = self.int(ScalarOp::AddInt, [range.begins, before]);
        }
        range
    }

    /// What a counter that begins with this parameter is compared with: no number is beyond it if that is before the
    /// range.
    pub(super) fn bound(&mut self, goes_up: bool, range: Range, first: Register) -> Operand {
        if goes_up {
            let has_begun = self.bool(ScalarOp::AtMostInt, [range.begins, first.into()]);
            self.select(has_begun, [range.ends, int(i64::MIN)])
        } else {
            let has_begun = self.bool(ScalarOp::LessInt, [first.into(), range.ends]);
            self.select(has_begun, [range.begins, int(i64::MAX)])
        }
    }

    fn sides(&mut self, Constraint { of, kind }: &Constraint) -> Sides {
        let (offset, is_small) = self.offset(of);
        let is_negative = of.is_negative;
        let mut sides = match kind {
            Kind::Index(lengths) => {
                let length = self.lengths(lengths);
                let [first, behind] = [int(0), length].map(|limit| self.side((offset, is_negative), limit));
                if is_negative { Sides { begins: behind, ends: first } } else { Sides { begins: first, ends: behind } }
            }
            Kind::Less(limits, more) | Kind::AtLeast(limits, more) => {
                let is_less = matches!(kind, Kind::Less(..));
                let limit = self.limit(limits, (is_less, *more), offset);
                let side = self.side((offset, is_negative), limit);
                if is_less == is_negative {
                    Sides { begins: side, ends: None }
                } else {
                    Sides { begins: None, ends: side }
                }
            }
        };
        for (side, nothing) in [(&mut sides.begins, NOTHING.begins), (&mut sides.ends, NOTHING.ends)] {
            *side = side.map(|side| self.select(is_small, [side, nothing]));
        }
        sides
    }

    /// The first counter for which a sum is not less than a limit, or is less again.
    fn side(&mut self, (offset, is_negative): (Operand, bool), limit: Operand) -> Option<Operand> {
        Some(if is_negative {
            let before = self.int(ScalarOp::SubtractInt, [offset, limit]);
            self.int(ScalarOp::AddInt, [before, int(1)])
        } else {
            self.int(ScalarOp::SubtractInt, [limit, offset])
        })
    }

    /// What is added to a counter, and whether that is small.
    fn offset(&mut self, sum: &Linear) -> (Operand, Operand) {
        let mut offset = int(sum.constant);
        for &(term, is_negative) in &sum.terms {
            let op = if is_negative { ScalarOp::SubtractInt } else { ScalarOp::AddInt };
            offset = self.int(op, [offset, term.into()]);
        }
        let is_more = self.bool(ScalarOp::AtMostInt, [int(-MOST), offset]);
        let is_less = self.bool(ScalarOp::AtMostInt, [offset, int(MOST)]);
        (offset, self.bool(ScalarOp::AndBool, [is_more, is_less]))
    }

    fn lengths(&mut self, sources: &[Source]) -> Operand {
        let lengths: Vec<Operand> = sources
            .iter()
            .map(|&source| {
                let length = self.source(source);
                match source {
                    Source::Value(_) => {
                        let length = self.int(ScalarOp::MinimumInt, [length, int(LONGEST)]);
                        self.int(ScalarOp::MaximumInt, [length, int(0)])
                    }
                    Source::Length(_) | Source::Segments(_) => length,
                }
            })
            .collect();
        self.combined(ScalarOp::MinimumInt, lengths)
    }

    /// The limit that is reached first, with one more if so said. Limits far beyond all indices are nearer.
    fn limit(&mut self, sources: &[Source], (is_less, more): (bool, bool), offset: Operand) -> Operand {
        let limits: Vec<Operand> = sources.iter().map(|&source| self.source(source)).collect();
        let mut limit = self.combined(if is_less { ScalarOp::MinimumInt } else { ScalarOp::MaximumInt }, limits);
        if sources.iter().any(|source| matches!(source, Source::Value(_))) {
            // Where nothing is added the range of an index is the nearer end.
            let is_moved = more || offset != int(0);
            if is_less || is_moved {
                limit = self.int(ScalarOp::MaximumInt, [limit, int(-4 * MOST)]);
            }
            if !is_less || is_moved {
                limit = self.int(ScalarOp::MinimumInt, [limit, int(4 * MOST)]);
            }
        }
        self.int(ScalarOp::AddInt, [limit, int(more.into())])
    }

    fn source(&mut self, source: Source) -> Operand {
        let (op, register) = match source {
            Source::Value(value) => return value,
            Source::Length(column) => (Op::Vector(VectorOp::Length), column),
            Source::Segments(descriptor) => (Op::Vector(VectorOp::Segments), descriptor),
        };
        let operands = vec![register.into()];
        let known = self.instructions.iter().find(|known| known.op == op && known.operands == operands);
        match known {
            Some(known) => known.results[0].into(),
            None => self.add(op, &operands, INT),
        }
    }

    fn combined(&mut self, op: ScalarOp, operands: impl IntoIterator<Item = Operand>) -> Operand {
        let mut different: Vec<Operand> = Vec::new();
        for operand in operands {
            if !different.contains(&operand) {
                different.push(operand);
            }
        }
        // Constants last: they meet before anything else is computed.
        different.sort_by_key(|operand| matches!(operand, Operand::Register(_)));
        let combined = different.into_iter().reduce(|all, next| self.int(op, [all, next]));
        combined.unwrap_or_else(|| unreachable!("a counter without constraints has no range"))
    }

    fn range_if(&mut self, condition: Operand, range: Range) -> Range {
        Range {
            begins: self.select(condition, [range.begins, NOTHING.begins]),
            ends: self.select(condition, [range.ends, NOTHING.ends]),
        }
    }

    pub(super) fn int(&mut self, op: ScalarOp, operands: [Operand; 2]) -> Operand {
        self.emit_scalar(op, operands.to_vec(), INT)
    }

    pub(super) fn bool(&mut self, op: ScalarOp, operands: [Operand; 2]) -> Operand {
        self.emit_scalar(op, operands.to_vec(), BOOL)
    }

    fn select(&mut self, condition: Operand, [a, b]: [Operand; 2]) -> Operand {
        self.emit_scalar(ScalarOp::SelectInt, vec![condition, a, b], INT)
    }

    fn emit_scalar(&mut self, op: ScalarOp, operands: Vec<Operand>, ty: RegisterType) -> Operand {
        fold::known(op, &operands).unwrap_or_else(|| self.add(Op::Scalar(op), &operands, ty))
    }
}
