//! Random expressions of a type: the choices that every type has, and the state they are made in.
//!
//! Expressions are written with parentheses of their own, so that they can stand anywhere. `fuel` bounds their depth;
//! guards keep what they compute small and free of failures.

use super::feature::Feature;
use super::tree::Tree;
use super::types::{Datatype, Type};
use crate::random::Random;
use std::collections::BTreeMap;

/// A function that expressions may call.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Its name.
    pub name: String,
    /// The types of its parameters.
    pub parameters: Vec<Type>,
    /// The parameters that have a default.
    pub keywords: Vec<(String, Type)>,
    /// The type of its result.
    pub result: Type,
}

/// Variables of patterns with their types.
pub type Bound = Vec<(String, Type)>;

/// Apply-to-eaches within each other, at most.
pub const DEEPEST: usize = 4;

/// Ints whose sums and sizes in bytes do not fit into a word, and small ones beside them.
const BOUNDARIES: [&str; 12] = [
    "2305843009213693951",
    "2305843009213693952",
    "2305843009213693953",
    "4611686018427387903",
    "4611686018427387904",
    "4611686018427387905",
    "max_int",
    "(max_int - 1)",
    "min_int",
    "(-1)",
    "0",
    "2",
];

/// The state of the generator: what is in scope.
#[derive(Clone, Debug)]
pub struct Generator {
    /// Where choices come from.
    pub random: Random,
    /// The functions so far; local ones come last.
    pub functions: Vec<Signature>,
    /// The datatypes so far.
    pub datatypes: Vec<Datatype>,
    /// How often each feature has been used.
    pub features: BTreeMap<Feature, usize>,
    globals: Bound,
    pub(super) locals: Bound,
    names: usize,
    pub(super) each_depth: usize,
    /// The number of locals outside of the outermost apply-to-each here: those after them vary by instance.
    pub(super) invariant: usize,
    /// Whether what is made runs once, or a few times, so that it may be long.
    pub(super) runs_once: bool,
    /// How many more places that may fail are to be made.
    sites: usize,
}

impl Generator {
    /// A generator that makes so many places that may fail, if it comes to it.
    pub fn new(random: Random, sites: usize) -> Generator {
        Generator {
            random,
            functions: Vec::new(),
            datatypes: Vec::new(),
            features: BTreeMap::new(),
            globals: Vec::new(),
            locals: Vec::new(),
            names: 0,
            each_depth: 0,
            invariant: 0,
            runs_once: false,
            sites,
        }
    }

    /// Counts a use of a feature.
    pub fn note(&mut self, feature: Feature) {
        *self.features.entry(feature).or_default() += 1;
    }

    /// Adds a global value.
    pub fn define(&mut self, name: String, ty: Type) {
        self.globals.push((name, ty));
    }

    /// Makes something where just these locals are in scope.
    pub fn inside<T>(&mut self, locals: &[(String, Type)], make: impl FnOnce(&mut Generator) -> T) -> T {
        let outer = std::mem::replace(&mut self.locals, locals.to_vec());
        let made = make(self);
        self.locals = outer;
        made
    }

    /// Makes something with further locals in scope.
    pub(super) fn with<T>(&mut self, locals: &[(String, Type)], make: impl FnOnce(&mut Generator) -> T) -> T {
        let count = self.locals.len();
        self.locals.extend_from_slice(locals);
        let made = make(self);
        self.locals.truncate(count);
        made
    }

    /// A new name, the same as an older one now and then, so that names hide each other.
    pub(super) fn name(&mut self) -> String {
        self.names += 1;
        format!("{}{}", self.random.pick(&["a", "b", "c", "x", "y"]), self.names % 7)
    }

    /// A name that no other one hides.
    pub(super) fn own_name(&mut self, start: &str) -> String {
        self.names += 1;
        format!("{start}{}", self.names)
    }

