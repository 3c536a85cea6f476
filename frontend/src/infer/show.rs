//! Types under inference as text, for messages.

use crate::ty::{Class, parameter_name};
use crate::typed::types::{Node, TypeId, Types};
use std::fmt::Write;

/// The names given to variables in one message: a, b, … in order of appearance.
#[derive(Debug, Default)]
pub struct Names(Vec<TypeId>);

impl Types {
    /// The text of a type, for messages.
    pub fn show(&self, id: TypeId, names: &mut Names) -> String {
        let mut text = String::new();
        self.show_into(id, names, &mut text);
        text
    }

    fn show_into(&self, id: TypeId, names: &mut Names, text: &mut String) {
        let root = self.root(id);
        match self.node(root) {
            Node::Variable(_) => {
                let known = names.0.iter().position(|&named| named == root);
                let index = known.unwrap_or_else(|| {
                    names.0.push(root);
                    names.0.len() - 1
                });
                text.push_str(&parameter_name(index));
            }
            Node::Scalar(scalar) => text.push_str(scalar.name()),
            Node::Unit => text.push_str("()"),
            Node::Sequence(element) => {
                text.push('[');
                self.show_into(element, names, text);
                text.push(']');
            }
            Node::Pair(first, rest) => {
                text.push('(');
                self.show_into(first, names, text);
                let mut rest = rest;
                while let Node::Pair(next, tail) = self.node(rest) {
                    text.push_str(", ");
                    self.show_into(next, names, text);
                    rest = tail;
                }
                text.push_str(", ");
                self.show_into(rest, names, text);
                text.push(')');
            }
            Node::Record(datatype, arguments) => {
                let Some(datatype) = self.datatype(datatype) else { return };
                text.push_str(&datatype.name);
                let shown = self.elements(arguments).into_iter().zip(&datatype.classes);
                let shown = shown.filter(|(_, class)| **class != Class::Function);
                let mut close = "";
                for (argument, _) in shown {
                    text.push_str(if close.is_empty() { "(" } else { ", " });
                    close = ")";
                    self.show_into(argument, names, text);
                }
                text.push_str(close);
            }
            Node::Function(parameter, result, _) => text.push_str(&self.show_arrow(parameter, result, names)),
            // Identities are never shown.
            Node::Identity(..) | Node::Nil => {}
            Node::Link(_) | Node::Error => text.push('?'),
        }
    }

    /// `parameter -> result`. The arrow associates to the right.
    pub fn show_arrow(&self, parameter: TypeId, result: TypeId, names: &mut Names) -> String {
        let is_function = matches!(self.node(parameter), Node::Function(..));
        let parameter = self.show(parameter, names);
        let parameter = if is_function { format!("({parameter})") } else { parameter };
        format!("{parameter} -> {}", self.show(result, names))
    }

    /// What is known of the variables named so far: ` where a is a number (int or float)`; empty if nothing.
    pub fn constraints(&self, names: &Names) -> String {
        let mut text = String::new();
        for (index, &variable) in names.0.iter().enumerate() {
            if let Node::Variable(class) = self.node(variable)
                && class != Class::Any
            {
                let joint = if text.is_empty() { " where" } else { " and" };
                let _ = write!(text, "{joint} {} is {}", parameter_name(index), class_singular(class));
            }
        }
        text
    }

    /// A label at an expression of this type: `of type [int]`, `a number (int or float)`.
    pub fn label(&self, id: TypeId) -> String {
        let described = self.describe(id);
        if matches!(self.node(id), Node::Variable(_)) { described } else { format!("of type {described}") }
    }

    /// A type in words, alone in its message: `[int]`, `a number (int or float)`, `[a] where a is …`.
    pub fn describe(&self, id: TypeId) -> String {
        if let Node::Variable(class) = self.node(id) {
            return class_singular(class).to_owned();
        }
        let mut names = Names::default();
        let text = self.show(id, &mut names);
        text + &self.constraints(&names)
    }
}

/// The members of a class in words: "numbers (int or float)".
pub fn class_plural(class: Class) -> &'static str {
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
pub fn class_singular(class: Class) -> &'static str {
    match class {
        Class::Any => "a value of any type",
        Class::Scalar => "a scalar (int, float, bool or char)",
        Class::Ordinal => "an ordered value (int, float or char)",
        Class::Number => "a number (int or float)",
        Class::Logical => "a logical value (int or bool)",
        Class::Function => "a function",
    }
}
