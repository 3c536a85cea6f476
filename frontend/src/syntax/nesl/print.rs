//! A tree as a text of NESL, whatever syntax it came from.
//!
//! Lines break where a reader would break them; the formatter does the rest.

mod names;
mod unread;

use crate::ast::{
    BinaryOp, Binding, DatatypeDefinition, Expr, ExprKind, FunctionDefinition, Import, LIBRARY, Pattern, PatternKind,
    Signature, Source, Symbol, TopLevel, TopLevelKind, TypeExpr, TypeExprKind, UnaryOp,
};
use crate::syntax::Syntax;
use crate::syntax::comments::Comments;
use crate::syntax::nesl::parser::operators::power;
use names::Names;
use nesl_prim::{ScalarValue, text};
use nesl_span::Span;
use unread::Unread;

/// The powers of what is no infix operator; see the parser's table.
const TUPLE: u16 = 0;
const OPEN: u16 = 1;
const EMPTY: u16 = 2;
const NEGATION: u16 = 22;
const PREFIX: u16 = 25;
const POSTFIX: u16 = 30;
const ATOM: u16 = 40;

/// What is longer stands on lines of its own.
const SHORT: usize = 60;

/// A text and how tightly it holds together.
type Piece = (String, u16);

/// The text of a program.
pub(crate) fn program(forms: &[TopLevel], imports: &[Import], comments: (&str, &[Span])) -> String {
    printed(forms, imports, comments, &Names::of(forms))
}

/// The text of an input, which stands among others: names mean in all of them the same.
pub(crate) fn input(forms: &[TopLevel], imports: &[Import], comments: (&str, &[Span])) -> String {
    printed(forms, imports, comments, &Names::among_others(forms))
}

fn printed(forms: &[TopLevel], imports: &[Import], (text, comments): (&str, &[Span]), names: &Names) -> String {
    let mut comments = Comments::new(text, comments, Syntax::Nesl);
    let mut unread = Unread::default();
    for form in forms {
        match &form.kind {
            TopLevelKind::Function(function) => function.body.iter().for_each(|body| unread.add(body)),
            TopLevelKind::Assignment { value, .. } | TopLevelKind::Expression(value) => unread.add(value),
            TopLevelKind::Datatype(_) | TopLevelKind::Import(_) | TopLevelKind::Error => {}
        }
    }
    let mut printer = Printer { names, unread: &unread, scope: Vec::new() };
    printer.scope.extend(forms.iter().flat_map(defined).chain(names.shared().iter().cloned()));
    let mut out = String::new();
    for import in imports {
        let alias = import.alias.as_ref().map_or_else(String::new, |alias| format!(" as {}", alias.symbol));
        out += &comments.before(import.span.end);
        out += &format!("import {}{alias};\n", text::string(import.path.as_bytes()));
    }
    for form in forms {
        out += &comments.before(form.span.end);
        out += &printer.form(form);
    }
    out + &comments.before(u32::MAX)
}

/// The names that a form defines.
fn defined(form: &TopLevel) -> Vec<Symbol> {
    let mut names = Vec::new();
    match &form.kind {
        TopLevelKind::Function(function) => names.push(function.name.symbol.clone()),
        TopLevelKind::Datatype(datatype) => names.push(datatype.name.symbol.clone()),
        TopLevelKind::Assignment { pattern, .. } => pattern.names(&mut names),
        TopLevelKind::Expression(_) | TopLevelKind::Import(_) | TopLevelKind::Error => {}
    }
    names
}

struct Printer<'a> {
    names: &'a Names,
    /// The patterns that are names which nothing reads.
    unread: &'a Unread,
    /// What is bound around the place.
    scope: Vec<Symbol>,
}

