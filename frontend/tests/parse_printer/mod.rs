//! Trees as text with every parenthesis, for tests that compare shapes and not spans.

#![allow(dead_code, reason = "every test binary uses some of it")]

use nesl_frontend::ast::{
    Expr, ExprKind, Pattern, PatternKind, Source, TopLevel, TopLevelKind, TypeExpr, TypeExprKind,
};
use nesl_frontend::syntax::nesl::parser;
use nesl_span::{FileId, Origin, SourceMap};

/// The shape of one expression, which must be free of mistakes.
pub fn shape(text: &str) -> String {
    let (expr, diagnostics) = parser::parse_expression(FileId(0), text);
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:#?}");
    expression(&expr.expect(text))
}

/// The shapes of the forms of a text that must be free of mistakes.
pub fn shapes(text: &str) -> Vec<String> {
    let parsed = parser::parse(FileId(0), text);
    assert!(parsed.diagnostics.is_empty(), "{text}: {:#?}", parsed.diagnostics);
    parsed.forms.iter().map(form).collect()
}

/// The rendered diagnostics of a text, under the text.
pub fn report(text: &str) -> String {
    let mut sources = SourceMap::default();
    let file = sources.add("test.nesl", text, Origin::User);
    let parsed = parser::parse(file, text);
    assert!(!parsed.diagnostics.is_empty(), "no error in {text}");
    let messages =
        parsed.diagnostics.iter().map(|diagnostic| nesl_frontend::render::render(diagnostic, &sources, false));
    format!("{text}\n{}\n{}", "-".repeat(60), messages.collect::<Vec<_>>().join("\n"))
}

/// The codes of the diagnostics of a text.
pub fn codes(text: &str) -> Vec<&'static str> {
    parser::parse(FileId(0), text).diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

pub fn form(form: &TopLevel) -> String {
    match &form.kind {
        TopLevelKind::Expression(value) => expression(value),
        TopLevelKind::Assignment { pattern: bound, value } => format!("{} = {}", pattern(bound), expression(value)),
        TopLevelKind::Import(import) => match &import.alias {
            Some(alias) => format!("import {:?} as {}", import.path, alias.symbol),
            None => format!("import {:?}", import.path),
        },
        TopLevelKind::Error => "error".into(),
        TopLevelKind::Datatype(datatype) => {
            let mut out = format!("datatype {} {}", datatype.name.symbol, type_expr(&datatype.payload.type_expr));
            for (variable, class) in &datatype.payload.context {
                out += &format!(" :: {} in {}", variable.symbol, class.symbol);
            }
            out
        }
        TopLevelKind::Function(function) => {
            let mut out = format!("function {} {}", function.name.symbol, pattern(&function.parameter));
            for keyword in &function.keywords {
                let ty = keyword.ty.as_ref().map_or(String::new(), |ty| format!(" : {}", type_expr(ty)));
                out += &format!(" {}{ty} := {}", keyword.name.symbol, expression(&keyword.default));
            }
            if let Some(signature) = &function.signature {
                out += &format!(" : {}", type_expr(&signature.type_expr));
                for (variable, class) in &signature.context {
                    out += &format!(" :: {} in {}", variable.symbol, class.symbol);
                }
            }
            if let Some(doc) = &function.doc {
                out += &format!(" {doc:?}");
            }
            if let Some(body) = &function.body {
                out += &format!(" = {}", expression(body));
            }
            out
        }
    }
}

pub fn pattern(node: &Pattern) -> String {
    match &node.kind {
        PatternKind::Variable(symbol) => symbol.to_string(),
        PatternKind::Unit => "()".into(),
        PatternKind::Tuple(parts) => format!("({})", parts.iter().map(pattern).collect::<Vec<_>>().join(", ")),
        PatternKind::Record(name, parts) => format!("{}<{}>", name.symbol, pattern(parts)),
        PatternKind::Typed(inner, ty) => format!("[{} : {}]", pattern(inner), type_expr(ty)),
        PatternKind::Error => "error".into(),
    }
}

