//! One evaluation in progress: the walk over expressions, calls and apply-to-each.

use super::intrinsics;
use super::order::{self, Place, Runs, Turn, part};
use super::value::{Closure, Value};
use super::{EvalError, Globals};
use crate::core::effects::Effects;
use crate::core::tail::{self, Steps};
use crate::core::{Expr, ExprKind, FunctionBody, FunctionId, Intrinsic, Program, Variable, VariableId};
use crate::ty::Type;
use nesl_prim::{Failure, Host, ScalarOp, ScalarValue, eval, meaning};
use nesl_span::Span;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Errors are boxed because every level of recursion holds room for one.
pub(super) type Evaluated = Result<Value, Box<EvalError>>;

/// A call that is a step of a loop, with its argument: it takes the place of the function that it ends.
struct Step {
    function: FunctionId,
    type_arguments: Vec<Type>,
    argument: Value,
    /// Where it stands among the steps of the body, if that is asked for.
    turn: Turn,
}

/// What becomes of an expression.
enum Outcome {
    Value(Value),
    Step(Box<Step>),
}

/// What one evaluation reads and changes.
pub(super) struct Machine<'a> {
    pub(super) program: &'a Program,
    pub(super) effects: &'a Effects,
    pub(super) steps: &'a Steps,
    pub(super) host: &'a mut dyn Host,
    /// What the apply-to-each in progress has printed so far.
    pub(super) printed: Option<Vec<u8>>,
    pub(super) globals: &'a Globals,
    /// The current seed of the random numbers.
    pub(super) seed: i64,
    /// The most calls that may be in progress at once.
    pub(super) call_limit: u64,
    /// The steps of loops that may still be taken.
    pub(super) steps_left: u64,
    /// Ends the evaluation when it is set.
    pub(super) interrupt: &'a AtomicBool,
    /// The calls in progress.
    pub(super) calls: u64,
    /// The apply-to-eaches in progress.
    pub(super) eaches: u64,
    /// The address below which the thread's stack must not grow.
    pub(super) stack_end: usize,
}

/// One activation of a function, or of the expression that is evaluated.
pub(super) struct Frame {
    /// What the type parameters of the function stand for: types without parameters.
    type_arguments: Vec<Type>,
    /// Whether the function may draw; if not, no apply-to-each in it does.
    draws: bool,
    /// The variables in scope, innermost last.
    variables: Vec<(VariableId, Value)>,
}

impl Frame {
    /// The activation of a top-level expression.
    pub(super) fn top(draws: bool) -> Frame {
        Frame { type_arguments: Vec::new(), draws, variables: Vec::new() }
    }

    fn variable(&self, id: VariableId) -> Value {
        match self.variables.iter().rev().find(|(bound, _)| *bound == id) {
            Some((_, value)) => value.clone(),
            None => panic!("ill-formed core: variable {} is not bound", id.0),
        }
    }
}

/// An address in the current activation on the thread's stack. The stack grows downwards on every platform Rust has.
#[inline(never)]
pub(super) fn stack_address() -> usize {
    let marker = 0u8;
    std::ptr::from_ref(&marker).addr()
}

fn error(failure: Failure, span: Span) -> Box<EvalError> {
    Box::new(EvalError { failure, span, calls: Vec::new(), place: Place::default() })
}

