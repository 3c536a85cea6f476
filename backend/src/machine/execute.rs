//! One instruction without control: operands out of the frame, then into the engine.
//!
//! Instructions on machine scalars and on what an engine says of its columns at once (lengths, numbers of segments)
//! need no engine of their own and are done here.

use super::frames::Frames;
use crate::data::slot::Slot;
use crate::engine::value::SlotOf;
use crate::engine::{Engine, Fault, MapOperand};
use crate::machine::decode::{Operation, Source};
use nesl_prim::{Element, Failure, ScalarValue};
use nesl_span::Span;
use nesl_vcode::{Constants, VectorOp};

/// Executes an operation.
pub(super) fn execute<E: Engine>(
    engine: &mut E,
    operation: &Operation,
    operands: &[Source],
    frames: &mut Frames<E>,
) -> Result<SlotOf<E>, Fault> {
    match operation {
        Operation::Scalar(op) => {
            // No scalar operation has more than three operands.
            let mut values = [ScalarValue::Bool(false); 3];
            for (value, &operand) in values.iter_mut().zip(operands) {
                *value = frames.scalar(operand);
            }
            Ok(Slot::Scalar(nesl_prim::eval(*op, &values[..operands.len()])?))
        }
        Operation::Map(op) => {
            let operand = |&source: &Source| match frames.read(source) {
                Slot::Scalar(value) => MapOperand::Scalar(value),
                other => MapOperand::Column(column::<E>(other)),
            };
            let operands = operands.iter().map(operand).collect();
            engine.map(*op, operands).map(Slot::Column)
        }
        Operation::Constants(constants) => engine.constants(constants).map(Slot::Column),
        Operation::Vector(op) => vector(engine, *op, &mut Operands { sources: operands.iter(), frames }),
    }
}

/// An error of an operation with its place, and whether its element means something to the user.
pub(super) fn place(operation: &Operation, fault: Fault, span: Span) -> (Fault, Span, bool) {
    let of_element = (matches!(operation, Operation::Map(_))
        || matches!(operation, Operation::Vector(op) if op.row().fallible))
        && !matches!(fault.failure, Failure::OutOfMemory { .. } | Failure::Interrupted);
    (fault, span, of_element)
}

/// The operands of an instruction, one after another.
struct Operands<'a, E: Engine> {
    sources: std::slice::Iter<'a, Source>,
    frames: &'a mut Frames<E>,
}

impl<E: Engine> Operands<'_, E> {
    fn source(&mut self) -> Source {
        *self.sources.next().unwrap_or_else(|| panic!("an operand is missing: unverified program"))
    }

    fn next(&mut self) -> SlotOf<E> {
        let source = self.source();
        self.frames.read(source)
    }

    fn scalar(&mut self) -> ScalarValue {
        let source = self.source();
        self.frames.scalar(source)
    }

    /// An index or a length, which an earlier check has accepted.
    fn size(&mut self) -> usize {
        let value = i64::from_value(self.scalar());
        usize::try_from(value).unwrap_or_else(|_| panic!("unchecked index or length {value}"))
    }

    fn column(&mut self) -> E::Column {
        column::<E>(self.next())
    }

    fn columns(&mut self) -> Vec<E::Column> {
        (0..self.sources.len()).map(|_| self.column()).collect()
    }

    fn scalars(&mut self) -> Vec<ScalarValue> {
        (0..self.sources.len()).map(|_| self.scalar()).collect()
    }

    fn descriptor(&mut self) -> E::Descriptor {
        match self.next() {
            Slot::Descriptor(descriptor) => descriptor,
            Slot::Scalar(_) => panic!("expected a descriptor, found a scalar: unverified program"),
            Slot::Column(_) => panic!("expected a descriptor, found a column: unverified program"),
        }
    }
}

fn column<E: Engine>(slot: SlotOf<E>) -> E::Column {
    match slot {
        Slot::Column(column) => column,
        Slot::Scalar(_) => panic!("expected a column, found a scalar: unverified program"),
        Slot::Descriptor(_) => panic!("expected a column, found a descriptor: unverified program"),
    }
}

/// A size as a scalar.
fn int<C, D>(size: usize) -> Slot<C, D> {
    Slot::Scalar(ScalarValue::Int(size as i64))
}

