//! Core is well typed: a small checker of core over the library and over programs that use every construct.

use nesl_frontend::core::{Expr, ExprKind, Form, FunctionBody, Program, Variable, VariableId};
use nesl_frontend::ty::{Class, Type};
use nesl_frontend::{Options, Session};
use nesl_span::{Origin, SourceMap};
use std::collections::{HashMap, HashSet};

/// What is bound where, and what has been bound anywhere.
struct Checker<'a> {
    program: &'a Program,
    scope: HashMap<VariableId, Type>,
    bound: HashSet<VariableId>,
}

impl Checker<'_> {
    fn bind(&mut self, variable: &Variable) {
        assert!(self.bound.insert(variable.id), "{} is bound twice", variable.name);
        assert!(variable.id.0 < self.program.variables, "{} has no number", variable.name);
        self.scope.insert(variable.id, variable.ty.clone());
    }

    fn unbind(&mut self, variable: &Variable) {
        self.scope.remove(&variable.id);
    }

    fn check(&mut self, expression: &Expr) {
        let ty = &expression.ty;
        match &expression.kind {
            ExprKind::Literal(value) => assert_eq!(*ty, Type::Scalar(value.scalar_type())),
            ExprKind::Constants(values) => {
                let Type::Sequence(element) = ty else { panic!("constants of type {ty}") };
                for value in values.iter() {
                    assert_eq!(**element, Type::Scalar(value.scalar_type()));
                }
            }
            ExprKind::Variable(id) => assert_eq!(self.scope.get(id), Some(ty), "a variable out of scope"),
            ExprKind::Global(id) => assert_eq!(self.program.global(*id).ty, *ty),
            ExprKind::Pair(first, rest) => {
                self.check(first);
                self.check(rest);
                assert_eq!(*ty, Type::pair(first.ty.clone(), rest.ty.clone()));
            }
            ExprKind::First(pair) | ExprKind::Rest(pair) => {
                self.check(pair);
                let Type::Pair(first, rest) = &pair.ty else { panic!("a projection of {}", pair.ty) };
                let is_first = matches!(expression.kind, ExprKind::First(_));
                assert_eq!(ty, &**if is_first { first } else { rest });
            }
            ExprKind::Construct(payload) => {
                self.check(payload);
                assert_eq!(ty.payload().as_ref(), Some(&payload.ty));
            }
            ExprKind::Payload(record) => {
                self.check(record);
                assert_eq!(record.ty.payload().as_ref(), Some(ty));
            }
            ExprKind::Closure { function, type_arguments, captured } => {
                assert!(self.program.function_values.contains(function));
                let identity = ty.identity().expect("a closure whose function is not known");
                assert_eq!((identity.function, &identity.type_arguments), (function.0, type_arguments));
                for variable in captured {
                    assert!(matches!(variable.kind, ExprKind::Variable(_)));
                    self.check(variable);
                }
                let types: Vec<Type> = captured.iter().map(|variable| variable.ty.clone()).collect();
                assert_eq!(identity.captured, types);
                let Type::Function(own) = ty else { panic!("a closure of type {ty}") };
                let scheme = &self.program.function(*function).scheme;
                assert_eq!(type_arguments.len(), scheme.classes.len());
                let parameter = match identity.captured_tuple() {
                    Some(captured) => Type::pair(captured, own.parameter.clone()),
                    None => own.parameter.clone(),
                };
                assert_eq!(scheme.parameter.instantiate(type_arguments), parameter);
                assert_eq!(scheme.result.instantiate(type_arguments), own.result);
            }
            ExprKind::Apply { function, argument } => {
                self.check(function);
                self.check(argument);
                let Type::Function(called) = &function.ty else { panic!("a call of type {}", function.ty) };
                assert_eq!((&called.parameter, &called.result), (&argument.ty, ty));
            }
            ExprKind::Let { variable, value, body } => {
                self.check(value);
                assert_eq!(value.ty, variable.ty);
                self.bind(variable);
                self.check(body);
                assert_eq!(body.ty, *ty);
                self.unbind(variable);
            }
            ExprKind::If { condition, then_branch, else_branch } => {
                for part in [condition, then_branch, else_branch] {
                    self.check(part);
                }
                assert_eq!((&condition.ty, &then_branch.ty, &else_branch.ty), (&Type::BOOL, ty, ty));
            }
            ExprKind::Sequence(elements) => {
                for element in elements {
                    self.check(element);
                    assert_eq!(*ty, Type::sequence(element.ty.clone()));
                }
            }
            ExprKind::Call { function, type_arguments, argument } => {
                self.check(argument);
                let function = self.program.function(*function);
                assert_eq!(type_arguments.len(), function.scheme.classes.len());
                for (class, argument) in function.scheme.classes.iter().zip(type_arguments) {
                    match argument {
                        Type::Scalar(scalar) => {
                            assert!(class.scalars().contains(scalar), "{argument} in {}", class.name());
                        }
                        Type::Parameter(_) => {}
                        Type::Identity(_) => assert_eq!(*class, Class::Function),
                        _ => assert_eq!(*class, Class::Any),
                    }
                }
                assert_eq!(argument.ty, function.scheme.parameter.instantiate(type_arguments), "{}", function.name);
                assert_eq!(*ty, function.scheme.result.instantiate(type_arguments), "{}", function.name);
            }
            ExprKind::Each { sources, filter, body } => {
                for (variable, sequence) in sources {
                    self.check(sequence);
                    assert_eq!(sequence.ty, Type::sequence(variable.ty.clone()));
                }
                for (variable, _) in sources {
                    self.bind(variable);
                }
                if let Some(filter) = filter {
                    self.check(filter);
                    assert_eq!(filter.ty, Type::BOOL);
                }
                self.check(body);
                assert_eq!(*ty, Type::sequence(body.ty.clone()));
                for (variable, _) in sources {
                    self.unbind(variable);
                }
            }
        }
    }
}

