//! Types under inference: an arena of nodes with union-find variables, and their unification.
//!
//! A variable carries a type class; binding it checks the class, joining two variables takes the smaller class. The types of
//! [`crate::ty`] have no unification variables: schemes and globals are imported from there, results are exported by
//! elaboration. Every write is on a trail, so that a failed unification leaves no trace and messages can show both types
//! as they were before it.

use crate::ty::{Class, Scheme, Type, parameter_name};
use nesl_prim::ScalarType;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// A type under inference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(u32);

/// What a type looks like from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// Not known yet, but in this class.
    Variable(Class),
    /// Known: the same as another type. Never seen through [`Types::node`].
    Link(TypeId),
    /// A scalar type.
    Scalar(ScalarType),
    /// A pair.
    Pair(TypeId, TypeId),
    /// A sequence.
    Sequence(TypeId),
    /// The type of what has been reported already: equal to every type.
    Error,
}

/// Why two types cannot be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Their shapes differ.
    Shape,
    /// The wanted type is in a class that the first type is not in.
    Class(Class, TypeId),
    /// The first type is in a class that the wanted type is not in.
    Member(Class, TypeId),
    /// Neither class lies within the other: the class wanted by the second type, that of the first.
    Classes(Class, Class),
    /// A type would contain itself.
    Infinite,
}

/// The arena.
#[derive(Debug)]
pub struct Types {
    nodes: Vec<Node>,
    interned: HashMap<Node, TypeId>,
    trail: Vec<(TypeId, Node)>,
}

/// The names given to variables in one message: a, b, … in order of appearance.
#[derive(Debug, Default)]
pub struct Names(Vec<TypeId>);

impl Types {
    /// `int`.
    pub const INT: TypeId = TypeId(0);
    /// `bool`.
    pub const BOOL: TypeId = TypeId(2);
    /// The type of what has been reported already.
    pub const ERROR: TypeId = TypeId(4);

    /// An arena with the scalar types and the error type.
    pub fn new() -> Types {
        let mut nodes: Vec<Node> = ScalarType::ALL.into_iter().map(Node::Scalar).collect();
        nodes.push(Node::Error);
        Types { nodes, interned: HashMap::new(), trail: Vec::new() }
    }

    /// A scalar type.
    pub fn scalar(&self, scalar: ScalarType) -> TypeId {
        TypeId(scalar as u32)
    }

    /// A new variable.
    pub fn variable(&mut self, class: Class) -> TypeId {
        self.push(Node::Variable(class))
    }

    /// The pair of two types.
    pub fn pair(&mut self, first: TypeId, rest: TypeId) -> TypeId {
        self.intern(Node::Pair(first, rest))
    }

    /// The sequence of a type.
    pub fn sequence(&mut self, element: TypeId) -> TypeId {
        self.intern(Node::Sequence(element))
    }

    fn push(&mut self, node: Node) -> TypeId {
        let id = TypeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        id
    }

    /// Equal constructions share a node: a literal of a million pairs makes one pair type.
    fn intern(&mut self, node: Node) -> TypeId {
        if let Some(&id) = self.interned.get(&node) {
            return id;
        }
        let id = self.push(node);
        self.interned.insert(node, id);
        id
    }

    fn at(&self, id: TypeId) -> Node {
        self.nodes[id.0 as usize]
    }

    fn write(&mut self, id: TypeId, node: Node) {
        let old = std::mem::replace(&mut self.nodes[id.0 as usize], node);
        self.trail.push((id, old));
    }

    /// The representative of a type: equal for equal variables.
    pub fn root(&self, mut id: TypeId) -> TypeId {
        while let Node::Link(next) = self.at(id) {
            id = next;
        }
        id
    }

    /// What a type looks like.
    pub fn node(&self, id: TypeId) -> Node {
        self.at(self.root(id))
    }

    fn compress(&mut self, mut id: TypeId) -> TypeId {
        let root = self.root(id);
        while let Node::Link(next) = self.at(id) {
            if next == root {
                break;
            }
            self.write(id, Node::Link(root));
            id = next;
        }
        root
    }

