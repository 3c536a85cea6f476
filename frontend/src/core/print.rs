//! Core as text, for tests and listings.
//!
//! Variables show their number (`x#3`) so that equal names stay apart; calls show their type arguments
//! (`+[int](a, b)`).

use super::{Expr, ExprKind, FunctionBody, FunctionId, Program, Variable, VariableId};
use crate::ty::Type;
use nesl_prim::ScalarValue;
use std::collections::HashMap;

/// The text of an expression on one line.
pub fn expr(expression: &Expr, program: &Program) -> String {
    let mut printer = Printer { program, names: HashMap::new(), text: String::new() };
    printer.expr(expression);
    printer.text
}

/// The text of a function: `name : type = λparameter. body`.
pub fn function(id: FunctionId, program: &Program) -> String {
    let function = program.function(id);
    let head = format!("{} : {}", function.name, function.scheme);
    match &function.body {
        FunctionBody::Defined { parameter, body } => {
            let mut printer = Printer { program, names: HashMap::new(), text: String::new() };
            let binder = printer.bind(parameter);
            printer.expr(body);
            format!("{head} = λ{binder}. {}", printer.text)
        }
        FunctionBody::Intrinsic(_) => format!("{head} = built in"),
        FunctionBody::Missing => format!("{head} = missing"),
    }
}

struct Printer<'a> {
    program: &'a Program,
    names: HashMap<VariableId, String>,
    text: String,
}

impl Printer<'_> {
    fn bind(&mut self, variable: &Variable) -> String {
        let name = format!("{}#{}", variable.name, variable.id.0);
        self.names.insert(variable.id, name.clone());
        name
    }

    fn list<'e>(&mut self, expressions: impl IntoIterator<Item = &'e Expr>) {
        for (index, expression) in expressions.into_iter().enumerate() {
            if index > 0 {
                self.text.push_str(", ");
            }
            self.expr(expression);
        }
    }

    /// A function with its type arguments; identities of functions as the function's name.
    fn callee(&mut self, function: FunctionId, type_arguments: &[Type]) {
        self.text.push_str(&self.program.function(function).name);
        if !type_arguments.is_empty() {
            let types: Vec<String> = type_arguments
                .iter()
                .map(|argument| match argument {
                    Type::Identity(identity) => match self.program.functions.get(identity.function) {
                        Some(function) => function.name.to_string(),
                        None => "nobody".to_owned(),
                    },
                    _ => argument.to_string(),
                })
                .collect();
            self.text.push_str(&format!("[{}]", types.join(", ")));
        }
    }

    fn argument(&mut self, argument: &Expr) {
        if let ExprKind::Pair(..) | ExprKind::Unit = argument.kind {
            self.expr(argument);
        } else {
            self.text.push('(');
            self.expr(argument);
            self.text.push(')');
        }
    }

    fn expr(&mut self, expression: &Expr) {
        match &expression.kind {
            ExprKind::Literal(value) => self.scalar(*value),
            ExprKind::Unit => self.text.push_str("()"),
            ExprKind::Constants(values) => {
                self.text.push_str("constants[");
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        self.text.push_str(", ");
                    }
                    self.scalar(*value);
                }
                self.text.push(']');
            }
            ExprKind::Variable(id) => {
                let name = self.names.get(id).cloned();
                self.text.push_str(&name.unwrap_or_else(|| format!("unbound#{}", id.0)));
            }
            ExprKind::Global(id) => self.text.push_str(&self.program.global(*id).name),
            ExprKind::Pair(first, rest) => {
                self.text.push('(');
                self.list([&**first, &**rest]);
                self.text.push(')');
            }
            ExprKind::First(pair) => {
                self.expr(pair);
                self.text.push_str(".first");
            }
            ExprKind::Rest(pair) => {
                self.expr(pair);
                self.text.push_str(".rest");
            }
            ExprKind::Construct(payload) => {
                let datatype = expression.ty.to_string();
                self.text.push_str(&format!("construct[{datatype}]("));
                self.expr(payload);
                self.text.push(')');
            }
            ExprKind::Payload(record) => {
                self.expr(record);
                self.text.push_str(".payload");
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
                self.expr(function);
                self.argument(argument);
            }
            ExprKind::Let { variable, value, body } => {
                let binder = self.bind(variable);
                self.text.push_str(&format!("let {binder} = "));
                self.expr(value);
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
                self.text.push_str("] : ");
                self.text.push_str(&expression.ty.to_string());
            }
            ExprKind::Call { function, type_arguments, argument } => {
                self.callee(*function, type_arguments);
                self.argument(argument);
            }
            ExprKind::Each { sources, filter, body } => {
                self.text.push_str("{each ");
                for (index, (variable, sequence)) in sources.iter().enumerate() {
                    let separator = if index > 0 { "; " } else { "" };
                    let binder = self.bind(variable);
                    self.text.push_str(&format!("{separator}{binder} in "));
                    self.expr(sequence);
                }
                if let Some(filter) = filter {
                    self.text.push_str(" | ");
                    self.expr(filter);
                }
                self.text.push_str(" : ");
                self.expr(body);
                self.text.push('}');
            }
        }
    }

    fn scalar(&mut self, value: ScalarValue) {
        let text = match value {
            ScalarValue::Int(value) => value.to_string(),
            ScalarValue::Float(value) => format!("{value:?}"),
            ScalarValue::Bool(value) => if value { "t" } else { "f" }.to_owned(),
            ScalarValue::Char(value) => format!("`{}", char::from(value)),
        };
        self.text.push_str(&text);
    }
}
