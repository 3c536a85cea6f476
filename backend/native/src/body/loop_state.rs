//! The loop that is being emitted: which functions it is, where they begin, and what is known of the columns that it
//! carries. Written by [`super::tail_calls`] and [`super::in_place`].

use super::slots::Slots;
use cranelift_codegen::ir::{Block as Label, Value};
use nesl_vcode::FunctionId;
use nesl_vcode::alias::InPlace;
use std::collections::{HashMap, HashSet};

/// The loop that a function is.
pub(super) struct Loop {
    /// The functions of it: a call of one of them that ends another is a jump.
    pub functions: HashSet<FunctionId>,
    /// The parameters of them, by position, that nothing reads: what they are does not matter.
    pub unread: HashSet<(FunctionId, usize)>,
    /// The one with which it begins.
    pub first: FunctionId,
    /// Which version of it is being emitted.
    pub version: Version,
    /// Where those of its functions begin that are emitted, or are being emitted.
    pub begins: Vec<(FunctionId, Label)>,
    /// The address of the interrupt flag.
    pub flag: Value,
    /// Whether two of the columns that it carries may be one.
    pub shares_columns: bool,
    /// Where columns lie that grow in it.
    pub slots: Option<Slots>,
}

/// The version of a loop that is being emitted.
pub(super) enum Version {
    /// The only one.
    Only,
    /// The first, which goes over to the other one where its columns are its own.
    General {
        /// Those columns: the positions of the parameters with which the loop begins.
        positions: Vec<usize>,
        /// Where the other one begins.
        invariant: Label,
    },
    /// The second.
    Invariant(Invariant),
}

/// The version in which columns do not vary: their addresses and lengths are loop-invariant.
pub(super) struct Invariant {
    pub in_place: InPlace,
    /// The addresses and lengths of the columns, by the positions of the parameters with which the loop begins.
    pub columns: HashMap<usize, [Value; 2]>,
    /// Behind them: what a turn makes begins here.
    pub mark: Value,
    /// Where the functions of the first version begin, if there is one.
    pub general: Vec<(FunctionId, Label)>,
}

impl Version {
    /// The address and length of a parameter that does not vary.
    pub fn column(&self, function: FunctionId, parameter: usize) -> Option<[Value; 2]> {
        match self {
            Version::Invariant(invariant) => {
                invariant.in_place.column(function, parameter).map(|column| invariant.columns[&column])
            }
            Version::Only | Version::General { .. } => None,
        }
    }
}
