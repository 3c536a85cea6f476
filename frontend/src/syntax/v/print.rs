//! A program of NESL as a text of V, as far as V can say it.
//!
//! ```text
//! tree ─┐
//!       ├─ statements: functions by `return`, `if` and declarations ─ expressions ─▶ text
//! types ┘  types: what is declared of which type; functions of any type once for each type that they are called with
//! ```
//!
//! The tree has no types, and V writes them: whoever has checked the program says of each name what it means
//! ([`Meanings`]). What V has no words for is reported where it stands.

mod expressions;
mod operators;
mod patterns;
mod statements;
mod types;

use super::token::WORDS;
use super::types::Type;
use crate::ast::{DatatypeDefinition, Expr, FunctionDefinition, Import, Pattern, PatternKind, TopLevel, TopLevelKind};
use crate::diagnostic::Diagnostic;
use crate::syntax::Syntax;
use crate::syntax::comments::Comments;
use crate::ty::{self, Class, Scheme};
use nesl_span::Span;
use statements::Ending;
use std::collections::{HashMap, HashSet};

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A function, or the constructor of a record.
    Function,
    /// A value of the top level.
    Global,
    /// A variable.
    Local,
    /// A datatype.
    Datatype,
}

/// What a name means at its place.
#[derive(Clone, Debug)]
pub struct Meaning {
    /// What it stands for.
    pub sort: Sort,
    /// Where that is bound.
    pub definition: Span,
    /// The type of a value, or of the parameter of a function at this use.
    pub ty: Option<ty::Type>,
    /// The type of what a function gives at this use.
    pub result: Option<ty::Type>,
}

/// What the names of a program mean.
#[derive(Clone, Debug, Default)]
pub struct Meanings {
    /// By place, and whether the name is bound there.
    pub names: HashMap<(Span, bool), Meaning>,
    /// The types of functions, by where they are defined.
    pub schemes: HashMap<Span, Scheme>,
    /// The functions that print or act on the world outside, and those that have parameters with defaults, by where
    /// they are defined.
    pub acting: HashSet<Span>,
    /// Those that have parameters with defaults.
    pub defaulted: HashSet<Span>,
}

/// A text and how tightly it holds together.
type Piece = (String, usize);

/// The text of a program.
///
/// # Errors
/// What V cannot say of it.
pub(crate) fn program(
    forms: &[TopLevel],
    imports: &[Import],
    (text, comments): (&str, &[Span]),
    meanings: &Meanings,
) -> Result<String, Vec<Diagnostic>> {
    let mut comments = Comments::new(text, comments, Syntax::V);
    let mut printer = Printer::new(forms, text, meanings);
    printer.all();
    if !printer.diagnostics.is_empty() {
        return Err(crate::diagnostic::finish(printer.diagnostics));
    }
    let mut out = String::new();
    for import in imports {
        let alias = import.alias.as_ref().map_or_else(String::new, |alias| format!(" as {}", alias.symbol));
        out += &comments.before(import.span.end);
        out += &format!("import {}{alias};\n", nesl_prim::text::string(import.path.as_bytes()));
    }
    for (form, texts) in forms.iter().zip(&printer.texts) {
        out += &comments.before(form.span.end);
        out += &texts.concat();
    }
    Ok(out + &comments.before(u32::MAX))
}

/// A function at types.
struct Instance {
    form: usize,
    arguments: Vec<ty::Type>,
    name: String,
}

/// What is known inside of a function.
#[derive(Default)]
struct Inside {
    /// What its name is.
    name: String,
    /// The types that it is printed for.
    arguments: Vec<ty::Type>,
    /// What stands for each variable, by where it is bound.
    locals: HashMap<Span, String>,
    /// The names that are in use.
    used: HashSet<String>,
    /// The statements so far.
    statements: Vec<String>,
    /// Whether what an expression needs before it can be a statement before it.
    hoists: bool,
}

struct Printer<'a> {
    forms: &'a [TopLevel],
    text: &'a str,
    meanings: &'a Meanings,
    diagnostics: Vec<Diagnostic>,
    /// The names of what the program defines, by where that is.
    tops: HashMap<Span, String>,
    /// The names that no variable may have.
    reserved: HashSet<String>,
    /// The fields of each struct, by where it is defined.
    fields: HashMap<Span, Vec<String>>,
    instances: Vec<Instance>,
    /// The text of each form.
    texts: Vec<Vec<String>>,
    inside: Inside,
    /// How many functions were made of parts of others.
    parts: usize,
    /// The form that is being printed.
    form: usize,
}

