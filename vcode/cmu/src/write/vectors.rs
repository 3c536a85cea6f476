//! Vector instructions in terms of those of the stack format.

use super::Result;
use super::lower::{Lowering, Value, scalar_type, word};
use ScalarType::{Bool, Char, Int};
use nesl_prim::extreme::NOWHERE;
use nesl_prim::{Constants, Direction, ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::op::VectorOp;
use nesl_vcode::program::{Operand, RegisterType};

impl Lowering<'_> {
    /// A descriptor of the format, from lengths.
    pub(super) fn segdes(&mut self, lengths: Value) -> Value {
        self.op("MAKE_SEGDES", &[lengths])
    }

    /// The number of elements of a vector.
    pub(super) fn length(&mut self, scalar: ScalarType, vector: Value) -> Value {
        self.op(&format!("LENGTH {}", word(scalar)), &[vector])
    }

    /// The descriptor of one segment that is a whole vector.
    pub(super) fn over(&mut self, scalar: ScalarType, vector: Value) -> Value {
        let length = self.length(scalar, vector);
        self.segdes(length)
    }

    /// The elements of a vector at indices.
    pub(super) fn gather(&mut self, scalar: ScalarType, vector: Value, indices: Value) -> Value {
        let (data, target) = (self.over(scalar, vector), self.over(Int, indices));
        self.op(&format!("BPERMUTE {}", word(scalar)), &[vector, indices, data, target])
    }

    /// The indices of the elements of segments, one segment after another.
    pub(super) fn elements(&mut self, starts: Value, lengths: Value) -> Value {
        let (one, segments) = (self.int(1), self.over(Int, lengths));
        let strides = self.op("DIST INT", &[one, segments]);
        let segdes = self.segdes(lengths);
        self.op("INDEX", &[starts, strides, segdes])
    }

    fn compact(&mut self, scalar: ScalarType, vector: Value, [starts, lengths]: [Value; 2]) -> Value {
        if self.is_packed(starts, lengths) {
            return vector;
        }
        let indices = self.elements(starts, lengths);
        self.gather(scalar, vector, indices)
    }

    /// Where the segments of a packed descriptor start.
    fn packed_starts(&mut self, lengths: Value) -> Value {
        let segments = self.over(Int, lengths);
        let starts = self.op("+_SCAN INT", &[lengths, segments]);
        self.note_packed(starts, lengths);
        starts
    }

    /// From a start on by a stride, in one segment.
    fn progression(&mut self, start: Value, stride: i64, segdes: Value) -> Value {
        let stride = self.int(stride);
        self.op("INDEX", &[start, stride, segdes])
    }

    /// A vector of as many zeros as a segment is long.
    fn zeros(&mut self, scalar: ScalarType, segdes: Value) -> Value {
        let zero = self.constant(scalar.zero());
        self.op(&format!("DIST {}", word(scalar)), &[zero, segdes])
    }

    /// A vector with the elements of another written to indices.
    fn scatter(&mut self, scalar: ScalarType, target: Value, indices: Value, vector: Value) -> Value {
        let (from, to) = (self.over(scalar, vector), self.over(scalar, target));
        self.op(&format!("DPERMUTE {}", word(scalar)), &[vector, indices, target, from, to])
    }

    fn concat(&mut self, scalar: ScalarType, vectors: &[Value]) -> Value {
        if let [vector] = *vectors {
            return vector;
        }
        let mut offset = self.int(0);
        let mut offsets = Vec::new();
        for &vector in vectors {
            offsets.push(offset);
            let length = self.length(scalar, vector);
            offset = self.op("+ INT", &[offset, length]);
        }
        let segdes = self.segdes(offset);
        let mut result = self.zeros(scalar, segdes);
        for (&vector, offset) in vectors.iter().zip(offsets) {
            let segdes = self.over(scalar, vector);
            let indices = self.progression(offset, 1, segdes);
            result = self.scatter(scalar, result, indices, vector);
        }
        result
    }

    fn descriptor(&mut self, operand: Operand) -> [Value; 2] {
        let values = self.operand(operand);
        [values[0], values[1]]
    }

    /// A vector instruction; the vectors of its result.
    pub(super) fn vector(&mut self, op: VectorOp, operands: &[Operand]) -> Result<Vec<Value>> {
        let types: Vec<RegisterType> = operands.iter().map(|&operand| self.function.operand_type(operand)).collect();
        let scalar = nesl_vcode::build::element_type(op, &types)
            .or_else(|| types.first().copied().and_then(scalar_type))
            .unwrap_or(Int);
        let ty = word(scalar);
        let result = match op {
            VectorOp::Iota => {
                let (length, zero) = (self.value(operands[0]), self.int(0));
                let segdes = self.segdes(length);
                self.progression(zero, 1, segdes)
            }
            VectorOp::Dist => {
                let (value, length) = (self.value(operands[0]), self.value(operands[1]));
                let segdes = self.segdes(length);
                self.op(&format!("DIST {ty}"), &[value, segdes])
            }
            VectorOp::Build => {
                let values: Vec<Value> = operands.iter().map(|&operand| self.value(operand)).collect();
                if let [value] = *values {
                    return Ok(vec![value]);
                }
                let length = self.int(values.len() as i64);
                let segdes = self.segdes(length);
                let mut column = self.op(&format!("DIST {ty}"), &[values[0], segdes]);
                for (index, &value) in values.iter().enumerate().skip(1) {
                    let index = self.int(index as i64);
                    column = self.op(&format!("REPLACE {ty}"), &[column, index, value, segdes]);
                }
                column
            }
            VectorOp::Length => {
                let column = self.value(operands[0]);
                self.length(scalar, column)
            }
            VectorOp::Extract => {
                let (column, index) = (self.value(operands[0]), self.value(operands[1]));
                let segdes = self.over(scalar, column);
                self.op(&format!("EXTRACT {ty}"), &[column, index, segdes])
            }
            VectorOp::Slice => {
                let column = self.value(operands[0]);
                let (start, length) = (self.value(operands[1]), self.value(operands[2]));
                let segdes = self.segdes(length);
                let indices = self.progression(start, 1, segdes);
                self.gather(scalar, column, indices)
            }
            VectorOp::Gather => {
                let (column, indices) = (self.value(operands[0]), self.value(operands[1]));
                self.gather(scalar, column, indices)
            }
            VectorOp::Scatter => {
                let column = self.value(operands[0]);
                let (indices, values) = (self.value(operands[1]), self.value(operands[2]));
                self.scatter(scalar, column, indices, values)
            }
            VectorOp::SegScatter => {
                let column = self.value(operands[0]);
                let ([starts, lengths], values) = (self.descriptor(operands[1]), self.value(operands[2]));
                let indices = self.elements(starts, lengths);
                self.scatter(scalar, column, indices, values)
            }
            VectorOp::Permute => {
                let (column, indices) = (self.value(operands[0]), self.value(operands[1]));
                let segdes = self.over(scalar, column);
                self.act(&format!("PERMUTE {ty}"), &[column, indices, segdes], 1)[0]
            }
            VectorOp::Pack => {
                let (column, flags) = (self.value(operands[0]), self.value(operands[1]));
                let segdes = self.over(scalar, column);
                self.emit(&format!("PACK {ty}"), &[column, flags, segdes], 2)[0]
            }
            VectorOp::Merge => {
                let flags = self.value(operands[0]);
                let (first, second) = (self.value(operands[1]), self.value(operands[2]));
                self.merge(scalar, flags, first, second)
            }
            VectorOp::Concat => {
                let columns: Vec<Value> = operands.iter().map(|&operand| self.value(operand)).collect();
                self.concat(scalar, &columns)
            }
            VectorOp::Interleave => {
                let columns: Vec<Value> = operands.iter().map(|&operand| self.value(operand)).collect();
                let (count, length) = (columns.len() as i64, self.length(scalar, columns[0]));
                let factor = self.int(count);
                let total = self.op("* INT", &[factor, length]);
                let segdes = self.segdes(total);
                let mut result = self.zeros(scalar, segdes);
                for (index, &column) in columns.iter().enumerate() {
                    let (start, segdes) = (self.int(index as i64), self.segdes(length));
                    let indices = self.progression(start, count, segdes);
                    result = self.scatter(scalar, result, indices, column);
                }
                result
            }
            VectorOp::Append => self.append(scalar, operands),
            VectorOp::Reduce(op) => {
                let column = self.value(operands[0]);
                let segdes = self.over(scalar, column);
                self.fold(op, "REDUCE", column, segdes)
            }
            VectorOp::Scan(op) => {
                let column = self.value(operands[0]);
                let segdes = self.over(scalar, column);
                self.fold(op, "SCAN", column, segdes)
            }
            VectorOp::SegReduce(op) => {
                let (column, segdes) = self.segments(scalar, operands);
                self.fold(op, "REDUCE", column, segdes)
            }
            VectorOp::ReduceIndex(op) => {
                let column = self.value(operands[0]);
                let segdes = self.over(scalar, column);
                self.extreme_index(op, column, segdes)
            }
            VectorOp::SegReduceIndex(op) => {
                let (column, segdes) = self.segments(scalar, operands);
                self.extreme_index(op, column, segdes)
            }
            VectorOp::SegScan(op) => {
                let (column, segdes) = self.segments(scalar, operands);
                self.fold(op, "SCAN", column, segdes)
            }
            VectorOp::Sort(direction) => {
                let column = self.value(operands[0]);
                let segdes = self.over(scalar, column);
                let ranks = self.rank(direction, scalar, column, segdes);
                self.act(&format!("PERMUTE {ty}"), &[column, ranks, segdes], 1)[0]
            }
            VectorOp::SegSort(direction) => {
                let (column, segdes) = self.segments(scalar, operands);
                let ranks = self.rank(direction, scalar, column, segdes);
                self.act(&format!("PERMUTE {ty}"), &[column, ranks, segdes], 1)[0]
            }
            VectorOp::Rank(direction) => {
                let column = self.value(operands[0]);
                let segdes = self.over(scalar, column);
                self.rank(direction, scalar, column, segdes)
            }
            VectorOp::SegRank(direction) => {
                let (column, segdes) = self.segments(scalar, operands);
                self.rank(direction, scalar, column, segdes)
            }
            VectorOp::TextLengths | VectorOp::Text => {
                let column = self.value(operands[0]);
                let segdes = self.over(scalar, column);
                match (op, scalar) {
                    (_, Char) => self.text_of_characters(op == VectorOp::Text, column),
                    (VectorOp::TextLengths, Bool) => {
                        let one = self.int(1);
                        self.op("DIST INT", &[one, segdes])
                    }
                    (_, Bool) => {
                        let [t, f] = [b't', b'f'].map(|letter| {
                            let letter = self.constant(ScalarValue::Char(letter));
                            self.op("DIST INT", &[letter, segdes])
                        });
                        self.op("SELECT INT", &[column, t, f])
                    }
                    _ => return self.unsupported(&format!("{}.float", op.name())),
                }
            }
            VectorOp::SegIota => {
                let [_, lengths] = self.descriptor(operands[0]);
                let segments = self.over(Int, lengths);
                let zeros = self.zeros(Int, segments);
                self.elements(zeros, lengths)
            }
            VectorOp::SegDist => {
                let column = self.value(operands[0]);
                let [_, lengths] = self.descriptor(operands[1]);
                let segdes = self.segdes(lengths);
                self.op(&format!("DIST {ty}"), &[column, segdes])
            }
            VectorOp::Compact => {
                let column = self.value(operands[0]);
                let descriptor = self.descriptor(operands[1]);
                self.compact(scalar, column, descriptor)
            }
            VectorOp::Packed => {
                let lengths = self.value(operands[0]);
                return Ok(vec![self.packed_starts(lengths), lengths]);
            }
            VectorOp::View => return Ok(vec![self.value(operands[0]), self.value(operands[1])]),
            VectorOp::Starts => self.descriptor(operands[0])[0],
            VectorOp::Lengths => self.descriptor(operands[0])[1],
            VectorOp::Segments => {
                let [_, lengths] = self.descriptor(operands[0]);
                self.length(Int, lengths)
            }
            VectorOp::Total => {
                let [_, lengths] = self.descriptor(operands[0]);
                let segments = self.over(Int, lengths);
                self.op("+_REDUCE INT", &[lengths, segments])
            }
            other => return self.unsupported(other.row().mnemonic),
        };
        Ok(vec![result])
    }

    /// A column with its segments one after another, and their descriptor.
    fn segments(&mut self, scalar: ScalarType, operands: &[Operand]) -> (Value, Value) {
        let column = self.value(operands[0]);
        let descriptor = self.descriptor(operands[1]);
        (self.compact(scalar, column, descriptor), self.segdes(descriptor[1]))
    }

    /// The texts of characters, or their lengths, out of tables of all.
    fn text_of_characters(&mut self, is_text: bool, codes: Value) -> Value {
        let texts: Vec<String> = (0..=255).map(|code| nesl_prim::text::scalar(ScalarValue::Char(code))).collect();
        let lengths: Vec<i64> = texts.iter().map(|text| text.len() as i64).collect();
        let table = self.constants(&Constants::Int(lengths));
        let lengths = self.gather(Int, table, codes);
        if !is_text {
            return lengths;
        }
        let table = self.packed_starts(table);
        let starts = self.gather(Int, table, codes);
        let all = self.constants(&Constants::Char(texts.concat().into_bytes()));
        let indices = self.elements(starts, lengths);
        self.gather(Char, all, indices)
    }

    fn merge(&mut self, scalar: ScalarType, flags: Value, first: Value, second: Value) -> Value {
        let segdes = self.over(Bool, flags);
        let ones = self.op("B_TO_I", &[flags]);
        let from_first = self.op("+_SCAN INT", &[ones, segdes]);
        // An element of the second follows all of the first, and the elements of the second before it.
        let start = self.length(scalar, first);
        let positions = self.progression(start, 1, segdes);
        let from_second = self.op("- INT", &[positions, from_first]);
        let indices = self.op("SELECT INT", &[flags, from_first, from_second]);
        let both = self.concat(scalar, &[first, second]);
        self.gather(scalar, both, indices)
    }

    fn append(&mut self, scalar: ScalarType, operands: &[Operand]) -> Value {
        let (first, second) = (self.descriptor(operands[0]), self.descriptor(operands[2]));
        let (first_data, second_data) = (self.value(operands[1]), self.value(operands[3]));
        let (first_data, second_data) =
            (self.compact(scalar, first_data, first), self.compact(scalar, second_data, second));
        let lengths = self.op("+ INT", &[first[1], second[1]]);
        let starts = self.packed_starts(lengths);
        let second_starts = self.op("+ INT", &[starts, first[1]]);
        let segments = self.over(Int, lengths);
        let total = self.op("+_REDUCE INT", &[lengths, segments]);
        let segdes = self.segdes(total);
        let zeros = self.zeros(scalar, segdes);
        let indices = self.elements(starts, first[1]);
        let half = self.scatter(scalar, zeros, indices, first_data);
        let indices = self.elements(second_starts, second[1]);
        self.scatter(scalar, half, indices, second_data)
    }

    /// A scan or a reduction.
    fn fold(&mut self, op: ScalarOp, kind: &str, column: Value, segdes: Value) -> Value {
        let word = match op {
            ScalarOp::AddLength => return self.fold_lengths(kind, column, segdes),
            ScalarOp::AddInt | ScalarOp::AddFloat => "+",
            ScalarOp::MultiplyInt | ScalarOp::MultiplyFloat => "*",
            ScalarOp::MaximumInt | ScalarOp::MaximumFloat | ScalarOp::MaximumChar => "MAX",
            ScalarOp::MinimumInt | ScalarOp::MinimumFloat | ScalarOp::MinimumChar => "MIN",
            ScalarOp::AndInt | ScalarOp::AndBool => "AND",
            ScalarOp::OrInt | ScalarOp::OrBool => "OR",
            _ => "XOR",
        };
        let folded = self.op(&format!("{word}_{kind} {}", self::word(op.row().result)), &[column, segdes]);
        // Of no elements, characters have another identity than ints.
        match op {
            ScalarOp::MaximumChar => self.clamp(folded, "<", 0),
            ScalarOp::MinimumChar => self.clamp(folded, ">", 255),
            _ => folded,
        }
    }

    /// The index of the extreme element in each segment: the least one of those that are equal to it, or NaN. There is no
    /// NaN unless the extreme is one, and then nothing is equal to it.
    fn extreme_index(&mut self, op: ScalarOp, column: Value, segdes: Value) -> Value {
        let scalar = op.row().result;
        let ty = word(scalar);
        let extremes = self.fold(op, "REDUCE", column, segdes);
        let spread = self.op(&format!("DIST {ty}"), &[extremes, segdes]);
        let mut is_it = self.op(&format!("= {ty}"), &[column, spread]);
        if scalar == ScalarType::Float {
            let is_number = self.op("= FLOAT", &[column, column]);
            let is_nan = self.op("NOT BOOL", &[is_number]);
            is_it = self.op("OR BOOL", &[is_it, is_nan]);
        }
        let (zero, one, segments) = (self.int(0), self.int(1), self.over(scalar, extremes));
        let [zeros, ones] = [zero, one].map(|number| self.op("DIST INT", &[number, segments]));
        let indices = self.op("INDEX", &[zeros, ones, segdes]);
        let (nowhere, all) = (self.int(NOWHERE), self.over(scalar, column));
        let nowhere = self.op("DIST INT", &[nowhere, all]);
        let found = self.op("SELECT INT", &[is_it, indices, nowhere]);
        self.fold(ScalarOp::MinimumInt, "REDUCE", found, segdes)
    }

    /// A scan or a reduction of lengths, whose sums stay at the greatest number instead of beginning again at 0: sums
    /// begin again where adding a length to those before it does.
    fn fold_lengths(&mut self, kind: &str, lengths: Value, segdes: Value) -> Value {
        let before = self.op("+_SCAN INT", &[lengths, segdes]);
        let sums = self.op("+ INT", &[before, lengths]);
        let carries = self.carries(before, lengths, sums);
        let is_more = self.op(&format!("OR_{kind} BOOL"), &[carries, segdes]);
        let folded = if kind == "SCAN" { before } else { self.op("+_REDUCE INT", &[lengths, segdes]) };
        let (greatest, segdes) = (self.int(-1), self.over(Int, folded));
        let greatest = self.op("DIST INT", &[greatest, segdes]);
        self.op("SELECT INT", &[is_more, greatest, folded])
    }

    /// Whether a sum of two numbers without a sign is too large for a word: both have the upper bit, or one has it and
    /// the sum not.
    pub(super) fn carries(&mut self, first: Value, second: Value, sum: Value) -> Value {
        let both = self.op("AND INT", &[first, second]);
        let either = self.op("OR INT", &[first, second]);
        let lost = self.op("NOT INT", &[sum]);
        let lost = self.op("AND INT", &[either, lost]);
        let carries = self.op("OR INT", &[both, lost]);
        let (zero, segdes) = (self.int(0), self.over(Int, carries));
        let zeros = self.op("DIST INT", &[zero, segdes]);
        self.op("< INT", &[carries, zeros])
    }

    fn clamp(&mut self, column: Value, relation: &str, limit: i64) -> Value {
        let (limit, segdes) = (self.int(limit), self.over(Int, column));
        let limits = self.op("DIST INT", &[limit, segdes]);
        let beyond = self.op(&format!("{relation} INT"), &[column, limits]);
        self.op("SELECT INT", &[beyond, limits, column])
    }

    fn rank(&mut self, direction: Direction, scalar: ScalarType, column: Value, segdes: Value) -> Value {
        let word = if direction == Direction::Up { "RANK_UP" } else { "RANK_DOWN" };
        if scalar == Bool {
            let ints = self.op("B_TO_I", &[column]);
            return self.op(&format!("{word} INT"), &[ints, segdes]);
        }
        self.op(&format!("{word} {}", self::word(scalar)), &[column, segdes])
    }
}
