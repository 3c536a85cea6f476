//! Which functions and expressions may draw random numbers.
//!
//! The seed of the random numbers is the one effect of core: `rand` reads and advances it, `rand_seed` sets it. An
//! apply-to-each whose filter or body may touch it gives every instance a seed of its own and advances the seed once; one
//! that cannot touch it leaves the seed alone. That rule is part of the meaning of a program, so the reference evaluator
//! and flattening ask the same analysis, and it must not be made cleverer in one place only. It is syntactic: a call
//! counts, whether or not it is reached. The call of a function value may draw if any function draws that the session uses
//! as a value anywhere ([`Program::function_values`]): which function it is depends on the types of the instance, and one
//! answer for all keeps the analysis one pass.

use super::{Expr, ExprKind, FunctionBody, FunctionId, Intrinsic, Program, walk};

/// The functions of a program that may draw, directly or through calls.
#[derive(Clone, Debug)]
pub struct Draws {
    functions: Vec<bool>,
    /// Whether the call of a function value may draw.
    apply: bool,
}

/// Something that is called.
#[derive(Clone, Copy)]
enum Callee {
    Function(FunctionId),
    /// Some function value.
    Value,
}

impl Draws {
    /// Analyses a program, in time linear in its size: from the two intrinsics backwards over the calls. A function whose
    /// body is missing does not draw.
    pub fn of(program: &Program) -> Draws {
        // One node per function, and one after them for calls of function values, which calls all that are values.
        let values = program.functions.len();
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); values + 1];
        let mut found: Vec<usize> = Vec::new();
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
                FunctionBody::Intrinsic(Intrinsic::Rand | Intrinsic::RandSeed) => found.push(number),
                FunctionBody::Intrinsic(_) | FunctionBody::Missing => {}
            }
        }
        let mut draws = vec![false; values + 1];
        while let Some(function) = found.pop() {
            if !std::mem::replace(&mut draws[function], true) {
                found.append(&mut callers[function]);
            }
        }
        let apply = draws.pop().unwrap_or_default();
        Draws { functions: draws, apply }
    }

    /// Whether the call of a function value may draw.
    pub fn apply(&self) -> bool {
        self.apply
    }

    /// Whether a call of the function may draw.
    ///
    /// # Panics
    /// If the function was added to the program after the analysis.
    pub fn function(&self, id: FunctionId) -> bool {
        self.functions[id.0]
    }

    /// Whether evaluating the expression may draw.
    ///
    /// # Panics
    /// As [`Draws::function`].
    pub fn expr(&self, expr: &Expr) -> bool {
        calls(expr).any(|callee| match callee {
            Callee::Function(id) => self.function(id),
            Callee::Value => self.apply,
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
        let draws = Draws::of(&program(vec![
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
        let found: Vec<bool> = (0..10).map(|number| draws.function(FunctionId(number))).collect();
        assert_eq!(found, [true, false, true, true, false, false, false, false, true, true]);
        assert!(draws.expr(&call(4, call(9, zero()))));
        assert!(!draws.expr(&call(4, call(7, zero()))));
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
        let draws = Draws::of(&program);
        assert!(!draws.apply() && !draws.function(FunctionId(3)) && !draws.expr(&apply));
        program.function_values.insert(FunctionId(0));
        let draws = Draws::of(&program);
        assert!(draws.apply() && draws.function(FunctionId(3)) && draws.expr(&apply));
    }

    #[test]
    fn long_chains_of_bindings_need_no_stack() {
        let mut chain = zero();
        for _ in 0..2_000 {
            chain =
                expr(ExprKind::Let { variable: variable(0), value: Box::new(call(1, zero())), body: Box::new(chain) });
        }
        let draws = Draws::of(&program(vec![
            FunctionBody::Intrinsic(Intrinsic::Rand),
            FunctionBody::Intrinsic(Intrinsic::Length),
        ]));
        assert!(!draws.expr(&chain));
    }
}
