//! Operations on the world outside: columns to plain data, the host's answer to columns.
//!
//! Rank 0 acts and the others receive what it gives; of a whole file every rank reads and writes its own part. An error
//! is the same on all ranks.

use crate::data::slot::Slot;
use crate::engine::value::SlotOf;
use crate::engine::{Engine, Fault, share};
use nesl_prim::host::{HostError, Place};
use nesl_prim::{Constants, Failure, Host, HostOp, HostValue, ScalarValue};
use std::ops::Range;

/// Elements of a column that is given out piece by piece.
const PIECE: usize = 1 << 20;

/// Performs an operation; its results, and its message if it reports. A worker, which has no host, can end its
/// instance: what comes of that is for who waits for it.
///
/// # Panics
/// If an instance acts on the world outside: flattening excludes that.
pub(super) fn perform<E: Engine>(
    engine: &mut E,
    host: Option<&mut dyn Host>,
    op: HostOp,
    operands: Vec<SlotOf<E>>,
) -> Result<Vec<SlotOf<E>>, Fault> {
    match op {
        HostOp::Fail => {
            let message = outward(engine, &operands[0])?;
            return Err(Failure::User { message: String::from_utf8_lossy(message.as_text()).into_owned() }.into());
        }
        HostOp::Exit => return Err(Failure::of_exit(outward(engine, &operands[0])?.as_int()).into()),
        _ => {}
    }
    let Some(host) = host else { panic!("an instance acts on the world outside: flattening excludes that") };
    let outcome = match operands.split_last() {
        Some((Slot::Column(column), rest)) if op.row().piecewise => piecewise(engine, host, op, rest, column)?,
        Some((Slot::Column(column), rest)) if op.row().place == Place::Parts => {
            let mut operands = rest.iter().map(|slot| outward(engine, slot)).collect::<Result<Vec<_>, Fault>>()?;
            let own = engine.own(column)?;
            let place = own.start..own.start + own.elements.len();
            operands.push(HostValue::Column(own.elements));
            once(engine, host, op, &operands, place)
        }
        _ => {
            let operands = operands.iter().map(|slot| outward(engine, slot)).collect::<Result<Vec<_>, Fault>>()?;
            once(engine, host, op, &operands, 0..0)
        }
    };
    let (values, message) = match outcome {
        Ok(values) => (values, String::new()),
        Err(HostError::Message(message)) => (op.row().results.iter().copied().map(HostValue::zero).collect(), message),
        Err(HostError::Failure(failure)) => return Err(failure.into()),
    };
    let mut results = Vec::new();
    for value in values {
        results.push(inward(engine, value)?);
    }
    if op.row().reports {
        results.push(Slot::Column(engine.constants(&Constants::Char(message.into_bytes()))?));
    }
    Ok(results)
}

/// An operation on all pieces of its last operand, up to the first error.
fn piecewise<E: Engine>(
    engine: &mut E,
    host: &mut dyn Host,
    op: HostOp,
    rest: &[SlotOf<E>],
    column: &E::Column,
) -> Result<Result<Vec<HostValue>, HostError>, Fault> {
    let mut operands = rest.iter().map(|slot| outward(engine, slot)).collect::<Result<Vec<_>, Fault>>()?;
    let length = engine.length(column);
    // Once for an empty column too: whether it can be done is an answer.
    for start in (0..length.max(1)).step_by(PIECE) {
        let window = engine.fetch(column, start, PIECE.min(length - start))?;
        operands.push(HostValue::Column(window.elements));
        if let Err(error) = once(engine, host, op, &operands, 0..0) {
            return Ok(Err(error));
        }
        operands.pop();
    }
    Ok(Ok(Vec::new()))
}

/// What the host answers to this rank, whose own part of the last operand lies at `place`; one opinion of all ranks on
/// whether it was done.
fn once<E: Engine>(
    engine: &mut E,
    host: &mut dyn Host,
    op: HostOp,
    operands: &[HostValue],
    place: Range<usize>,
) -> Result<Vec<HostValue>, HostError> {
    let rank = engine.rank();
    let answer = engine.by_itself(|| match op.row().place {
        Place::First if rank.0 > 0 => Ok(op.row().results.iter().copied().map(HostValue::zero).collect()),
        Place::First => host.perform(op, operands, &|length| 0..length),
        Place::Every => host.perform(op, operands, &|length| share(rank, length)),
        Place::Parts => host.perform(op, operands, &|_| place.clone()),
    });
    engine.agree(answer)
}

fn outward<E: Engine>(engine: &mut E, slot: &SlotOf<E>) -> Result<HostValue, Fault> {
    match slot {
        Slot::Scalar(value) => Ok(HostValue::Scalar(*value)),
        other => {
            let column = other.as_column();
            let length = engine.length(column);
            Ok(HostValue::Column(engine.fetch(column, 0, length)?.elements))
        }
    }
}

/// A value as the ranks got it: a scalar is rank 0's, a column the pieces of all.
fn inward<E: Engine>(engine: &mut E, value: HostValue) -> Result<SlotOf<E>, Fault> {
    match value {
        HostValue::Column(piece) => engine.import(piece).map(Slot::Column),
        HostValue::Scalar(own) => scalar(engine, own).map(Slot::Scalar),
    }
}

fn scalar<E: Engine>(engine: &mut E, own: ScalarValue) -> Result<ScalarValue, Fault> {
    let (rank, ranks) = engine.rank();
    if ranks == 1 {
        return Ok(own);
    }
    let piece = if rank == 0 { vec![own] } else { Vec::new() };
    let column = engine.import(Constants::from_scalars(own.scalar_type(), &piece))?;
    engine.extract(&column, 0)
}
