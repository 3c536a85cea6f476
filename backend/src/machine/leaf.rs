//! The instances of an `each` one by one: its operands taken apart into the arguments of one instance, and the results
//! of all put together.
//!
//! Taking apart copies nothing: a sequence of one instance is a slice of the data of all. Putting together copies each
//! element once. All of it goes through the methods of an engine, so that it works on every one; on ranks all of them
//! take the same instance at the same time.

use crate::data::slot::Slot;
use crate::engine::value::SlotOf;
use crate::engine::{Engine, Fault, Pack, Permute, Segment};
use nesl_prim::{Element, ScalarType, ScalarValue};
use nesl_vcode::{Argument, Constants, Each, RegisterType, Shape};

/// The operands of an `each`, ready to be taken apart.
pub(super) struct Split<E: Engine> {
    parts: Vec<Part<E>>,
}

/// Some registers of one instance.
enum Part<E: Engine> {
    /// The same for all instances.
    Same(SlotOf<E>),
    /// An element of a column.
    Scalar(E::Column),
    /// The length of a segment, then its elements.
    Sequence { starts: E::Column, lengths: E::Column, elements: Vec<ElementPart<E>> },
}

/// A register of the elements of a segment.
enum ElementPart<E: Engine> {
    /// Part of a column.
    Column(E::Column),
    /// Part of the segments of a descriptor.
    Segments { starts: E::Column, lengths: E::Column },
    /// What the segments of a descriptor before it lie in.
    Data(SlotOf<E>),
}

fn column<E: Engine>(slot: Option<SlotOf<E>>) -> E::Column {
    match slot {
        Some(Slot::Column(column)) => column,
        _ => panic!("expected a column: unverified program"),
    }
}

fn descriptor<E: Engine>(slot: Option<SlotOf<E>>) -> E::Descriptor {
    match slot {
        Some(Slot::Descriptor(descriptor)) => descriptor,
        _ => panic!("expected a descriptor: unverified program"),
    }
}

impl<E: Engine> Split<E> {
    /// Prepares the operands after the number of instances.
    pub fn new(
        engine: &mut E,
        arguments: &[Argument],
        operands: impl IntoIterator<Item = SlotOf<E>>,
    ) -> Result<Split<E>, Fault> {
        let mut operands = operands.into_iter();
        let mut parts = Vec::new();
        for argument in arguments {
            if argument.varies {
                varying(engine, &argument.shape, &mut operands, &mut parts)?;
            } else {
                let width = argument.registers().len();
                parts.extend(operands.by_ref().take(width).map(Part::Same));
            }
        }
        Ok(Split { parts })
    }

    /// The arguments of one instance.
    pub fn instance(&self, engine: &mut E, index: usize) -> Result<Vec<SlotOf<E>>, Fault> {
        let mut slots = Vec::new();
        for part in &self.parts {
            match part {
                Part::Same(slot) => slots.push(slot.clone()),
                Part::Scalar(column) => slots.push(Slot::Scalar(engine.extract(column, index)?)),
                Part::Sequence { starts, lengths, elements } => {
                    let start = size(engine.extract(starts, index)?);
                    let length = size(engine.extract(lengths, index)?);
                    slots.push(Slot::Scalar((length as i64).to_value()));
                    for element in elements {
                        slots.push(match element {
                            ElementPart::Column(column) => {
                                Slot::Column(engine.permute(Permute::Slice(column, start, length))?)
                            }
                            ElementPart::Segments { starts, lengths } => {
                                let starts = engine.permute(Permute::Slice(starts, start, length))?;
                                let lengths = engine.permute(Permute::Slice(lengths, start, length))?;
                                Slot::Descriptor(engine.descriptor(Some(starts), lengths)?)
                            }
                            ElementPart::Data(slot) => slot.clone(),
                        });
                    }
                }
            }
        }
        Ok(slots)
    }
}

fn size(value: ScalarValue) -> usize {
    usize::try_from(i64::from_value(value)).unwrap_or_else(|_| panic!("a segment at {value:?}"))
}

