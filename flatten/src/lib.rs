//! Flattening: typed core to VCODE.
//!
//! Nested parallelism becomes segmented vector code: the body of an apply-to-each runs once, for all its elements, whatever
//! the nesting (Blelloch and Sabot, *Compiling collection-oriented languages onto massively parallel computers*, 1990;
//! Keller and Simons, *A calculational approach to flattening nested data parallelism*, 1996). What this implementation
//! adds is that nothing is copied per element that the source does not copy:
//!
//! * *Invariant stays invariant*: a value shared by all instances is not replicated; lifted functions are made for each
//!   pattern of lifted and invariant arguments ([`value`]).
//! * *Views*: a free sequence, a part of a sequence, a selected branch are starts and lengths into shared data ([`repr`]).
//!
//! [`compile`] is the entry. [`instance`] makes functions on demand, [`lower`] their bodies, [`lift`] holds the rules.
//! Names that recur: *instance* of an apply-to-each (one element with its body), *serial* and *lifted* code, *invariant*.

mod free;
mod instance;
mod lift;
mod lower;
mod repr;
mod value;

use free::Globals;
use instance::{Instances, Version};
use lower::{Context, Lowering};
use nesl_frontend::core::{self, Expr, Form, FunctionId, GlobalId};
use nesl_frontend::ty::Type;
use nesl_vcode::{GlobalId as Slot, Input, Main, Output, Parameter, Program, Step};
use std::collections::BTreeSet;
use std::sync::Arc;
use value::{Pattern, Value, shape};

/// The VCODE of `forms`, run in order, and of a call of `main` with arguments.
///
/// `earlier` are the forms of before whose globals may be needed (the library's, and none in a session that has run them):
/// those needed are computed first.
///
/// # Panics
/// If core is ill-typed or has functions with errors: the front end gives out neither.
pub fn compile(program: &core::Program, earlier: &[Form], forms: &[Form], main: Option<FunctionId>) -> Program {
    let all: Vec<&Form> = earlier.iter().chain(forms).collect();
    let roots: Vec<Arc<Expr>> = all.iter().filter_map(|form| expression(form)).collect();
    let globals = Globals::of(program, roots.iter().map(|expr| &**expr), main);
    let mut instances = Instances::new(program, globals);

    let own: BTreeSet<GlobalId> =
        forms.iter().filter_map(expression).flat_map(|expr| instances.globals.expr(&expr)).collect();
    let mut steps = needed(&mut instances, earlier, own);
    steps.extend(forms.iter().filter_map(|form| step(&mut instances, form)));

    let main = main.map(|main| {
        let required = instances.globals.function(main).collect();
        let prelude = needed(&mut instances, &all.into_iter().cloned().collect::<Vec<_>>(), required);
        entry(&mut instances, main, prelude)
    });
    Program { functions: instances.finish(), steps, main }
}

fn expression(form: &Form) -> Option<Arc<Expr>> {
    match form {
        Form::Assignment { value, .. } | Form::Expression(value) => Some(Arc::clone(value)),
        Form::Function(_) => None,
    }
}

/// The steps that compute some globals: those of the forms that assign them, and of the forms that those need, in order.
fn needed(instances: &mut Instances<'_>, forms: &[Form], mut globals: BTreeSet<GlobalId>) -> Vec<Step> {
    let mut chosen = Vec::new();
    for form in forms.iter().rev() {
        let Form::Assignment { targets, value } = form else { continue };
        if targets.iter().any(|(target, _)| globals.contains(target)) {
            globals.extend(instances.globals.expr(value));
            chosen.push(form);
        }
    }
    chosen.into_iter().rev().filter_map(|form| step(instances, form)).collect()
}

