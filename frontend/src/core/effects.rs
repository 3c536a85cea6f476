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
use crate::ty::Type;
use nesl_prim::HostOp;
use std::collections::HashSet;

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

impl Effects {
    /// Whether an expression is evaluated for what it does alone: its value is the `t` of a function of the library
    /// that prints, writes or sets the seed, whatever way it takes through `let`, `if` and functions. Nobody wants to
    /// see it.
    ///
    /// # Panics
    /// As [`Effects::function`].
    pub fn is_for_effect(&self, program: &Program, expr: &Expr) -> bool {
        let mut waiting = vec![expr];
        let mut seen = HashSet::new();
        while let Some(expr) = waiting.pop() {
            match &expr.kind {
                ExprKind::Let { body, .. } => waiting.push(body),
                ExprKind::If { then_branch, else_branch, .. } => waiting.extend([&**then_branch, &**else_branch]),
                ExprKind::Call { function, .. } if program.is_of_library(*function) => {
                    // What has no effect has a value that says something; those with one give `t` if they give a bool.
                    if expr.ty != Type::BOOL || !self.function(*function).any() {
                        return false;
                    }
                }
                // A call that comes back to itself gives what its other ways give.
                ExprKind::Call { function, .. } => match program.function(*function).expression() {
                    Some(body) if seen.insert(*function) => waiting.push(body),
                    Some(_) => {}
                    None => return false,
                },
                _ => return false,
            }
        }
        true
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
    use crate::core::{Form, parse};

    /// Functions with every effect, and some that only use others. `first` and `last` only call each other.
    const TEXT: &str = "
function rand : int -> int = built in
function length : [int] -> int = built in
function rand_seed : int -> bool = built in
function host_print : [char] -> bool = built in
function host_read : [char] -> ([char], [char]) = built in
function host_fail : [char] -> int = built in
function later : int -> int = missing
function each : [int] -> [int] = λv#0. {each x#1 in v#0 | ==(rand(x#1), 0) : x#1}
function branches : int -> int = λn#2. if t then branches(n#2) else length(each([n#2]))
function innocent : int -> int = λn#3. length([n#3])
function first : int -> int = λn#4. last(n#4)
function last : int -> int = λn#5. first(n#5)
function caller : int -> int = λn#6. branches(n#6)
function prints : int -> int = λn#7. if host_print(\"x\") then caller(n#7) else 0
function reads : [char] -> int = λs#8. host_fail(host_read(s#8).first)
function == : (int, int) -> bool = built in
function applied : (int -> int by nobody) -> int = λg#9. apply g#9(1)
function applies : int -> int = λn#10. applied(closure innocent{})
";

    /// The program, with these functions used as values.
    fn program(values: &[&str]) -> Program {
        let mut text = TEXT.to_owned();
        for value in values {
            text = text.replace(&format!("function {value} :"), &format!("function value {value} :"));
        }
        parse::program(&text).unwrap_or_else(|error| panic!("{error}"))
    }

    fn effect(program: &Program, name: &str) -> Effect {
        let id = program.functions.iter().position(|function| &*function.name == name);
        Effects::of(program).function(FunctionId(id.unwrap_or_else(|| panic!("no {name}"))))
    }

    fn expr_effect(text: &str, program: &mut Program) -> Effect {
        match parse::form(text, program) {
            Ok(Form::Expression(value)) => Effects::of(program).expr(&value),
            other => panic!("{other:?}"),
        }
    }

    const NONE: Effect = Effect { draws: false, prints: false, acts: false };
    const DRAWS: Effect = Effect { draws: true, ..NONE };
    const ACTS: Effect = Effect { acts: true, ..NONE };

    #[test]
    fn effects_travel_through_calls_and_recursion_but_not_to_callees() {
        let mut program = program(&[]);
        for (name, expected) in [
            ("rand", DRAWS),
            ("rand_seed", DRAWS),
            ("length", NONE),
            ("each", DRAWS),
            ("branches", DRAWS),
            ("caller", DRAWS),
            ("innocent", NONE),
            ("first", NONE),
            ("last", NONE),
            ("later", NONE),
            ("host_print", Effect { prints: true, ..NONE }),
            ("host_fail", NONE),
            ("prints", Effect { prints: true, ..DRAWS }),
            ("reads", ACTS),
        ] {
            assert_eq!(effect(&program, name), expected, "{name}");
        }
        assert_eq!(expr_effect("show innocent(caller(0))", &mut program), DRAWS);
        assert_eq!(expr_effect("show innocent(later(0))", &mut program), NONE);
    }

    #[test]
    fn calls_of_function_values_do_what_any_value_does() {
        let apply = "show apply closure length{}(constants[1])";
        for (values, expected) in [(&["length"][..], NONE), (&["length", "rand"], DRAWS), (&["reads"], ACTS)] {
            let mut program = program(values);
            assert_eq!(Effects::of(&program).apply(), expected);
            assert_eq!((effect(&program, "applies"), expr_effect(apply, &mut program)), (expected, expected));
        }
    }

    #[test]
    fn long_chains_of_bindings_need_no_stack() {
        use crate::core::{Expr, ExprKind, Variable, VariableId};
        let mut program = program(&[]);
        let Ok(Form::Expression(call)) = parse::form("show innocent(0)", &mut program) else { panic!("no form") };
        let mut chain = Expr::clone(&call);
        for _ in 0..2_000 {
            let (ty, span) = (call.ty.clone(), call.span);
            let variable = Variable { id: VariableId(0), name: "x".into(), ty: ty.clone() };
            let kind = ExprKind::Let { variable, value: Box::new(Expr::clone(&call)), body: Box::new(chain) };
            chain = Expr { kind, ty, span };
        }
        assert!(!Effects::of(&program).expr(&chain).any());
    }
}