fn varying<E: Engine>(
    engine: &mut E,
    shape: &Shape,
    operands: &mut impl Iterator<Item = SlotOf<E>>,
    parts: &mut Vec<Part<E>>,
) -> Result<(), Fault> {
    match shape {
        Shape::Scalar(_) => parts.push(Part::Scalar(column::<E>(operands.next()))),
        Shape::Pair(first, rest) => {
            varying(engine, first, operands, parts)?;
            varying(engine, rest, operands, parts)?;
        }
        Shape::Record(_, inner) | Shape::Function(Some(inner)) => varying(engine, inner, operands, parts)?,
        Shape::Function(None) | Shape::Unit => {}
        Shape::Sequence(element) => {
            let segments = descriptor::<E>(operands.next());
            let (starts, lengths) = (engine.starts(&segments)?, engine.lengths(&segments)?);
            let mut elements = Vec::new();
            of_elements(engine, element, operands, &mut elements)?;
            parts.push(Part::Sequence { starts, lengths, elements });
        }
        Shape::Entry(_) => panic!("an entry of a stack varies by instance: unverified program"),
    }
    Ok(())
}

fn of_elements<E: Engine>(
    engine: &mut E,
    shape: &Shape,
    operands: &mut impl Iterator<Item = SlotOf<E>>,
    elements: &mut Vec<ElementPart<E>>,
) -> Result<(), Fault> {
    match shape {
        Shape::Pair(first, rest) => {
            of_elements(engine, first, operands, elements)?;
            of_elements(engine, rest, operands, elements)?;
        }
        Shape::Record(_, inner) | Shape::Function(Some(inner)) => of_elements(engine, inner, operands, elements)?,
        Shape::Sequence(element) => {
            let segments = descriptor::<E>(operands.next());
            let (starts, lengths) = (engine.starts(&segments)?, engine.lengths(&segments)?);
            elements.push(ElementPart::Segments { starts, lengths });
            let width = element.lifted().len();
            elements.extend(operands.by_ref().take(width).map(ElementPart::Data));
        }
        Shape::Function(None) | Shape::Unit => {}
        Shape::Scalar(_) | Shape::Entry(_) => elements.push(ElementPart::Column(column::<E>(operands.next()))),
    }
    Ok(())
}

/// The results of instances, put together.
pub(super) enum Gathered<E: Engine> {
    /// One scalar for each instance so far.
    Scalars(Constants),
    /// Columns to lie one after another.
    Columns(ScalarType, Vec<E::Column>),
    /// The parts of a pair.
    Pair(Box<Gathered<E>>, Box<Gathered<E>>),
    /// The lengths of segments, and what is in them.
    Segments(Box<Gathered<E>>, Box<Gathered<E>>),
    /// A function value that captured nothing.
    Nothing,
}

impl<E: Engine> Gathered<E> {
    /// For values of a shape that come one by one.
    pub fn instances(shape: &Shape) -> Gathered<E> {
        match shape {
            Shape::Scalar(scalar) => Gathered::Scalars(Constants::from_scalars(*scalar, &[])),
            Shape::Sequence(element) => {
                let lengths = Gathered::instances(&Shape::Scalar(ScalarType::Int));
                Gathered::Segments(Box::new(lengths), Box::new(Gathered::batches(element)))
            }
            Shape::Pair(first, rest) => {
                Gathered::Pair(Box::new(Gathered::instances(first)), Box::new(Gathered::instances(rest)))
            }
            Shape::Record(_, inner) | Shape::Function(Some(inner)) => Gathered::instances(inner),
            Shape::Function(None) | Shape::Unit => Gathered::Nothing,
            Shape::Entry(_) => panic!("an entry of a stack is no result of an instance: unverified program"),
        }
    }

    /// For values of a shape of which many come at once, lifted.
    pub fn batches(shape: &Shape) -> Gathered<E> {
        match shape {
            Shape::Scalar(scalar) => Gathered::Columns(*scalar, Vec::new()),
            Shape::Sequence(element) => Gathered::Segments(
                Box::new(Gathered::Columns(ScalarType::Int, Vec::new())),
                Box::new(Gathered::batches(element)),
            ),
            Shape::Pair(first, rest) => {
                Gathered::Pair(Box::new(Gathered::batches(first)), Box::new(Gathered::batches(rest)))
            }
            Shape::Record(_, inner) | Shape::Function(Some(inner)) => Gathered::batches(inner),
            Shape::Function(None) | Shape::Unit => Gathered::Nothing,
            Shape::Entry(_) => panic!("an entry of a stack is no result of instances: unverified program"),
        }
    }

