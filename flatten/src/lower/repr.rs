//! Operations on representations: the one place of flattening that takes descriptors apart and makes them.
//!
//! Everything that moves elements goes through [`Lowering::move_elements`], which says once what moving means for
//! nested elements: from one source, a sequence moves by moving where it starts and how long it is, and its data stays
//! where it is; from several sources, their data is put one after another first.
//!
//! Elements of a lifted sequence may lie in data that has other elements besides (its descriptor may be a view).
//! Whoever computes on elements one by one first calls [`Lowering::compact`].

use crate::lower::Lowering;
use crate::value::{Structure, Value};
use nesl_frontend::ty::Type;
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::{Constants, Operand, VectorOp};

/// An int constant.
pub fn int(value: i64) -> Operand {
    Operand::Constant(ScalarValue::Int(value))
}

impl Lowering<'_, '_> {
    pub(crate) fn starts(&mut self, descriptor: Operand) -> Operand {
        self.builder.vector(VectorOp::Starts, &[descriptor])
    }

    pub(crate) fn lengths(&mut self, descriptor: Operand) -> Operand {
        self.builder.vector(VectorOp::Lengths, &[descriptor])
    }

    pub(crate) fn total(&mut self, descriptor: Operand) -> Operand {
        self.builder.vector(VectorOp::Total, &[descriptor])
    }

    pub(crate) fn packed(&mut self, lengths: Operand) -> Operand {
        self.builder.vector(VectorOp::Packed, &[lengths])
    }

    pub(crate) fn view(&mut self, starts: Operand, lengths: Operand) -> Operand {
        self.builder.vector(VectorOp::View, &[starts, lengths])
    }

    /// The elements that `mover` puts together from the elements of the sources. `mover` gets corresponding columns,
    /// one of each source, and yields a column; it is called once for every column of the result.
    pub(crate) fn move_elements(
        &mut self,
        sources: &[&Value],
        mover: &mut dyn FnMut(&mut Self, &[Operand]) -> Operand,
    ) -> Value {
        match sources[0] {
            Value::Scalar { scalar_type, .. } => {
                let columns: Vec<Operand> = sources.iter().map(|source| source.operand()).collect();
                Value::column(mover(self, &columns), *scalar_type)
            }
            Value::Nothing => Value::Nothing,
            Value::Pair(..) => {
                let (firsts, rests): (Vec<Value>, Vec<Value>) =
                    sources.iter().map(|&source| source.clone().into_pair()).unzip();
                let first = self.move_elements(&firsts.iter().collect::<Vec<_>>(), mover);
                Value::pair(first, self.move_elements(&rests.iter().collect::<Vec<_>>(), mover))
            }
            Value::Sequence { .. } if sources.len() == 1 => {
                let (descriptor, elements) = sources[0].clone().into_sequence();
                let starts = self.starts(descriptor);
                let lengths = self.lengths(descriptor);
                let starts = mover(self, &[starts]);
                let lengths = mover(self, &[lengths]);
                Value::segments(self.view(starts, lengths), elements)
            }
            Value::Sequence { .. } => {
                let mut offset = int(0);
                let (mut starts, mut lengths, mut data) = (Vec::new(), Vec::new(), Vec::new());
                for &source in sources {
                    let (descriptor, elements) = self.compact(source.clone()).into_sequence();
                    let own_starts = self.starts(descriptor);
                    starts.push(self.builder.map(ScalarOp::AddInt, &[own_starts, offset]));
                    lengths.push(self.lengths(descriptor));
                    data.push(elements);
                    let total = self.total(descriptor);
                    offset = self.builder.scalar(ScalarOp::AddInt, &[offset, total]);
                }
                let starts = mover(self, &starts);
                let lengths = mover(self, &lengths);
                let elements = self.concat(&data.iter().collect::<Vec<_>>());
                Value::segments(self.view(starts, lengths), elements)
            }
        }
    }

    /// The elements moved by one instruction that takes their column first, then `operands`.
    pub(crate) fn move_by(&mut self, elements: &Value, op: VectorOp, operands: &[Operand]) -> Value {
        self.move_elements(&[elements], &mut |lowering, columns| {
            let operands = [columns, operands].concat();
            lowering.builder.vector(op, &operands)
        })
    }

    /// The elements of the sources one after another. Sequences among them end packed, so that whoever appends again
    /// finds nothing to compact.
    pub(crate) fn concat(&mut self, sources: &[&Value]) -> Value {
        match sources[0] {
            Value::Pair(..) => {
                let (firsts, rests): (Vec<Value>, Vec<Value>) =
                    sources.iter().map(|&source| source.clone().into_pair()).unzip();
                let first = self.concat(&firsts.iter().collect::<Vec<_>>());
                Value::pair(first, self.concat(&rests.iter().collect::<Vec<_>>()))
            }
            Value::Sequence { .. } if sources.len() > 1 => {
                let (lengths, elements): (Vec<Operand>, Vec<Value>) = sources
                    .iter()
                    .map(|&source| {
                        let (descriptor, elements) = self.compact(source.clone()).into_sequence();
                        (self.lengths(descriptor), elements)
                    })
                    .unzip();
                let lengths = self.builder.vector(VectorOp::Concat, &lengths);
                let elements = self.concat(&elements.iter().collect::<Vec<_>>());
                Value::segments(self.packed(lengths), elements)
            }
            _ => {
                self.move_elements(sources, &mut |lowering, columns| lowering.builder.vector(VectorOp::Concat, columns))
            }
        }
    }