/// Executes a vector operation. Operands are read in order, each before the engine is called.
fn vector<E: Engine>(engine: &mut E, op: VectorOp, operands: &mut Operands<'_, E>) -> Result<SlotOf<E>, Fault> {
    let result = match op {
        VectorOp::Length => return Ok(int(engine.length(&operands.column()))),
        VectorOp::Segments => return Ok(int(engine.segments(&operands.descriptor()))),
        VectorOp::Total => return Ok(int(engine.total(&operands.descriptor())?)),
        VectorOp::Extract => {
            let (column, index) = (operands.column(), operands.size());
            return engine.extract(&column, index).map(Slot::Scalar);
        }
        VectorOp::Reduce(op) => return engine.reduce(op, &operands.column()).map(Slot::Scalar),
        VectorOp::Packed => return engine.packed(operands.column()).map(Slot::Descriptor),
        VectorOp::View => {
            let (starts, lengths) = (operands.column(), operands.column());
            return engine.view(starts, lengths).map(Slot::Descriptor);
        }

        VectorOp::Iota => engine.iota(operands.size()),
        VectorOp::Dist => {
            let (value, length) = (operands.scalar(), operands.size());
            engine.dist(value, length)
        }
        VectorOp::Build => {
            let values = operands.scalars();
            engine.constants(&Constants::from_scalars(values[0].scalar_type(), &values))
        }
        VectorOp::Slice => {
            let (column, start, length) = (operands.column(), operands.size(), operands.size());
            engine.slice(&column, start, length)
        }
        VectorOp::Gather => {
            let (column, indices) = (operands.column(), operands.column());
            engine.gather(&column, &indices)
        }
        VectorOp::Scatter => {
            let (column, indices, values) = (operands.column(), operands.column(), operands.column());
            engine.scatter(column, &indices, &values)
        }
        VectorOp::Permute => {
            let (values, indices) = (operands.column(), operands.column());
            engine.permute(&values, &indices)
        }
        VectorOp::Pack => {
            let (column, flags) = (operands.column(), operands.column());
            engine.pack(&column, &flags)
        }
        VectorOp::Merge => {
            let (flags, when_true, when_false) = (operands.column(), operands.column(), operands.column());
            engine.merge(&flags, &when_true, &when_false)
        }
        VectorOp::Concat => engine.concat(&operands.columns()),
        VectorOp::Interleave => engine.interleave(&operands.columns()),
        VectorOp::Append => {
            let (first, first_data) = (operands.descriptor(), operands.column());
            let (second, second_data) = (operands.descriptor(), operands.column());
            engine.append((&first, &first_data), (&second, &second_data))
        }
        VectorOp::Scan(op) => engine.scan(op, &operands.column()),
        VectorOp::SegReduce(op) => {
            let (column, descriptor) = (operands.column(), operands.descriptor());
            engine.seg_reduce(op, &column, &descriptor)
        }
        VectorOp::SegScan(op) => {
            let (column, descriptor) = (operands.column(), operands.descriptor());
            engine.seg_scan(op, &column, &descriptor)
        }
        VectorOp::Sort(direction) => engine.sort(direction, &operands.column()),
        VectorOp::SegSort(direction) => {
            let (column, descriptor) = (operands.column(), operands.descriptor());
            engine.seg_sort(direction, &column, &descriptor)
        }
        VectorOp::Rank(direction) => engine.order(direction, &operands.column()),
        VectorOp::SegRank(direction) => {
            let (column, descriptor) = (operands.column(), operands.descriptor());
            engine.seg_order(direction, &column, &descriptor)
        }
        VectorOp::TextLengths => engine.text_lengths(&operands.column()),
        VectorOp::Text => engine.text(&operands.column()),
        VectorOp::ParseFloat => {
            let (column, descriptor) = (operands.column(), operands.descriptor());
            engine.parse_float(&column, &descriptor)
        }
        VectorOp::SegIota => engine.seg_iota(&operands.descriptor()),
        VectorOp::SegDist => {
            let (column, descriptor) = (operands.column(), operands.descriptor());
            engine.seg_dist(&column, &descriptor)
        }
        VectorOp::Compact => {
            let (column, descriptor) = (operands.column(), operands.descriptor());
            engine.compact(&column, &descriptor)
        }
        VectorOp::Starts => engine.starts(&operands.descriptor()),
        VectorOp::Lengths => engine.lengths(&operands.descriptor()),
    };
    result.map(Slot::Column)
}
