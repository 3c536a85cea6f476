//! What names mean between two texts: the program so far and the table from names to its parts.

use crate::ast::Symbol;
use crate::core::{Function, FunctionBody, FunctionId, Global, GlobalId, Program};
use crate::elaborate::Made;
use crate::ty::{Datatype, Scheme, Type};
use nesl_span::Span;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// What a global name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entity {
    /// A function.
    Function(FunctionId),
    /// A value.
    Global(GlobalId),
}

/// How a function with keyword parameters is called. Its core parameter is the tuple of all its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Keywords {
    /// How many parameters are positional.
    pub positional: usize,
    /// The function of the positional parameters alone: what it is as a value.
    pub wrapper: FunctionId,
    /// The names of the others, and the functions of any int that give their defaults.
    pub parameters: Vec<(Symbol, FunctionId)>,
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
    /// What each name means as a type and in patterns.
    pub datatypes: HashMap<Symbol, Arc<Datatype>>,
    /// The number of datatypes so far: the number of the next one.
    pub datatype_count: usize,
    /// The functions that construct records.
    pub constructors: HashSet<FunctionId>,
    /// The functions with keyword parameters.
    pub keywords: HashMap<FunctionId, Keywords>,
    /// The functions that are declared and not defined.
    pub stubs: BTreeSet<FunctionId>,
    /// The functions that call `rand_seed`, themselves or through others.
    pub seeding: HashSet<FunctionId>,
    /// The number of datatypes of the library.
    pub library_datatypes: usize,
    /// Whether the text being checked is part of the library.
    pub is_library: bool,
    /// Whether it is part of what people write for themselves, too.
    pub is_everyday: bool,
    /// The names of the library that programs may use again without a word.
    pub everyday: HashSet<Symbol>,
}

impl Environment {
    /// Whether an entity belongs to the library, not to the user.
    pub fn is_of_library(&self, name: &str, entity: Entity) -> bool {
        self.library.get(name) == Some(&entity)
    }

    /// A number for a function that will be supplied when its form has been checked.
    pub fn reserve(&mut self, name: Symbol, span: Span) -> FunctionId {
        let id = FunctionId(self.program.functions.len());
        self.program.functions.push(Function {
            name,
            span,
            scheme: Scheme { classes: Vec::new(), parameter: Type::INT, result: Type::INT },
            parameters: Vec::new(),
            keywords: Vec::new(),
            body: FunctionBody::Missing,
            doc: None,
        });
        id
    }

    /// Adds what elaboration made.
    pub fn add_functions(&mut self, made: Made) {
        for lambda in made.lambdas {
            let function = &mut self.program.functions[lambda.id.0];
            function.scheme = lambda.scheme;
            function.body = FunctionBody::Defined { parameter: lambda.parameter, body: Arc::new(lambda.body) };
        }
        self.program.function_values.extend(made.function_values);
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
            if self.is_everyday {
                self.everyday.insert(name.clone());
            }
        }
        self.names.insert(name, entity);
    }
}