    /// Adds the value of one more instance, or a batch of values, whose registers come next.
    pub fn add(&mut self, engine: &mut E, slots: &mut impl Iterator<Item = SlotOf<E>>) -> Result<(), Fault> {
        match self {
            Gathered::Scalars(scalars) => match slots.next() {
                Some(Slot::Scalar(value)) => scalars.push(value),
                _ => panic!("expected a scalar: unverified program"),
            },
            Gathered::Columns(_, columns) => columns.push(column::<E>(slots.next())),
            Gathered::Pair(first, rest) => {
                first.add(engine, slots)?;
                rest.add(engine, slots)?;
            }
            Gathered::Segments(lengths, elements) => match slots.next() {
                Some(Slot::Descriptor(segments)) => {
                    let own = Slot::Column(engine.lengths(&segments)?);
                    lengths.add(engine, &mut std::iter::once(own))?;
                    let packed = elements.compacted(engine, &segments, slots)?;
                    elements.add(engine, &mut packed.into_iter())?;
                }
                length => {
                    lengths.add(engine, &mut length.into_iter())?;
                    elements.add(engine, slots)?;
                }
            },
            Gathered::Nothing => {}
        }
        Ok(())
    }

    /// The registers of values like these, which come next, with the elements of some segments in packed order.
    fn compacted(
        &self,
        engine: &mut E,
        segments: &E::Descriptor,
        slots: &mut impl Iterator<Item = SlotOf<E>>,
    ) -> Result<Vec<SlotOf<E>>, Fault> {
        Ok(match self {
            Gathered::Scalars(_) => unreachable!("elements come many at once"),
            Gathered::Columns(..) => {
                let elements = column::<E>(slots.next());
                vec![Slot::Column(engine.segment(Segment::Compact(&elements, segments))?)]
            }
            Gathered::Pair(first, rest) => {
                let mut packed = first.compacted(engine, segments, slots)?;
                packed.extend(rest.compacted(engine, segments, slots)?);
                packed
            }
            Gathered::Segments(_, elements) => {
                let inner = descriptor::<E>(slots.next());
                let (starts, lengths) = (engine.starts(&inner)?, engine.lengths(&inner)?);
                let (starts, lengths) = (
                    engine.segment(Segment::Compact(&starts, segments))?,
                    engine.segment(Segment::Compact(&lengths, segments))?,
                );
                let mut packed = vec![Slot::Descriptor(engine.descriptor(Some(starts), lengths)?)];
                packed.extend(slots.by_ref().take(elements.width()));
                packed
            }
            Gathered::Nothing => Vec::new(),
        })
    }

    /// The number of registers of such values.
    fn width(&self) -> usize {
        match self {
            Gathered::Scalars(_) | Gathered::Columns(..) => 1,
            Gathered::Pair(first, rest) => first.width() + rest.width(),
            Gathered::Segments(_, elements) => 1 + elements.width(),
            Gathered::Nothing => 0,
        }
    }

    /// The registers of all values, lifted.
    pub fn finish(self, engine: &mut E, slots: &mut Vec<SlotOf<E>>) -> Result<(), Fault> {
        match self {
            Gathered::Scalars(_) | Gathered::Columns(..) => slots.push(Slot::Column(self.into_column(engine)?)),
            Gathered::Pair(first, rest) => {
                first.finish(engine, slots)?;
                rest.finish(engine, slots)?;
            }
            Gathered::Segments(lengths, elements) => {
                let lengths = lengths.into_column(engine)?;
                slots.push(Slot::Descriptor(engine.descriptor(None, lengths)?));
                elements.finish(engine, slots)?;
            }
            Gathered::Nothing => {}
        }
        Ok(())
    }

    fn into_column(self, engine: &mut E) -> Result<E::Column, Fault> {
        match self {
            Gathered::Scalars(scalars) => engine.constants(&scalars),
            Gathered::Columns(scalar, columns) => match columns.as_slice() {
                [] => engine.constants(&Constants::from_scalars(scalar, &[])),
                [column] => Ok(column.clone()),
                columns => engine.pack(Pack::Concat(columns)),
            },
            _ => unreachable!("only scalars and columns become a column"),
        }
    }
}