/// The step that runs a form: a function of its own with the globals of the form as parameters.
fn step(instances: &mut Instances<'_>, form: &Form) -> Option<Step> {
    let expr = expression(form)?;
    let number = instances.reserve();
    let draws = instances.draws.expr(&expr);
    let globals: Vec<GlobalId> = instances.globals.expr(&expr).into_iter().collect();
    let name = instances.unique_name("top".to_owned());
    let program = instances.program;
    let mut lowering = Lowering::new(instances, &name, expr.span, Vec::new());
    let mut inputs = Vec::new();
    if draws {
        lowering.seed = Some(lowering.parameter(&Type::INT, &Pattern::Part(false)));
        inputs.push(Input::Seed);
    }
    for global in globals {
        bind_global(&mut lowering, program, global, &mut inputs);
    }
    let value = lowering.eval(&expr, Context::Serial);
    let (outputs, results): (Vec<Output>, Vec<Value>) = match form {
        Form::Assignment { targets, .. } => {
            let part = |path: &[bool]| {
                path.iter().fold((value.clone(), expr.ty.clone()), |(value, ty), &rest| {
                    let (first_value, rest_value) = value.into_pair();
                    let Type::Pair(first_type, rest_type) = ty else { panic!("path into type {ty}") };
                    if rest { (rest_value, (*rest_type).clone()) } else { (first_value, (*first_type).clone()) }
                })
            };
            (targets.iter())
                .map(|(global, path)| {
                    let (value, ty) = part(path);
                    (Output { shape: shape(&ty), global: Some(slot(*global)) }, value)
                })
                .unzip()
        }
        _ => (vec![Output { shape: shape(&expr.ty), global: None }], vec![value]),
    };
    let function = lowering.builder.finish(results.iter().flat_map(Value::operands).collect());
    instances.define(number, function);
    Some(Step { function: number, inputs, outputs })
}

fn bind_global(lowering: &mut Lowering<'_, '_>, program: &core::Program, global: GlobalId, inputs: &mut Vec<Input>) {
    let ty = &program.global(global).ty;
    let value = lowering.parameter(ty, &Pattern::uniform(ty, false));
    lowering.globals.insert(global, value);
    inputs.push(Input::Global(slot(global)));
}

fn slot(global: GlobalId) -> Slot {
    Slot(u32::try_from(global.0).unwrap_or(u32::MAX))
}

/// The entry that calls `main`: its instance takes seed, argument and globals in the order of its inputs.
fn entry(instances: &mut Instances<'_>, main: FunctionId, prelude: Vec<Step>) -> Main {
    let source = instances.program.function(main);
    let types = components(&source.scheme.parameter, source.parameters.len());
    let parameters: Vec<Parameter> = (source.parameters.iter().zip(types))
        .map(|(name, ty)| Parameter { name: name.clone(), type_text: ty.to_string(), shape: shape(&ty) })
        .collect();
    let mut inputs = Vec::new();
    if instances.draws.function(main) {
        inputs.push(Input::Seed);
    }
    inputs.extend((0..parameters.len() as u32).map(Input::Argument));
    inputs.extend(instances.globals.function(main).map(|global| Input::Global(slot(global))));
    let result = shape(&source.scheme.result);
    let draws = instances.draws.function(main);
    let function = instances.instance(main, Vec::new(), Version::Serial);
    let function = if draws { without_seed(instances, main, function) } else { function };
    Main { prelude, parameters, step: Step { function, inputs, outputs: vec![Output { shape: result, global: None }] } }
}

/// A function that calls a drawing instance and drops the seed after it.
fn without_seed(
    instances: &mut Instances<'_>,
    main: FunctionId,
    callee: nesl_vcode::FunctionId,
) -> nesl_vcode::FunctionId {
    let program = instances.program;
    let source = program.function(main);
    let number = instances.reserve();
    let name = instances.unique_name("main".to_owned());
    let globals: Vec<GlobalId> = instances.globals.function(main).collect();
    let mut lowering = Lowering::new(instances, &name, source.span, Vec::new());
    let seed = lowering.parameter(&Type::INT, &Pattern::Part(false)).operand();
    let argument = lowering.parameter(&source.scheme.parameter, &Pattern::uniform(&source.scheme.parameter, false));
    let mut inputs = Vec::new();
    for global in &globals {
        bind_global(&mut lowering, program, *global, &mut inputs);
    }
    let values: Vec<Value> = globals.iter().map(|global| lowering.globals[global].clone()).collect();
    let operands = Instances::arguments(values.into_iter(), None, Some(seed), &argument);
    let pattern = Pattern::uniform(&source.scheme.result, false);
    let registers = lowering.result_registers(&source.scheme.result, &pattern, Some(false));
    let results = lowering.builder.call(callee, &operands, &registers);
    let value = lowering.take_results(results, &source.scheme.result, &pattern, Some(false));
    let function = lowering.builder.finish(value.operands());
    instances.define(number, function);
    number
}

/// The types of the `count` components of a parameter pattern: `(a, (b, c))` has two or three.
fn components(parameter: &Type, count: usize) -> Vec<Type> {
    let mut types = Vec::new();
    let mut rest = parameter;
    while types.len() + 1 < count {
        let Type::Pair(first, tail) = rest else { break };
        types.push((**first).clone());
        rest = tail;
    }
    types.push(rest.clone());
    types
}
