//! Registers and the instances of an `each` as they are written down: with columns by number.
//!
//! A column that several registers share is one, and stays one: whoever calls itself with the same data a million times
//! has it once. What is written down says nothing of where columns lie, so that it can be read on any engine.

use super::{Gathered, Part, Register, Split};
use crate::data::slot::Slot;
use crate::engine::value::SlotOf;
use crate::engine::{Columns, Engine, Fault};
use nesl_prim::{ScalarType, ScalarValue};
use nesl_vcode::{Constants, Field};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The number of a column.
pub type ColumnId = u32;

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Held {
    /// Nothing.
    Nothing,
    /// One machine scalar.
    Scalar(ScalarValue),
    /// A column.
    Column(ColumnId),
    /// A packed descriptor, by its lengths.
    Packed(ColumnId),
    /// A view, by its starts and lengths.
    View(ColumnId, ColumnId),
}

/// What is written down is not what a machine was: it is damaged, or belongs to another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfit;

/// Why registers are not what they were.
#[derive(Debug)]
pub enum NotRestored {
    /// It is damaged, or of another program.
    Unfit,
    /// The engine cannot hold it.
    Fault(Fault),
}

impl From<Unfit> for NotRestored {
    fn from(Unfit: Unfit) -> NotRestored {
        NotRestored::Unfit
    }
}

impl From<Fault> for NotRestored {
    fn from(fault: Fault) -> NotRestored {
        NotRestored::Fault(fault)
    }
}

/// The columns of a state, each once.
pub(in crate::machine) struct ColumnTable<E: Columns> {
    pub columns: Vec<E::Column>,
    known: HashMap<(usize, usize, ScalarType), ColumnId>,
}

impl<E: Engine> ColumnTable<E> {
    pub fn new() -> ColumnTable<E> {
        ColumnTable { columns: Vec::new(), known: HashMap::new() }
    }

    /// The number of a column.
    pub fn number(&mut self, engine: &E, column: &E::Column) -> ColumnId {
        let key = engine.identity(column).map(|one| (one, engine.length(column), engine.scalar_type(column)));
        if let Some(&known) = key.as_ref().and_then(|key| self.known.get(key)) {
            return known;
        }
        // Four thousand million columns fit into no memory: each takes more than a word.
        let number = self.columns.len() as ColumnId;
        self.columns.push(column.clone());
        self.known.extend(key.map(|key| (key, number)));
        number
    }

    /// A register.
    pub fn held(&mut self, engine: &mut E, slot: &SlotOf<E>) -> Result<Held, Fault> {
        Ok(match slot {
            Slot::Scalar(value) => Held::Scalar(*value),
            Slot::Column(column) => Held::Column(self.number(engine, column)),
            Slot::Descriptor(segments) => {
                let lengths = engine.lengths(segments)?;
                let lengths = self.number(engine, &lengths);
                if engine.is_packed(segments) {
                    Held::Packed(lengths)
                } else {
                    let starts = engine.starts(segments)?;
                    Held::View(self.number(engine, &starts), lengths)
                }
            }
        })
    }
}

/// The columns of a state that is read.
pub(in crate::machine) struct Numbered<E: Columns>(pub Vec<E::Column>);

impl<E: Engine> Numbered<E> {
    pub fn column(&self, number: ColumnId) -> Result<E::Column, Unfit> {
        self.0.get(number as usize).cloned().ok_or(Unfit)
    }

    fn ints(&self, engine: &E, number: ColumnId) -> Result<E::Column, Unfit> {
        let column = self.column(number)?;
        if engine.scalar_type(&column) == ScalarType::Int { Ok(column) } else { Err(Unfit) }
    }

    /// What a register holds; none if that is nothing.
    pub fn slot(&self, engine: &mut E, held: &Held) -> Result<Option<SlotOf<E>>, NotRestored> {
        Ok(Some(match *held {
            Held::Nothing => return Ok(None),
            Held::Scalar(value) => Slot::Scalar(value),
            Held::Column(column) => Slot::Column(self.column(column)?),
            Held::Packed(lengths) => {
                let lengths = self.ints(engine, lengths)?;
                Slot::Descriptor(engine.descriptor(None, lengths)?)
            }
            Held::View(starts, lengths) => {
                let (starts, lengths) = (self.ints(engine, starts)?, self.ints(engine, lengths)?);
                if engine.length(&starts) != engine.length(&lengths) {
                    return Err(NotRestored::Unfit);
                }
                Slot::Descriptor(engine.descriptor(Some(starts), lengths)?)
            }
        }))
    }

