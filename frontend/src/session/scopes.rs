//! Which names of other files a text sees: those that the files it imports define themselves.
//!
//! A file that is imported sees the library and what it imports, nothing of the text that imports it. Its `main` is its
//! own. Names are plain, or stand behind the name that the import gives the file.

use super::files::{Imports, Target};
use crate::ast::{Symbol, TopLevel};
use crate::diagnostic::Diagnostic;
use crate::infer::environment::{Entity, Environment};
use crate::infer::text::Definitions;
use crate::syntax::v::known::Declared;
use crate::ty::Datatype;
use nesl_span::{FileId, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// What a file gives those that import it.
#[derive(Clone, Debug, Default)]
pub(super) struct Exports {
    names: HashMap<Symbol, Entity>,
    datatypes: HashMap<Symbol, Arc<Datatype>>,
    /// What V knows of them, if the file is in V.
    pub declared: Declared,
}

/// A file that was imported before in this session.
#[derive(Clone, Debug)]
pub(super) struct Module {
    /// Its text then.
    pub text: String,
    pub exports: Exports,
}

impl Exports {
    /// What the definitions of these forms have become.
    pub fn of(forms: &[TopLevel], environment: &Environment, declared: &Declared) -> Exports {
        let text = Definitions::new(forms, false);
        let own = |name: &&Symbol| &***name != "main";
        let names = text.names().filter(own).filter_map(|name| Some((name.clone(), *environment.names.get(name)?)));
        let datatypes =
            text.datatype_names().filter_map(|name| Some((name.clone(), Arc::clone(environment.datatypes.get(name)?))));
        let names: HashMap<Symbol, Entity> = names.collect();
        let datatypes: HashMap<Symbol, Arc<Datatype>> = datatypes.collect();
        let declared = declared.of(|name| names.contains_key(name) || datatypes.contains_key(name));
        Exports { names, datatypes, declared }
    }

    /// Makes the names known, behind the name of the file if it has one.
    pub fn bring(&self, alias: Option<&str>, environment: &mut Environment) {
        let name = |name: &Symbol| alias.map_or_else(|| name.clone(), |alias| format!("{alias}.{name}").into());
        environment.names.extend(self.names.iter().map(|(symbol, entity)| (name(symbol), *entity)));
        let datatypes = self.datatypes.iter().map(|(symbol, datatype)| (name(symbol), Arc::clone(datatype)));
        environment.datatypes.extend(datatypes);
    }
}

/// The names that a file sees which is imported: the library's.
pub(super) fn of_library(environment: &Environment) -> Exports {
    let is_library = |datatype: &Arc<Datatype>| datatype.id < environment.library_datatypes;
    Exports {
        names: environment.library.clone(),
        datatypes: (environment.datatypes.iter())
            .filter(|(_, datatype)| is_library(datatype))
            .map(|(name, datatype)| (name.clone(), Arc::clone(datatype)))
            .collect(),
        declared: Declared::default(),
    }
}

/// Puts names in the place of all that are known; gives those.
pub(super) fn replace(environment: &mut Environment, by: Exports) -> Exports {
    Exports {
        names: std::mem::replace(&mut environment.names, by.names),
        datatypes: std::mem::replace(&mut environment.datatypes, by.datatypes),
        declared: Declared::default(),
    }
}

/// What is wrong with the names that a text imports, or imports and defines.
pub(super) fn conflicts(
    file: FileId,
    forms: &[TopLevel],
    imports: &Imports,
    exports: &HashMap<FileId, Exports>,
    environment: &Environment,
) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let mut seen: HashMap<&Symbol, (Entity, &Target)> = HashMap::new();
    let place = |entity: Entity| match entity {
        Entity::Function(id) => environment.program.functions[id.0].span,
        Entity::Global(id) => environment.program.globals[id.0].span,
    };
    for target in imports.targets.get(&file).into_iter().flatten().filter(|target| target.import.alias.is_none()) {
        let Some(exports) = exports.get(&target.file) else { continue };
        let mut names: Vec<_> = exports.names.iter().collect();
        names.sort_unstable_by_key(|(name, _)| *name);
        for (name, &entity) in names {
            match seen.get(name) {
                Some(&(other, _)) if other != entity => {
                    diagnostics.push(twice(name, place(entity), place(other), target.import.span));
                }
                _ => {
                    seen.insert(name, (entity, target));
                }
            }
        }
    }
    let own = Definitions::new(forms, false);
    let mut names: Vec<&Symbol> = own.names().collect();
    names.sort_unstable();
    for name in names {
        if let (Some(&(entity, target)), Some(&form)) = (seen.get(name), own.definitions_of(name).first()) {
            diagnostics.push(twice(name, forms[form].span, place(entity), target.import.span));
        }
    }
    diagnostics
}

fn twice(name: &str, here: Span, there: Span, import: Span) -> Diagnostic {
    Diagnostic::error("E0230", format!("`{name}` is defined in two files"), here)
        .saying("defined here")
        .also(there, "and here")
        .also(import, "imported here")
        .hint(format!("name the file, `import … as file`, and write `file.{name}`, or call one of them otherwise"))
}
