//! How functions, globals and datatypes are called in the text of core: by name where only one of the program has it,
//! else by name and number.
//!
//! ```text
//! step       the only one
//! step@617   one of several: overloaded by other texts, or a lambda at the same place of another file
//! 'df.d'     a name that is no word and no operator, or a word of the notation
//! @617       one that the program does not have
//! ```

use crate::core::Program;
use crate::ty::{Datatype, Type};
use nesl_prim::cursor;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The words of the notation: names that are spelled like them stand in quotes.
pub(in crate::core) const WORDS: [&str; 14] = [
    "let",
    "in",
    "if",
    "then",
    "else",
    "apply",
    "closure",
    "construct",
    "constants",
    "by",
    "value",
    "with",
    "built",
    "missing",
];

/// The names of a program's parts.
#[derive(Default)]
pub(in crate::core) struct Names<'a> {
    program: Option<&'a Program>,
    functions: HashMap<&'a str, usize>,
    globals: HashMap<&'a str, usize>,
    datatypes: HashMap<String, usize>,
}

impl<'a> Names<'a> {
    /// Those of a program. By default there is no program, and all go by their numbers.
    pub fn of(program: &'a Program) -> Names<'a> {
        let mut names = Names { program: Some(program), ..Names::default() };
        program.functions.iter().for_each(|function| *names.functions.entry(&function.name).or_default() += 1);
        program.globals.iter().for_each(|global| *names.globals.entry(&global.name).or_default() += 1);
        for datatype in datatypes(program).into_values() {
            *names.datatypes.entry(datatype.name.to_string()).or_default() += 1;
        }
        names
    }

    /// A function by its number.
    pub fn function(&self, id: usize) -> String {
        let function = self.program.and_then(|program| program.functions.get(id));
        numbered(function.map(|function| &*function.name), id, &self.functions)
    }

    /// A global by its number.
    pub fn global(&self, id: usize) -> String {
        let global = self.program.and_then(|program| program.globals.get(id));
        numbered(global.map(|global| &*global.name), id, &self.globals)
    }

    /// A datatype.
    pub fn datatype(&self, datatype: &Datatype) -> String {
        let name = word(&datatype.name);
        if self.datatypes.get(&*datatype.name) == Some(&1) { name } else { format!("{name}@{}", datatype.id) }
    }
}

/// A name with its number where the name alone does not tell.
fn numbered(name: Option<&str>, id: usize, known: &HashMap<&str, usize>) -> String {
    match name {
        Some(name) if known.get(name) == Some(&1) => word(name),
        Some(name) => format!("{}@{id}", word(name)),
        None => format!("@{id}"),
    }
}

/// A name as it stands in the text.
pub(in crate::core) fn word(name: &str) -> String {
    let is_word = name.starts_with(begins_word) && name.chars().all(continues_word);
    let is_operator = !name.is_empty() && name.chars().all(is_sign);
    if (is_word || is_operator) && !WORDS.contains(&name) {
        return name.to_owned();
    }
    cursor::quoted(name, '\'')
}

/// Whether a name that is a word may begin with a character.
pub(in crate::core) fn begins_word(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

/// Whether a character may stand in a name that is a word.
pub(in crate::core) fn continues_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Whether a character may stand in a name that is an operator.
pub(in crate::core) fn is_sign(character: char) -> bool {
    "+-*/<>=^&|!~%".contains(character)
}

/// The datatypes of a program by their numbers: those that its constructors make.
pub(in crate::core) fn datatypes(program: &Program) -> BTreeMap<usize, Arc<Datatype>> {
    let results = program.functions.iter().map(|function| &function.scheme.result);
    let of = |ty: &Type| match ty {
        Type::Record(datatype, _) => Some((datatype.id, Arc::clone(datatype))),
        _ => None,
    };
    results.filter_map(of).collect()
}