    /// A pattern for a type; what it binds is added to `bound`.
    pub(super) fn pattern(&mut self, ty: &Type, bound: &mut Bound) -> String {
        let takes_apart = self.random.chance(60);
        match ty {
            Type::Unit if takes_apart => {
                self.note(Feature::UnitPattern);
                "()".to_owned()
            }
            Type::Pair(first, second) if takes_apart => {
                let first = self.pattern(first, bound);
                format!("({first}, {})", self.pattern(second, bound))
            }
            Type::Record(record) if takes_apart => {
                self.note(Feature::RecordPattern);
                let payload = self.pattern(&record.payload, bound);
                if payload.starts_with('(') {
                    format!("{}{payload}", record.name)
                } else {
                    format!("{}({payload})", record.name)
                }
            }
            _ => {
                let mut name = self.name();
                while bound.iter().any(|(other, _)| *other == name) {
                    name = self.name();
                }
                bound.push((name.clone(), ty.clone()));
                name
            }
        }
    }

    /// A pattern for one type, what it binds, and a count of the feature where it takes something apart.
    pub(super) fn binding(&mut self, ty: &Type, feature: Feature) -> (String, Bound) {
        let mut bound = Vec::new();
        let pattern = self.pattern(ty, &mut bound);
        if pattern.ends_with(')') {
            self.note(feature);
        }
        (pattern, bound)
    }

    /// A type of some depth at most.
    pub fn any_type(&mut self, depth: usize) -> Type {
        if self.random.chance(4) {
            return Type::Unit;
        }
        match self.random.below(if depth == 0 { 8 } else { 19 }) {
            0..4 => Type::Int,
            4 => Type::Float,
            5 | 6 => Type::Bool,
            7 => Type::Char,
            8..14 => Type::sequence(self.any_type(depth - 1)),
            14 => Type::sequence(Type::Char),
            15 | 16 if !self.datatypes.is_empty() => {
                let datatype = self.random.pick(&self.datatypes).clone();
                let argument = |generator: &mut Generator, is_number: bool| match is_number {
                    true => generator.random.pick(&[Type::Int, Type::Float]).clone(),
                    false => generator.any_type(depth - 1),
                };
                let arguments: Vec<Type> =
                    datatype.parameters.iter().map(|&is_number| argument(self, is_number)).collect();
                datatype.at(&arguments)
            }
            _ => Type::pair(self.any_type(depth - 1), self.any_type(depth - 1)),
        }
    }

    /// An expression of a type.
    pub fn expression(&mut self, ty: &Type, fuel: usize) -> Tree {
        if let Type::Function(parameters, result) = ty {
            return self.function_value(parameters, result, fuel);
        }
        if fuel == 0 || self.random.chance(12) {
            return self.leaf(ty);
        }
        let fuel = fuel - 1;
        match self.random.below(24) {
            _ if self.runs_once && self.each_depth <= 1 && self.random.chance(1) => self.long(ty, fuel),
            _ if self.random.chance(3) => self.printing(ty, fuel),
            0 => {
                let parts =
                    vec![self.expression(&Type::Bool, fuel), self.expression(ty, fuel), self.expression(ty, fuel)];
                Tree::new(ty.clone(), self.random.pick::<&str>(&["(if @ then @ else @)", "select(@, @, @)"]), parts)
            }
            1..=3 => {
                // Of a random type there is seldom a function.
                let call = if self.random.chance(40) { self.any_call(fuel) } else { None };
                let value = call.unwrap_or_else(|| {
                    let bound_type = self.any_type(2);
                    self.expression(&bound_type, fuel)
                });
                let bound_type = value.ty.clone();
                let (pattern, bound) = self.binding(&bound_type, Feature::LetPattern);
                let body = self.with(&bound, |generator| generator.expression(ty, fuel));
                Tree::new(ty.clone(), &format!("(let {pattern} = @ in @)"), vec![value, body])
            }
            4 => self.part(ty, fuel),
            5 => self.element(ty, fuel),
            6..=8 => self.call(ty, fuel),
            9 => self.higher(ty, fuel),
            _ => match ty {
                Type::Int => self.int(fuel),
                Type::Float => self.float(fuel),
                Type::Bool => self.bool(fuel),
                Type::Char => self.char(fuel),
                Type::Unit => self.unit(fuel),
                Type::Pair(first, second) => {
                    let parts = vec![self.expression(first, fuel), self.expression(second, fuel)];
                    Tree::new(ty.clone(), "(@, @)", parts)
                }
                Type::Record(record) => {
                    self.note(Feature::Construction);
                    let payload = self.expression(&record.payload, fuel);
                    Tree::new(ty.clone(), &format!("{}(@)", record.name), vec![payload])
                }
                Type::Sequence(element) => self.sequence(element, fuel),
                Type::Function(..) | Type::Parameter(_) => panic!("{ty} has no expressions of this kind"),
            },
        }
    }