    /// A point to which [`Types::rollback`] can return.
    pub fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Takes back everything learned since the mark.
    pub fn rollback(&mut self, mark: usize) {
        for (id, node) in self.trail.drain(mark..).rev() {
            self.nodes[id.0 as usize] = node;
        }
    }

    /// Forgets the trail: no earlier mark will be returned to.
    pub fn commit(&mut self) {
        self.trail.clear();
    }

    /// Makes two types equal, or changes nothing.
    ///
    /// # Errors
    /// Why they cannot be equal.
    pub fn unify(&mut self, actual: TypeId, wanted: TypeId) -> Result<(), Failure> {
        let mark = self.mark();
        let result = self.join(actual, wanted);
        if result.is_err() {
            self.rollback(mark);
        }
        result
    }

    fn join(&mut self, actual: TypeId, wanted: TypeId) -> Result<(), Failure> {
        let (actual, wanted) = (self.compress(actual), self.compress(wanted));
        if actual == wanted {
            return Ok(());
        }
        match (self.at(actual), self.at(wanted)) {
            (Node::Variable(have), Node::Variable(want)) => {
                let class = if have.is_within(want) {
                    have
                } else if want.is_within(have) {
                    want
                } else {
                    return Err(Failure::Classes(want, have));
                };
                // The older variable stays: chains of links remain short.
                let (old, new) = (actual.min(wanted), actual.max(wanted));
                self.write(new, Node::Link(old));
                self.write(old, Node::Variable(class));
                Ok(())
            }
            (Node::Variable(class), _) => self.bind(actual, class, wanted, Failure::Member),
            (_, Node::Variable(class)) => self.bind(wanted, class, actual, Failure::Class),
            (Node::Error, _) | (_, Node::Error) => Ok(()),
            (Node::Pair(first, rest), Node::Pair(other_first, other_rest)) => {
                self.join(first, other_first)?;
                self.join(rest, other_rest)
            }
            (Node::Sequence(element), Node::Sequence(other)) => self.join(element, other),
            _ => Err(Failure::Shape),
        }
    }

    fn bind(
        &mut self,
        variable: TypeId,
        class: Class,
        ty: TypeId,
        failure: fn(Class, TypeId) -> Failure,
    ) -> Result<(), Failure> {
        let admitted = match self.at(ty) {
            Node::Scalar(scalar) => class.scalars().contains(&scalar),
            Node::Error => true,
            _ => class == Class::Any,
        };
        if !admitted {
            return Err(failure(class, ty));
        }
        if self.contains(ty, &|_, root| root == variable) {
            return Err(Failure::Infinite);
        }
        self.write(variable, Node::Link(ty));
        Ok(())
    }

    /// Whether some part of a type passes a test. Parts that occur often are visited once: a type can be exponentially
    /// larger than the arena that holds it.
    fn contains(&self, id: TypeId, test: &dyn Fn(&Types, TypeId) -> bool) -> bool {
        /// Types of so few parts are walked without a record of the parts.
        const SMALL: usize = 32;
        let mut open = vec![id];
        let mut seen: HashSet<TypeId> = HashSet::new();
        let mut steps = 0;
        while let Some(id) = open.pop() {
            let root = self.root(id);
            steps += 1;
            if steps > SMALL && !seen.insert(root) {
                continue;
            }
            if test(self, root) {
                return true;
            }
            match self.at(root) {
                Node::Pair(first, rest) => open.extend([first, rest]),
                Node::Sequence(element) => open.push(element),
                _ => {}
            }
        }
        false
    }

    /// Whether a mistake in it has been reported already.
    pub fn has_error(&self, id: TypeId) -> bool {
        self.contains(id, &|types, root| types.at(root) == Node::Error)
    }

    /// Whether it is fully known.
    pub fn is_known(&self, id: TypeId) -> bool {
        !self.contains(id, &|types, root| matches!(types.at(root), Node::Variable(_)))
    }