    /// What registers hold, none of them nothing.
    pub fn slots(&self, engine: &mut E, held: &[Held]) -> Result<Vec<SlotOf<E>>, NotRestored> {
        held.iter().map(|held| self.slot(engine, held)?.ok_or(NotRestored::Unfit)).collect()
    }
}

/// A register of one instance, in the operands of an `each`.
#[derive(Debug, Serialize, Deserialize)]
enum HeldPart {
    Same(Held),
    Element(ColumnId),
    Length(ColumnId, ColumnId),
    Slice(ColumnId, u32),
    Segments(ColumnId, ColumnId, u32),
}

/// The operands of an `each`, ready to be taken apart.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::machine) struct HeldSplit(Vec<HeldPart>);

impl HeldSplit {
    pub fn of<E: Engine>(split: &Split<E>, engine: &mut E, table: &mut ColumnTable<E>) -> Result<HeldSplit, Fault> {
        let part = |part: &Part<E>| {
            Ok(match part {
                Part::Same(slot) => HeldPart::Same(table.held(engine, slot)?),
                Part::Element(column) => HeldPart::Element(table.number(engine, column)),
                Part::Length { starts, lengths } => {
                    HeldPart::Length(table.number(engine, starts), table.number(engine, lengths))
                }
                Part::Slice(column, of) => HeldPart::Slice(table.number(engine, column), *of as u32),
                Part::Segments { starts, lengths, of } => {
                    HeldPart::Segments(table.number(engine, starts), table.number(engine, lengths), *of as u32)
                }
            })
        };
        split.parts.iter().map(part).collect::<Result<_, Fault>>().map(HeldSplit)
    }

    pub fn restored<E: Engine>(&self, engine: &mut E, columns: &Numbered<E>) -> Result<Split<E>, NotRestored> {
        let count = self.0.len();
        let inside = |of: u32| if (of as usize) < count { Ok(of as usize) } else { Err(Unfit) };
        let part = |part: &HeldPart| {
            Ok(match part {
                HeldPart::Same(held) => Part::Same(columns.slot(engine, held)?.ok_or(Unfit)?),
                HeldPart::Element(column) => Part::Element(columns.column(*column)?),
                HeldPart::Length(starts, lengths) => {
                    Part::Length { starts: columns.ints(engine, *starts)?, lengths: columns.ints(engine, *lengths)? }
                }
                HeldPart::Slice(column, of) => Part::Slice(columns.column(*column)?, inside(*of)?),
                HeldPart::Segments(starts, lengths, of) => Part::Segments {
                    starts: columns.ints(engine, *starts)?,
                    lengths: columns.ints(engine, *lengths)?,
                    of: inside(*of)?,
                },
            })
        };
        self.0.iter().map(part).collect::<Result<_, NotRestored>>().map(|parts| Split { parts })
    }
}

/// The results of the instances so far: for each register its scalars, or its columns.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::machine) struct HeldResults(Vec<(Constants, Vec<ColumnId>)>);

impl HeldResults {
    pub fn of<E: Engine>(results: &Gathered<E>, engine: &E, table: &mut ColumnTable<E>) -> HeldResults {
        let register = |register: &Register<E>| {
            let columns = register.columns.iter().map(|column| table.number(engine, column)).collect();
            (register.scalars.clone(), columns)
        };
        HeldResults(results.registers.iter().map(register).collect())
    }

    /// The results of registers like these.
    pub fn restored<E: Engine>(self, fields: &[Field], columns: &Numbered<E>) -> Result<Gathered<E>, Unfit> {
        if self.0.len() != fields.len() {
            return Err(Unfit);
        }
        let registers = self.0.into_iter().zip(fields).map(|((scalars, numbers), field)| {
            if scalars.scalar_type() != field.scalar_type() {
                return Err(Unfit);
            }
            let columns = numbers.into_iter().map(|number| columns.column(number)).collect::<Result<_, Unfit>>()?;
            Ok(Register { scalars, columns })
        });
        Ok(Gathered { fields: fields.to_vec(), registers: registers.collect::<Result<_, Unfit>>()? })
    }
}
