//! `each` in the middle of a function: a loop around a call of the serial version.
//!
//! Taking the operands of an instance apart copies nothing. What an instance gives stays in scratch memory where the
//! instance left it; after the loop it is put together, which copies nothing either where all of it lies one after
//! another. Scalars that are only reduced are combined in the loop ([`super::sink`]).

use super::Body;
use super::sink::Sunk;
use crate::emitter::{TRUSTED, machine_type};
use crate::runtime::join;
use crate::state::INTERRUPT;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::Variable;
use nesl_prim::{ScalarOp, ScalarType};
use nesl_vcode::{Each, Operand, Register, Shape};

/// Some values among the arguments of an instance.
enum Part {
    Same(Vec<Value>),
    /// An element of a column.
    Scalar(ScalarType, Value),
    /// What is computed from such elements.
    Sunk(Sunk),
    /// A length, then the parts of elements.
    Sequence {
        starts: Value,
        lengths: Value,
        elements: Vec<ElementPart>,
    },
}

/// Some values of the elements of a segment.
enum ElementPart {
    Column(ScalarType, Value),
    /// The starts and lengths of a descriptor.
    Segments(Value, Value),
    /// What its segments lie in.
    Data(Vec<Value>),
}

/// What is kept of the results of all instances.
enum Collected {
    /// A column of scalars.
    Scalar(ScalarType, Value),
    /// All of them combined: nobody reads them one by one.
    Combined(ScalarOp, Variable),
    /// The descriptor of sequences, how many elements there are so far, and for each column of elements where they are.
    Sequences { starts: Value, lengths: Value, total: Variable, elements: Vec<(ScalarType, Value)> },
}

/// The columns of the elements of a sequence; none where there are sequences among them.
fn flat(shape: &Shape, columns: &mut Vec<ScalarType>) -> Option<()> {
    match shape {
        Shape::Scalar(ty) => columns.push(*ty),
        Shape::Pair(first, rest) => {
            flat(first, columns)?;
            flat(rest, columns)?;
        }
        Shape::Record(_, inner) | Shape::Function(Some(inner)) => flat(inner, columns)?,
        Shape::Function(None) | Shape::Unit => {}
        Shape::Sequence(_) | Shape::Entry(_) => return None,
    }
    Some(())
}

/// Whether results of a shape can be put together here.
fn is_flat(shape: &Shape) -> bool {
    match shape {
        Shape::Scalar(_) | Shape::Function(None) | Shape::Unit => true,
        Shape::Pair(first, rest) => is_flat(first) && is_flat(rest),
        Shape::Record(_, inner) | Shape::Function(Some(inner)) => is_flat(inner),
        Shape::Sequence(element) => flat(element, &mut Vec::new()).is_some(),
        Shape::Entry(_) => false,
    }
}

impl Body<'_, '_> {
    /// Whether an `each` can be a loop.
    pub(super) fn is_loop(each: &Each) -> bool {
        each.results.iter().all(is_flat)
    }

    /// The values of the results of an `each`.
    pub(super) fn each_loop(&mut self, each: &Each, operands: &[Operand], results: &[Register]) -> Vec<Value> {
        let count = self.value(operands[0])[0];
        let filter = self.uses.filter(operands[0]);
        if filter.is_none() {
            // Where nothing varies, no column has so many elements.
            self.require_possible(count);
        }
        let mut rest = operands[1..].iter();
        let mut parts = Vec::new();
        for argument in &each.arguments {
            if argument.varies {
                self.varying(&argument.shape, &mut rest, &mut parts);
            } else {
                let registers = argument.registers().len();
                parts.extend(rest.by_ref().take(registers).map(|&operand| Part::Same(self.value(operand))));
            }
        }
        let (mut kept, mut registers) = (Vec::new(), results.iter().copied());
        each.results.iter().for_each(|shape| self.keep(shape, count, &mut registers, &mut kept));
        let flag = self.emitter.load_state(INTERRUPT);
        let is_inlined = self.is_inlined(each.serial);
        let instance = |body: &mut Self, i: Value| {
            if is_inlined || !body.looks_at_interrupt(each.serial) {
                body.emitter.check_flag(flag);
            }
            let mut arguments = Vec::new();
            parts.iter().for_each(|part| body.argument(part, i, &mut arguments));
            let results =
                if is_inlined { body.inlined(each.serial, &arguments) } else { body.call(each.serial, &arguments) };
            let mut results = results.into_iter();
            kept.iter().for_each(|kept| body.add(kept, i, &mut results));
        };
        match filter {
            Some(filter) => self.for_each_where(&filter, count, flag, instance),
            None => self.for_each(count, instance),
        }
        kept.into_iter().flat_map(|kept| self.together(kept, count)).collect()
    }

