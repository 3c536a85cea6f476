//! Random definitions: datatypes, globals and functions, among them recursive ones with an end in sight.

use super::expression::{Bound, Generator, Signature};
use super::feature::Feature;
use super::tree::{Form, Tree};
use super::types::{Datatype, Type, tuple};

/// What a recursion is made of.
struct Recursion<'a> {
    name: &'a str,
    parameters: Bound,
    result: Type,
}

/// What a loop carries on of two sequences, `@` for a new element.
const CARRIED: [&str; 9] = [
    "v",
    "w",
    "v ++ [@]",
    "w ++ [@]",
    "take(v, max(#v - 1, 0))",
    "drop(w, min(#w, 1)) ++ [@]",
    "take(v, max(#v - 2, 0)) ++ [@, @]",
    "v ++ take(w, min(#w, 3))",
    "(if #v == 0 then [@] else rep(v, @, #v - 1))",
];

impl Recursion<'_> {
    /// An expression of the function's result, with further names in scope.
    fn part(&self, generator: &mut Generator, more: &[(&str, Type)]) -> Tree {
        self.other(generator, &self.result, more)
    }

    /// An expression over the parameters, with further names in scope.
    fn other(&self, generator: &mut Generator, ty: &Type, more: &[(&str, Type)]) -> Tree {
        let mut scope = self.parameters.clone();
        scope.extend(more.iter().map(|(name, ty)| ((*name).to_owned(), ty.clone())));
        generator.inside(&scope, |generator| generator.expression(ty, 2))
    }
}

impl Generator {
    /// The definition of a datatype: of one or more parts, which may be of earlier ones, with parameters or without.
    pub fn datatype(&mut self, name: &str) -> Form {
        self.note(Feature::Datatype);
        let parameters: Vec<bool> = (0..self.random.below(3)).map(|_| self.random.chance(30)).collect();
        if !parameters.is_empty() {
            self.note(Feature::ParametrisedDatatype);
        }
        let mut parts: Vec<Type> = (0..self.random.below(3)).map(|_| self.any_type(1)).collect();
        for parameter in 0..parameters.len() {
            let part = Type::Parameter(parameter);
            parts.push(if self.random.chance(40) { Type::sequence(part) } else { part });
        }
        if parts.is_empty() {
            parts.push(self.any_type(1));
        }
        let is_nested = parts.iter().any(|part| matches!(part, Type::Record(_)));
        if is_nested {
            self.note(Feature::NestedDatatype);
        }
        let last = parts.pop().unwrap_or(Type::Int);
        let payload = parts.into_iter().rev().fold(last, |rest, part| Type::pair(part, rest));
        let datatype = Datatype { name: name.to_owned(), parameters, payload };
        let form = definition(datatype.text(), Tree::leaf(Type::Int, ""));
        self.datatypes.push(datatype);
        form
    }

    /// The definition of a global value, or of several by a pattern, or of a function.
    pub fn global(&mut self, index: usize) -> Vec<Form> {
        if self.random.chance(25) {
            self.note(Feature::GlobalFunction);
            let (parameters, result) = (vec![self.any_type(1)], self.any_type(1));
            let parameters = if self.random.chance(50) { self.parameters_for(&result) } else { parameters };
            let tree = self.function_value(&parameters, &result, 2);
            let (name, typed) = (format!("hg{index}"), format!("tg{index}"));
            // A global has one type, and a polymorphic function does not say which.
            let types = Type::function(&parameters, &result);
            let head = format!("function {typed}(g) : {types} -> {types} = ");
            self.functions.push(Signature { name: name.clone(), parameters, keywords: Vec::new(), result });
            return vec![
                definition(head, Tree::leaf(types.clone(), "g")),
                definition(format!("{name} = "), Tree::new(types, &format!("{typed}(@)"), vec![tree])),
            ];
        }
        let ty = self.any_type(3);
        let tree = self.expression(&ty, 3);
        match &ty {
            Type::Pair(first, second) if self.random.chance(60) => {
                self.note(Feature::GlobalPattern);
                let names = [format!("g{index}"), format!("gg{index}")];
                self.define(names[0].clone(), (**first).clone());
                self.define(names[1].clone(), (**second).clone());
                vec![definition(format!("({}) = ", names.join(", ")), tree)]
            }
            _ => {
                self.define(format!("g{index}"), ty);
                vec![definition(format!("g{index} = "), tree)]
            }
        }
    }

    /// The definition of a function, or of two that call each other.
    pub fn function(&mut self, index: usize) -> Vec<Form> {
        let name = format!("f{index}");
        match self.random.below(15) {
            13.. => vec![self.growing(&name)],
            0..4 => vec![self.counted(&name)],
            4..7 => vec![self.divided(&name)],
            7 => self.mutual(index),
            8 => vec![self.maker(&name)],
            _ => vec![self.plain(&name)],
        }
    }