    /// The unit value, by way of others.
    fn unit(&mut self, fuel: usize) -> Tree {
        self.note(Feature::Unit);
        let other = self.any_type(2);
        match self.random.below(3) {
            0 => self.filled(Type::Unit, "nothing_of(@)", &other, fuel),
            1 => self.filled(Type::Unit, "(let _ = @ in ())", &other, fuel),
            _ => self.filled(Type::Unit, "(let () = @ in @)", &Type::Unit, fuel),
        }
    }

    /// The variables in scope that nothing hides, the innermost first, with whether they vary by instance.
    pub(super) fn visible(&self) -> Vec<(&str, &Type, bool)> {
        let mut visible: Vec<(&str, &Type, bool)> = Vec::new();
        let locals = self.locals.iter().enumerate().rev();
        let locals = locals.map(|(index, (name, ty))| (name, ty, self.each_depth > 0 && index >= self.invariant));
        for (name, ty, varies) in locals.chain(self.globals.iter().map(|(name, ty)| (name, ty, false))) {
            if visible.iter().all(|(other, ..)| other != name) {
                visible.push((name, ty, varies));
            }
        }
        visible
    }

    /// A variable or a literal.
    pub(super) fn leaf(&mut self, ty: &Type) -> Tree {
        let in_scope = self.visible().into_iter().filter(|(_, found, _)| *found == ty);
        let in_scope: Vec<String> = in_scope.map(|(name, ..)| name.to_owned()).collect();
        if !in_scope.is_empty() && self.random.chance(80) {
            return Tree::leaf(ty.clone(), self.random.pick(&in_scope).clone());
        }
        // What depends on nothing is the same for all instances.
        if in_scope.is_empty() && self.random.chance(60) {
            let derived: Vec<String> =
                self.visible().into_iter().filter_map(|(name, found, _)| derived(name, found, ty)).collect();
            if !derived.is_empty() {
                // The innermost stand first.
                let last = derived.len().min(4);
                return Tree::leaf(ty.clone(), self.random.pick(&derived[..last]).clone());
            }
        }
        match ty {
            Type::Int if self.random.chance(4) => self.boundary(),
            Type::Int => Tree::leaf(
                Type::Int,
                *self.random.pick(&["0", "1", "2", "3", "4", "5", "7", "(-1)", "(-4)", "100", "max_int", "min_int"]),
            ),
            Type::Float => {
                Tree::leaf(Type::Float, *self.random.pick(&["0.0", "1.0", "0.5", "(-2.25)", "0.1", "1e10", "3.75"]))
            }
            Type::Bool => Tree::leaf(Type::Bool, *self.random.pick(&["t", "f"])),
            Type::Char => Tree::leaf(
                Type::Char,
                *self.random.pick(&["`a", "`b", "`z", "space", "newline", "`Q", "`7", "``", "`\"", "`\\"]),
            ),
            Type::Unit => {
                self.note(Feature::Unit);
                Tree::leaf(Type::Unit, "()")
            }
            Type::Pair(first, second) => {
                let parts = vec![self.leaf(first), self.leaf(second)];
                Tree::new(ty.clone(), "(@, @)", parts)
            }
            Type::Record(record) => {
                self.note(Feature::Construction);
                let payload = self.leaf(&record.payload);
                Tree::new(ty.clone(), &format!("{}(@)", record.name), vec![payload])
            }
            Type::Sequence(element) => {
                if **element == Type::Char && self.random.chance(70) {
                    return self.string_literal();
                }
                let most = if self.each_depth < 2 { 7 } else { 4 };
                let count = self.random.below(most);
                match count {
                    0 => {
                        self.note(Feature::Empty);
                        return Tree::leaf(ty.clone(), ty.default_text());
                    }
                    1 => self.note(Feature::Single),
                    _ => {}
                }
                let parts = (0..count).map(|_| self.leaf(element)).collect();
                Tree::new(ty.clone(), &format!("[{}]", vec!["@"; count].join(", ")), parts)
            }
            Type::Function(parameters, result) => self.function_value(parameters, result, 0),
            Type::Parameter(_) => panic!("values are of types without parameters"),
        }
    }