    /// Adds the variables of a type in order of appearance.
    pub fn collect_variables(&self, id: TypeId, variables: &mut Vec<TypeId>) {
        let root = self.root(id);
        match self.at(root) {
            Node::Variable(_) if !variables.contains(&root) => variables.push(root),
            Node::Pair(first, rest) => {
                self.collect_variables(first, variables);
                self.collect_variables(rest, variables);
            }
            Node::Sequence(element) => self.collect_variables(element, variables),
            _ => {}
        }
    }

    /// A type of core with its parameters replaced.
    pub fn import(&mut self, ty: &Type, arguments: &[TypeId]) -> TypeId {
        match ty {
            Type::Scalar(scalar) => self.scalar(*scalar),
            Type::Pair(first, rest) => {
                let (first, rest) = (self.import(first, arguments), self.import(rest, arguments));
                self.pair(first, rest)
            }
            Type::Sequence(element) => {
                let element = self.import(element, arguments);
                self.sequence(element)
            }
            Type::Parameter(index) => arguments[*index],
            Type::Record(..) | Type::Function(_) | Type::Identity(_) => Types::ERROR,
        }
    }

    /// A scheme with new variables: type arguments, parameter, result.
    pub fn instantiate(&mut self, scheme: &Scheme) -> (Vec<TypeId>, TypeId, TypeId) {
        let arguments: Vec<TypeId> = scheme.classes.iter().map(|&class| self.variable(class)).collect();
        let parameter = self.import(&scheme.parameter, &arguments);
        let result = self.import(&scheme.result, &arguments);
        (arguments, parameter, result)
    }

    /// The text of a type, for messages.
    pub fn show(&self, id: TypeId, names: &mut Names) -> String {
        let mut text = String::new();
        self.show_into(id, names, &mut text);
        text
    }

    fn show_into(&self, id: TypeId, names: &mut Names, text: &mut String) {
        let root = self.root(id);
        match self.at(root) {
            Node::Variable(_) => {
                let known = names.0.iter().position(|&named| named == root);
                let index = known.unwrap_or_else(|| {
                    names.0.push(root);
                    names.0.len() - 1
                });
                text.push_str(&parameter_name(index));
            }
            Node::Scalar(scalar) => text.push_str(scalar.name()),
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
            Node::Link(_) | Node::Error => text.push('?'),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unification_takes_the_smaller_class_and_undoes_failures() {
        let mut types = Types::new();
        let (a, b) = (types.variable(Class::Ordinal), types.variable(Class::Number));
        assert_eq!(types.unify(a, b), Ok(()));
        assert_eq!(types.node(a), Node::Variable(Class::Number));
        let logical = types.variable(Class::Logical);
        assert_eq!(types.unify(a, logical), Err(Failure::Classes(Class::Logical, Class::Number)));
        let both = types.pair(a, a);
        let mixed = types.pair(Types::INT, Types::BOOL);
        assert_eq!(types.unify(both, mixed), Err(Failure::Shape));
        assert_eq!(types.node(a), Node::Variable(Class::Number), "the failed unification left a trace");
        let sequence = types.sequence(a);
        assert_eq!(types.unify(a, sequence), Err(Failure::Member(Class::Number, sequence)));
        assert_eq!(types.unify(sequence, a), Err(Failure::Class(Class::Number, sequence)));
        let any = types.variable(Class::Any);
        let of_any = types.sequence(any);
        assert_eq!(types.unify(any, of_any), Err(Failure::Infinite));
    }

    #[test]
    fn scalar_ids_are_in_order() {
        let types = Types::new();
        for scalar in ScalarType::ALL {
            assert_eq!(types.node(types.scalar(scalar)), Node::Scalar(scalar));
        }
        assert_eq!(types.scalar(ScalarType::Int), Types::INT);
        assert_eq!(types.scalar(ScalarType::Bool), Types::BOOL);
    }
}
