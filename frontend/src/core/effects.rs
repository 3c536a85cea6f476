//! What functions and expressions do besides giving a value.
//!
//! Three things ([`Effect`]): they draw random numbers, print, or act on the world outside. They are part of the
//! meaning of a program, so the reference evaluator and flattening ask the same analysis, and it must not be made
//! cleverer in one place only:
//!
//! * The seed of the random numbers is state: `rand` reads and advances it, `rand_seed` sets it. An apply-to-each whose
//!   filter or body may touch it gives every instance a seed of its own and advances the seed once; one that cannot
//!   touch it leaves the seed alone.
//! * What the instances of an apply-to-each print appears when it ends, in the order of the elements; nothing of it if
//!   it fails.
//! * Files, streams, processes and the clock are for serial code: inside an apply-to-each they are an error, which
//!   flattening finds.
//!
//! The analysis is syntactic: a call counts, whether or not it is reached. The call of a function value may do what any
//! function does that the session uses as a value anywhere ([`Program::function_values`]): which function it is depends
//! on the types of the instance, and one answer for all keeps the analysis one pass.

use super::{Expr, ExprKind, FunctionBody, FunctionId, Intrinsic, Program, walk};
use nesl_prim::HostOp;

/// What something does besides giving a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// It may touch the seed of the random numbers.
    pub draws: bool,
    /// It may print.
    pub prints: bool,
    /// It may act on the world outside in other ways.
    pub acts: bool,
}

impl Effect {
    /// Whether it does anything but giving a value.
    pub fn any(self) -> bool {
        self != Effect::default()
    }

    /// What two parts do together.
    #[must_use]
    pub fn and(self, other: Effect) -> Effect {
        Effect { draws: self.draws || other.draws, prints: self.prints || other.prints, acts: self.acts || other.acts }
    }

    /// What a built-in operation does.
    pub fn of(intrinsic: Intrinsic) -> Effect {
        let none = Effect::default();
        match intrinsic {
            Intrinsic::Rand | Intrinsic::RandSeed => Effect { draws: true, ..none },
            Intrinsic::Host(name) if name == HostOp::Print.row().mnemonic => Effect { prints: true, ..none },
            // The end of the program is a failure like any other: it may happen wherever it is reached.
            Intrinsic::Host(name) if name == HostOp::Fail.row().mnemonic => none,
            Intrinsic::Host(_) | Intrinsic::WriteObject | Intrinsic::ReadObject => Effect { acts: true, ..none },
            _ => none,
        }
    }
}

/// The effects of the functions of a program, directly or through calls.
#[derive(Clone, Debug)]
pub struct Effects {
    functions: Vec<Effect>,
    /// The effect of calling a function value.
    apply: Effect,
}

/// Something that is called.
#[derive(Clone, Copy)]
enum Callee {
    Function(FunctionId),
    /// Some function value.
    Value,
}

impl Effects {
    /// Analyses a program, in time linear in its size: from the intrinsics backwards over the calls. A function whose
    /// body is missing does nothing.
    pub fn of(program: &Program) -> Effects {
        // One node per function, and one after them for calls of function values, which calls all that are values.
        let values = program.functions.len();
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); values + 1];
        let mut found: Vec<(usize, Effect)> = Vec::new();
        for value in &program.function_values {
            callers[value.0].push(values);
        }
        for (number, function) in program.functions.iter().enumerate() {
            match &function.body {
                FunctionBody::Defined { body, .. } => {
                    for callee in calls(body) {
                        let callee = match callee {
                            Callee::Function(id) => id.0,
                            Callee::Value => values,
                        };
                        callers[callee].push(number);
                    }
                }
                FunctionBody::Intrinsic(intrinsic) => found.push((number, Effect::of(*intrinsic))),
                FunctionBody::Missing => {}
            }
        }
        let mut effects = vec![Effect::default(); values + 1];
        while let Some((function, effect)) = found.pop() {
            let known = effects[function];
            let all = known.and(effect);
            // Three times at most.
            if all != known {
                effects[function] = all;
                found.extend(callers[function].iter().map(|&caller| (caller, all)));
            }
        }
        let apply = effects.pop().unwrap_or_default();
        Effects { functions: effects, apply }
    }

    /// The effect of calling a function value.
    pub fn apply(&self) -> Effect {
        self.apply
    }

    /// The effect of a call of the function.
    ///
    /// # Panics
    /// If the function was added to the program after the analysis.
    pub fn function(&self, id: FunctionId) -> Effect {
        self.functions[id.0]
    }

    /// The effect of evaluating the expression.
    ///
    /// # Panics
    /// As [`Effects::function`].
    pub fn expr(&self, expr: &Expr) -> Effect {
        calls(expr).fold(Effect::default(), |effect, callee| {
            effect.and(match callee {
                Callee::Function(id) => self.function(id),
                Callee::Value => self.apply,
            })
        })
    }
}

