//! Core with one thing changed: the verifier finds every change that changes a type, and what its text says is read
//! back whatever is changed in it.

use nesl_frontend::core::verify::{Verified, verify};
use nesl_frontend::core::{
    Expr, ExprKind, Form, Function, FunctionBody, FunctionId, Intrinsic, Program, Variable, VariableId, parse, print,
    walk,
};
use nesl_frontend::ty::Type;
use nesl_frontend::{Options, Session};
use nesl_prim::{HostOp, ScalarValue};
use nesl_span::{Origin, SourceMap};
use std::sync::Arc;

/// What the library does not have: function values with captured values of several types, records, defaults.
const TEXT: &str = "
    function qs(a) = if #a < 2 then a else let p = a[#a/2]; r = {qs(v) : v in [{e in a | e < p}, {e in a | e > p}]}
      in r[0] ++ {e in a | e == p} ++ r[1];
    function mk(n) = (y => y + n); function compose(g, h) = (x => g(h(x))); h = mk(3);
    function use(v) = {compose(mk(x), h)(x) : x in v | compose(float, mk(x))(x) > 1.5};
    function swap((a, b), c) = (c, (b, a)); swap((1, t), \"x\");
    datatype foo (int, float); datatype bar (a, [a], b -> b) :: (a in number; b in any);
    function parts(bar(a, v, g), foo(i, x)) = (x, i, [g(i)], a, v, []); parts(bar(1.5, [], mk(2)), foo(1, 2.0));
    function df(a, (b, c), d := 3, e := []) = if a > 0 then df(a - 1, (b, c)) else (b, c, d, e); df(1, 2, 3);
    function pairs(v, w) = {(y, (x, i)) : (x, i) in v; y in w | i > 0 or y == \"\"};
    function constants(n) = ([1, 2], \"ab\", [1.5], [t, f], 'a, (), [n]);
";

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        if all.is_empty() { None } else { Some(&all[self.below(all.len())]) }
    }
}

fn session() -> Session {
    let mut sources = SourceMap::default();
    let mut session = Session::new(&mut sources);
    let file = sources.add("test.nesl", TEXT.replace("'a,", "`a,"), Origin::User);
    let checked = session.check(&sources, file, Options::default());
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    session
}

/// The `index`th expression in an expression, in the order of a walk over all.
fn nth<'a>(expr: &'a mut Expr, index: &mut usize) -> Option<&'a mut Expr> {
    if *index == 0 {
        return Some(expr);
    }
    *index -= 1;
    walk::direct_parts_mut(expr).into_iter().find_map(|part| nth(part, index))
}

/// The variables that an expression binds.
fn bound(expr: &Expr) -> Vec<Variable> {
    walk::parts(expr)
        .flat_map(|part| match &part.kind {
            ExprKind::Let { variable, .. } => vec![variable.clone()],
            ExprKind::Each { sources, .. } => sources.iter().map(|(variable, _)| variable.clone()).collect(),
            _ => Vec::new(),
        })
        .collect()
}

/// Another type than this one.
fn other(ty: &Type) -> Type {
    match ty {
        Type::Identity(identity) if identity.function == usize::MAX => Type::INT,
        Type::Identity(_) => Type::nobody(),
        Type::Scalar(_) => Type::sequence(ty.clone()),
        _ => Type::INT,
    }
}

fn literal(ty: &Type) -> Expr {
    let value = if *ty == Type::INT { ScalarValue::Bool(true) } else { ScalarValue::Int(1) };
    let span = nesl_span::Span { file: nesl_span::FileId(0), start: 0, end: 0 };
    Expr { kind: ExprKind::Literal(value), ty: Type::Scalar(value.scalar_type()), span }
}