impl Machine<'_> {
    /// The value of an expression.
    pub(super) fn expression(&mut self, frame: &mut Frame, expr: &Expr) -> Evaluated {
        match self.outcome(frame, expr, None)? {
            Outcome::Value(value) => Ok(value),
            Outcome::Step(_) => unreachable!("only what ends a function is a step"),
        }
    }

    /// What becomes of an expression, which ends a function if there is one.
    fn outcome(&mut self, frame: &mut Frame, expr: &Expr, ends: Option<FunctionId>) -> Result<Outcome, Box<EvalError>> {
        // The parts that the loop has taken, the outermost first.
        let mut taken = Vec::new();
        self.outcome_in(frame, expr, ends, &mut taken).map_err(|mut error| {
            error.place.enter_all(&taken);
            error
        })
    }

    /// The same. The bodies of bindings and the branches of conditionals are taken by the loop, so that they need no
    /// stack; after a failure the frame is used again only with the variables that were there before.
    fn outcome_in(
        &mut self,
        frame: &mut Frame,
        expr: &Expr,
        ends: Option<FunctionId>,
        taken: &mut Vec<usize>,
    ) -> Result<Outcome, Box<EvalError>> {
        if stack_address() < self.stack_end {
            return Err(error(Failure::RecursionTooDeep { depth: self.calls }, expr.span));
        }
        if self.interrupt.load(Relaxed) {
            return Err(error(Failure::Interrupted, expr.span));
        }
        let outer = frame.variables.len();
        let mut expr = expr;
        let value = loop {
            match &expr.kind {
                ExprKind::Let { variable, value, body } => {
                    let value = part(0, self.expression(frame, value))?;
                    frame.variables.push((variable.id, value));
                    taken.push(1);
                    expr = body;
                }
                ExprKind::If { condition, then_branch, else_branch } => {
                    let holds = part(0, self.expression(frame, condition))?.as_bool();
                    taken.push(if holds { 1 } else { 2 });
                    expr = if holds { then_branch } else { else_branch };
                }
                ExprKind::Literal(scalar) => break Value::Scalar(*scalar),
                ExprKind::Unit => break Value::Unit,
                ExprKind::Constants(scalars) => break Value::sequence(scalars.iter().copied().map(Value::Scalar)),
                ExprKind::Variable(id) => break frame.variable(*id),
                ExprKind::Global(id) => match self.globals.get(id) {
                    Some(value) => break value.clone(),
                    None => panic!("global {} has no value", self.program.global(*id).name),
                },
                ExprKind::Pair(first, rest) => {
                    let first = part(0, self.expression(frame, first))?;
                    break Value::pair(first, part(1, self.expression(frame, rest))?);
                }
                ExprKind::First(pair) => break self.expression(frame, pair)?.as_pair().0.clone(),
                ExprKind::Rest(pair) => break self.expression(frame, pair)?.as_pair().1.clone(),
                // A record is its payload under another type.
                ExprKind::Construct(inner) | ExprKind::Payload(inner) => expr = inner,
                ExprKind::Sequence(elements) => break self.sequence(frame, elements)?,
                ExprKind::Closure { function, type_arguments, captured } => {
                    break self.closure(frame, *function, type_arguments, captured)?;
                }
                ExprKind::Apply { function, argument } => {
                    let function = part(0, self.expression(frame, function))?;
                    let argument = part(1, self.expression(frame, argument))?;
                    break part(2, self.apply_value(function.as_function(), argument, expr.span))?;
                }
                ExprKind::Call { function, type_arguments, argument } => {
                    if let Some((source, left, right)) = tail::connective(self.program, expr).filter(|_| ends.is_some())
                    {
                        let left = part(0, self.expression(frame, left))?;
                        if left.as_bool() == (source == "or") {
                            break left;
                        }
                        taken.push(1);
                        expr = right;
                        continue;
                    }
                    if let Some(caller) = ends.filter(|&caller| self.steps.is_step(caller, *function)) {
                        let argument = part(0, self.expression(frame, argument))?;
                        let type_arguments = type_arguments.iter().map(|ty| ty.instantiate(&frame.type_arguments));
                        let (function, type_arguments) = (*function, type_arguments.collect());
                        let turn = match self.eaches {
                            0 => Turn::default(),
                            _ => order::turn(self.program, self.steps, caller, expr),
                        };
                        return Ok(Outcome::Step(Box::new(Step { function, type_arguments, argument, turn })));
                    }
                    break self.call(frame, expr.span, *function, type_arguments, argument)?;
                }
                ExprKind::Each { sources, filter, body } => {
                    break self.each(frame, expr.span, sources, filter.as_deref(), body)?;
                }
            }
        };
        frame.variables.truncate(outer);
        Ok(Outcome::Value(value))
    }

    fn sequence(&mut self, frame: &mut Frame, elements: &[Expr]) -> Evaluated {
        let mut values = Vec::with_capacity(elements.len());
        for (position, element) in elements.iter().enumerate() {
            values.push(part(position, self.expression(frame, element))?);
        }
        Ok(Value::sequence(values))
    }

    /// A function value: the function at concrete types, with the tuple of what it captures.
    fn closure(
        &mut self,
        frame: &mut Frame,
        function: FunctionId,
        type_arguments: &[Type],
        captured: &[Expr],
    ) -> Evaluated {
        let mut values = Vec::with_capacity(captured.len());
        for (position, one) in captured.iter().enumerate() {
            values.push(part(position, self.expression(frame, one))?);
        }
        let captured = values.into_iter().rev().reduce(|rest, first| Value::pair(first, rest));
        let type_arguments = type_arguments.iter().map(|ty| ty.instantiate(&frame.type_arguments)).collect();
        Ok(Value::Function(Arc::new(Closure { function, type_arguments, captured })))
    }

    fn apply_value(&mut self, closure: &Closure, argument: Value, span: Span) -> Evaluated {
        let argument = match &closure.captured {
            Some(captured) => Value::pair(captured.clone(), argument),
            None => argument,
        };
        self.apply(closure.function, closure.type_arguments.clone(), argument, span)
    }

    fn call(
        &mut self,
        frame: &mut Frame,
        span: Span,
        function: FunctionId,
        type_arguments: &[Type],
        argument: &Expr,
    ) -> Evaluated {
        let body = &self.program.function(function).body;
        if let FunctionBody::Intrinsic(Intrinsic::Scalar(source @ ("and" | "or"))) = body
            && let ExprKind::Pair(left, right) = &argument.kind
        {
            return self.connective(frame, span, source, left, right);
        }
        let argument = part(0, self.expression(frame, argument))?;
        let type_arguments = type_arguments.iter().map(|ty| ty.instantiate(&frame.type_arguments)).collect();
        part(1, self.apply(function, type_arguments, argument, span))
    }

    /// `left and right`, `left or right`: on bools the right side is evaluated only where the left does not decide.
    fn connective(
        &mut self,
        frame: &mut Frame,
        span: Span,
        source: &'static str,
        left: &Expr,
        right: &Expr,
    ) -> Evaluated {
        let left = part(0, self.expression(frame, left))?;
        if let Value::Scalar(ScalarValue::Bool(decided)) = left
            && decided == (source == "or")
        {
            return Ok(left);
        }
        let operand = Value::pair(left, part(1, self.expression(frame, right))?);
        intrinsics::scalar(source, &operand).map_err(|failure| error(failure, span))
    }

    /// The result of a function. Failures of an intrinsic are at `span`, those of a defined function where they arose.
    pub(super) fn apply(
        &mut self,
        function: FunctionId,
        type_arguments: Vec<Type>,
        argument: Value,
        span: Span,
    ) -> Evaluated {
        let definition = self.program.function(function);
        match &definition.body {
            FunctionBody::Defined { parameter, body } => {
                if self.calls >= self.call_limit {
                    return Err(error(Failure::RecursionTooDeep { depth: self.call_limit }, span));
                }
                self.calls += 1;
                let mut step = Step { function, type_arguments, argument, turn: Turn::default() };
                // Those that an apply-to-each is around.
                let mut turns = Runs::default();
                let (mut parameter, mut body) = (parameter, body);
                let result = loop {
                    let Step { function, type_arguments, argument, .. } = step;
                    let draws = self.effects.function(function).draws;
                    let mut frame = Frame { type_arguments, draws, variables: vec![(parameter.id, argument)] };
                    step = match self.outcome(&mut frame, body, Some(function)) {
                        Ok(Outcome::Value(value)) => break Ok(value),
                        Ok(Outcome::Step(_)) if self.steps_left == 0 => break Err(error(Failure::Interrupted, span)),
                        Ok(Outcome::Step(next)) => *next,
                        Err(mut error) => {
                            error.place.after(&turns);
                            break Err(error);
                        }
                    };
                    self.steps_left -= 1;
                    if self.eaches > 0 {
                        turns.push(step.turn);
                    }
                    match &self.program.function(step.function).body {
                        FunctionBody::Defined { parameter: next, body: next_body } => {
                            (parameter, body) = (next, next_body)
                        }
                        _ => unreachable!("what has no body does not come back"),
                    }
                };
                self.calls -= 1;
                result.map_err(|mut error| {
                    error.calls.push(span);
                    error
                })
            }
            FunctionBody::Intrinsic(intrinsic) => {
                let result = match intrinsic {
                    Intrinsic::Rand => self.rand(&argument),
                    Intrinsic::RandSeed => {
                        self.seed = argument.as_int();
                        Ok(Value::bool(true))
                    }
                    Intrinsic::WriteObject | Intrinsic::ReadObject => {
                        let parameter = definition.scheme.parameter.instantiate(&type_arguments);
                        self.object(*intrinsic == Intrinsic::ReadObject, &argument, &parameter)
                    }
                    Intrinsic::Host(name) => {
                        let parameter = definition.scheme.parameter.instantiate(&type_arguments);
                        self.outside(name, &argument, &parameter)
                    }
                    _ => {
                        let parameter = || definition.scheme.parameter.instantiate(&type_arguments);
                        intrinsics::apply(*intrinsic, &argument, parameter)
                    }
                };
                let checked = |failure| part(order::check(&failure), Err(error(failure, span)));
                result.or_else(checked)
            }
            FunctionBody::Missing => panic!("function {} has no body", definition.name),
        }
    }

    /// Draws from the current seed, then advances it.
    fn rand(&mut self, bound: &Value) -> Result<Value, Failure> {
        let bound = bound.as_scalar();
        let op = if let ScalarValue::Int(_) = bound { ScalarOp::RandomInt } else { ScalarOp::RandomFloat };
        let drawn = eval(op, &[ScalarValue::Int(self.seed), bound])?;
        self.seed = meaning::seed_next(self.seed);
        Ok(Value::Scalar(drawn))
    }

    /// Walks the sources together: the filter for every element, the body for those it keeps, also where another
    /// element has failed, since the failure that counts may come later. What they print is kept until the end. If
    /// either may draw, instance `j` has the `j`th seed split from the current one, which then advances by one step.
    fn each(
        &mut self,
        frame: &mut Frame,
        span: Span,
        sources: &[(Variable, Expr)],
        filter: Option<&Expr>,
        body: &Expr,
    ) -> Evaluated {
        let mut columns = Vec::with_capacity(sources.len());
        for (position, (_, source)) in sources.iter().enumerate() {
            columns.push(part(position, self.expression(frame, source))?);
        }
        let count = columns.first().map_or(0, intrinsics::length);
        for (position, column) in columns.iter().enumerate() {
            let checked = meaning::check_lengths(count, intrinsics::length(column));
            part(sources.len() + position, checked.map_err(|failure| error(failure, span)))?;
        }
        let draws = frame.draws
            && (filter.is_some_and(|filter| self.effects.expr(filter).draws) || self.effects.expr(body).draws);
        let seed = self.seed;
        let printed = self.printed.replace(Vec::new());
        let outer = frame.variables.len();
        let mut result = Vec::new();
        let mut failed = None;
        self.eaches += 1;
        for index in 0..count {
            if draws {
                self.seed = meaning::seed_split(seed, index);
            }
            for ((variable, _), column) in sources.iter().zip(&columns) {
                frame.variables.push((variable.id, column.as_sequence()[index as usize].clone()));
            }
            match self.element(frame, 2 * sources.len(), filter, body) {
                Ok(value) => result.extend(value),
                Err(error) if order::ends_all(&error.failure) => return Err(error),
                Err(error) => failed = Some(order::first(failed, error)),
            }
            frame.variables.truncate(outer);
        }
        self.eaches -= 1;
        if let Some(error) = failed {
            self.printed = printed;
            return Err(error);
        }
        if draws {
            self.seed = meaning::seed_next(seed);
        }
        let text = std::mem::replace(&mut self.printed, printed).unwrap_or_default();
        self.print(text).map_err(|failure| error(failure, span))?;
        Ok(Value::sequence(result))
    }

    /// The value of one element of an apply-to-each, if that keeps it. `before` is the number of parts before the
    /// filter.
    fn element(
        &mut self,
        frame: &mut Frame,
        before: usize,
        filter: Option<&Expr>,
        body: &Expr,
    ) -> Result<Option<Value>, Box<EvalError>> {
        if let Some(filter) = filter
            && !part(before, self.expression(frame, filter))?.as_bool()
        {
            return Ok(None);
        }
        part(before + 1, self.expression(frame, body)).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_span::FileId;

    #[test]
    fn the_end_of_the_stack_is_a_failure() {
        let span = Span { file: FileId(0), start: 0, end: 1 };
        let leaf = Expr { kind: ExprKind::Literal(ScalarValue::Int(1)), ty: Type::INT, span };
        let deep = (0..500).fold(leaf, |inner, _| Expr { kind: ExprKind::Sequence(vec![inner]), ty: Type::INT, span });
        let (program, globals) = (Program::default(), Globals::new());
        let (effects, steps) = (Effects::of(&program), Steps::of(&program));
        let mut machine = Machine {
            program: &program,
            effects: &effects,
            steps: &steps,
            host: &mut crate::eval::Nowhere,
            printed: None,
            globals: &globals,
            seed: 0,
            call_limit: 1,
            steps_left: u64::MAX,
            interrupt: &AtomicBool::new(false),
            calls: 0,
            eaches: 0,
            stack_end: stack_address() - (64 << 10),
        };
        let error = machine.expression(&mut Frame::top(false), &deep).unwrap_err();
        assert_eq!(error.failure, Failure::RecursionTooDeep { depth: 0 });
        machine.stack_end = 0;
        assert!(machine.expression(&mut Frame::top(false), &deep).is_ok());
    }
}