pub fn type_expr(node: &TypeExpr) -> String {
    match &node.kind {
        TypeExprKind::Scalar(scalar) => scalar.name().into(),
        TypeExprKind::Unit => "()".into(),
        TypeExprKind::Name(name) => name.symbol.to_string(),
        TypeExprKind::Record(name, arguments) => {
            format!("{}<{}>", name.symbol, arguments.iter().map(type_expr).collect::<Vec<_>>().join(", "))
        }
        TypeExprKind::Sequence(element) => format!("[{}]", type_expr(element)),
        TypeExprKind::Tuple(parts) => format!("({})", parts.iter().map(type_expr).collect::<Vec<_>>().join(", ")),
        TypeExprKind::Function(argument, result) => format!("({} -> {})", type_expr(argument), type_expr(result)),
        TypeExprKind::Error => "error".into(),
    }
}

fn list(items: &[Expr]) -> String {
    items.iter().map(expression).collect::<Vec<_>>().join(", ")
}

fn source(node: &Source) -> String {
    match &node.sequence {
        Some(sequence) => format!("{} in {}", pattern(&node.pattern), expression(sequence)),
        None => pattern(&node.pattern),
    }
}

pub fn expression(node: &Expr) -> String {
    match &node.kind {
        ExprKind::Literal(value) => nesl_prim::text::scalar(*value),
        ExprKind::Text(bytes) => nesl_prim::text::string(bytes),
        ExprKind::Name(symbol) => symbol.to_string(),
        ExprKind::Unit => "()".into(),
        ExprKind::Tuple(parts) => format!("({})", list(parts)),
        ExprKind::Call { function, argument } => format!("{}<{}>", expression(function), expression(argument)),
        ExprKind::Index { sequence, index } => format!("{}[{}]", expression(sequence), expression(index)),
        ExprKind::Unary { op, operand, .. } => format!("({} {})", op.function(), expression(operand)),
        ExprKind::Binary { op, left, right, .. } => {
            format!("({} {} {})", expression(left), op.function(), expression(right))
        }
        ExprKind::If { condition, then_branch, else_branch } => {
            let (condition, then_branch) = (expression(condition), expression(then_branch));
            format!("(if {condition} then {then_branch} else {})", expression(else_branch))
        }
        ExprKind::Let { bindings, body } => {
            let binding = |(bound, value): (&Pattern, &Expr)| format!("{} = {}", pattern(bound), expression(value));
            let bindings: Vec<_> = bindings.iter().map(|node| binding((&node.pattern, &node.value))).collect();
            format!("(let {} in {})", bindings.join("; "), expression(body))
        }
        ExprKind::Sequence(elements) => format!("[{}]", list(elements)),
        ExprKind::Empty(None) => "[]".into(),
        ExprKind::Empty(Some(element)) => format!("([] {})", type_expr(element)),
        ExprKind::Range { start, end, stride } => match stride {
            None => format!("[{} : {}]", expression(start), expression(end)),
            Some(stride) => format!("[{} : {} : {}]", expression(start), expression(end), expression(stride)),
        },
        ExprKind::Lambda { parameter, body } => format!("({} => {})", pattern(parameter), expression(body)),
        ExprKind::Keyword { name, value } => format!("({} := {})", name.symbol, expression(value)),
        ExprKind::Typed { value, ty } => format!("[{} : {}]", expression(value), type_expr(ty)),
        ExprKind::Each { is_serial, body, sources, filter } => {
            let star = if *is_serial { "* " } else { "" };
            let body = body.as_ref().map_or(String::new(), |body| format!("{} : ", expression(body)));
            let filter = filter.as_ref().map_or(String::new(), |filter| format!(" | {}", expression(filter)));
            format!("{{{star}{body}{}{filter}}}", sources.iter().map(source).collect::<Vec<_>>().join("; "))
        }
        ExprKind::Error => "error".into(),
    }
}