/// Changes one thing about an expression so that a type changes; what it was, or nothing if that cannot be done here.
fn change(expr: &mut Expr, program: &Program, variables: &[Variable], numbers: &mut Numbers) -> Option<&'static str> {
    let what = numbers.below(4);
    if what == 0 {
        expr.ty = other(&expr.ty);
        return Some("the type of an expression");
    }
    match &mut expr.kind {
        ExprKind::Variable(id) => {
            let others: Vec<VariableId> =
                (variables.iter()).filter(|variable| variable.ty != expr.ty).map(|variable| variable.id).collect();
            *id = *numbers.pick(&others)?;
            Some("a variable")
        }
        ExprKind::Literal(value) => {
            *value = if expr.ty == Type::INT { ScalarValue::Float(1.0) } else { ScalarValue::Int(1) };
            Some("a literal")
        }
        ExprKind::Constants(values) => {
            let last = values.len().checked_sub(1)?;
            let mut changed = values.to_vec();
            changed[last] = match changed[last] {
                ScalarValue::Int(_) => ScalarValue::Bool(true),
                _ => ScalarValue::Int(1),
            };
            *values = changed.into();
            Some("a constant")
        }
        ExprKind::Pair(first, rest) if first.ty != rest.ty => {
            std::mem::swap(first, rest);
            Some("the order of a pair")
        }
        ExprKind::First(pair) => {
            let Type::Pair(first, rest) = &pair.ty else { return None };
            if first == rest {
                return None;
            }
            expr.kind = ExprKind::Rest(pair.clone());
            Some("which part it is")
        }
        ExprKind::Let { variable, .. } => {
            variable.ty = other(&variable.ty);
            Some("the type of a binding")
        }
        ExprKind::If { condition, then_branch, else_branch } => {
            let part = [condition, then_branch, else_branch].into_iter().nth(what - 1)?;
            **part = literal(&part.ty);
            Some("a part of an if")
        }
        ExprKind::Sequence(elements) if elements.len() > 1 => {
            let last = elements.last_mut()?;
            *last = literal(&last.ty);
            Some("an element")
        }
        ExprKind::Call { function, type_arguments, .. } | ExprKind::Closure { function, type_arguments, .. } => {
            if what == 1 && !type_arguments.is_empty() {
                let index = numbers.below(type_arguments.len());
                let scheme = &program.function(*function).scheme;
                let instance =
                    |arguments: &[Type]| [&scheme.parameter, &scheme.result].map(|ty| ty.instantiate(arguments));
                let before = instance(type_arguments);
                type_arguments[index] = other(&type_arguments[index]);
                // The default of a parameter need not mention all type parameters that it has.
                return (instance(type_arguments) != before).then_some("a type argument");
            }
            let id = FunctionId(numbers.below(program.functions.len()));
            let (old, new) = (&program.function(*function).scheme, &program.function(id).scheme);
            let is_same =
                |types: [&Type; 2]| types[0].instantiate(type_arguments) == types[1].instantiate(type_arguments);
            if old.classes.len() == new.classes.len()
                && is_same([&old.parameter, &new.parameter])
                && is_same([&old.result, &new.result])
            {
                return None;
            }
            *function = id;
            Some("a function")
        }
        ExprKind::Apply { argument, .. } => {
            **argument = literal(&argument.ty);
            Some("an argument")
        }
        ExprKind::Construct(part) | ExprKind::Payload(part) => {
            **part = literal(&part.ty);
            Some("a payload")
        }
        ExprKind::Each { sources, filter, body } => match (what, filter) {
            (1, Some(filter)) => {
                **filter = literal(&Type::BOOL);
                Some("a filter")
            }
            (2, _) => {
                let (variable, _) = sources.last_mut()?;
                variable.ty = other(&variable.ty);
                Some("the type of an element")
            }
            _ => {
                **body = literal(&body.ty);
                Some("a body")
            }
        },
        _ => None,
    }
}

#[test]
fn the_verifier_finds_every_change_of_a_type() {
    let mut program = session().program().clone();
    let before = Verified::all(&program);
    let mut numbers = Numbers(2026);
    let mut counts = std::collections::BTreeMap::new();
    for _ in 0..10_000 {
        // As many of the text above as of the library.
        let start = if numbers.below(2) == 0 { 0 } else { program.functions.len() - 40 };
        let id = FunctionId(start + numbers.below(program.functions.len() - start));
        let FunctionBody::Defined { parameter, body } = program.function(id).body.clone() else { continue };
        let mut changed = Expr::clone(&body);
        let mut variables = bound(&body);
        variables.push(parameter.clone());
        let mut index = numbers.below(walk::parts(&body).count());
        let Some(place) = nth(&mut changed, &mut index) else { panic!("no such part") };
        let Some(what) = change(place, &program, &variables, &mut numbers) else { continue };
        let changed = FunctionBody::Defined { parameter: parameter.clone(), body: Arc::new(changed) };
        program.functions[id.0].body = changed;
        let found = verify(&program, &[Form::Function(id)], before);
        assert!(found.is_err(), "{what} in {}", print::function(id, &program));
        program.functions[id.0].body = FunctionBody::Defined { parameter, body };
        *counts.entry(what).or_insert(0) += 1;
    }
    assert!(counts.len() == 16 && counts.values().all(|count| *count > 3), "{counts:?}");
}