/// The registers of values, lifted, of which only those at some indices are wanted, in the order of these. Nothing but
/// scalars and segments is copied.
///
/// # Errors
/// [`nesl_prim::Failure::OutOfMemory`].
pub fn selected<E: Engine>(
    engine: &mut E,
    shape: &Shape,
    slots: &mut impl Iterator<Item = SlotOf<E>>,
    indices: &E::Column,
) -> Result<Vec<SlotOf<E>>, Fault> {
    Ok(match shape {
        Shape::Pair(first, rest) => {
            let mut selection = selected(engine, first, slots, indices)?;
            selection.extend(selected(engine, rest, slots, indices)?);
            selection
        }
        Shape::Record(_, inner) | Shape::Function(Some(inner)) => selected(engine, inner, slots, indices)?,
        Shape::Function(None) | Shape::Unit => Vec::new(),
        Shape::Sequence(element) => {
            let segments = descriptor::<E>(slots.next());
            let (starts, lengths) = (engine.starts(&segments)?, engine.lengths(&segments)?);
            let (starts, lengths) = (
                engine.permute(Permute::Gather(&starts, indices))?,
                engine.permute(Permute::Gather(&lengths, indices))?,
            );
            let mut selection = vec![Slot::Descriptor(engine.descriptor(Some(starts), lengths)?)];
            selection.extend(slots.take(element.lifted().len()));
            selection
        }
        Shape::Scalar(_) | Shape::Entry(_) => {
            vec![Slot::Column(engine.permute(Permute::Gather(&column::<E>(slots.next()), indices))?)]
        }
    })
}

/// The results of instances of an `each` that ran in batches, lifted and packed. `order` says for each of them where it
/// is in the batches one after another.
///
/// # Errors
/// [`nesl_prim::Failure::OutOfMemory`].
pub fn results_in_order<E: Engine>(
    engine: &mut E,
    each: &Each,
    batches: Vec<Vec<SlotOf<E>>>,
    order: Vec<i64>,
) -> Result<Vec<SlotOf<E>>, Fault> {
    let mut gathered: Vec<Gathered<E>> = each.results.iter().map(Gathered::batches).collect();
    for batch in batches {
        let mut slots = batch.into_iter();
        gathered.iter_mut().try_for_each(|result| result.add(engine, &mut slots))?;
    }
    let mut slots = Vec::new();
    gathered.into_iter().try_for_each(|result| result.finish(engine, &mut slots))?;
    if order.is_sorted() {
        return Ok(slots);
    }
    let order = engine.constants(&Constants::Int(order))?;
    let (mut slots, mut selection) = (slots.into_iter(), Vec::new());
    for shape in &each.results {
        selection.extend(selected(engine, shape, &mut slots, &order)?);
    }
    packed_results(engine, each, selection)
}

/// The results of an `each`, lifted, with every descriptor packed.
///
/// # Errors
/// [`nesl_prim::Failure::OutOfMemory`].
pub fn packed_results<E: Engine>(engine: &mut E, each: &Each, slots: Vec<SlotOf<E>>) -> Result<Vec<SlotOf<E>>, Fault> {
    let mut slots = slots.into_iter();
    let mut packed = Vec::new();
    for shape in &each.results {
        let mut gathered = Gathered::batches(shape);
        gathered.add(engine, &mut slots)?;
        gathered.finish(engine, &mut packed)?;
    }
    Ok(packed)
}

/// The results of an `each` without instances.
pub(super) fn nothing<E: Engine>(engine: &mut E, each: &Each) -> Result<Vec<SlotOf<E>>, Fault> {
    let mut empty = |scalar| engine.constants(&Constants::from_scalars(scalar, &[]));
    let columns = each.result_types().into_iter().map(|ty| match ty {
        RegisterType::Column(scalar) | RegisterType::Scalar(scalar) => Ok((false, empty(scalar)?)),
        RegisterType::Descriptor => Ok((true, empty(ScalarType::Int)?)),
    });
    let columns: Vec<(bool, E::Column)> = columns.collect::<Result<_, Fault>>()?;
    let slot = |(is_descriptor, column)| match is_descriptor {
        true => engine.descriptor(None, column).map(Slot::Descriptor),
        false => Ok(Slot::Column(column)),
    };
    columns.into_iter().map(slot).collect()
}