impl<'a> Printer<'a> {
    fn new(forms: &'a [TopLevel], text: &'a str, meanings: &'a Meanings) -> Printer<'a> {
        let mut printer = Printer {
            forms,
            text,
            meanings,
            diagnostics: Vec::new(),
            tops: HashMap::new(),
            reserved: WORDS.iter().map(|word| (*word).to_owned()).collect(),
            fields: HashMap::new(),
            instances: Vec::new(),
            texts: vec![Vec::new(); forms.len()],
            inside: Inside::default(),
            parts: 0,
            form: 0,
        };
        // A variable hides what it is called like, functions too.
        for (span, is_bound) in meanings.names.keys() {
            let own = text.get(span.start as usize..span.end as usize).unwrap_or("");
            if !is_bound && meanings.names[&(*span, false)].sort == Sort::Function {
                printer.reserved.insert(own.to_lowercase());
            }
        }
        let library = printer.reserved.clone();
        for form in forms {
            for (symbol, span) in defined(form) {
                let is_taken = |name: &str| WORDS.contains(&name) || printer.tops.values().any(|other| other == name);
                let chosen = candidates(&symbol).find(|name| !is_taken(name)).unwrap_or_default();
                // What is defined hides the library, as in NESL; what only sounds like it must not.
                let chosen = match chosen == *symbol || !library.contains(&chosen) {
                    true => chosen,
                    false => format!("{chosen}_"),
                };
                printer.tops.insert(span, chosen);
            }
        }
        printer.reserved.extend(printer.tops.values().cloned());
        printer
    }

    /// Reports what V has no words for.
    fn cannot(&mut self, what: impl Into<String>, at: Span, hint: impl Into<String>) -> Piece {
        self.diagnostics.push(Diagnostic::error("E0514", what, at).hint(hint));
        ("0".to_owned(), operators::ATOM)
    }

    /// A place without the parentheses around what stands there.
    fn bare(&self, span: Span) -> Span {
        let text = self.text.get(span.start as usize..span.end as usize).unwrap_or("");
        let outer = |character: char| character == '(' || character.is_whitespace();
        let inner = text.trim_start_matches(outer);
        let start = span.start + u32::try_from(text.len() - inner.len()).unwrap_or(0);
        let inner = inner.trim_end_matches(|character: char| character == ')' || character.is_whitespace());
        Span { start, end: start + u32::try_from(inner.len()).unwrap_or(0), ..span }
    }

    /// Lets a text stand for the variable that is bound at a place.
    fn bind(&mut self, at: Span, text: String) {
        let at = self.bare(at);
        self.inside.locals.insert(at, text);
    }

    /// What a name means where it is mentioned.
    fn meaning(&self, span: Span) -> Option<&'a Meaning> {
        self.meanings.names.get(&(self.bare(span), false))
    }

    /// The type of what is bound at a place.
    fn bound_type(&self, span: Span) -> Option<ty::Type> {
        let ty = self.meanings.names.get(&(self.bare(span), true))?.ty.as_ref()?;
        Some(self.instantiated(ty))
    }

    /// Prints all forms: functions of any type for the types that the others call them with.
    fn all(&mut self) {
        let forms = self.forms;
        for (index, form) in forms.iter().enumerate() {
            if let TopLevelKind::Datatype(datatype) = &form.kind {
                self.form = index;
                self.structure(datatype);
            }
        }
        let mut first = 0;
        for (index, form) in forms.iter().enumerate() {
            self.form = index;
            self.inside = Inside { name: "value".to_owned(), ..Inside::default() };
            match &form.kind {
                TopLevelKind::Function(function) => {
                    if function.body.is_some() && self.scheme(function).is_some_and(|scheme| scheme.classes.is_empty())
                    {
                        let name = self.tops.get(&function.name.span).cloned().unwrap_or_default();
                        self.instances.push(Instance { form: index, arguments: Vec::new(), name });
                    }
                }
                TopLevelKind::Assignment { pattern, value } => self.global(pattern, value),
                TopLevelKind::Expression(value) => {
                    let (text, _) = self.expression(value);
                    self.texts[index].push(format!("{text};\n"));
                }
                TopLevelKind::Datatype(_) | TopLevelKind::Import(_) | TopLevelKind::Error => {}
            }
            while let Some(Instance { form, arguments, name }) = self.instances.get(first) {
                let (form, arguments, name) = (*form, arguments.clone(), name.clone());
                first += 1;
                self.form = form;
                if let TopLevelKind::Function(function) = &forms[form].kind {
                    self.function(function, arguments, name);
                }
            }
        }
        // Who calls a function may be what V cannot say.
        if self.diagnostics.is_empty() {
            self.uncalled();
        }
    }

