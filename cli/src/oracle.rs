//! `--engine oracle`: a file on the reference evaluator, which walks typed core and knows nothing of VCODE.
//!
//! Arguments are read as for any engine, by the reference engine, and then taken out of its columns.

use crate::arguments::{self, Argument};
use crate::driver::{self, Checked};
use crate::execute::{Choice, choose, seed_of, world};
use crate::failure;
use crate::interrupt::Interrupt;
use crate::limit::Limit;
use crate::options::RunOptions;
use crate::output;
use crate::stop::Stop;
use nesl_backend::{Addresses, Reference, RuntimeError, Slot, SlotOf, Value};
use nesl_frontend::core::effects::Effects;
use nesl_frontend::core::{Expr, Form};
use nesl_frontend::eval::{EvalError, Evaluator, Globals, Value as Nested};
use nesl_frontend::ty::{Scheme, Type};
use nesl_prim::{Element, ScalarValue};
use nesl_vcode::{Main, Output, Shape};
use std::ffi::OsString;

/// Runs a checked file.
///
/// # Errors
/// The end of the command.
pub fn run(
    checked: &Checked,
    arguments: &[OsString],
    command: &str,
    options: &RunOptions,
    interrupt: &Interrupt,
    limit: &Limit,
) -> Result<(), Stop> {
    let evaluated = interrupt.during(|| evaluate(checked, arguments, command, options, (interrupt, limit)));
    evaluated.map_err(|stop| limit.concluded(stop))
}

fn evaluate(
    checked: &Checked,
    arguments: &[OsString],
    command: &str,
    options: &RunOptions,
    (interrupt, limit): (&Interrupt, &Limit),
) -> Result<(), Stop> {
    let Checked { session, sources, forms, .. } = checked;
    let failed = |error: EvalError| {
        let EvalError { failure, span, calls, .. } = error;
        let error = RuntimeError { calls, ..RuntimeError::at(span, failure) };
        failure::stop(&limit.explained(error), sources, options.style())
    };
    let core = session.program();
    // The program is only looked at: for what to run, and for what main expects.
    let program = driver::flatten(checked, options.style())?;
    let mut engine = Reference::new(options.max_memory);
    let world = world(options, &program.mains, arguments, engine.hold());
    let mut evaluator = Evaluator::new(core).with_host(Box::new(world)).with_interrupt(interrupt.flag());
    let mut globals = Globals::new();
    for form in session.library() {
        evaluator.form(form, &mut globals, 0).map_err(failed)?;
    }
    let effects = Effects::of(core);
    let mut drawn = 0;
    let mut seed_for = |expr: &Expr| {
        let seed = seed_of(options.seed, drawn);
        drawn += usize::from(effects.expr(expr).draws);
        seed
    };
    let choice = choose(&program, arguments, command)?;
    if choice == Choice::Help {
        return output::print(&arguments::help(&program.mains, sources, command));
    }
    if choice == Choice::Forms {
        for form in forms {
            let (Form::Assignment { value: expr, .. } | Form::Expression(expr)) = form else { continue };
            let value = evaluator.form(form, &mut globals, seed_for(expr)).map_err(failed)?;
            let is_shown = matches!(form, Form::Expression(expr) if !effects.is_for_effect(core, expr));
            value.filter(|_| is_shown).map_or(Ok(()), |value| show(&mut evaluator, &value, &expr.ty))?;
        }
        return Ok(());
    }
    arguments::warn_of_names(&program, arguments, options.style());
    let (main, values) = arguments::read(&mut engine, &program.mains, arguments, command)?;
    let needed: Vec<_> = main.prelude.iter().flat_map(|step| &step.outputs).filter_map(Output::global).collect();
    for form in forms {
        let Form::Assignment { targets, value } = form else { continue };
        if targets.iter().any(|(target, _)| needed.iter().any(|needed| needed.0 as usize == target.0)) {
            evaluator.form(form, &mut globals, seed_for(value)).map_err(failed)?;
        }
    }
    let Some(function) = session.function("main") else { return Ok(()) };
    let scheme = &core.function(function).scheme;
    let types = types_of(scheme, main);
    let mut defaults = core.function(function).keywords.iter().map(|keyword| keyword.default);
    let mut arguments = Vec::with_capacity(values.len());
    for (parameter, value) in main.parameters.iter().zip(&values) {
        let default = parameter.default.as_ref().and_then(|_| defaults.next());
        arguments.push(match (value, default) {
            (Argument::Given(value), _) => nested(value),
            (Argument::Default(_), Some(default)) => {
                let seed = seed_of(options.seed, drawn);
                drawn += usize::from(effects.function(default).draws);
                evaluator.call(default, &types, Nested::Scalar(ScalarValue::Int(0)), &globals, seed).map_err(failed)?
            }
            (Argument::Default(_), None) => unreachable!("the default of a parameter is a function of its own"),
        });
    }
    let argument = arguments.into_iter().rev().reduce(|rest, first| Nested::pair(first, rest)).unwrap_or(Nested::Unit);
    let seed = seed_of(options.seed, drawn);
    let value = evaluator.call(function, &types, argument, &globals, seed).map_err(failed)?;
    if core.function(function).expression().is_some_and(|body| effects.is_for_effect(core, body)) {
        return Ok(());
    }
    show(&mut evaluator, &value, &scheme.result.instantiate(&types))
}