    /// A function of patterns, perhaps with keyword parameters.
    fn plain(&mut self, name: &str) -> Form {
        let result = self.any_type(2);
        let has_keywords = self.random.chance(40);
        // In a signature, a pair before keyword parameters would be two parameters.
        let fewest = 1 + usize::from(has_keywords);
        let count = if self.random.chance(12) { 0 } else { fewest + self.random.below(3) };
        if count == 0 {
            self.note(Feature::NoParameters);
        }
        let types: Vec<Type> = (0..count).map(|_| self.any_type(2)).collect();
        let mut bound = Vec::new();
        let mut texts: Vec<String> = types.iter().map(|ty| self.pattern(ty, &mut bound)).collect();
        if texts.iter().any(|text| text.ends_with(')')) {
            self.note(Feature::ParameterPattern);
        }
        let keywords: Bound = match has_keywords {
            true => (0..1 + self.random.below(2)).map(|number| (format!("k{number}"), self.any_type(1))).collect(),
            false => Vec::new(),
        };
        for (keyword, ty) in &keywords {
            texts.push(format!("{keyword} := {}", ty.default_text()));
        }
        bound.extend_from_slice(&keywords);
        let tree = self.inside(&bound, |generator| generator.expression(&result, 4));
        // The signature includes keyword parameters.
        let all: Vec<Type> = types.iter().chain(keywords.iter().map(|(_, ty)| ty)).cloned().collect();
        let head = format!("function {name}({}) : {} -> {result} = ", texts.join(", "), tuple(&all));
        self.functions.push(Signature { name: name.to_owned(), parameters: types, keywords, result });
        definition(head, tree)
    }

    /// A function that gives functions, which hold its parameters.
    fn maker(&mut self, name: &str) -> Form {
        let types: Vec<Type> = (0..1 + self.random.below(2)).map(|_| self.any_type(1)).collect();
        let (parameters, result) = (vec![self.any_type(1)], self.any_type(1));
        let mut bound = Vec::new();
        let patterns: Vec<String> = types.iter().map(|ty| self.pattern(ty, &mut bound)).collect();
        let tree = self.inside(&bound, |generator| generator.lambda(&parameters, &result, 2));
        let result = Type::function(&parameters, &result);
        let head = format!("function {name}({}) : {} -> {result} = ", patterns.join(", "), tuple(&types));
        self.functions.push(Signature { name: name.to_owned(), parameters: types, keywords: Vec::new(), result });
        definition(head, tree)
    }

    /// A function that counts down from a small number, in one of several ways.
    fn counted(&mut self, name: &str) -> Form {
        self.note(Feature::CountedRecursion);
        let (extra, result) = (self.any_type(2), self.any_type(2));
        let parameters = vec![("n".to_owned(), Type::Int), ("x".to_owned(), extra.clone())];
        let own = Recursion { name, parameters, result: result.clone() };
        let base = own.part(self, &[]);
        let r = [("r", result.clone())];
        let (text, parts) = match self.random.below(4) {
            0 => (
                format!("if n <= 0 then (@) else let r = {name}(min(n, 4) - 1, @) in @"),
                vec![base, own.other(self, &extra, &[]), own.part(self, &r)],
            ),
            1 => {
                self.note(Feature::BothBranches);
                (
                    format!(
                        "if n <= 0 then (@) else if @ then (let r = {name}(min(n, 4) - 1, @) in @) else (let r = {name}(min(n, 5) - 2, @) in @)"
                    ),
                    vec![
                        base,
                        own.other(self, &Type::Bool, &[]),
                        own.other(self, &extra, &[]),
                        own.part(self, &r),
                        own.other(self, &extra, &[]),
                        own.part(self, &r),
                    ],
                )
            }
            2 => {
                self.note(Feature::TwoCalls);
                let both = [("r", result.clone()), ("q", result.clone())];
                (
                    format!(
                        "if n <= 0 then (@) else let r = {name}(min(n, 3) - 1, @); q = {name}(min(n, 3) - 2, @) in @"
                    ),
                    vec![base, own.other(self, &extra, &[]), own.other(self, &extra, &r), own.part(self, &both)],
                )
            }
            _ => {
                self.note(Feature::RecursionInEach);
                let extras = Type::sequence(extra.clone());
                let results = [("r", Type::sequence(result.clone()))];
                (
                    format!(
                        "if n <= 0 then (@) else let s = @; m = min(#s, 3); r = {{{name}(min(n, 3) - 1 - mod(i, 2), y) : y in take(s, m); i in [0:m]}} in @"
                    ),
                    vec![base, own.other(self, &extras, &[]), own.part(self, &results)],
                )
            }
        };
        self.recursive(own, Tree::new(result, &text, parts))
    }

