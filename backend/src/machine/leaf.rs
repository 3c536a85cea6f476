//! The instances of an `each` one by one: its operands taken apart into the arguments of one instance, and the results
//! of all put together.
//!
//! Taking apart copies nothing: a sequence of one instance is a slice of the data of all. Putting together copies each
//! element once. All of it goes through the methods of an engine, so that it works on every one; on ranks all of them
//! take the same instance at the same time.

pub(super) mod state;

use crate::data::slot::Slot;
use crate::engine::value::SlotOf;
use crate::engine::{Engine, Fault, Pack, Permute, Segment};
use nesl_vcode::{Constants, EachPlan, Field, Holds, Take, Taken};

/// The operands of an `each`, ready to be taken apart.
pub(super) struct Split<E: Engine> {
    parts: Vec<Part<E>>,
}

/// A register of one instance.
enum Part<E: Engine> {
    /// The same for all instances.
    Same(SlotOf<E>),
    /// An element of a column.
    Element(E::Column),
    /// The length of a segment.
    Length {
        starts: E::Column,
        lengths: E::Column,
    },
    /// What is in the segment of the part at this position: of a column, or of the segments of a descriptor.
    Slice(E::Column, usize),
    Segments {
        starts: E::Column,
        lengths: E::Column,
        of: usize,
    },
}

impl<E: Engine> Split<E> {
    /// Prepares the operands after the number of instances.
    pub fn new(
        engine: &mut E,
        plan: &EachPlan,
        operands: impl IntoIterator<Item = SlotOf<E>>,
    ) -> Result<Split<E>, Fault> {
        let parts = plan.operands.iter().zip(operands).map(|(operand, slot)| {
            Ok(match (operand.take, slot) {
                (Take::Element, Slot::Column(column)) => Part::Element(column),
                (Take::Element, Slot::Descriptor(segments)) => {
                    Part::Length { starts: engine.starts(&segments)?, lengths: engine.lengths(&segments)? }
                }
                (Take::Slice(of), Slot::Column(column)) => Part::Slice(column, of),
                (Take::Slice(of), Slot::Descriptor(segments)) => {
                    Part::Segments { starts: engine.starts(&segments)?, lengths: engine.lengths(&segments)?, of }
                }
                (_, slot) => Part::Same(slot),
            })
        });
        Ok(Split { parts: parts.collect::<Result<_, Fault>>()? })
    }

    /// The arguments of one instance.
    pub fn instance(&self, engine: &mut E, index: usize) -> Result<Vec<SlotOf<E>>, Fault> {
        let mut slots = Vec::with_capacity(self.parts.len());
        // Where the segments of sequences are, by the positions of these.
        let mut segments = vec![(0, 0); self.parts.len()];
        for (position, part) in self.parts.iter().enumerate() {
            let slice = |engine: &mut E, column: &E::Column, of: usize| {
                engine.permute(Permute::Slice(column, segments[of].0, segments[of].1))
            };
            slots.push(match part {
                Part::Same(slot) => slot.clone(),
                Part::Element(column) => Slot::Scalar(engine.extract(column, index)?),
                Part::Length { starts, lengths } => {
                    let (start, length) = (engine.extract(starts, index)?, engine.extract(lengths, index)?);
                    segments[position] = (start.to_size(), length.to_size());
                    Slot::Scalar(length)
                }
                Part::Slice(column, of) => Slot::Column(slice(engine, column, *of)?),
                Part::Segments { starts, lengths, of } => {
                    let (starts, lengths) = (slice(engine, starts, *of)?, slice(engine, lengths, *of)?);
                    Slot::Descriptor(engine.descriptor(Some(starts), lengths)?)
                }
            });
        }
        Ok(slots)
    }
}

/// The results of instances, put together.
pub(super) struct Gathered<E: Engine> {
    fields: Vec<Field>,
    registers: Vec<Register<E>>,
}

/// What has come of a register.
struct Register<E: Engine> {
    /// One scalar for each instance, or the length of its sequence.
    scalars: Constants,
    /// The same of many instances at once, or elements.
    columns: Vec<E::Column>,
}

impl<E: Engine> Gathered<E> {
    /// For results that come one by one, or many at once, lifted.
    pub fn new(fields: &[Field]) -> Gathered<E> {
        let none = |field: &Field| Constants::from_scalars(field.scalar_type(), &[]);
        let register = |field| Register { scalars: none(field), columns: Vec::new() };
        Gathered { fields: fields.to_vec(), registers: fields.iter().map(register).collect() }
    }

