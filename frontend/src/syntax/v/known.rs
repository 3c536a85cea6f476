//! What is known around a text: the library, what earlier texts defined, and of those in V what its rules need.

use super::types::Type;
use crate::ast::Symbol;
use crate::core::effects::Effect;
use crate::ty::{self, Scheme};
use nesl_span::Span;
use std::collections::HashMap;
use std::sync::Arc;

/// What V texts have defined, beyond what every syntax sees of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Declared {
    pub(in crate::syntax::v) functions: HashMap<Symbol, Arc<Signature>>,
    pub(in crate::syntax::v) structures: HashMap<Symbol, Arc<Structure>>,
    pub(in crate::syntax::v) globals: HashMap<Symbol, Type>,
}

impl Declared {
    /// What of it has one of these names.
    pub(crate) fn of(&self, is_own: impl Fn(&Symbol) -> bool) -> Declared {
        fn own<V: Clone>(all: &HashMap<Symbol, V>, is_own: impl Fn(&Symbol) -> bool) -> HashMap<Symbol, V> {
            let all = all.iter().filter(|(name, _)| is_own(name));
            all.map(|(name, value)| (name.clone(), value.clone())).collect()
        }
        Declared {
            functions: own(&self.functions, &is_own),
            structures: own(&self.structures, &is_own),
            globals: own(&self.globals, &is_own),
        }
    }

    /// Adds what another text declares, which hides what had its names.
    pub(crate) fn extend(&mut self, other: &Declared) {
        self.functions.extend(other.functions.iter().map(|(name, value)| (name.clone(), Arc::clone(value))));
        self.structures.extend(other.structures.iter().map(|(name, value)| (name.clone(), Arc::clone(value))));
        self.globals.extend(other.globals.iter().map(|(name, ty)| (name.clone(), ty.clone())));
    }

    /// The same, as a text knows it that imports it behind a name: `g.f`, `struct g.point`.
    pub(crate) fn behind(&self, file: &str) -> Declared {
        let name = |name: &Symbol| Symbol::from(format!("{file}.{name}"));
        let own = |symbol: &Symbol| self.structures.contains_key(symbol).then(|| name(symbol));
        let functions = self.functions.iter().map(|(symbol, function)| {
            let mut function = Signature::clone(function);
            function.result = function.result.renamed(&own);
            function.parameters.iter_mut().for_each(|parameter| parameter.ty = parameter.ty.renamed(&own));
            (name(symbol), Arc::new(function))
        });
        let structures = self.structures.iter().map(|(symbol, structure)| {
            let mut structure = Structure::clone(structure);
            structure.fields.iter_mut().for_each(|(_, ty)| *ty = ty.renamed(&own));
            (name(symbol), Arc::new(structure))
        });
        Declared {
            functions: functions.collect(),
            structures: structures.collect(),
            globals: self.globals.iter().map(|(symbol, ty)| (name(symbol), ty.renamed(&own))).collect(),
        }
    }

    /// The same, with each place moved at which something is declared.
    pub(in crate::syntax::v) fn moved(&self, place: impl Fn(&mut Span)) -> Declared {
        let mut moved = self.clone();
        moved.functions.values_mut().for_each(|function| place(&mut Arc::make_mut(function).span));
        moved.structures.values_mut().for_each(|structure| place(&mut Arc::make_mut(structure).span));
        moved
    }

    /// A type as V writes it.
    pub fn type_text(&self, ty: &ty::Type) -> String {
        Type::of(ty, &|name| self.structures.contains_key(name)).to_string()
    }

    /// How a function is declared, a struct, or a global, if a text of V defines it: `pure int sort(int v[*]) [*]`.
    pub fn declaration(&self, name: &str) -> Option<String> {
        if let Some(structure) = self.structures.get(name) {
            return Some(structure.declaration(name));
        }
        let Some(function) = self.functions.get(name) else {
            return self.globals.get(name).map(|ty| ty.declared(name));
        };
        let purity = if function.is_pure { "pure " } else { "" };
        let head = function.result.declared(&format!("{name}({})", self.declared_parameters(name).join(", ")));
        // The dimensions of the result stand apart from the parameters.
        Some(match head.rsplit_once(")[").filter(|_| !head.ends_with(')')) {
            Some((before, after)) => format!("{purity}{before}) [{after}"),
            None => format!("{purity}{head}"),
        })
    }

    /// The parameters in the declaration of a function: `int v[*]`.
    pub fn declared_parameters(&self, name: &str) -> Vec<String> {
        let parameters = self.functions.get(name).map_or(&[] as &[_], |function| &function.parameters);
        let declared = |parameter: &Parameter| match (parameter.is_shared, &parameter.ty) {
            (false, ty) => ty.declared(&parameter.name),
            (true, ty @ Type::Vector(_)) => ty.declared(&format!("(*{})", parameter.name)),
            (true, ty) => ty.declared(&format!("*{}", parameter.name)),
        };
        parameters.iter().map(declared).collect()
    }
}

impl Signature {
    /// Whether a call of it means what a call of another means.
    pub fn is_as(&self, other: &Signature) -> bool {
        let of = |signature: &Signature| (signature.is_pure, signature.parameters.clone(), signature.result.clone());
        of(self) == of(other)
    }
}

/// The head of a function.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::syntax::v) struct Signature {
    pub is_pure: bool,
    pub parameters: Vec<Parameter>,
    pub result: Type,
    pub span: Span,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::syntax::v) struct Parameter {
    pub name: Symbol,
    pub ty: Type,
    /// Whether what the function assigns to it is the caller's afterwards: `int *x`.
    pub is_shared: bool,
}

/// A struct.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::syntax::v) struct Structure {
    pub fields: Vec<(Symbol, Type)>,
    /// For each field the lengths that its declaration gives: `int board[8][8];`.
    pub lengths: Vec<Vec<i64>>,
    pub span: Span,
}

impl Structure {
    /// `struct point { double x; double y; }`
    fn declaration(&self, name: &str) -> String {
        let fields = self.fields.iter().zip(&self.lengths).map(|((field, ty), lengths)| {
            let open = ty.declared(field);
            let closed = lengths.iter().fold(open, |text, length| text.replacen("[*]", &format!("[{length}]"), 1));
            format!("{closed}; ")
        });
        format!("struct {name} {{ {}}}", fields.collect::<String>())
    }
}

/// A function of NESL: its type, and what it does besides giving a value.
#[derive(Clone, Debug)]
pub struct OutsideFunction {
    /// Its type.
    pub scheme: Scheme,
    /// What it does.
    pub effect: Effect,
}

/// What is asked about names that the text does not define.
pub trait Outside {
    /// The function of a name.
    fn function(&self, name: &str) -> Option<OutsideFunction>;
    /// The type of the value of a name.
    fn value(&self, name: &str) -> Option<ty::Type>;
    /// All names, for what was meant by one that means nothing.
    fn names(&self) -> Vec<Symbol>;
}