    /// An int at a boundary of what lengths and indices can be, or a small one.
    pub(super) fn boundary(&mut self) -> Tree {
        self.note(Feature::Boundary);
        Tree::leaf(Type::Int, *self.random.pick(&BOUNDARIES))
    }

    /// The same, another one in some of the instances.
    pub(super) fn boundaries(&mut self, fuel: usize) -> Tree {
        let parts = vec![self.expression(&Type::Bool, fuel), self.boundary(), self.boundary()];
        Tree::new(Type::Int, "(if @ then @ else @)", parts)
    }

    /// Whether to make a place that may fail here.
    pub(super) fn risks(&mut self) -> bool {
        let risks = self.sites > 0 && self.random.chance(25);
        if risks {
            self.sites -= 1;
            self.note(Feature::Risk);
        }
        risks
    }

    /// A part of a pair or record.
    fn part(&mut self, ty: &Type, fuel: usize) -> Tree {
        let other = self.any_type(1);
        let whole = match self.random.chance(50) {
            true => Type::pair(ty.clone(), other),
            false => Type::pair(other, ty.clone()),
        };
        let value = self.expression(&whole, fuel);
        let (pattern, bound) = self.binding(&whole, Feature::LetPattern);
        let body = self.with(&bound, |generator| generator.expression(ty, fuel.min(1)));
        Tree::new(ty.clone(), &format!("(let {pattern} = @ in @)"), vec![value, body])
    }

    fn element(&mut self, ty: &Type, fuel: usize) -> Tree {
        let sequence = self.expression(&Type::sequence(ty.clone()), fuel);
        let index = self.expression(&Type::Int, fuel.min(2));
        if self.risks() {
            return Tree::new(ty.clone(), "(@)[@]", vec![sequence, index]);
        }
        let text = format!("(let s = @ in if #s == 0 then {} else s[mod(@, #s)])", ty.default_text());
        Tree::new(ty.clone(), &text, vec![sequence, index])
    }

    /// A text whose holes are all of one type.
    pub(super) fn filled(&mut self, ty: Type, text: &str, hole: &Type, fuel: usize) -> Tree {
        let count = text.matches('@').count();
        let parts = (0..count).map(|_| self.expression(hole, fuel)).collect();
        Tree::new(ty, text, parts)
    }

    /// One of some texts, with one hole for a sequence.
    pub(super) fn reduction(&mut self, ty: Type, texts: &[&str], element: Type, fuel: usize) -> Tree {
        let text = *self.random.pick(texts);
        let argument = self.expression(&Type::sequence(element), fuel);
        Tree::new(ty, text, vec![argument])
    }
}

/// A simple expression of a type from a variable of another one, if there is any.
fn derived(name: &str, found: &Type, ty: &Type) -> Option<String> {
    match (found, ty) {
        (Type::Sequence(element), _) if **element == *ty => {
            Some(format!("(if #{name} == 0 then {} else {name}[#{name} / 2])", ty.default_text()))
        }
        (_, Type::Sequence(element)) if **element == *found => Some(format!("[{name}, {name}]")),
        (Type::Pair(first, _), _) if **first == *ty => Some(format!("first({name})")),
        (Type::Pair(_, rest), _) if **rest == *ty => Some(format!("rest({name})")),
        (Type::Sequence(_), Type::Int) => Some(format!("#{name}")),
        (Type::Char, Type::Int) => Some(format!("char_code({name})")),
        (Type::Bool, Type::Int) => Some(format!("btoi({name})")),
        (Type::Int, Type::Bool) => Some(format!("oddp({name})")),
        (Type::Int, Type::Float) => Some(format!("float({name})")),
        (Type::Int, Type::Char) => Some(format!("code_char(97 + mod({name}, 26))")),
        (Type::Float, Type::Bool) => Some(format!("({name} > 0.5)")),
        _ => None,
    }
}
