//! Expressions, except for operators.

use super::operators::{ATOM, CONDITIONAL, PREFIX, parenthesised};
use super::types::empty;
use super::{Piece, Printer, Sort};
use crate::ast::{Expr, ExprKind, PatternKind, Source};
use crate::ty;
use nesl_prim::{ScalarType, ScalarValue, text};
use nesl_span::Span;

impl Printer<'_> {
    pub(super) fn expression(&mut self, expression: &Expr) -> Piece {
        let span = expression.span;
        match &expression.kind {
            ExprKind::Literal(value) => literal(*value),
            ExprKind::Text(bytes) => (text::string(bytes), ATOM),
            ExprKind::Name(symbol) => self.name(symbol, span),
            ExprKind::Unit => self.cannot("V has no value that holds nothing", span, "leave it out"),
            ExprKind::Tuple(_) => {
                self.no_tuples(span);
                ("0".to_owned(), ATOM)
            }
            ExprKind::Call { function, argument } => self.call(function, argument, span),
            ExprKind::Index { sequence, index } => {
                (format!("{}[{}]", self.at(sequence, ATOM), self.expression(index).0), ATOM)
            }
            ExprKind::Unary { op, operand, .. } => self.unary(*op, operand),
            ExprKind::Binary { op, op_span, left, right } => self.binary(*op, *op_span, left, right),
            ExprKind::If { condition, then_branch, else_branch } => {
                let condition = self.at(condition, CONDITIONAL + 1);
                // Only one of them is evaluated: nothing of them can stand before.
                let hoists = std::mem::replace(&mut self.inside.hoists, false);
                let (first, second) = (self.expression(then_branch).0, self.expression(else_branch).0);
                self.inside.hoists = hoists;
                (format!("{condition} ? {first} : {second}"), CONDITIONAL)
            }
            ExprKind::Let { bindings, body } => match self.inside.hoists {
                true => {
                    bindings.iter().for_each(|binding| self.binding(binding));
                    self.expression(body)
                }
                false => self.part(expression),
            },
            ExprKind::Sequence(elements) => {
                let elements: Vec<String> = elements.iter().map(|element| self.expression(element).0).collect();
                (format!("[{}]", elements.join(", ")), ATOM)
            }
            ExprKind::Empty(element) => (empty(element.as_ref()), ATOM),
            ExprKind::Range { start, end, stride } => self.range(start, end, stride.as_deref()),
            ExprKind::Lambda { parameter, body } => self.lambda(parameter, body, span),
            ExprKind::Keyword { .. } => {
                let hint = "make it a parameter like the others, and pass it in each call";
                self.cannot("V has no arguments by name", span, hint)
            }
            ExprKind::Each { is_serial: true, .. } => {
                let hint = "in V it is a `for` loop; in NESL a function that calls itself can be said in both";
                self.cannot("an apply-to-each of V has no order", span, hint)
            }
            ExprKind::Each { body, sources, filter, .. } => {
                self.each(body.as_deref(), sources, filter.as_deref(), span)
            }
            ExprKind::Typed { value, .. } => self.expression(value),
            ExprKind::Error => ("0".to_owned(), ATOM),
        }
    }

    fn name(&mut self, symbol: &str, span: Span) -> Piece {
        let plain = |text: &str| (text.to_owned(), ATOM);
        let Some(meaning) = self.meaning(span) else { return plain(symbol) };
        match meaning.sort {
            Sort::Local => plain(self.inside.locals.get(&meaning.definition).map_or(symbol, String::as_str)),
            Sort::Global => plain(self.tops.get(&meaning.definition).map_or(symbol, String::as_str)),
            Sort::Function | Sort::Datatype => {
                if !symbol.starts_with(|first: char| first.is_alphabetic() || first == '_') {
                    let hint = "V passes functions by their names: write one that does this";
                    return self.cannot("an operator is no function in V", span, hint);
                }
                let types = meaning.ty.clone().zip(meaning.result.clone());
                let own = types.and_then(|(parameter, result)| {
                    let (parameter, result) = (self.instantiated(&parameter), self.instantiated(&result));
                    self.instance(meaning.definition, &parameter, &result)
                });
                (own.unwrap_or_else(|| symbol.to_owned()), ATOM)
            }
        }
    }

    fn call(&mut self, function: &Expr, argument: &Expr, span: Span) -> Piece {
        let ExprKind::Name(symbol) = &function.kind else {
            let hint = "V calls functions by their names: call it with all of its arguments at once";
            return self.cannot("this function has no name", function.span, hint);
        };
        let meaning = self.meaning(function.span);
        if meaning.is_some_and(|meaning| meaning.sort == Sort::Local || meaning.sort == Sort::Global) {
            let hint = "write a function for each that is passed";
            return self.cannot("functions are no values in V", function.span, hint);
        }
        let definition = meaning.map(|meaning| meaning.definition);
        if definition.is_some_and(|definition| self.meanings.defaulted.contains(&definition)) {
            let hint = "write a function that has no defaults";
            return self.cannot(format!("V has no defaults, and `{symbol}` has some"), span, hint);
        }
        let arguments = match &argument.kind {
            ExprKind::Unit => &[],
            ExprKind::Tuple(parts) => parts.as_slice(),
            _ => std::slice::from_ref(argument),
        };
        let is_own = definition.is_some_and(|definition| self.tops.contains_key(&definition));
        if !is_own
            && let [one] = arguments
            && let Some(piece) = self.converted(symbol, one)
        {
            return piece;
        }
        if !is_own
            && &**symbol == "rem"
            && let [first, second] = arguments
        {
            let own = 1 + crate::syntax::v::parser::power("%");
            return (format!("{} % {}", self.at(first, own), self.at(second, own + 1)), own);
        }
        let texts: Vec<String> = arguments.iter().map(|argument| self.expression(argument).0).collect();
        let texts = texts.join(", ");
        if let Some(definition) = definition.filter(|definition| self.fields.contains_key(definition)) {
            let name = self.tops.get(&definition).cloned().unwrap_or_default();
            return (format!("(struct {name}){{{texts}}}"), ATOM);
        }
        let (name, _) = self.name(symbol, function.span);
        (format!("{name}({texts})"), ATOM)
    }

    /// What is a cast or an operator in V.
    fn converted(&mut self, function: &str, operand: &Expr) -> Option<Piece> {
        let to = match function {
            "btoi" | "trunc" | "char_code" => "(int) ",
            "float" => "(double) ",
            "code_char" => "(char) ",
            "not" => match self.type_of(operand) {
                Some(ty::Type::Scalar(ScalarType::Int)) => "~",
                Some(_) => "!",
                None => return None,
            },
            _ => return None,
        };
        Some((format!("{to}{}", self.at(operand, PREFIX)), PREFIX))
    }

    fn range(&mut self, start: &Expr, end: &Expr, stride: Option<&Expr>) -> Piece {
        let (first, last) = (self.expression(start).0, self.expression(end).0);
        let text = match stride {
            Some(stride) => format!("iseq({first}, {}, {last})", self.expression(stride).0),
            None if first == "0" => format!("index({last})"),
            None => format!("iseq({first}, 1, {last})"),
        };
        (text, ATOM)
    }

    pub(super) fn each(&mut self, body: Option<&Expr>, sources: &[Source], filter: Option<&Expr>, span: Span) -> Piece {
        let mut generators = Vec::new();
        for source in sources {
            generators.extend(self.generators(&source.pattern, source.sequence.as_ref()));
        }
        let hoists = std::mem::replace(&mut self.inside.hoists, false);
        let mut texts = Vec::new();
        let mut names = Vec::new();
        for (pattern, text) in generators {
            let name = match &pattern.kind {
                PatternKind::Variable(symbol) => {
                    let name = self.fresh(symbol);
                    self.bind(pattern.span, name.clone());
                    name
                }
                PatternKind::Record(record, inner) => {
                    let name = self.fresh(record.symbol.get(..1).unwrap_or("r"));
                    self.fields_of(record, inner, &name);
                    name
                }
                _ => {
                    self.no_tuples(pattern.span);
                    continue;
                }
            };
            texts.push(format!("{name} in {text}"));
            names.push(name);
        }
        let body = match body {
            Some(body) => self.expression(body),
            None if matches!(
                sources.first().map(|source| &source.pattern.bare().kind),
                Some(PatternKind::Tuple(_))
            ) =>
            {
                self.no_tuples(span);
                ("0".to_owned(), ATOM)
            }
            None => (names.first().cloned().unwrap_or_default(), ATOM),
        };
        // A colon follows it.
        let body = parenthesised(body, CONDITIONAL + 1);
        let filter = filter.map_or_else(String::new, |filter| format!(" : {}", self.at(filter, CONDITIONAL + 1)));
        self.inside.hoists = hoists;
        // They mean nothing behind it.
        for name in &names {
            self.inside.used.remove(name);
        }
        (format!("[{body} : {}{filter}]", texts.join("; ")), ATOM)
    }
}

fn literal(value: ScalarValue) -> Piece {
    match value {
        ScalarValue::Int(value) if value < 0 => (value.to_string(), PREFIX),
        ScalarValue::Int(value) => (value.to_string(), ATOM),
        ScalarValue::Float(value) if value.is_sign_negative() => (text::float(value), PREFIX),
        ScalarValue::Float(value) => (text::float(value), ATOM),
        ScalarValue::Bool(value) => (value.to_string(), ATOM),
        ScalarValue::Char(code) => {
            let written = match code {
                b'\'' => "\\'".to_owned(),
                b'\\' => "\\\\".to_owned(),
                b'\n' => "\\n".to_owned(),
                b'\t' => "\\t".to_owned(),
                b' '..=b'~' => char::from(code).to_string(),
                other => format!("\\x{other:02x}"),
            };
            (format!("'{written}'"), ATOM)
        }
    }
}
