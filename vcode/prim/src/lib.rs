//! The scalar operations of nesl, as data with one executable meaning.
//!
//! A leaf crate that every stage shares. [`table`] holds a row for each [`ScalarOp`]: mnemonic, source name, types,
//! algebra, failure and doc, next to the Rust expression that *is* its meaning. The type checker's library, the
//! reference evaluator, constant folding and every engine instantiate that expression through [`Visitor`]; nobody
//! writes it again. [`meaning`] holds the numeric decisions (wrapping, truncation, rounding), [`table::interval`] says
//! between which numbers results are, [`text`] how scalars are written and read. [`visible`] is how text from outside
//! stands in messages. [`host`] is the table of operations on the world outside. [`cycles`] says what of a call graph
//! is recursive.

pub mod constants;
pub mod cursor;
pub mod cycles;
pub mod failure;
pub mod host;
pub mod meaning;
pub mod need;
mod operator;
pub mod order;
pub mod sum;
pub mod table;
pub mod text;
pub mod value;
pub mod visible;

pub use constants::Constants;
pub use failure::Failure;
pub use host::{Host, HostKind, HostOp, HostValue};
pub use need::Need;
pub use operator::extreme::{self, Extreme};
pub use order::Direction;
pub use table::interval::Interval;
pub use table::{Cost, MonoidVisitor, Property, Row, ScalarOp, Visitor, eval};
pub use value::{Element, MOST_ELEMENTS, ScalarType, ScalarValue};