    /// A lifted sequence with its elements in packed order and nothing between them.
    pub(crate) fn compact(&mut self, sequence: Value) -> Value {
        let (descriptor, elements) = sequence.into_sequence();
        let elements = self.move_by(&elements, VectorOp::Compact, &[descriptor]);
        let lengths = self.lengths(descriptor);
        Value::segments(self.packed(lengths), elements)
    }

    /// A value of instances, once for each element of the instance's segment; what is invariant stays so.
    pub(crate) fn spread(&mut self, value: &Value, descriptor: Operand) -> Value {
        self.move_lifted(value, VectorOp::SegDist, descriptor)
    }

    /// A value of instances, of those whose flag is true; what is invariant stays so.
    pub(crate) fn restrict(&mut self, value: &Value, flags: Operand) -> Value {
        self.move_lifted(value, VectorOp::Pack, flags)
    }

    fn move_lifted(&mut self, value: &Value, op: VectorOp, operand: Operand) -> Value {
        match value {
            Value::Pair(first, rest) => {
                let first = self.move_lifted(first, op, operand);
                Value::pair(first, self.move_lifted(rest, op, operand))
            }
            _ if value.is_invariant() => value.clone(),
            _ => self.move_by(value, op, &[operand]),
        }
    }

    /// The value with every part lifted to `count` instances. A sequence becomes as many views of its one copy.
    pub(crate) fn lift(&mut self, value: Value, count: Operand) -> Value {
        match value {
            Value::Pair(first, rest) => {
                let first = self.lift(*first, count);
                Value::pair(first, self.lift(*rest, count))
            }
            // The elements of a loop around them, of which they are picked, are known before their number is.
            Value::Scalar { lifted: false, .. } if self.joined.contains_key(&count) => {
                let (flags, all) = self.joined[&count];
                let all = self.lift(value, all);
                self.restrict(&all, flags)
            }
            Value::Scalar { operand, lifted: false, scalar_type } => {
                Value::column(self.builder.vector(VectorOp::Dist, &[operand, count]), scalar_type)
            }
            Value::Sequence { extent, lifted: false, elements } => {
                let starts = self.builder.vector(VectorOp::Dist, &[int(0), count]);
                let lengths = self.builder.vector(VectorOp::Dist, &[extent, count]);
                Value::Sequence { extent: self.view(starts, lengths), lifted: true, elements }
            }
            lifted => lifted,
        }
    }

    /// The one value at `index` of elements.
    pub(crate) fn extract(&mut self, elements: &Value, index: Operand) -> Value {
        match elements {
            Value::Scalar { operand, scalar_type, .. } => {
                Value::scalar(self.builder.vector(VectorOp::Extract, &[*operand, index]), *scalar_type)
            }
            Value::Pair(first, rest) => {
                let first = self.extract(first, index);
                Value::pair(first, self.extract(rest, index))
            }
            Value::Sequence { extent, elements, .. } => {
                let starts = self.starts(*extent);
                let lengths = self.lengths(*extent);
                let start = self.builder.vector(VectorOp::Extract, &[starts, index]);
                let length = self.builder.vector(VectorOp::Extract, &[lengths, index]);
                Value::sequence(length, self.move_by(elements, VectorOp::Slice, &[start, length]))
            }
            Value::Nothing => Value::Nothing,
        }
    }

    /// The elements of a sequence of the given invariant values, of which there is at least one.
    pub(crate) fn build(&mut self, values: &[Value]) -> Value {
        match &values[0] {
            Value::Scalar { scalar_type, .. } => {
                let operands: Vec<Operand> = values.iter().map(Value::operand).collect();
                Value::column(self.builder.vector(VectorOp::Build, &operands), *scalar_type)
            }
            Value::Pair(..) => {
                let (firsts, rests): (Vec<Value>, Vec<Value>) = values.iter().cloned().map(Value::into_pair).unzip();
                let first = self.build(&firsts);
                Value::pair(first, self.build(&rests))
            }
            Value::Sequence { .. } => {
                let (lengths, data): (Vec<Operand>, Vec<Value>) =
                    values.iter().cloned().map(Value::into_sequence).unzip();
                let lengths = self.builder.vector(VectorOp::Build, &lengths);
                let elements = self.concat(&data.iter().collect::<Vec<_>>());
                Value::segments(self.packed(lengths), elements)
            }
            Value::Nothing => Value::Nothing,
        }
    }

    /// The value of no instances.
    pub(crate) fn empty(&mut self, ty: &Type) -> Value {
        match Structure::of(ty) {
            Structure::Scalar(scalar_type) => {
                Value::column(self.builder.constants(Constants::from_scalars(scalar_type, &[])), scalar_type)
            }
            Structure::Pair(first, rest) => {
                let first = self.empty(&first);
                Value::pair(first, self.empty(&rest))
            }
            Structure::Sequence(element) => {
                let lengths = self.builder.constants(Constants::from_scalars(ScalarType::Int, &[]));
                let descriptor = self.packed(lengths);
                Value::segments(descriptor, self.empty(&element))
            }
            Structure::Nothing => Value::Nothing,
        }
    }
}
