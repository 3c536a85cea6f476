//! Core as text, for tests and listings; [`super::parse`] reads it.
//!
//! ```text
//! datatype point : (int, int)
//! global origin : point()
//! function < : (a, a) -> bool :: (a in ordinal) = built in
//! function later : int -> int = missing
//! function value inc : int -> int = λn#0. +[int](n#0, 1)
//! function df : (int, int) -> int with (_, d := 'df.d') = λargument#1. …
//! ```
//!
//! Variables show their number (`x#3`) so that equal names stay apart, globals a `$`, functions and datatypes a number
//! where several have the name ([`names`]); calls show their type arguments (`+[int](a, b)`), function types which
//! function it is ([`types`]). A function that is used as a value is a `function value`. Parameters without a default
//! are shown where there are others.
//!
//! Expressions show no type where it follows from their parts ([`super::typing`]), binders none where it is that of the
//! value. Where that is not so, in empty sequences and in core that is wrong, they do: `([] : [int])`, `let x#1 : int =
//! …`. The text therefore says all of core but what is for people alone: spans, doc strings, how parameters and
//! defaults were written; and the number of variables, which is above the greatest of the text.

pub(in crate::core) mod names;
pub(in crate::core) mod types;

use super::typing::type_of;
use super::{Expr, ExprKind, Form, Function, FunctionBody, FunctionId, Program, Variable, VariableId};
use crate::ty::Type;
use names::{Names, datatypes, word};
use nesl_prim::{ScalarValue, cursor};
use std::collections::HashMap;

/// The text of an expression on one line.
pub fn expr(expression: &Expr, program: &Program) -> String {
    let mut printer = Printer::of(program);
    printer.expr(expression);
    printer.text
}

/// The text of a function: `name : type = λparameter. body`.
pub fn function(id: FunctionId, program: &Program) -> String {
    let mut printer = Printer::of(program);
    printer.function(id.0, program.function(id));
    printer.text
}

/// The text of a form: `define f`, `show 1`, `assign $a.first, $b.rest = (1, 2)`.
pub fn form(form: &Form, program: &Program) -> String {
    let mut printer = Printer::of(program);
    match form {
        Form::Function(id) => printer.text = format!("define {}", printer.names.function(id.0)),
        Form::Expression(value) => {
            printer.text.push_str("show ");
            printer.expr(value);
        }
        Form::Assignment { targets, value } => {
            printer.text.push_str("assign ");
            for (index, (id, path)) in targets.iter().enumerate() {
                let separator = if index > 0 { ", $" } else { "$" };
                printer.text += &format!("{separator}{}", printer.names.global(id.0));
                path.iter().for_each(|is_rest| printer.text.push_str(if *is_rest { ".rest" } else { ".first" }));
            }
            printer.text.push_str(" = ");
            printer.expr(value);
        }
    }
    printer.text
}

/// The text of a program: its datatypes, globals and functions in their order, one on a line.
pub fn program(program: &Program) -> String {
    let mut printer = Printer::of(program);
    for datatype in datatypes(program).values() {
        let payload = types::ty(&datatype.payload, &printer.names);
        let context = types::context(datatype.classes.iter().map(|class| class.name()));
        printer.text += &format!("datatype {} : {payload}{context}\n", printer.names.datatype(datatype));
    }
    for (id, global) in program.globals.iter().enumerate() {
        printer.text += &format!("global {} : {}\n", printer.names.global(id), types::ty(&global.ty, &printer.names));
    }
    for (id, function) in program.functions.iter().enumerate() {
        let is_value = program.function_values.contains(&FunctionId(id));
        printer.text.push_str(if is_value { "function value " } else { "function " });
        printer.function(id, function);
        printer.text.push('\n');
    }
    printer.text
}

struct Printer<'a> {
    program: &'a Program,
    names: Names<'a>,
    /// The variables bound so far, with their types.
    variables: HashMap<VariableId, Variable>,
    text: String,
}

impl<'a> Printer<'a> {
    fn of(program: &'a Program) -> Printer<'a> {
        Printer { program, names: Names::of(program), variables: HashMap::new(), text: String::new() }
    }

    fn function(&mut self, id: usize, function: &Function) {
        self.variables.clear();
        self.text += &format!("{} : {}", self.names.function(id), types::scheme(&function.scheme, &self.names));
        if !function.keywords.is_empty() {
            let parameters = function.parameters.iter().map(|_| "_".to_owned());
            let keywords = (function.keywords.iter())
                .map(|keyword| format!("{} := {}", word(&keyword.name), self.names.function(keyword.default.0)));
            self.text += &format!(" with ({})", parameters.chain(keywords).collect::<Vec<_>>().join(", "));
        }
        match &function.body {
            FunctionBody::Defined { parameter, body } => {
                self.text.push_str(" = λ");
                self.binder(parameter, Some(&function.scheme.parameter));
                self.text.push_str(". ");
                self.bind(parameter);
                self.expr(body);
            }
            FunctionBody::Intrinsic(_) => self.text.push_str(" = built in"),
            FunctionBody::Missing => self.text.push_str(" = missing"),
        }
    }

    /// A variable where it is bound, with its type where that is not the one of its value.
    fn binder(&mut self, variable: &Variable, value: Option<&Type>) {
        self.text += &format!("{}#{}", word(&variable.name), variable.id.0);
        if value != Some(&variable.ty) {
            self.text += &format!(" : {}", types::ty(&variable.ty, &self.names));
        }
    }

    fn bind(&mut self, variable: &Variable) {
        self.variables.insert(variable.id, variable.clone());
    }

    fn list<'e>(&mut self, expressions: impl IntoIterator<Item = &'e Expr>) {
        for (index, expression) in expressions.into_iter().enumerate() {
            if index > 0 {
                self.text.push_str(", ");
            }
            self.expr(expression);
        }
    }