#[test]
fn a_changed_scheme_is_found_where_the_function_is_and_where_it_is_called() {
    let session = session();
    let mut numbers = Numbers(7);
    for _ in 0..200 {
        let mut program = session.program().clone();
        let index = numbers.below(program.functions.len());
        // What ends the program may have any result.
        let ends = [HostOp::Fail, HostOp::Exit].map(|op| Intrinsic::Host(op.row().mnemonic));
        let is_end = matches!(&program.functions[index].body, FunctionBody::Intrinsic(own) if ends.contains(own));
        let scheme = &mut program.functions[index].scheme;
        // A type that nothing has.
        let strange = (0..9).fold(Type::FLOAT, |ty, _| Type::sequence(ty));
        let is_result = numbers.below(2) == 0;
        if is_result {
            scheme.result = strange;
        } else {
            scheme.parameter = strange;
        }
        let callers = program.functions.iter().filter(|function| {
            let mentions = function.expression().map(walk::mentions);
            mentions.into_iter().flatten().any(|(callee, _)| callee.0 == index)
        });
        let wrong: Vec<String> = callers.map(|function| format!("function {}@", function.name)).collect();
        let found = verify(&program, &[], Verified::default()).err().unwrap_or_default();
        assert_eq!(found.is_empty(), is_end && is_result && wrong.is_empty());
        for wrong in wrong {
            assert!(found.iter().any(|found| found.within.starts_with(&wrong)), "{wrong}");
        }
    }
}

/// Any text with a few of its words changed is read or refused; what is read is printed as it can be read, and verified
/// or found wrong.
#[test]
fn changed_texts_are_read_or_refused() {
    let mut program = session().program().clone();
    let shown = |function: &Function| match &function.body {
        FunctionBody::Defined { parameter, body } => {
            let (ty, span) = (parameter.ty.clone(), body.span);
            let argument = Box::new(Expr { kind: ExprKind::Unit, ty: Type::Unit, span });
            let kind = ExprKind::Call { function: FunctionId(usize::MAX >> 33), type_arguments: Vec::new(), argument };
            let value = Box::new(Expr { kind, ty, span });
            let kind = ExprKind::Let { variable: parameter.clone(), value, body: Box::new(Expr::clone(body)) };
            Some(print::form(&Form::Expression(Arc::new(Expr { kind, ty: body.ty.clone(), span })), &program))
        }
        _ => None,
    };
    let texts: Vec<String> = program.functions.iter().filter_map(shown).collect();
    let mut numbers = Numbers(41);
    let (mut read, mut right) = (0, 0);
    for round in 0..4_000 {
        let Some(text) = numbers.pick(&texts) else { panic!("no functions") };
        let is_letter = |character: char| character.is_alphanumeric();
        let mut tokens: Vec<&str> = text.split_inclusive(|character| !is_letter(character)).collect();
        for _ in 0..round % 3 {
            let (from, to) = (numbers.below(tokens.len()), numbers.below(tokens.len()));
            match numbers.below(3) {
                0 => tokens[to] = tokens[from],
                1 => tokens.swap(from, to),
                _ => drop(tokens.remove(from)),
            }
        }
        let Ok(form) = parse::form(&tokens.concat(), &mut program) else { continue };
        read += 1;
        let text = print::form(&form, &program);
        let again = parse::form(&text, &mut program).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(print::form(&again, &program), text);
        right += usize::from(verify(&program, &[form], Verified::all(&program)).is_ok());
    }
    assert!(read > 1_000, "only {read} were read");
    assert!(right < read);
}
