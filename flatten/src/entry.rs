//! How a program is run: a function for each step, and for each way to call `main`.
//!
//! Such a function takes the seed if something in it draws, then the arguments of `main`, then the globals it needs.
//! Globals are values of the machine between steps; inside functions they are parameters.

use crate::instance::{Instances, Source, Version};
use crate::lower::{Context, Lowering};
use crate::value::{Pattern, Value, shape};
use nesl_frontend::core::{Expr, ExprKind, Form, FunctionId, GlobalId, Keyword};
use nesl_frontend::ty::{Class, Scheme, Type};
use nesl_prim::ScalarValue;
use nesl_vcode::{DefaultValue, GlobalId as Slot, Input, Main, Output, Parameter, Step};
use std::collections::BTreeSet;
use std::sync::Arc;

/// More choices for the types of a polymorphic `main` than this are not made: the first ones are.
const MAIN_CHOICES: usize = 64;

/// The expression that a form evaluates.
pub(crate) fn expression(form: &Form) -> Option<Arc<Expr>> {
    match form {
        Form::Assignment { value, .. } | Form::Expression(value) => Some(Arc::clone(value)),
        Form::Function(_) => None,
    }
}

/// The steps that compute some globals: those of the forms that assign them, and of the forms that those need, in
/// order.
pub(crate) fn needed(instances: &mut Instances<'_>, forms: &[Form], mut globals: BTreeSet<GlobalId>) -> Vec<Step> {
    let mut chosen = Vec::new();
    for form in forms.iter().rev() {
        let Form::Assignment { targets, value } = form else { continue };
        if targets.iter().any(|(target, _)| globals.contains(target)) {
            globals.extend(instances.globals.expr(instances.program, value));
            chosen.push(form);
        }
    }
    chosen.into_iter().rev().filter_map(|form| step(instances, form)).collect()
}

/// The step that runs a form.
pub(crate) fn step(instances: &mut Instances<'_>, form: &Form) -> Option<Step> {
    let expr = expression(form)?;
    let number = instances.reserve();
    let effect = instances.effects.expr(&expr);
    let is_for_effect = instances.effects.is_for_effect(instances.program, &expr);
    let globals: Vec<GlobalId> = instances.globals.expr(instances.program, &expr).into_iter().collect();
    let name = instances.unique_name("top".to_owned());
    let mut lowering = Lowering::new(instances, &name, expr.span, Vec::new());
    let mut inputs = Vec::new();
    bind_seed(&mut lowering, effect.draws, &mut inputs);
    bind_globals(&mut lowering, &globals, &mut inputs);
    let value = lowering.eval(&expr, Context::Serial);
    let (outputs, results): (Vec<Output>, Vec<Value>) = match form {
        Form::Assignment { targets, .. } => {
            let part = |path: &[bool]| {
                path.iter().fold((value.clone(), expr.ty.clone()), |(value, ty), &rest| {
                    let (first_value, rest_value) = value.into_pair();
                    // A record on the way is its payload.
                    let mut ty = ty;
                    while let Some(payload) = ty.payload() {
                        ty = payload;
                    }
                    let (first_type, rest_type) = ty.pair_parts();
                    if rest { (rest_value, rest_type.clone()) } else { (first_value, first_type.clone()) }
                })
            };
            (targets.iter())
                .map(|(global, path)| {
                    let (value, ty) = part(path);
                    (Output::Keep(slot(*global), shape(&ty)), value)
                })
                .unzip()
        }
        // It was evaluated for what it does.
        _ if is_for_effect => Default::default(),
        _ => (vec![Output::Show(shape(&expr.ty))], vec![value]),
    };
    let function = lowering.builder.finish(results.iter().flat_map(Value::operands).collect());
    instances.define(number, function);
    Some(Step { function: number, inputs, outputs })
}