    /// A function with its type arguments.
    fn callee(&mut self, function: FunctionId, type_arguments: &[Type]) {
        self.text.push_str(&self.names.function(function.0));
        if !type_arguments.is_empty() {
            self.text += &format!("[{}]", types::list(type_arguments, &self.names));
        }
    }

    fn argument(&mut self, argument: &Expr) {
        if matches!(argument.kind, ExprKind::Pair(..) | ExprKind::Unit) && self.tells_type(argument) {
            self.kind(argument);
        } else {
            self.text.push('(');
            self.expr(argument);
            self.text.push(')');
        }
    }

    /// An expression before `.first` and the like, or an argument: in parentheses if more could belong to it.
    fn operand(&mut self, operand: &Expr) {
        let is_open = matches!(operand.kind, ExprKind::Let { .. } | ExprKind::If { .. } | ExprKind::Literal(_));
        if is_open && self.tells_type(operand) {
            self.text.push('(');
            self.kind(operand);
            self.text.push(')');
        } else {
            self.expr(operand);
        }
    }

    /// Whether the text of an expression's kind tells its type.
    fn tells_type(&self, expression: &Expr) -> bool {
        let variable = |id| self.variables.get(&id).map(|variable| variable.ty.clone());
        matches!(expression.kind, ExprKind::Construct(_))
            || type_of(&expression.kind, self.program, variable).as_ref() == Some(&expression.ty)
    }

    fn expr(&mut self, expression: &Expr) {
        if self.tells_type(expression) {
            self.kind(expression);
        } else {
            self.text.push('(');
            self.kind(expression);
            self.text += &format!(" : {})", types::ty(&expression.ty, &self.names));
        }
    }

    fn kind(&mut self, expression: &Expr) {
        match &expression.kind {
            ExprKind::Literal(value) => self.text += &cursor::scalar(*value),
            ExprKind::Unit => self.text.push_str("()"),
            ExprKind::Constants(values) => self.constants(values),
            ExprKind::Variable(id) => {
                let name = self.variables.get(id).map_or("unbound".to_owned(), |variable| word(&variable.name));
                self.text += &format!("{name}#{}", id.0);
            }
            ExprKind::Global(id) => self.text += &format!("${}", self.names.global(id.0)),
            ExprKind::Pair(first, rest) => {
                self.text.push('(');
                self.list([&**first, &**rest]);
                self.text.push(')');
            }
            ExprKind::First(pair) => self.part(pair, ".first"),
            ExprKind::Rest(pair) => self.part(pair, ".rest"),
            ExprKind::Payload(record) => self.part(record, ".payload"),
            ExprKind::Construct(payload) => {
                self.text += &format!("construct[{}](", types::ty(&expression.ty, &self.names));
                self.expr(payload);
                self.text.push(')');
            }
            ExprKind::Closure { function, type_arguments, captured } => {
                self.text.push_str("closure ");
                self.callee(*function, type_arguments);
                self.text.push('{');
                self.list(captured);
                self.text.push('}');
            }
            ExprKind::Apply { function, argument } => {
                self.text.push_str("apply ");
                self.operand(function);
                self.argument(argument);
            }
            ExprKind::Let { variable, value, body } => {
                self.text.push_str("let ");
                self.binder(variable, Some(&value.ty));
                self.text.push_str(" = ");
                self.expr(value);
                self.bind(variable);
                self.text.push_str(" in ");
                self.expr(body);
            }
            ExprKind::If { condition, then_branch, else_branch } => {
                self.text.push_str("if ");
                self.expr(condition);
                self.text.push_str(" then ");
                self.expr(then_branch);
                self.text.push_str(" else ");
                self.expr(else_branch);
            }
            ExprKind::Sequence(elements) => {
                self.text.push('[');
                self.list(elements);
                self.text.push(']');
            }
            ExprKind::Call { function, type_arguments, argument } => {
                self.callee(*function, type_arguments);
                self.argument(argument);
            }
            ExprKind::Each { sources, filter, body } => self.each(sources, filter.as_deref(), body),
        }
    }

    fn part(&mut self, whole: &Expr, selector: &str) {
        self.operand(whole);
        self.text.push_str(selector);
    }

    fn each(&mut self, sources: &[(Variable, Expr)], filter: Option<&Expr>, body: &Expr) {
        self.text.push_str("{each ");
        for (index, (variable, sequence)) in sources.iter().enumerate() {
            self.text.push_str(if index > 0 { "; " } else { "" });
            let element = match &sequence.ty {
                Type::Sequence(element) => Some(&**element),
                _ => None,
            };
            self.binder(variable, element);
            self.text.push_str(" in ");
            self.expr(sequence);
        }
        sources.iter().for_each(|(variable, _)| self.bind(variable));
        if let Some(filter) = filter {
            self.text.push_str(" | ");
            self.expr(filter);
        }
        self.text.push_str(" : ");
        self.expr(body);
        self.text.push('}');
    }

    /// A string, or constants of other types.
    fn constants(&mut self, values: &[ScalarValue]) {
        let characters: Option<Vec<u8>> = (values.iter())
            .map(|value| match value {
                ScalarValue::Char(code) => Some(*code),
                _ => None,
            })
            .collect();
        match characters.filter(|characters| !characters.is_empty()) {
            Some(characters) => self.text += &cursor::bytes(&characters),
            None => {
                let values: Vec<String> = values.iter().map(|value| cursor::scalar(*value)).collect();
                self.text += &format!("constants[{}]", values.join(", "));
            }
        }
    }
}