impl Printer<'_> {
    fn form(&mut self, form: &TopLevel) -> String {
        match &form.kind {
            TopLevelKind::Function(function) => self.function(function),
            TopLevelKind::Datatype(datatype) => self.datatype(datatype),
            TopLevelKind::Assignment { pattern, value } => {
                format!("{} = {};\n", self.pattern(pattern, false), self.open(value))
            }
            TopLevelKind::Expression(value) => format!("{};\n", self.open(value)),
            TopLevelKind::Import(_) | TopLevelKind::Error => String::new(),
        }
    }

    fn function(&mut self, function: &FunctionDefinition) -> String {
        let before = self.scope.len();
        function.whole_parameter().names(&mut self.scope);
        let parameter = self.pattern(&function.parameter, true);
        let signature =
            function.signature.as_ref().map_or_else(String::new, |own| format!(" : {}", self.signature(own)));
        let body = function.body.as_ref().map_or_else(String::new, |body| format!(" =\n{}", self.open(body)));
        self.scope.truncate(before);
        format!("function {}{parameter}{signature}{body};\n", self.names.called(&function.name.symbol))
    }

    fn datatype(&self, datatype: &DatatypeDefinition) -> String {
        let payload = self.type_text(&datatype.payload.type_expr);
        let payload = if payload.starts_with('(') { payload } else { format!("({payload})") };
        format!("datatype {}{payload};\n", self.names.called(&datatype.name.symbol))
    }

    fn signature(&self, signature: &Signature) -> String {
        self.type_text(&signature.type_expr)
    }

    fn type_text(&self, ty: &TypeExpr) -> String {
        let list = |types: &[TypeExpr]| types.iter().map(|ty| self.type_text(ty)).collect::<Vec<_>>().join(", ");
        match &ty.kind {
            TypeExprKind::Scalar(scalar) => scalar.name().to_owned(),
            TypeExprKind::Name(name) => self.names.called(&name.symbol).to_owned(),
            TypeExprKind::Record(name, arguments) => {
                format!("{}({})", self.names.called(&name.symbol), list(arguments))
            }
            TypeExprKind::Sequence(element) => format!("[{}]", self.type_text(element)),
            TypeExprKind::Unit | TypeExprKind::Error => "()".to_owned(),
            TypeExprKind::Tuple(parts) => format!("({})", list(parts)),
            TypeExprKind::Function(parameter, result) => {
                let parameter = match parameter.kind {
                    TypeExprKind::Function(..) => format!("({})", self.type_text(parameter)),
                    _ => self.type_text(parameter),
                };
                format!("{parameter} -> {}", self.type_text(result))
            }
        }
    }

    /// A pattern, in parentheses if it must be.
    fn pattern(&self, pattern: &Pattern, is_parameter: bool) -> String {
        match &pattern.kind {
            PatternKind::Variable(_) if is_parameter => format!("({})", self.pattern(pattern, false)),
            PatternKind::Variable(symbol) if self.unread.contains(pattern) => self.names.unread(symbol),
            PatternKind::Variable(symbol) => self.names.called(symbol).to_owned(),
            PatternKind::Unit | PatternKind::Error => "()".to_owned(),
            PatternKind::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.part(part)).collect();
                format!("({})", parts.join(", "))
            }
            PatternKind::Typed(..) => format!("({})", self.part(pattern)),
            PatternKind::Record(name, inner) => {
                let record = format!("{}{}", self.names.called(&name.symbol), self.pattern(inner, true));
                if is_parameter { format!("({record})") } else { record }
            }
        }
    }

    /// A pattern between the commas in parentheses.
    fn part(&self, pattern: &Pattern) -> String {
        match &pattern.kind {
            PatternKind::Typed(inner, ty) => format!("{} : {}", self.pattern(inner, false), self.type_text(ty)),
            _ => self.pattern(pattern, false),
        }
    }

    /// An expression that takes all that follows it.
    fn open(&mut self, expression: &Expr) -> String {
        self.expression(expression).0
    }

    /// An expression that is no tuple.
    fn single(&mut self, expression: &Expr) -> String {
        self.at(expression, OPEN)
    }

    /// An expression in parentheses, unless it holds together as tightly as this.
    fn at(&mut self, expression: &Expr, least: u16) -> String {
        let (text, power) = self.expression(expression);
        if power < least { format!("({text})") } else { text }
    }

    fn list(&mut self, parts: &[Expr]) -> String {
        let Some((last, before)) = parts.split_last() else { return String::new() };
        let mut texts: Vec<String> = before.iter().map(|part| self.before_comma(part)).collect();
        texts.push(self.single(last));
        texts.join(", ")
    }

    /// An expression that a comma follows.
    fn before_comma(&mut self, expression: &Expr) -> String {
        if goes_on(expression) { format!("({})", self.open(expression)) } else { self.single(expression) }
    }

    fn expression(&mut self, expression: &Expr) -> Piece {
        let atom = |text: String| (text, ATOM);
        match &expression.kind {
            ExprKind::Literal(value) => literal(*value),
            ExprKind::Text(bytes) => atom(text::string(bytes)),
            ExprKind::Name(symbol) => atom(self.name(symbol)),
            ExprKind::Unit | ExprKind::Error => atom("()".to_owned()),
            ExprKind::Tuple(parts) => (self.list(parts), TUPLE),
            ExprKind::Call { function, argument } => {
                let function = self.at(function, POSTFIX);
                let argument = match argument.kind {
                    ExprKind::Unit => String::new(),
                    _ => self.open(argument),
                };
                (format!("{function}({argument})"), POSTFIX)
            }
            ExprKind::Index { sequence, index } => {
                (format!("{}[{}]", self.at(sequence, POSTFIX), self.single(index)), POSTFIX)
            }
            ExprKind::Unary { op: UnaryOp::Negate, operand, .. } => {
                (format!("-{}", self.at(operand, NEGATION + 1)), NEGATION)
            }
            ExprKind::Unary { op, operand, .. } => {
                let sign = if *op == UnaryOp::Length { "#" } else { "@" };
                (format!("{sign}{}", self.at(operand, PREFIX)), PREFIX)
            }
            ExprKind::Binary { op, left, right, .. } => self.binary(*op, left, right),
            ExprKind::If { condition, then_branch, else_branch } => {
                self.conditional(condition, then_branch, else_branch)
            }
            ExprKind::Let { bindings, body } => self.bound(bindings, body),
            ExprKind::Sequence(elements) => atom(format!("[{}]", self.list(elements))),
            ExprKind::Empty(None) => atom("[]".to_owned()),
            ExprKind::Empty(Some(ty)) => (format!("[] {}", self.type_text(ty)), EMPTY),
            ExprKind::Range { start, end, stride } => {
                let stride = stride.as_deref().map_or_else(String::new, |stride| format!(":{}", self.single(stride)));
                atom(format!("[{}:{}{stride}]", self.single(start), self.single(end)))
            }
            ExprKind::Lambda { parameter, body } => {
                let before = self.scope.len();
                parameter.names(&mut self.scope);
                let text = format!("{} => {}", self.pattern(parameter, false), self.single(body));
                self.scope.truncate(before);
                (text, OPEN)
            }
            ExprKind::Keyword { name, value } => (format!("{} := {}", name.symbol, self.before_comma(value)), OPEN),
            ExprKind::Typed { value, ty } => atom(format!("({} : {})", self.single(value), self.type_text(ty))),
            ExprKind::Each { is_serial, body, sources, filter } => {
                atom(self.each(*is_serial, body.as_deref(), sources, filter.as_deref()))
            }
        }
    }

    fn name(&self, symbol: &Symbol) -> String {
        match symbol.strip_prefix(LIBRARY) {
            Some(name) => name.to_owned(),
            None if self.scope.contains(symbol) => self.names.called(symbol).to_owned(),
            None => symbol.to_string(),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Piece {
        let own = power(op);
        let is_from_right = matches!(op, BinaryOp::Read | BinaryOp::Power);
        let (first, second) = if is_from_right { (own + 1, own) } else { (own, own + 1) };
        let left = self.at(left, first);
        let (right, power) = self.expression(right);
        // What begins with a sign reads better in parentheses.
        let is_apart = power < second || right.starts_with('-');
        let right = if is_apart { format!("({right})") } else { right };
        (format!("{left} {} {right}", op.function()), own)
    }

    fn conditional(&mut self, condition: &Expr, then_branch: &Expr, else_branch: &Expr) -> Piece {
        let condition = self.single(condition);
        let then_branch = self.single(then_branch);
        let else_branch = self.single(else_branch);
        let is_long = condition.len() + then_branch.len() + else_branch.len() > SHORT
            || [&then_branch, &else_branch].iter().any(|branch| branch.contains('\n'));
        let then_break = if then_branch.contains('\n') { "\n" } else { " " };
        // A chain of conditions stands in one column.
        let else_break = if else_branch.contains('\n') && !else_branch.starts_with("if ") { "\n" } else { " " };
        let end = if is_long { "\n" } else { " " };
        (format!("if {condition} then{then_break}{then_branch}{end}else{else_break}{else_branch}"), OPEN)
    }

    fn bound(&mut self, bindings: &[Binding], body: &Expr) -> Piece {
        let mut bindings: Vec<&Binding> = bindings.iter().collect();
        let mut body = body;
        // What follows a binding belongs to the same `let`; and a value needs no name to be given.
        loop {
            match (&body.kind, bindings.last()) {
                (ExprKind::Let { bindings: inner, body: innermost }, _) => {
                    bindings.extend(inner);
                    body = innermost;
                }
                (ExprKind::Name(name), Some(Binding { pattern, value })) if is_variable(pattern, name) => {
                    bindings.pop();
                    body = value;
                }
                _ => break,
            }
        }
        if bindings.is_empty() {
            return self.expression(body);
        }
        let before = self.scope.len();
        let mut texts = Vec::new();
        for Binding { pattern, value } in bindings {
            let value = self.open(value);
            pattern.names(&mut self.scope);
            texts.push(format!("{} = {value}", self.pattern(pattern, false)));
        }
        let body = self.single(body);
        self.scope.truncate(before);
        let is_short = texts.len() == 1 && !texts[0].contains('\n') && texts[0].len() + body.len() < SHORT;
        let end = if is_short { " " } else { "\n" };
        (format!("let {}{end}in {body}", texts.join(";\n")), OPEN)
    }

    fn each(&mut self, is_serial: bool, body: Option<&Expr>, sources: &[Source], filter: Option<&Expr>) -> String {
        let sequences: Vec<Option<String>> =
            sources.iter().map(|source| source.sequence.as_ref().map(|sequence| self.single(sequence))).collect();
        let before = self.scope.len();
        sources.iter().for_each(|source| source.pattern.names(&mut self.scope));
        let sources: Vec<String> = (sources.iter().zip(sequences))
            .map(|(source, sequence)| match sequence {
                Some(sequence) => format!("{} in {sequence}", self.pattern(&source.pattern, false)),
                None => self.pattern(&source.pattern, false),
            })
            .collect();
        let star = if is_serial { "* " } else { "" };
        let body = body.map_or_else(String::new, |body| format!("{} : ", self.open(body)));
        let filter = filter.map_or_else(String::new, |filter| format!(" | {}", self.single(filter)));
        self.scope.truncate(before);
        format!("{{{star}{body}{}{filter}}}", sources.join("; "))
    }
}

/// Whether the last part of an expression goes on across commas.
fn goes_on(expression: &Expr) -> bool {
    match &expression.kind {
        ExprKind::If { .. } | ExprKind::Let { .. } => true,
        ExprKind::Lambda { body, .. } => goes_on(body),
        _ => false,
    }
}

fn literal(value: ScalarValue) -> Piece {
    let power = match value {
        ScalarValue::Int(value) if value < 0 => NEGATION,
        ScalarValue::Float(value) if value.is_sign_negative() => NEGATION,
        _ => ATOM,
    };
    (text::scalar(value), power)
}

/// Whether a pattern is this name and nothing else.
fn is_variable(pattern: &Pattern, name: &Symbol) -> bool {
    matches!(&pattern.kind, PatternKind::Variable(symbol) if symbol == name)
}