/// What is called anywhere in an expression, once per call.
fn calls(expr: &Expr) -> impl Iterator<Item = Callee> {
    walk::parts(expr).filter_map(|part| match &part.kind {
        ExprKind::Call { function, .. } => Some(Callee::Function(*function)),
        ExprKind::Apply { .. } => Some(Callee::Value),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Function, Variable, VariableId};
    use crate::ty::{Scheme, Type};
    use nesl_prim::ScalarValue;
    use nesl_span::{FileId, Span};
    use std::sync::Arc;

    const SPAN: Span = Span { file: FileId(0), start: 0, end: 0 };

    fn expr(kind: ExprKind) -> Expr {
        Expr { kind, ty: Type::INT, span: SPAN }
    }

    fn call(function: usize, argument: Expr) -> Expr {
        let argument = Box::new(argument);
        expr(ExprKind::Call { function: FunctionId(function), type_arguments: Vec::new(), argument })
    }

    fn zero() -> Expr {
        expr(ExprKind::Literal(ScalarValue::Int(0)))
    }

    fn variable(id: usize) -> Variable {
        Variable { id: VariableId(id), name: "x".into(), ty: Type::INT }
    }

    fn defined(body: Expr) -> FunctionBody {
        FunctionBody::Defined { parameter: variable(0), body: Arc::new(body) }
    }

    fn program(bodies: Vec<FunctionBody>) -> Program {
        let scheme = Scheme { classes: Vec::new(), parameter: Type::INT, result: Type::INT };
        let function = |body| Function {
            name: "f".into(),
            span: SPAN,
            scheme: scheme.clone(),
            parameters: Vec::new(),
            keywords: Vec::new(),
            body,
            doc: None,
        };
        Program { functions: bodies.into_iter().map(function).collect(), variables: 1, ..Program::default() }
    }

    #[test]
    fn drawing_travels_through_calls_and_recursion_but_not_to_callees() {
        let each = expr(ExprKind::Each {
            sources: vec![(variable(1), zero())],
            filter: Some(Box::new(call(0, zero()))),
            body: Box::new(zero()),
        });
        let branches = expr(ExprKind::If {
            condition: Box::new(zero()),
            then_branch: Box::new(call(3, zero())),
            else_branch: Box::new(call(2, call(4, zero()))),
        });
        let effects = Effects::of(&program(vec![
            FunctionBody::Intrinsic(Intrinsic::Rand),
            FunctionBody::Intrinsic(Intrinsic::Length),
            defined(each),
            defined(branches), // calls itself, a drawing function and an innocent one
            defined(call(1, zero())),
            defined(call(6, zero())), // two that only call each other
            defined(call(5, zero())),
            FunctionBody::Missing,
            FunctionBody::Intrinsic(Intrinsic::RandSeed),
            defined(call(3, zero())),
        ]));
        let found: Vec<bool> = (0..10).map(|number| effects.function(FunctionId(number)).draws).collect();
        assert_eq!(found, [true, false, true, true, false, false, false, false, true, true]);
        assert!(effects.expr(&call(4, call(9, zero()))).draws);
        assert!(!effects.expr(&call(4, call(7, zero()))).draws);
        assert!((0..10).all(|number| !effects.function(FunctionId(number)).prints));
    }

    #[test]
    fn effects_are_told_apart_and_add_up() {
        let effects = Effects::of(&program(vec![
            FunctionBody::Intrinsic(Intrinsic::Host("print")),
            FunctionBody::Intrinsic(Intrinsic::Host("read")),
            FunctionBody::Intrinsic(Intrinsic::Host("fail")),
            FunctionBody::Intrinsic(Intrinsic::Rand),
            defined(call(0, call(5, zero()))),
            defined(call(3, call(4, zero()))),
            defined(call(1, call(2, zero()))),
        ]));
        let none = Effect::default();
        let both = Effect { draws: true, prints: true, acts: false };
        let expected = [
            Effect { prints: true, ..none },
            Effect { acts: true, ..none },
            none,
            Effect { draws: true, ..none },
            both,
            both,
            Effect { acts: true, ..none },
        ];
        for (number, expected) in expected.into_iter().enumerate() {
            assert_eq!(effects.function(FunctionId(number)), expected, "function {number}");
        }
    }

    #[test]
    fn calls_of_function_values_draw_if_any_value_does() {
        let apply = expr(ExprKind::Apply { function: Box::new(zero()), argument: Box::new(zero()) });
        let mut program = program(vec![
            FunctionBody::Intrinsic(Intrinsic::Rand),
            FunctionBody::Intrinsic(Intrinsic::Length),
            defined(apply.clone()),
            defined(call(2, zero())),
        ]);
        program.function_values.insert(FunctionId(1));
        let effects = Effects::of(&program);
        assert!(!effects.apply().any() && !effects.function(FunctionId(3)).any() && !effects.expr(&apply).any());
        program.function_values.insert(FunctionId(0));
        let effects = Effects::of(&program);
        assert!(effects.apply().draws && effects.function(FunctionId(3)).draws && effects.expr(&apply).draws);
    }

    #[test]
    fn long_chains_of_bindings_need_no_stack() {
        let mut chain = zero();
        for _ in 0..2_000 {
            chain =
                expr(ExprKind::Let { variable: variable(0), value: Box::new(call(1, zero())), body: Box::new(chain) });
        }
        let effects = Effects::of(&program(vec![
            FunctionBody::Intrinsic(Intrinsic::Rand),
            FunctionBody::Intrinsic(Intrinsic::Length),
        ]));
        assert!(!effects.expr(&chain).any());
    }
}
