//! Types of core as text, with what the types that people see leave out: which function a function value is.
//!
//! ```text
//! (int -> int by inc{})              the function value inc
//! (a -> b by c)                      one that a type parameter says
//! (int -> int by 'lambda at 1:5'[float]{int, [char]})   a lambda with a type argument, that has captured two values
//! (int -> int by nobody)             one that nothing determines
//! point(), pack(int, inc{})          records at their type arguments
//! ```

use super::names::Names;
use crate::ty::{Identity, Scheme, Type, parameter_name};

/// The word for the identity of a function that nothing determines.
pub(in crate::core) const NOBODY: &str = "nobody";

/// The text of a type in a program.
pub(in crate::core) fn ty(ty: &Type, names: &Names<'_>) -> String {
    let mut text = String::new();
    write(ty, names, &mut text);
    text
}

/// Types between commas.
pub(in crate::core) fn list(types: &[Type], names: &Names<'_>) -> String {
    types.iter().map(|part| ty(part, names)).collect::<Vec<_>>().join(", ")
}

/// The text of a type scheme with all its parameters.
pub(in crate::core) fn scheme(scheme: &Scheme, names: &Names<'_>) -> String {
    let (parameter, result) = (ty(&scheme.parameter, names), ty(&scheme.result, names));
    format!("{parameter} -> {result}{}", context(scheme.classes.iter().map(|class| class.name())))
}

/// The classes of type parameters, from the first on; nothing if there are none.
pub(in crate::core) fn context<'c>(classes: impl Iterator<Item = &'c str>) -> String {
    let classes: Vec<String> =
        classes.enumerate().map(|(index, class)| format!("{} in {class}", parameter_name(index))).collect();
    if classes.is_empty() { String::new() } else { format!(" :: ({})", classes.join("; ")) }
}

fn write(ty: &Type, names: &Names<'_>, text: &mut String) {
    match ty {
        Type::Scalar(scalar) => text.push_str(scalar.name()),
        Type::Unit => text.push_str("()"),
        Type::Sequence(element) => {
            text.push('[');
            write(element, names, text);
            text.push(']');
        }
        Type::Parameter(index) => text.push_str(&parameter_name(*index)),
        Type::Pair(first, rest) => {
            text.push('(');
            write(first, names, text);
            let mut rest = rest;
            while let Type::Pair(next, tail) = &**rest {
                text.push_str(", ");
                write(next, names, text);
                rest = tail;
            }
            text.push_str(", ");
            write(rest, names, text);
            text.push(')');
        }
        Type::Record(datatype, arguments) => {
            text.push_str(&format!("{}({})", names.datatype(datatype), list(arguments, names)));
        }
        Type::Function(function) => {
            text.push('(');
            write(&function.parameter, names, text);
            text.push_str(" -> ");
            write(&function.result, names, text);
            text.push_str(" by ");
            write(&function.identity, names, text);
            text.push(')');
        }
        Type::Identity(identity) => write_identity(identity, names, text),
    }
}

fn write_identity(identity: &Identity, names: &Names<'_>, text: &mut String) {
    if *identity == nobody() {
        text.push_str(NOBODY);
        return;
    }
    text.push_str(&names.function(identity.function));
    if !identity.type_arguments.is_empty() {
        text.push_str(&format!("[{}]", list(&identity.type_arguments, names)));
    }
    text.push_str(&format!("{{{}}}", list(&identity.captured, names)));
}

fn nobody() -> Identity {
    Identity { function: Identity::NOBODY, type_arguments: Vec::new(), captured: Vec::new() }
}