    /// Functions of any type that nothing calls.
    fn uncalled(&mut self) {
        let forms = self.forms;
        for (index, form) in forms.iter().enumerate() {
            if let TopLevelKind::Function(function) = &form.kind
                && function.body.is_some()
                && !self.instances.iter().any(|instance| instance.form == index)
            {
                let name = &function.name.symbol;
                let hint = format!("say of which types `{name}` is, `function {name}(…) : … -> … = …`, or call it");
                self.cannot(
                    format!("`{name}` is of any type, and functions of V are of one"),
                    function.name.span,
                    hint,
                );
            }
        }
    }

    fn scheme(&self, function: &FunctionDefinition) -> Option<&'a Scheme> {
        self.meanings.schemes.get(&function.name.span)
    }

    /// The name of an own function where it is called at these types.
    fn instance(&mut self, definition: Span, parameter: &ty::Type, result: &ty::Type) -> Option<String> {
        let form = self.forms.iter().position(|form| match &form.kind {
            TopLevelKind::Function(function) => function.body.is_some() && function.name.span == definition,
            _ => false,
        })?;
        let scheme = self.meanings.schemes.get(&definition)?;
        let mut arguments = vec![ty::Type::INT; scheme.classes.len()];
        types::unify(&scheme.parameter, parameter, &mut arguments);
        types::unify(&scheme.result, result, &mut arguments);
        let known = self.instances.iter().find(|known| known.form == form && known.arguments == arguments);
        if let Some(known) = known {
            return Some(known.name.clone());
        }
        let plain = self.tops.get(&definition)?.clone();
        let is_first = !self.instances.iter().any(|known| known.form == form);
        let name = match is_first {
            true => plain,
            false => {
                let numbered = (2..).map(|number| format!("{plain}_{number}"));
                numbered.into_iter().find(|name| !self.reserved.contains(name)).unwrap_or_default()
            }
        };
        self.reserved.insert(name.clone());
        self.instances.push(Instance { form, arguments, name: name.clone() });
        Some(name)
    }

    /// A name that nothing else in the function has.
    fn fresh(&mut self, symbol: &str) -> String {
        let is_free = |name: &String| !self.inside.used.contains(name) && !self.reserved.contains(name);
        let name = candidates(symbol).find(is_free).unwrap_or_default();
        self.inside.used.insert(name.clone());
        name
    }

    fn structure(&mut self, datatype: &DatatypeDefinition) {
        let Some(scheme) = self.meanings.schemes.get(&datatype.name.span) else { return };
        let name = &datatype.name.symbol;
        if scheme.classes.iter().any(|class| *class != Class::Function) {
            let hint = "a struct has fields of one type: write a datatype for each";
            self.cannot(format!("`{name}` has type parameters, and structs of V have none"), datatype.name.span, hint);
            return;
        }
        let parts = types::parts(&scheme.parameter, &datatype.payload.type_expr);
        let names = self.field_names(datatype, parts.len());
        let mut fields = String::new();
        for (field, part) in names.iter().zip(&parts) {
            let ty = self.sayable(part, datatype.payload.span);
            fields += &format!("{};\n", ty.declared(field));
        }
        self.fields.insert(datatype.name.span, names);
        let own = self.tops.get(&datatype.name.span).cloned().unwrap_or_default();
        self.texts[self.form].push(format!("struct {own} {{\n{fields}}};\n"));
    }

    /// What fields are called: as the first pattern calls them that takes all of them apart.
    fn field_names(&self, datatype: &DatatypeDefinition, count: usize) -> Vec<String> {
        let mut found = None;
        let mut look = |pattern: &Pattern| {
            patterns::each_record(pattern, &mut |name, inner| {
                let inner = inner.bare();
                let parts = match &inner.kind {
                    PatternKind::Tuple(parts) => parts.as_slice(),
                    _ => std::slice::from_ref(inner),
                };
                let names: Vec<&str> = (parts.iter())
                    .filter_map(|part| match &part.bare().kind {
                        PatternKind::Variable(name) => Some(&**name),
                        _ => None,
                    })
                    .filter(|name| {
                        candidates(name).next().is_some_and(|plain| plain == *name)
                            && !WORDS.contains(name)
                            && *name != "_"
                    })
                    .collect();
                let distinct: HashSet<&str> = names.iter().copied().collect();
                if found.is_none() && *name == datatype.name.symbol && names.len() == count && distinct.len() == count {
                    found = Some(names.into_iter().map(str::to_owned).collect::<Vec<_>>());
                }
            })
        };
        for form in self.forms {
            match &form.kind {
                TopLevelKind::Function(function) => {
                    look(&function.parameter);
                    function.body.iter().for_each(|body| patterns::each_pattern(body, &mut look));
                }
                TopLevelKind::Assignment { pattern, value } => {
                    look(pattern);
                    patterns::each_pattern(value, &mut look);
                }
                TopLevelKind::Expression(value) => patterns::each_pattern(value, &mut look),
                _ => {}
            }
        }
        found.unwrap_or_else(|| (1..=count).map(|number| format!("part{number}")).collect())
    }

    /// A global, or several of a tuple.
    fn global(&mut self, pattern: &Pattern, value: &Expr) {
        let Some(parts) = patterns::pairs(pattern, value) else {
            self.no_tuples(pattern.span);
            return;
        };
        for (pattern, value) in parts {
            let PatternKind::Variable(symbol) = &pattern.kind else {
                self.cannot("a global of V is a name", pattern.span, "give the whole a name, and its parts functions");
                continue;
            };
            // Functions before the later value see it, too.
            if self.forms.iter().flat_map(defined).any(|(other, span)| other == *symbol && span != pattern.span) {
                self.cannot("a global of V has one value", pattern.span, "give each value a name of its own");
                continue;
            }
            let name = self.tops.get(&pattern.span).cloned().unwrap_or_default();
            let Some(ty) = self.bound_type(pattern.span) else { continue };
            let ty = self.sayable(&ty, pattern.span);
            let (text, _) = self.expression(value);
            let text = match ty {
                Type::Void => format!("{text};\n"),
                _ => format!("{} = {text};\n", ty.declared(&name)),
            };
            self.texts[self.form].push(text);
        }
    }

    fn function(&mut self, function: &FunctionDefinition, arguments: Vec<ty::Type>, name: String) {
        let (Some(body), Some(scheme)) = (&function.body, self.scheme(function)) else { return };
        if let Some(keyword) = function.keywords.first() {
            let hint = "make it a parameter like the others, and pass it in each call";
            self.cannot("parameters of V have no defaults", keyword.name.span, hint);
            return;
        }
        self.inside = Inside { name: name.clone(), arguments, hoists: true, ..Inside::default() };
        let (parameters, prelude) = self.parameters(&function.parameter);
        self.inside.statements = prelude;
        let result = self.instantiated(&scheme.result);
        let result = self.sayable(&result, function.name.span);
        let is_main = &*function.name.symbol == "main";
        let (result, ending) = match result {
            Type::Void => (Type::Void, Ending::Nothing),
            // The value of `int main` would be the exit code.
            _ if is_main => (Type::Void, Ending::Printed),
            result => (result, Ending::Returned),
        };
        let is_pure = !is_main && !self.meanings.acting.contains(&function.name.span);
        self.tail(body, ending);
        let statements = std::mem::take(&mut self.inside.statements);
        let head = types::head(&result, &name, &parameters, is_pure);
        let doc = function.doc.as_ref().map_or_else(String::new, |doc| format!("/* {} */\n", doc.replace("*/", "* /")));
        self.texts[self.form].push(format!("{doc}{head} {{\n{}\n}}\n", statements.join("\n")));
    }
}

/// What a form defines, with the places.
fn defined(form: &TopLevel) -> Vec<(crate::ast::Symbol, Span)> {
    match &form.kind {
        TopLevelKind::Function(function) if function.body.is_some() => {
            vec![(function.name.symbol.clone(), function.name.span)]
        }
        TopLevelKind::Datatype(datatype) => vec![(datatype.name.symbol.clone(), datatype.name.span)],
        TopLevelKind::Assignment { pattern, .. } => {
            let mut found = Vec::new();
            patterns::each_variable(pattern, &mut |symbol, span| found.push((symbol.clone(), span)));
            found
        }
        _ => Vec::new(),
    }
}

/// What something may be called that NESL calls so, the best first.
fn candidates(symbol: &str) -> impl Iterator<Item = String> + use<> {
    let plain: String =
        symbol.chars().map(|character| if character.is_ascii_alphanumeric() { character } else { '_' }).collect();
    let plain = if plain == "_" { "unused".to_owned() } else { plain };
    let numbered = plain.clone();
    std::iter::once(plain).chain((2..).map(move |number| format!("{numbered}_{number}")))
}