/// Checks all functions of a program and these forms.
fn check(program: &Program, forms: &[Form]) {
    let mut checker = Checker { program, scope: HashMap::new(), bound: HashSet::new() };
    for function in &program.functions {
        match &function.body {
            FunctionBody::Defined { parameter, body } => {
                assert_eq!(parameter.ty, function.scheme.parameter, "{}", function.name);
                assert_eq!(body.ty, function.scheme.result, "{}", function.name);
                checker.bind(parameter);
                checker.check(body);
                checker.unbind(parameter);
            }
            FunctionBody::Intrinsic(_) => {}
            FunctionBody::Missing => panic!("{} has no body", function.name),
        }
    }
    for form in forms {
        match form {
            Form::Function(_) => {}
            Form::Expression(value) => checker.check(value),
            Form::Assignment { targets, value } => {
                checker.check(value);
                for (id, path) in targets {
                    let mut ty = value.ty.clone();
                    for is_rest in path {
                        while let Some(payload) = ty.payload() {
                            ty = payload;
                        }
                        let Type::Pair(first, rest) = &ty else { panic!("no part in {ty}") };
                        ty = Type::clone(if *is_rest { rest } else { first });
                    }
                    let wanted = &program.global(*id).ty;
                    while ty != *wanted {
                        ty = ty.payload().expect("a part of another type");
                    }
                }
            }
        }
    }
}

