//! Types in messages.

use crate::infer::problem::types::{FunctionName, Resolved};
use crate::ty::{Class, parameter_name};
use crate::typed::types::TypeId;
use std::fmt::Write;

/// The names given to variables in one message: a, b, … in order of appearance, with their classes.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<(TypeId, Class)>);

/// The text of a type.
pub(super) fn show(ty: &Resolved, names: &mut Names) -> String {
    let mut text = String::new();
    show_into(ty, names, &mut text);
    text
}

fn show_into(ty: &Resolved, names: &mut Names, text: &mut String) {
    match ty {
        Resolved::Variable(number, class) => {
            let known = names.0.iter().position(|(named, _)| named == number);
            let index = known.unwrap_or_else(|| {
                names.0.push((*number, *class));
                names.0.len() - 1
            });
            text.push_str(&parameter_name(index));
        }
        Resolved::Scalar(scalar) => text.push_str(scalar.name()),
        Resolved::Unit => text.push_str("()"),
        Resolved::Sequence(element) => {
            text.push('[');
            show_into(element, names, text);
            text.push(']');
        }
        Resolved::Pair(first, rest) => {
            text.push('(');
            show_into(first, names, text);
            let mut rest = rest;
            while let Resolved::Pair(next, tail) = &**rest {
                text.push_str(", ");
                show_into(next, names, text);
                rest = tail;
            }
            text.push_str(", ");
            show_into(rest, names, text);
            text.push(')');
        }
        Resolved::Record(datatype, arguments) => {
            text.push_str(&datatype.name);
            let mut close = "";
            for argument in arguments {
                text.push_str(if close.is_empty() { "(" } else { ", " });
                close = ")";
                show_into(argument, names, text);
            }
            text.push_str(close);
        }
        Resolved::Function(parameter, result, _) => text.push_str(&show_arrow(parameter, result, names)),
        Resolved::Error => text.push('?'),
    }
}

/// `parameter -> result`. The arrow associates to the right.
pub(super) fn show_arrow(parameter: &Resolved, result: &Resolved, names: &mut Names) -> String {
    let is_function = matches!(parameter, Resolved::Function(..));
    let parameter = show(parameter, names);
    let parameter = if is_function { format!("({parameter})") } else { parameter };
    format!("{parameter} -> {}", show(result, names))
}

/// What is known of the variables named so far: ` where a is a number (int or float)`; empty if nothing.
pub(super) fn constraints(names: &Names) -> String {
    let mut text = String::new();
    for (index, &(_, class)) in names.0.iter().enumerate().filter(|(_, (_, class))| *class != Class::Any) {
        let joint = if text.is_empty() { " where" } else { " and" };
        let _ = write!(text, "{joint} {} is {}", parameter_name(index), class_singular(class));
    }
    text
}

/// A type in words, alone in its message: `[int]`, `a number (int or float)`, `[a] where a is …`.
pub(super) fn describe(ty: &Resolved) -> String {
    if let Resolved::Variable(_, class) = ty {
        return class_singular(*class).to_owned();
    }
    let mut names = Names::default();
    let text = show(ty, &mut names);
    text + &constraints(&names)
}

/// A label at an expression of this type: `of type [int]`, `a number (int or float)`; a function value is named.
pub(super) fn label(ty: &Resolved) -> String {
    let described = describe(ty);
    match ty {
        Resolved::Variable(..) => described,
        Resolved::Function(_, _, Some(function)) => format!("{}, of type {described}", function_name(function)),
        _ => format!("of type {described}"),
    }
}

/// A function in words.
pub(super) fn function_name(function: &FunctionName) -> String {
    match function {
        FunctionName::Named(name) => format!("`{name}`"),
        FunctionName::Lambda(name) => format!("the {name}"),
        FunctionName::Unnamed => "a function".to_owned(),
        FunctionName::Undetermined => "one that nothing determines".to_owned(),
    }
}

/// The members of a class in words: "numbers (int or float)".
pub(super) fn class_plural(class: Class) -> &'static str {
    match class {
        Class::Any => "values of any type",
        Class::Scalar => "scalars (int, float, bool or char)",
        Class::Ordinal => "ordered values (int, float or char)",
        Class::Number => "numbers (int or float)",
        Class::Logical => "logical values (int or bool)",
        Class::Function => "functions",
    }
}

/// A member of a class in words: "a number (int or float)".
pub(super) fn class_singular(class: Class) -> &'static str {
    match class {
        Class::Any => "a value of any type",
        Class::Scalar => "a scalar (int, float, bool or char)",
        Class::Ordinal => "an ordered value (int, float or char)",
        Class::Number => "a number (int or float)",
        Class::Logical => "a logical value (int or bool)",
        Class::Function => "a function",
    }
}