/// What the type parameters of `main` stand for with its arguments.
fn types_of(scheme: &Scheme, main: &Main) -> Vec<Type> {
    let shape = main.parameters.iter().map(|parameter| parameter.shape.clone()).rev();
    let shape = shape.reduce(|rest, first| Shape::Pair(Box::new(first), Box::new(rest))).unwrap_or(Shape::Unit);
    let mut types = vec![None; scheme.classes.len()];
    instantiate(&scheme.parameter, &shape, &mut types);
    // A type parameter that the argument does not mention stands for nothing that is ever looked at.
    types.into_iter().map(|ty| ty.unwrap_or(Type::INT)).collect()
}

/// Prints a value on a line of its own; `()` is nothing to show.
fn show(evaluator: &mut Evaluator<'_>, value: &Nested, ty: &Type) -> Result<(), Stop> {
    if *value == Nested::Unit && *ty == Type::Unit {
        return Ok(());
    }
    evaluator.end_line().map_err(|failure| failure::lost(&failure))?;
    output::print(&format!("{}\n", value.text(ty)))
}

/// Finds what the parameters of a type stand for where it has this shape.
fn instantiate(ty: &Type, shape: &Shape, types: &mut [Option<Type>]) {
    match (ty, shape) {
        (Type::Parameter(index), shape) => types[*index] = type_of(shape),
        (Type::Sequence(element), Shape::Sequence(element_shape)) => instantiate(element, element_shape, types),
        (Type::Pair(first, rest), Shape::Pair(first_shape, rest_shape)) => {
            instantiate(first, first_shape, types);
            instantiate(rest, rest_shape, types);
        }
        _ => {}
    }
}

/// The type of scalars and of what is made of them.
fn type_of(shape: &Shape) -> Option<Type> {
    Some(match shape {
        Shape::Scalar(scalar) => Type::Scalar(*scalar),
        Shape::Unit => Type::Unit,
        Shape::Pair(first, rest) => Type::pair(type_of(first)?, type_of(rest)?),
        Shape::Sequence(element) => Type::sequence(type_of(element)?),
        Shape::Record(..) | Shape::Function(_) => return None,
    })
}

type ReferenceSlot = SlotOf<Reference>;

/// A value of the reference engine as a nested one.
fn nested(value: &Value<Reference>) -> Nested {
    instances(&value.shape, &mut value.slots.iter(), 1).pop().unwrap_or(Nested::Unit)
}

/// The values of `count` instances in the next slots.
fn instances<'a>(shape: &Shape, slots: &mut impl Iterator<Item = &'a ReferenceSlot>, count: usize) -> Vec<Nested> {
    match shape {
        Shape::Scalar(_) => match slots.next() {
            Some(Slot::Scalar(value)) => vec![Nested::Scalar(*value)],
            Some(Slot::Column(column)) => (0..count).map(|index| Nested::Scalar(column.get(index))).collect(),
            Some(Slot::Descriptor(_)) | None => Vec::new(),
        },
        // No argument of main is a function.
        Shape::Unit | Shape::Function(_) => vec![Nested::Unit; count],
        Shape::Pair(first, rest) => {
            let firsts = instances(first, slots, count);
            let rests = instances(rest, slots, count);
            firsts.into_iter().zip(rests).map(|(first, rest)| Nested::pair(first, rest)).collect()
        }
        Shape::Sequence(element) => {
            // Imported descriptors are packed: segments lie one after another.
            let lengths = match slots.next() {
                Some(Slot::Scalar(length)) => vec![i64::from_value(*length)],
                Some(Slot::Descriptor(descriptor)) => descriptor.lengths().iter().collect(),
                Some(Slot::Column(_)) | None => Vec::new(),
            };
            let mut elements = instances(element, slots, lengths.iter().sum::<i64>() as usize).into_iter();
            lengths.into_iter().map(|length| Nested::sequence(elements.by_ref().take(length as usize))).collect()
        }
        // A record is its payload under another type.
        Shape::Record(_, payload) => instances(payload, slots, count),
    }
}
