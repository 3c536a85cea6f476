//! Types under inference: an arena of nodes with union-find variables, and their unification.
//!
//! The function that a function value is has a place in the arena too, its identity: [`Key`]. A variable that stands
//! for one has the class of functions, so that identities and types of values never meet. Lists of types are chains of
//! pairs.
//!
//! A variable carries a type class; binding it checks the class, joining two variables takes the smaller class. The
//! types of [`crate::ty`] have no unification variables: schemes and globals are imported from there, results are
//! exported by elaboration. Every write is on a trail, so that a failed unification leaves no trace and messages can
//! show both types as they were before it.

use crate::core::FunctionId;
use crate::ty::{Class, Datatype, Scheme, Type};
use nesl_prim::ScalarType;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

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
    /// `()`.
    Unit,
    /// A pair.
    Pair(TypeId, TypeId),
    /// A sequence.
    Sequence(TypeId),
    /// A datatype, by its number, at a list of types.
    Record(usize, TypeId),
    /// A function value: parameter, result, identity.
    Function(TypeId, TypeId, TypeId),
    /// An identity: which function, the list of its type arguments, the list of the types of what it captured.
    Identity(KeyId, TypeId, TypeId),
    /// The end of a list.
    Nil,
    /// The type of what has been reported already: equal to every type.
    Error,
}

/// Which function an identity means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A function whose scheme is known.
    Known(FunctionId),
    /// A function of the group being checked, by its form. Its type arguments are the parameters it will get.
    Group(usize),
    /// A function made for a part of a form: a lambda. Its type arguments are those of the function of that form.
    Within(FunctionId, usize),
}

/// The number of a [`Key`] in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(u32);

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
    /// Two function values have these identities, which mean different functions.
    Functions(TypeId, TypeId),
    /// A type would contain itself.
    Infinite,
}

/// The arena.
#[derive(Debug)]
pub struct Types {
    nodes: Vec<Node>,
    interned: HashMap<Node, TypeId>,
    trail: Vec<(TypeId, Node)>,
    keys: Vec<Key>,
    key_numbers: HashMap<Key, KeyId>,
    datatypes: HashMap<usize, Arc<Datatype>>,
}

impl Types {
    /// `int`.
    pub const INT: TypeId = TypeId(0);
    /// `bool`.
    pub const BOOL: TypeId = TypeId(2);
    /// The type of what has been reported already.
    pub const ERROR: TypeId = TypeId(4);
    /// The empty list.
    pub const NIL: TypeId = TypeId(5);
    /// `()`.
    pub const UNIT: TypeId = TypeId(6);

