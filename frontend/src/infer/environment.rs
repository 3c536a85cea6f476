//! What names mean between two texts: the program so far and the table from names to its parts.

use crate::ast::Symbol;
use crate::core::{Function, FunctionBody, FunctionId, Global, GlobalId, Intrinsic, Program};
use std::collections::{HashMap, HashSet};

/// What a global name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entity {
    /// A function.
    Function(FunctionId),
    /// A value.
    Global(GlobalId),
}

/// The program so far with its names.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// All functions and globals.
    pub program: Program,
    /// What each name means now.
    pub names: HashMap<Symbol, Entity>,
    /// What each name of the library means, whatever the user defined since. Complete when the library is loaded.
    pub library: HashMap<Symbol, Entity>,
    /// The functions that call `rand_seed`, themselves or through others.
    pub seeding: HashSet<FunctionId>,
    /// Whether the text being checked is part of the library.
    pub is_library: bool,
}

impl Environment {
    /// Whether an entity belongs to the library, not to the user.
    pub fn is_of_library(&self, name: &str, entity: Entity) -> bool {
        self.library.get(name) == Some(&entity)
    }

    /// Adds a function.
    pub fn add_function(&mut self, function: Function) -> FunctionId {
        let id = FunctionId(self.program.functions.len());
        if matches!(function.body, FunctionBody::Intrinsic(Intrinsic::RandSeed)) {
            self.seeding.insert(id);
        }
        self.program.functions.push(function);
        id
    }

    /// Adds a global.
    pub fn add_global(&mut self, global: Global) -> GlobalId {
        let id = GlobalId(self.program.globals.len());
        self.program.globals.push(global);
        id
    }

    /// Lets a name stand for an entity from now on.
    pub fn name(&mut self, name: Symbol, entity: Entity) {
        if self.is_library {
            self.library.insert(name.clone(), entity);
        }
        self.names.insert(name, entity);
    }
}
