//! From an instruction of the table to the method of its class.

use super::value::SlotOf;
use super::{Engine, Fault, Fill, Order, Pack, Permute, Segment, Text};
use crate::data::descriptor::RegularStarts;
use crate::data::slot::Slot;
use nesl_prim::ScalarValue;
use nesl_vcode::{Constants, VectorOp};

/// Executes an instruction on operands, each of which is asked for once, in order: what dies there can be given away.
///
/// # Errors
/// Where the instruction fails.
///
/// # Panics
/// If the operands are not those of the instruction's row: the verifier excludes that.
pub fn execute<E: Engine>(
    engine: &mut E,
    op: VectorOp,
    operands: impl ExactSizeIterator<Item = SlotOf<E>>,
) -> Result<SlotOf<E>, Fault> {
    let mut operands = Operands { op, slots: operands };
    let result = match op {
        VectorOp::Length => return Ok(int(engine.length(&operands.column()))),
        VectorOp::Segments => return Ok(int(engine.segments(&operands.descriptor()))),
        VectorOp::Total => return Ok(int(engine.total(&operands.descriptor())?)),
        VectorOp::Extract => {
            let (column, index) = (operands.column(), operands.size());
            return engine.extract(&column, index).map(Slot::Scalar);
        }
        VectorOp::Reduce(op) => return engine.reduce(op, &operands.column()).map(Slot::Scalar),
        VectorOp::ReduceIndex(op) => {
            let index = engine.reduce_index(op, &operands.column())?;
            return Ok(Slot::Scalar(ScalarValue::Int(index)));
        }
        VectorOp::Packed => return engine.descriptor(None, operands.column()).map(Slot::Descriptor),
        VectorOp::View => {
            let (starts, lengths) = (operands.column(), operands.column());
            return engine.descriptor(Some(starts), lengths).map(Slot::Descriptor);
        }
        VectorOp::Regular => {
            let (length, count) = (operands.size(), operands.size());
            return engine.regular(RegularStarts::Packed, length, count).map(Slot::Descriptor);
        }
        VectorOp::Windows => {
            let [first, stride] = [(); 2].map(|()| operands.int());
            let (length, count) = (operands.size(), operands.size());
            return engine.regular(RegularStarts::Even { first, stride }, length, count).map(Slot::Descriptor);
        }
        VectorOp::Blocks => {
            let (starts, length, count) = (operands.column(), operands.size(), operands.size());
            return engine.regular(RegularStarts::At(starts), length, count).map(Slot::Descriptor);
        }
        VectorOp::Iota => engine.fill(Fill::Iota(operands.size())),
        VectorOp::Dist => {
            let (value, length) = (operands.scalar(), operands.size());
            engine.fill(Fill::Dist(value, length))
        }
        VectorOp::Build => {
            let values = operands.all(Operands::scalar);
            engine.constants(&Constants::from_scalars(values[0].scalar_type(), &values))
        }
        VectorOp::Slice => {
            let (column, start, length) = (operands.column(), operands.size(), operands.size());
            engine.permute(Permute::Slice(&column, start, length))
        }
        VectorOp::Gather => {
            let [column, indices] = operands.columns();
            engine.permute(Permute::Gather(&column, &indices))
        }
        VectorOp::Scatter => {
            let [column, indices, values] = operands.columns();
            engine.permute(Permute::Scatter(column, &indices, &values))
        }
        VectorOp::SegScatter => {
            let (column, descriptor, values) = (operands.column(), operands.descriptor(), operands.column());
            engine.segment(Segment::Scatter(column, &descriptor, &values))
        }
        VectorOp::CombineByIndex(op) => {
            let [column, indices, values] = operands.columns();
            engine.permute(Permute::Combine(op, column, &indices, &values))
        }
        VectorOp::Permute => {
            let [values, indices] = operands.columns();
            engine.permute(Permute::Permute(&values, &indices))
        }
        VectorOp::Pack => {
            let [column, flags] = operands.columns();
            engine.pack(Pack::Pack(&column, &flags))
        }
        VectorOp::Merge => {
            let [flags, when_true, when_false] = operands.columns();
            engine.pack(Pack::Merge(&flags, &when_true, &when_false))
        }
        VectorOp::Concat => engine.pack(Pack::Concat(&operands.all(Operands::column))),
        VectorOp::Interleave => engine.pack(Pack::Interleave(&operands.all(Operands::column))),
        VectorOp::SegReduce(op) => {
            let (column, descriptor) = operands.segmented();
            engine.seg_reduce(op, &column, &descriptor)
        }
        VectorOp::SegReduceIndex(op) => {
            let (column, descriptor) = operands.segmented();
            engine.seg_reduce_index(op, &column, &descriptor)
        }
        VectorOp::ReduceByIndex(op) => {
            let ([values, indices], places) = (operands.columns(), operands.size());
            engine.reduce_by_index(op, &values, &indices, places)
        }
        VectorOp::Scan(op) => engine.scan(op, &operands.column(), None),
        VectorOp::SegScan(op) => {
            let (column, descriptor) = operands.segmented();
            engine.scan(op, &column, Some(&descriptor))
        }
        VectorOp::Sort(direction) => engine.order(Order::Sort, direction, &operands.column(), None),
        VectorOp::Rank(direction) => engine.order(Order::Rank, direction, &operands.column(), None),
        VectorOp::SegSort(direction) => {
            let (column, descriptor) = operands.segmented();
            engine.order(Order::Sort, direction, &column, Some(&descriptor))
        }
        VectorOp::SegRank(direction) => {
            let (column, descriptor) = operands.segmented();
            engine.order(Order::Rank, direction, &column, Some(&descriptor))
        }
        VectorOp::TextLengths => engine.text(Text::Lengths(&operands.column())),
        VectorOp::Text => engine.text(Text::Text(&operands.column())),
        VectorOp::ParseFloat => {
            let (column, descriptor) = operands.segmented();
            engine.text(Text::ParseFloat(&column, &descriptor))
        }
        VectorOp::SegIota => engine.segment(Segment::Iota(&operands.descriptor())),
        VectorOp::SegDist => {
            let (column, descriptor) = operands.segmented();
            engine.segment(Segment::Dist(&column, &descriptor))
        }
        VectorOp::Compact => {
            let (column, descriptor) = operands.segmented();
            engine.segment(Segment::Compact(&column, &descriptor))
        }
        VectorOp::Append => {
            let (d, c, e, b) = (operands.descriptor(), operands.column(), operands.descriptor(), operands.column());
            engine.segment(Segment::Append((&d, &c), (&e, &b)))
        }
        VectorOp::Starts => engine.starts(&operands.descriptor()),
        VectorOp::Lengths => engine.lengths(&operands.descriptor()),
    };
    result.map(Slot::Column)
}