    /// A loop that carries two sequences, which grow, shrink, change elements and change places.
    fn growing(&mut self, name: &str) -> Form {
        self.note(Feature::Growing);
        let element = self.any_type(1);
        let sequence = Type::sequence(element.clone());
        let carried = ["v", "w"].map(|name| (name.to_owned(), sequence.clone()));
        let parameters = [("n".to_owned(), Type::Int)].into_iter().chain(carried).collect();
        let own = Recursion { name, parameters, result: sequence.clone() };
        let mut parts = vec![own.part(self, &[]), own.other(self, &Type::Bool, &[])];
        let mut turn = || {
            let carried = [(); 2].map(|()| *self.random.pick(&CARRIED));
            for _ in carried.iter().flat_map(|text| text.matches('@')) {
                parts.push(own.other(self, &element, &[]));
            }
            format!("{name}(min(n, 40) - 1, {})", carried.join(", "))
        };
        let (first, second) = (turn(), turn());
        let text = format!("if n <= 0 then (@) else if @ then {first} else {second}");
        self.recursive(own, Tree::new(sequence, &text, parts))
    }

    /// A function that takes a sequence apart, in one of several ways.
    fn divided(&mut self, name: &str) -> Form {
        let (element, result) = (self.any_type(1), self.any_type(2));
        let parameters = vec![("v".to_owned(), Type::sequence(element.clone()))];
        let own = Recursion { name, parameters, result: result.clone() };
        let base = own.part(self, &[]);
        let results = [("r", Type::sequence(result.clone()))];
        let (text, parts) = match self.random.below(3) {
            0 => {
                self.note(Feature::Halves);
                self.note(Feature::RecursionInEach);
                (
                    format!("if #v < 2 then (@) else let r = {{{name}(w) : w in bottop(take(v, min(#v, 6)))}} in @"),
                    vec![base, own.part(self, &results)],
                )
            }
            1 => {
                self.note(Feature::Halves);
                self.note(Feature::TwoCalls);
                let both = [("r", result.clone()), ("q", result.clone())];
                (
                    format!(
                        "if #v < 2 then (@) else let s = take(v, min(#v, 6)); r = {name}(take(s, #s / 2)); q = {name}(drop(s, #s / 2)) in @"
                    ),
                    vec![base, own.part(self, &both)],
                )
            }
            _ => {
                self.note(Feature::Filtered);
                self.note(Feature::RecursionInEach);
                let one = [("e", element)];
                (
                    format!(
                        "if #v < 2 then (@) else let s = drop(take(v, min(#v, 5)), 1); r = {{{name}(w) : w in [{{e in s | @}}, {{e in s | @}}]}} in @"
                    ),
                    vec![
                        base,
                        own.other(self, &Type::Bool, &one),
                        own.other(self, &Type::Bool, &one),
                        own.part(self, &results),
                    ],
                )
            }
        };
        self.recursive(own, Tree::new(result, &text, parts))
    }

    /// Two functions that call each other; each is used.
    fn mutual(&mut self, index: usize) -> Vec<Form> {
        self.note(Feature::Mutual);
        let names = [format!("f{index}"), format!("ff{index}")];
        let (extra, results) = (self.any_type(1), [self.any_type(2), self.any_type(2)]);
        let mut forms = Vec::new();
        let mut signatures = Vec::new();
        for (own, other) in [(0, 1), (1, 0)] {
            let parameters = vec![("n".to_owned(), Type::Int), ("x".to_owned(), extra.clone())];
            let recursion = Recursion { name: &names[own], parameters, result: results[own].clone() };
            let parts = vec![
                recursion.part(self, &[]),
                recursion.other(self, &extra, &[]),
                recursion.part(self, &[("r", results[other].clone())]),
            ];
            let text = format!("if n <= 0 then (@) else let r = {}(min(n, 4) - 1, @) in @", names[other]);
            let (form, signature) = finished(recursion, Tree::new(results[own].clone(), &text, parts));
            forms.push(form);
            signatures.push(signature);
        }
        self.functions.append(&mut signatures);
        forms
    }

    fn recursive(&mut self, recursion: Recursion<'_>, tree: Tree) -> Form {
        let (form, signature) = finished(recursion, tree);
        self.functions.push(signature);
        form
    }
}

/// The definition of a recursive function, and how it is called. The signature in the text keeps unused parameters at
/// the types that calls are made for.
fn finished(recursion: Recursion<'_>, tree: Tree) -> (Form, Signature) {
    let Recursion { name, parameters, result } = recursion;
    let (names, types): (Vec<String>, Vec<Type>) = parameters.into_iter().unzip();
    let head = format!("function {name}({}) : {} -> {result} = ", names.join(", "), tuple(&types));
    (definition(head, tree), Signature { name: name.to_owned(), parameters: types, keywords: Vec::new(), result })
}

/// A form that others may refer to.
pub fn definition(head: String, tree: Tree) -> Form {
    Form { head, tree, is_needed: true }
}