    /// Adds the registers of an instance, or of a batch of them.
    pub fn add(&mut self, engine: &mut E, slots: Vec<SlotOf<E>>) -> Result<(), Fault> {
        let slots = compacted(engine, &self.fields, slots)?;
        for (register, slot) in self.registers.iter_mut().zip(slots) {
            match slot {
                Slot::Scalar(value) => register.scalars.push(value),
                Slot::Column(column) => register.columns.push(column),
                Slot::Descriptor(segments) => register.columns.push(engine.lengths(&segments)?),
            }
        }
        Ok(())
    }

    /// The registers of all instances, lifted.
    pub fn finish(self, engine: &mut E) -> Result<Vec<SlotOf<E>>, Fault> {
        let slot = |(field, register): (Field, Register<E>)| {
            let column = match register.columns.as_slice() {
                [] => engine.constants(&register.scalars)?,
                [column] => column.clone(),
                columns => engine.pack(Pack::Concat(columns))?,
            };
            Ok(match field.holds {
                Holds::Scalars(_) => Slot::Column(column),
                Holds::Sequences => Slot::Descriptor(engine.descriptor(None, column)?),
            })
        };
        self.fields.into_iter().zip(self.registers).map(slot).collect()
    }
}

/// The registers of values, with the elements of all segments in packed order.
fn compacted<E: Engine>(engine: &mut E, fields: &[Field], mut slots: Vec<SlotOf<E>>) -> Result<Vec<SlotOf<E>>, Fault> {
    for (position, field) in fields.iter().enumerate() {
        let Some(Slot::Descriptor(segments)) = field.parent.map(|parent| slots[parent].clone()) else { continue };
        let compact = |engine: &mut E, column: &E::Column| engine.segment(Segment::Compact(column, &segments));
        slots[position] = match &slots[position] {
            Slot::Scalar(value) => Slot::Scalar(*value),
            Slot::Column(column) => Slot::Column(compact(engine, column)?),
            Slot::Descriptor(inner) => {
                let (starts, lengths) = (engine.starts(inner)?, engine.lengths(inner)?);
                let (starts, lengths) = (compact(engine, &starts)?, compact(engine, &lengths)?);
                Slot::Descriptor(engine.descriptor(Some(starts), lengths)?)
            }
        };
    }
    Ok(slots)
}

/// The operands of some instances of an `each`, by their indices, in the order of these. Nothing but scalars and
/// segments is copied.
///
/// # Errors
/// [`nesl_prim::Failure::OutOfMemory`].
pub fn selected_operands<E: Engine>(
    engine: &mut E,
    plan: &EachPlan,
    operands: &[SlotOf<E>],
    indices: &E::Column,
) -> Result<Vec<SlotOf<E>>, Fault> {
    let one = |(operand, slot): (&Taken, &SlotOf<E>)| match operand.take {
        Take::Element => selected(engine, slot, indices),
        Take::Same | Take::Slice(_) | Take::Data => Ok(slot.clone()),
    };
    plan.operands.iter().zip(operands).map(one).collect()
}

/// What a register of values has at some indices.
fn selected<E: Engine>(engine: &mut E, slot: &SlotOf<E>, indices: &E::Column) -> Result<SlotOf<E>, Fault> {
    Ok(match slot {
        Slot::Scalar(value) => Slot::Scalar(*value),
        Slot::Column(column) => Slot::Column(engine.permute(Permute::Gather(column, indices))?),
        Slot::Descriptor(segments) => {
            let (starts, lengths) = (engine.starts(segments)?, engine.lengths(segments)?);
            let starts = engine.permute(Permute::Gather(&starts, indices))?;
            let lengths = engine.permute(Permute::Gather(&lengths, indices))?;
            Slot::Descriptor(engine.descriptor(Some(starts), lengths)?)
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
    plan: &EachPlan,
    batches: Vec<Vec<SlotOf<E>>>,
    order: Vec<i64>,
) -> Result<Vec<SlotOf<E>>, Fault> {
    let mut gathered = Gathered::new(&plan.results);
    batches.into_iter().try_for_each(|batch| gathered.add(engine, batch))?;
    let mut slots = gathered.finish(engine)?;
    if order.is_sorted() {
        return Ok(slots);
    }
    let order = engine.constants(&Constants::Int(order))?;
    for (field, slot) in plan.results.iter().zip(&mut slots) {
        if field.parent.is_none() {
            *slot = selected(engine, slot, &order)?;
        }
    }
    packed_results(engine, plan, slots)
}

/// The results of an `each`, lifted, with every descriptor packed.
///
/// # Errors
/// [`nesl_prim::Failure::OutOfMemory`].
pub fn packed_results<E: Engine>(
    engine: &mut E,
    plan: &EachPlan,
    slots: Vec<SlotOf<E>>,
) -> Result<Vec<SlotOf<E>>, Fault> {
    let mut gathered = Gathered::new(&plan.results);
    gathered.add(engine, slots)?;
    gathered.finish(engine)
}