    /// An arena with the types that have names of their own here.
    pub fn new() -> Types {
        let mut nodes: Vec<Node> = ScalarType::ALL.into_iter().map(Node::Scalar).collect();
        nodes.extend([Node::Error, Node::Nil, Node::Unit]);
        Types {
            nodes,
            interned: HashMap::new(),
            trail: Vec::new(),
            keys: Vec::new(),
            key_numbers: HashMap::new(),
            datatypes: HashMap::new(),
        }
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

    /// A list of types.
    pub fn list(&mut self, types: &[TypeId]) -> TypeId {
        types.iter().rev().fold(Types::NIL, |rest, &first| self.pair(first, rest))
    }

    /// The types of a list.
    pub fn elements(&self, mut list: TypeId) -> Vec<TypeId> {
        let mut types = Vec::new();
        while let Node::Pair(first, rest) = self.node(list) {
            types.push(first);
            list = rest;
        }
        types
    }

    /// A datatype at some types.
    pub fn record(&mut self, datatype: &Arc<Datatype>, arguments: &[TypeId]) -> TypeId {
        self.datatypes.entry(datatype.id).or_insert_with(|| Arc::clone(datatype));
        let arguments = self.list(arguments);
        self.intern(Node::Record(datatype.id, arguments))
    }

    /// The datatype of a [`Node::Record`].
    pub fn datatype(&self, id: usize) -> Option<&Arc<Datatype>> {
        self.datatypes.get(&id)
    }

    /// The type of a function value.
    pub fn function(&mut self, parameter: TypeId, result: TypeId, identity: TypeId) -> TypeId {
        self.intern(Node::Function(parameter, result, identity))
    }

    /// The identity of a function at these type arguments, with values of these types captured.
    pub fn identity(&mut self, key: Key, arguments: &[TypeId], captured: &[TypeId]) -> TypeId {
        let keys = &mut self.keys;
        let number = *self.key_numbers.entry(key).or_insert_with(|| {
            keys.push(key);
            KeyId((keys.len() - 1) as u32)
        });
        let (arguments, captured) = (self.list(arguments), self.list(captured));
        self.intern(Node::Identity(number, arguments, captured))
    }

    /// The function of a [`Node::Identity`].
    pub fn key(&self, id: KeyId) -> Key {
        self.keys[id.0 as usize]
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
            (Node::Record(datatype, arguments), Node::Record(other, other_arguments)) if datatype == other => {
                self.join(arguments, other_arguments)
            }
            (Node::Function(parameter, result, identity), Node::Function(parameter2, result2, identity2)) => {
                self.join(parameter, parameter2)?;
                self.join(result, result2)?;
                self.join(identity, identity2)
            }
            (Node::Identity(key, arguments, captured), Node::Identity(other, other_arguments, other_captured)) => {
                if key != other {
                    return Err(Failure::Functions(actual, wanted));
                }
                self.join(arguments, other_arguments)?;
                self.join(captured, other_captured)
            }
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
            Node::Identity(..) => class == Class::Function,
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
                Node::Record(_, arguments) => open.push(arguments),
                Node::Function(parameter, result, identity) => open.extend([parameter, result, identity]),
                Node::Identity(_, arguments, captured) => open.extend([arguments, captured]),
                Node::Variable(_) | Node::Link(_) | Node::Scalar(_) | Node::Unit | Node::Nil | Node::Error => {}
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

    /// Whether some part of it is a function value.
    pub fn has_function(&self, id: TypeId) -> bool {
        self.contains(id, &|types, root| match types.at(root) {
            Node::Function(..) => true,
            // Datatypes have a hidden parameter for each function in their payload.
            Node::Record(datatype, _) => {
                (types.datatype(datatype)).is_some_and(|datatype| datatype.classes.contains(&Class::Function))
            }
            _ => false,
        })
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
            Node::Record(_, arguments) => self.collect_variables(arguments, variables),
            Node::Function(parameter, result, identity) => {
                for part in [parameter, result, identity] {
                    self.collect_variables(part, variables);
                }
            }
            Node::Identity(_, arguments, captured) => {
                self.collect_variables(arguments, variables);
                self.collect_variables(captured, variables);
            }
            Node::Variable(_) | Node::Link(_) | Node::Scalar(_) | Node::Unit | Node::Nil | Node::Error => {}
        }
    }

    /// A type of core with its parameters replaced.
    pub fn import(&mut self, ty: &Type, arguments: &[TypeId]) -> TypeId {
        match ty {
            Type::Scalar(scalar) => self.scalar(*scalar),
            Type::Unit => Types::UNIT,
            Type::Pair(first, rest) => {
                let (first, rest) = (self.import(first, arguments), self.import(rest, arguments));
                self.pair(first, rest)
            }
            Type::Sequence(element) => {
                let element = self.import(element, arguments);
                self.sequence(element)
            }
            Type::Parameter(index) => arguments[*index],
            Type::Record(datatype, types) => {
                let types: Vec<TypeId> = types.iter().map(|ty| self.import(ty, arguments)).collect();
                self.record(datatype, &types)
            }
            Type::Function(function) => {
                let parameter = self.import(&function.parameter, arguments);
                let result = self.import(&function.result, arguments);
                let identity = self.import(&function.identity, arguments);
                self.function(parameter, result, identity)
            }
            Type::Identity(identity) => {
                let types: Vec<TypeId> = identity.type_arguments.iter().map(|ty| self.import(ty, arguments)).collect();
                let captured: Vec<TypeId> = identity.captured.iter().map(|ty| self.import(ty, arguments)).collect();
                self.identity(Key::Known(FunctionId(identity.function)), &types, &captured)
            }
        }
    }

    /// A scheme with new variables: type arguments, parameter, result.
    pub fn instantiate(&mut self, scheme: &Scheme) -> (Vec<TypeId>, TypeId, TypeId) {
        let arguments: Vec<TypeId> = scheme.classes.iter().map(|&class| self.variable(class)).collect();
        let parameter = self.import(&scheme.parameter, &arguments);
        let result = self.import(&scheme.result, &arguments);
        (arguments, parameter, result)
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
    fn functions_unify_by_identity() {
        let mut types = Types::new();
        let one = types.identity(Key::Known(FunctionId(1)), &[Types::INT], &[]);
        let other = types.identity(Key::Known(FunctionId(2)), &[Types::INT], &[]);
        let which = types.variable(Class::Function);
        let wanted = types.function(Types::INT, Types::INT, which);
        let sine = types.function(Types::INT, Types::INT, one);
        let cosine = types.function(Types::INT, Types::INT, other);
        assert_eq!(types.unify(sine, wanted), Ok(()));
        assert_eq!(types.unify(cosine, wanted), Err(Failure::Functions(other, one)));
        let value = types.variable(Class::Any);
        assert_eq!(types.unify(value, sine), Ok(()));
        let captured = types.variable(Class::Function);
        let holder = types.function(Types::INT, Types::INT, captured);
        let closure = types.identity(Key::Within(FunctionId(3), 0), &[], &[holder]);
        assert_eq!(types.unify(captured, closure), Err(Failure::Infinite));
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