/// The operands of an instruction, one after another.
struct Operands<I> {
    op: VectorOp,
    slots: I,
}

impl<C, D, I: ExactSizeIterator<Item = Slot<C, D>>> Operands<I> {
    fn next(&mut self) -> Slot<C, D> {
        self.slots.next().unwrap_or_else(|| self.unfit("an operand"))
    }

    fn scalar(&mut self) -> ScalarValue {
        match self.next() {
            Slot::Scalar(value) => value,
            Slot::Column(_) | Slot::Descriptor(_) => self.unfit("a scalar"),
        }
    }

    fn int(&mut self) -> i64 {
        match self.scalar() {
            ScalarValue::Int(value) => value,
            _ => self.unfit("an int"),
        }
    }

    /// An index or a length, which an earlier check has accepted.
    fn size(&mut self) -> usize {
        self.scalar().to_size()
    }

    fn column(&mut self) -> C {
        match self.next() {
            Slot::Column(column) => column,
            Slot::Scalar(_) | Slot::Descriptor(_) => self.unfit("a column"),
        }
    }

    fn columns<const COUNT: usize>(&mut self) -> [C; COUNT] {
        std::array::from_fn(|_| self.column())
    }

    fn descriptor(&mut self) -> D {
        match self.next() {
            Slot::Descriptor(descriptor) => descriptor,
            Slot::Scalar(_) | Slot::Column(_) => self.unfit("a descriptor"),
        }
    }

    /// A column and its segments.
    fn segmented(&mut self) -> (C, D) {
        (self.column(), self.descriptor())
    }

    /// All that are left.
    fn all<T>(&mut self, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.slots.len()).map(|_| one(self)).collect()
    }

    fn unfit(&self, what: &str) -> ! {
        panic!("`{}` lacks {what}: unverified program", self.op.name())
    }
}

/// A size as a scalar.
fn int<C, D>(size: usize) -> Slot<C, D> {
    Slot::Scalar(ScalarValue::Int(size as i64))
}
