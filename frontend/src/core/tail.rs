//! Tail calls: which calls end their function, and which of them are steps of a loop.
//!
//! A call *ends* its function where its value is the function's: at the end of the body, through `let`, `if`, records,
//! and the right side of `and` and `or` on bools. It is a *step* where the function can come back to itself by calls
//! that end functions alone. Steps are part of the meaning of a program, as they cost no depth: the reference evaluator
//! and flattening ask the same analysis. Calls of function values are none.

use super::{Expr, ExprKind, FunctionBody, FunctionId, Intrinsic, Program};
use crate::ty::Type;
use nesl_prim::cycles::components;

/// Which functions can come back to which others by calls that end functions.
#[derive(Clone, Debug)]
pub struct Steps {
    components: Vec<usize>,
}

impl Steps {
    /// Those of a program.
    pub fn of(program: &Program) -> Steps {
        let callees = |index: usize| match &program.functions[index].body {
            FunctionBody::Defined { body, .. } => ends(program, body).map(|callee| callee.0).collect(),
            FunctionBody::Intrinsic(_) | FunctionBody::Missing => Vec::new(),
        };
        Steps { components: components(program.functions.len(), callees) }
    }

    /// Whether a call of a function that ends another is a step.
    ///
    /// # Panics
    /// If one of them was added to the program after the analysis.
    pub fn is_step(&self, caller: FunctionId, callee: FunctionId) -> bool {
        self.components[caller.0] == self.components[callee.0]
    }

    /// How many calls of a function are steps where an expression ends another.
    pub fn count(&self, program: &Program, expr: &Expr, caller: FunctionId, callee: FunctionId) -> usize {
        ends(program, expr).filter(|&end| end == callee && self.is_step(caller, end)).count()
    }

    /// Whether there is a step where an expression ends a function.
    pub fn has_step(&self, program: &Program, expr: &Expr, caller: FunctionId) -> bool {
        ends(program, expr).any(|callee| self.is_step(caller, callee))
    }
}

/// The sides of `and` and `or` on bools, of which the right one is evaluated where the left one does not decide.
pub fn connective<'a>(program: &Program, expr: &'a Expr) -> Option<(&'static str, &'a Expr, &'a Expr)> {
    let ExprKind::Call { function, argument, .. } = &expr.kind else { return None };
    let FunctionBody::Intrinsic(Intrinsic::Scalar(source @ ("and" | "or"))) = program.function(*function).body else {
        return None;
    };
    match &argument.kind {
        ExprKind::Pair(left, right) if expr.ty == Type::BOOL => Some((source, left, right)),
        _ => None,
    }
}

/// The functions whose calls end a function that an expression ends.
fn ends<'a>(program: &'a Program, expr: &'a Expr) -> impl Iterator<Item = FunctionId> + 'a {
    let mut waiting = vec![expr];
    std::iter::from_fn(move || {
        while let Some(expr) = waiting.pop() {
            match &expr.kind {
                ExprKind::Let { body, .. } => waiting.push(body),
                ExprKind::If { then_branch, else_branch, .. } => waiting.extend([&**then_branch, &**else_branch]),
                ExprKind::Construct(inner) | ExprKind::Payload(inner) => waiting.push(inner),
                ExprKind::Call { function, .. } => match connective(program, expr) {
                    Some((_, _, right)) => waiting.push(right),
                    None => return Some(*function),
                },
                _ => {}
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::parse;

    const TEXT: &str = "
function and : (a, a) -> a :: (a in logical) = built in
function or : (a, a) -> a :: (a in logical) = built in
function + : (a, a) -> a :: (a in number) = built in
function loop : int -> int = λn#0. let m#1 = loop(n#0) in if t then loop(m#1) else +[int](loop(1), 2)
function there : int -> int = λn#2. if t then back(n#2) else loop(n#2)
function back : int -> int = λn#3. let m#4 = 1 in there(m#4)
function both : int -> bool = λn#5. and[bool](both(n#5), or[bool](both(n#5), both(n#5)))
function bits : int -> int = λn#6. and[int](bits(n#6), bits(n#6))
function value called : int -> int = λn#7. apply closure called{}(n#7)
";

    /// How many calls of a function are steps where another ends.
    fn steps(caller: &str, callee: &str) -> usize {
        let program = parse::program(TEXT).unwrap_or_else(|error| panic!("{error}"));
        let number = |name| program.functions.iter().position(|function| &*function.name == name);
        let [caller, callee] = [caller, callee].map(|name| FunctionId(number(name).expect("a function")));
        let body = program.function(caller).expression().expect("a body");
        let steps = Steps::of(&program);
        assert_eq!(steps.has_step(&program, body, caller), ends(&program, body).any(|end| steps.is_step(caller, end)));
        steps.count(&program, body, caller, callee)
    }

    #[test]
    fn calls_that_end_a_function_and_come_back_to_it_are_steps() {
        assert_eq!(steps("loop", "loop"), 1);
        assert_eq!((steps("there", "back"), steps("back", "there")), (1, 1));
        // That one does not come back.
        assert_eq!(steps("there", "loop"), 0);
    }

    #[test]
    fn the_right_side_of_a_connective_ends_a_function_on_bools_alone() {
        assert_eq!(steps("both", "both"), 1);
        assert_eq!(steps("bits", "bits"), 0);
        assert_eq!(steps("called", "called"), 0);
    }
}