#[test]
fn the_library_and_programs_are_well_typed_core() {
    let mut sources = SourceMap::default();
    let session = Session::new(&mut sources);
    check(session.program(), &[]);
    for text in [
        "function qs(a) = if #a < 2 then a else let p = a[#a/2]; l = {e in a | e < p}; m = {e in a | e == p}; \
         g = {e in a | e > p}; r = {qs(v) : v in [l,g]} in r[0] ++ m ++ r[1]; qs([3, 1, 2]); qs(\"nesl\");",
        "function even(n, x) = if n == 0 then [x] else odd(n - 1, x); \
         function odd(n, x) = if n == 0 then [] else even(n - 1, x); even(4, `a); odd(3, (1, 2.0));",
        "function p(n) = if n == 0 then 0 else #q(n - 1, []); function q(n, v) = if p(n) == 0 then v else v; \
         q(3, \"ab\"); p(2);",
        "{(y, x) : (x, (y, z)) in [(1, (2.0, t))]; w in [f] | z or w};",
        "{{(a, b) in [(x, y)] | a < b} : (x, y) in [(1, 2)] | any({u == x : (u, v) in [(1, y)] | v > 0})};",
        "function third(a, b, c) = c; third(1, 2, `c); function swap((a, b), c) = (c, (b, a)); swap((1, t), \"x\");",
        "(a, b), c = ((1, 2.5), []); {a * x : x in c};",
        "let (x, (y, z)) = (1, (2, 3)); x = x + y in [x:z * 10:y];",
        "function empty(v) : [a] -> [[a]] :: (a in number) = [[], v, [] a] ++ [[]]; empty([1.5]); #[]; [([], t)];",
        "x = 1; y = x + 1; x = 2.5; function g(v) = {w + x : w in v}; g([float(y)]);",
        "function mk(n) = (y => y + n); h = mk(3); {mk(x)(h(x)) : x in [1, 2]}; mk(1.5)(2.0);",
        "function papply(fn, v) = {fn(x) : x in v}; papply(abs, [1]); papply('max, [(1, 2)]); papply((x => [x]), \"a\");",
        "function compose(g, h) = (x => g(h(x))); compose(sqrt, float)(16); {compose(negate, y => y + x)(x) : x in [1]};",
        "{(z => (w => z + x * w))(y) : (x, y) in [(1, 2)] | (z => z > x)(y)}; x => y => (x, y); (a, b) => (c => (a, b, c));",
        "function tab(v) = {(x => x + i) : i in v}; {g(10) : g in tab([1, 2])}; [tab([1.5]), []];",
        "datatype foo (int, int); datatype bar (a, [a], b -> b) :: (a in number; b in any); foo(p, _) = foo(1, 2); \
         let bar(a, v, g) = bar(1.5, [], x => x + p) in ({g(y) : y in [1]}, a, v); {a : bar(a, _, _g) in [bar(1, [2], abs)]}; \
         {foo(a, b) in [foo(1, 2)] | a < b}; function fst(foo(a, _)) = a; {fst(z) : z in [foo(3, 4)]};",
        "function df(a, (b, c), d := 3, e := []) = if a > 0 then df(a - 1, (b, c)) else (b, c, d, e); df(1, 2, 3); \
         let p = (2, 3) in df(1, p, d := 5); (g => g(1, 2.0, t))(df); {df(i, (i, i), e := [i]) : i in [1]};",
        "function ping(n) = if n == 0 then 1 else pong(n - 1)(n); function pong(n) = if n == 0 then ping else ping; ping(3);",
        "function cap(g, x) = (y => g(x) + y); function cap2(g, x) = cap(cap(g, x), x); cap2(abs, 1)(2); cap2(negate, 2)(3);",
        "function poly(v) = let n = #v; e = [] in (w => (#e + n, w)); poly(\"a\")(t); poly([1])(1.5); identity(poly([2]));",
        "function rec(n) = if n == 0 then [] else [n] ++ rec(n - 1); sum(rec(3)); -(-(3)); - sum([1, - 2]);",
    ] {
        let file = sources.add("test.nesl", text, Origin::User);
        let mut session = session.clone();
        let checked = session.check(&sources, file, Options { bind_it: text.len() % 2 == 0 });
        assert!(!checked.has_errors(), "{text}: {:?}", checked.diagnostics);
        check(session.program(), &checked.forms);
    }
}