    /// A loop over the indices up to a count.
    fn for_each(&mut self, count: Value, instance: impl FnOnce(&mut Self, Value)) {
        let zero = self.emitter.int(0);
        let builder = &mut self.emitter.builder;
        let index = builder.declare_var(types::I64);
        builder.def_var(index, zero);
        let (header, body, after) = (builder.create_block(), builder.create_block(), builder.create_block());
        builder.ins().jump(header, &[]);
        builder.switch_to_block(header);
        let i = builder.use_var(index);
        let is_left = builder.ins().icmp(IntCC::SignedLessThan, i, count);
        builder.ins().brif(is_left, body, &[], after, &[]);
        builder.switch_to_block(body);
        instance(self, i);
        let next = self.emitter.builder.ins().iadd_imm_s(i, 1);
        self.emitter.builder.def_var(index, next);
        self.emitter.builder.ins().jump(header, &[]);
        self.emitter.builder.switch_to_block(after);
    }

    fn varying<'o>(&mut self, shape: &Shape, operands: &mut impl Iterator<Item = &'o Operand>, parts: &mut Vec<Part>) {
        match shape {
            Shape::Scalar(ty) => {
                let operand = *operands.next().unwrap_or_else(|| panic!("an operand is missing: unverified program"));
                parts.push(match self.uses.sunk(operand) {
                    Some(sunk) => Part::Sunk(sunk),
                    None => Part::Scalar(*ty, self.value(operand)[0]),
                });
            }
            Shape::Pair(first, rest) => {
                self.varying(first, operands, parts);
                self.varying(rest, operands, parts);
            }
            Shape::Record(_, inner) | Shape::Function(Some(inner)) => self.varying(inner, operands, parts),
            Shape::Function(None) | Shape::Unit => {}
            Shape::Sequence(element) => {
                let segments = self.next(operands);
                let mut elements = Vec::new();
                self.of_elements(element, operands, &mut elements);
                parts.push(Part::Sequence { starts: segments[0], lengths: segments[1], elements });
            }
            Shape::Entry(_) => panic!("an entry of a stack varies by instance: unverified program"),
        }
    }

    fn of_elements<'o>(
        &mut self,
        shape: &Shape,
        operands: &mut impl Iterator<Item = &'o Operand>,
        elements: &mut Vec<ElementPart>,
    ) {
        match shape {
            Shape::Scalar(ty) => elements.push(ElementPart::Column(*ty, self.next(operands)[0])),
            Shape::Pair(first, rest) => {
                self.of_elements(first, operands, elements);
                self.of_elements(rest, operands, elements);
            }
            Shape::Record(_, inner) | Shape::Function(Some(inner)) => self.of_elements(inner, operands, elements),
            Shape::Function(None) | Shape::Unit => {}
            Shape::Sequence(element) => {
                let segments = self.next(operands);
                elements.push(ElementPart::Segments(segments[0], segments[1]));
                let registers = element.lifted().len();
                elements.extend(operands.by_ref().take(registers).map(|&data| ElementPart::Data(self.value(data))));
            }
            Shape::Entry(_) => panic!("an entry of a stack in a sequence: unverified program"),
        }
    }

    fn next<'o>(&mut self, operands: &mut impl Iterator<Item = &'o Operand>) -> Vec<Value> {
        let operand = operands.next().unwrap_or_else(|| panic!("an operand is missing: unverified program"));
        self.value(*operand)
    }

    /// The values of a part of the arguments of instance `i`.
    fn argument(&mut self, part: &Part, i: Value, arguments: &mut Vec<Value>) {
        match part {
            Part::Same(values) => arguments.extend(values),
            Part::Scalar(ty, column) => arguments.push(self.load(*column, i, *ty)),
            Part::Sunk(sunk) => arguments.push(self.computed(sunk, i, 0)),
            Part::Sequence { starts, lengths, elements } => {
                let (start, length) = (self.load(*starts, i, ScalarType::Int), self.load(*lengths, i, ScalarType::Int));
                arguments.push(length);
                for element in elements {
                    match element {
                        ElementPart::Column(ty, column) => {
                            arguments.extend([self.address(*column, start, *ty), length]);
                        }
                        ElementPart::Segments(starts, lengths) => {
                            let [starts, lengths] =
                                [starts, lengths].map(|&column| self.address(column, start, ScalarType::Int));
                            arguments.extend([starts, lengths, length]);
                        }
                        ElementPart::Data(values) => arguments.extend(values),
                    }
                }
            }
        }
    }

    pub(super) fn load(&mut self, column: Value, index: Value, ty: ScalarType) -> Value {
        let address = self.address(column, index, ty);
        self.emitter.builder.ins().load(machine_type(ty), TRUSTED, address, 0)
    }

    fn save(&mut self, column: Value, index: Value, ty: ScalarType, value: Value) {
        let address = self.address(column, index, ty);
        self.emitter.builder.ins().store(TRUSTED, value, address, 0);
    }

    /// Room for what is kept of results of a shape, whose registers come next.
    fn keep(
        &mut self,
        shape: &Shape,
        count: Value,
        registers: &mut impl Iterator<Item = Register>,
        kept: &mut Vec<Collected>,
    ) {
        match shape {
            Shape::Scalar(ty) => {
                let combined = registers.next().and_then(|register| self.uses.combined(register));
                kept.push(match combined {
                    Some(op) => {
                        let identity = self.identity(op);
                        let variable = self.emitter.builder.declare_var(machine_type(*ty));
                        self.emitter.builder.def_var(variable, identity);
                        Collected::Combined(op, variable)
                    }
                    None => Collected::Scalar(*ty, self.room(count, *ty)),
                });
            }
            Shape::Pair(first, rest) => {
                self.keep(first, count, registers, kept);
                self.keep(rest, count, registers, kept);
            }
            Shape::Record(_, inner) | Shape::Function(Some(inner)) => self.keep(inner, count, registers, kept),
            Shape::Function(None) | Shape::Unit => {}
            Shape::Sequence(element) => {
                // Those of sequences are not combined.
                registers.by_ref().take(shape.lifted().len()).for_each(drop);
                let mut columns = Vec::new();
                flat(element, &mut columns).unwrap_or_else(|| unreachable!("the shape has been looked at"));
                let [starts, lengths] = [(); 2].map(|()| self.room(count, ScalarType::Int));
                let elements = columns.into_iter().map(|ty| (ty, self.room(count, ScalarType::Int))).collect();
                let total = self.emitter.builder.declare_var(types::I64);
                let zero = self.emitter.int(0);
                self.emitter.builder.def_var(total, zero);
                kept.push(Collected::Sequences { starts, lengths, total, elements });
            }
            Shape::Entry(_) => panic!("an entry of a stack is no result of an instance: unverified program"),
        }
    }

    /// Keeps the results of instance `i`.
    fn add(&mut self, kept: &Collected, i: Value, results: &mut impl Iterator<Item = Value>) {
        let mut next = || results.next().unwrap_or_else(|| unreachable!("an instance gives all values of its results"));
        match kept {
            Collected::Scalar(ty, column) => {
                let value = next();
                self.save(*column, i, *ty, value);
            }
            Collected::Combined(op, variable) => {
                let (before, value) = (self.emitter.builder.use_var(*variable), next());
                let after = self.emitter.scalar(*op, &[before, value]);
                self.emitter.builder.def_var(*variable, after);
            }
            Collected::Sequences { starts, lengths, total, elements } => {
                let length = next();
                let start = self.emitter.builder.use_var(*total);
                self.save(*starts, i, ScalarType::Int, start);
                self.save(*lengths, i, ScalarType::Int, length);
                let end = self.emitter.builder.ins().iadd(start, length);
                self.emitter.builder.def_var(*total, end);
                for &(_, pieces) in elements {
                    let piece = next();
                    next();
                    self.save(pieces, i, ScalarType::Int, piece);
                }
            }
        }
    }

    /// The registers of what was kept.
    fn together(&mut self, kept: Collected, count: Value) -> Vec<Value> {
        match kept {
            Collected::Scalar(_, column) => vec![column, count],
            Collected::Combined(_, variable) => vec![self.emitter.builder.use_var(variable), count],
            Collected::Sequences { starts, lengths, total, elements } => {
                let total = self.emitter.builder.use_var(total);
                // The same sequence may be the result of many instances.
                self.require_possible(total);
                let mut values = vec![starts, lengths, count];
                for (ty, pieces) in elements {
                    let bytes = self.bytes(total, ty);
                    let size = self.emitter.int(ty.size() as i64);
                    let signature = self.emitter.signature(&[types::I64; 6], &[types::I64]);
                    let arguments = [self.emitter.state, pieces, lengths, count, size, bytes];
                    let address = self.emitter.call_rust(join as *const () as usize, signature, &arguments)[0];
                    self.emitter.require(address);
                    values.extend([address, total]);
                }
                values
            }
        }
    }
}