/// The entry that calls `main` at some types.
pub(crate) fn main(
    instances: &mut Instances<'_>,
    main: FunctionId,
    type_arguments: Vec<Type>,
    prelude: Vec<Step>,
) -> Main {
    let source = instances.program.function(main);
    let argument_type = source.scheme.parameter.instantiate(&type_arguments);
    let result_type = source.scheme.result.instantiate(&type_arguments);
    let named = source.parameters.iter().map(|name| (&**name, None));
    let named = named.chain(source.keywords.iter().map(|keyword| (&*keyword.name, Some(keyword))));
    let types = components(&argument_type, source.parameters.len() + source.keywords.len());
    let mut parameters: Vec<Parameter> = Vec::with_capacity(types.len());
    for ((name, keyword), ty) in named.zip(types) {
        let default = keyword.and_then(|keyword| default(instances, keyword, &type_arguments));
        parameters.push(Parameter { name: name.to_owned(), type_text: ty.to_string(), shape: shape(&ty), default });
    }
    let number = instances.reserve();
    let effect = instances.effects.function(main);
    let is_for_effect =
        source.expression().is_some_and(|body| instances.effects.is_for_effect(instances.program, body));
    let globals: Vec<GlobalId> =
        instances.globals.function(instances.program, main, &type_arguments).into_iter().collect();
    let callee = instances.instance(Source::Function(main), type_arguments, Version::Serial, source.span);
    let name = instances.unique_name("main".to_owned());
    let mut lowering = Lowering::new(instances, &name, source.span, Vec::new());
    let mut inputs = Vec::new();
    bind_seed(&mut lowering, effect.draws, &mut inputs);
    inputs.extend((0u32..).take(parameters.len()).map(Input::Argument));
    let argument = lowering.parameter(&argument_type, &Pattern::uniform(&argument_type, false));
    bind_globals(&mut lowering, &globals, &mut inputs);
    let values: Vec<Value> = globals.iter().map(|global| lowering.globals[global].clone()).collect();
    let seed = lowering.seed.as_ref().map(Value::operand);
    let operands = Instances::arguments(values.into_iter(), None, seed, &argument);
    let pattern = Pattern::uniform(&result_type, false);
    let registers = lowering.result_registers(&result_type, &pattern, effect, false);
    let results = lowering.builder.call(callee, &operands, &registers);
    let value = lowering.take_results(results, &result_type, &pattern, effect, Context::Serial);
    let (outputs, results) = match is_for_effect {
        true => Default::default(),
        false => (vec![Output::Show(shape(&result_type))], value.operands()),
    };
    let function = lowering.builder.finish(results);
    instances.define(number, function);
    Main { prelude, parameters, step: Step { function: number, inputs, outputs } }
}

/// The default of a parameter of `main` at some types.
fn default(instances: &mut Instances<'_>, keyword: &Keyword, type_arguments: &[Type]) -> Option<DefaultValue> {
    let function = instances.program.function(keyword.default);
    let (span, ty) = (function.span, function.scheme.result.instantiate(type_arguments));
    // The argument may be any int.
    let argument = Box::new(Expr { kind: ExprKind::Literal(ScalarValue::Int(0)), ty: Type::INT, span });
    let type_arguments = type_arguments.to_vec();
    let kind = ExprKind::Call { function: keyword.default, type_arguments, argument };
    let step = step(instances, &Form::Expression(Arc::new(Expr { kind, ty, span })))?;
    Some(DefaultValue { text: keyword.text.clone(), step })
}

/// What the type parameters of `main` may stand for, in the order in which arguments are tried: the scalar types of
/// each class, and strings where any type will do.
pub(crate) fn type_choices(scheme: &Scheme) -> Vec<Vec<Type>> {
    let mut choices = vec![Vec::new()];
    for class in &scheme.classes {
        let mut types: Vec<Type> = class.scalars().iter().map(|scalar| Type::Scalar(*scalar)).collect();
        if *class == Class::Any {
            types.push(Type::sequence(Type::CHAR));
        }
        choices = (choices.iter())
            .flat_map(|chosen| types.iter().map(move |ty| [chosen.as_slice(), std::slice::from_ref(ty)].concat()))
            .take(MAIN_CHOICES)
            .collect();
    }
    choices
}

fn bind_seed(lowering: &mut Lowering<'_, '_>, draws: bool, inputs: &mut Vec<Input>) {
    if draws {
        lowering.seed = Some(lowering.parameter(&Type::INT, &Pattern::Part(false)));
        inputs.push(Input::Seed);
    }
}

fn bind_globals(lowering: &mut Lowering<'_, '_>, globals: &[GlobalId], inputs: &mut Vec<Input>) {
    for &global in globals {
        let ty = &lowering.instances.program.global(global).ty;
        let value = lowering.parameter(ty, &Pattern::uniform(ty, false));
        lowering.globals.insert(global, value);
        inputs.push(Input::Global(slot(global)));
    }
}

fn slot(global: GlobalId) -> Slot {
    Slot(u32::try_from(global.0).unwrap_or(u32::MAX))
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
