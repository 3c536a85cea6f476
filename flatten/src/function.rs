//! The functions of instances: what a function of the flat program takes, computes and gives.
//!
//! An instance says which source function, at which types, in which version ([`crate::instance`]); here its parameters
//! are made, its body is lowered ([`crate::lower`]), and its results are put together.

use crate::instance::{Instances, Key, Part, Source, Version};
use crate::lower::lift::onward::Target;
use crate::lower::lift::part::is_scalar;
use crate::lower::{Context, Lowering};
use crate::parallel::NotParallel;
use crate::value::{Pattern, Value};
use nesl_frontend::core::effects::Effect;
use nesl_frontend::core::{self, FunctionBody, GlobalId};
use nesl_frontend::ty::Type;
use nesl_vcode::Function;
use std::collections::BTreeSet;

/// Makes all instances that have been asked for, and what they need in turn; all functions.
///
/// # Errors
/// Where operations for serial code stand in lifted code.
pub(crate) fn all(mut instances: Instances<'_>) -> Result<Vec<Function>, Vec<NotParallel>> {
    while let Some((key, number)) = instances.begin() {
        let function = lower(&mut instances, &key);
        instances.define(number, function);
    }
    instances.finish()
}

/// The function of an instance.
fn lower(instances: &mut Instances<'_>, key: &Key) -> Function {
    match key.source {
        Source::Function(function) => lower_function(instances, function, key),
        Source::Part(number) => lower_part(instances, &instances.part_of(number), key),
    }
}

fn lower_function(instances: &mut Instances<'_>, function: core::FunctionId, key: &Key) -> Function {
    let source = instances.program.function(function);
    let FunctionBody::Defined { parameter, body } = &source.body else {
        panic!("{} has no body to lower: the program has errors", source.name)
    };
    let argument_type = source.scheme.parameter.instantiate(&key.type_arguments);
    let result_type = source.scheme.result.instantiate(&key.type_arguments);
    let name = instances.unique_name(key.name(&source.name, &argument_type));
    let effect = instances.effects.function(function);
    let globals = instances.globals.function(instances.program, function, &key.type_arguments);
    let mut lowering = Lowering::new(instances, &name, source.span, key.type_arguments.clone());
    lowering.is_scalar_function = is_scalar(&argument_type) && is_scalar(&result_type);
    if let Version::Loop(pattern) = &key.version {
        let count = lowering.parameter(&Type::INT, &Pattern::Part(false)).operand();
        let parameters = lowering.loop_parameters(&argument_type, pattern, effect);
        lowering.environment.insert(parameter.id, parameters.2.clone());
        let room = lowering.room_parameter(&result_type, effect);
        lowering.global_parameters(globals);
        let results = lowering.loop_body((function, body), parameters, room, count);
        return lowering.builder.finish(results);
    }
    let is_loop = lowering.instances.steps.has_step(lowering.instances.program, body, function);
    let (context, argument) = lowering.parameters(key, &argument_type, effect, globals);
    if let (true, Context::Lifted(count)) = (is_loop, context) {
        let target = Target { function, type_arguments: key.type_arguments.clone(), pattern: argument.pattern() };
        let results = lowering.enter_loop(&target, argument, &result_type, effect, count);
        return lowering.builder.finish(results);
    }
    let value = match key.version {
        Version::Serial if lowering.instances.packing.is_packed(function, &argument_type, &result_type) => {
            lowering.call_packed(function, key.type_arguments.clone(), argument, &result_type, effect)
        }
        _ => {
            lowering.gives_packed = key.version == Version::Packed;
            if lowering.gives_packed {
                lowering.note_packed(&argument);
            }
            lowering.environment.insert(parameter.id, argument);
            let value = lowering.eval(body, context);
            lowering.given_by_branch(value, context)
        }
    };
    lowering.function(value, &result_type, effect, context)
}

fn lower_part(instances: &mut Instances<'_>, part: &Part, key: &Key) -> Function {
    let argument_type = part.argument(&key.type_arguments);
    let result_type = part.expr.ty.instantiate(&key.type_arguments);
    let name = instances.unique_name(key.name("if", &argument_type));
    let globals = instances.globals.part(instances.program, &part.expr, &key.type_arguments);
    let mut lowering = Lowering::new(instances, &name, part.expr.span, key.type_arguments.clone());
    let effect = Effect::default();
    let (context, argument) = lowering.parameters(key, &argument_type, effect, globals);
    lowering.bind_part(&part.variables, argument);
    let value = lowering.eval_part(&part.expr, context);
    lowering.function(value, &result_type, effect, context)
}

impl Lowering<'_, '_> {
    /// The parameters of an instance: for how many instances it computes, and its argument.
    fn parameters(
        &mut self,
        key: &Key,
        argument_type: &Type,
        effect: Effect,
        globals: BTreeSet<GlobalId>,
    ) -> (Context, Value) {
        let (context, pattern) = match &key.version {
            Version::Serial | Version::Packed => (Context::Serial, Pattern::uniform(argument_type, false)),
            Version::Lifted(pattern) | Version::Loop(pattern) => {
                let count = self.parameter(&Type::INT, &Pattern::Part(false)).operand();
                (Context::Lifted(count), pattern.clone())
            }
        };
        if effect.draws {
            self.seed = Some(self.parameter(&Type::INT, &Pattern::Part(context.is_lifted())));
        }
        let argument = self.parameter(argument_type, &pattern);
        self.global_parameters(globals);
        (context, argument)
    }

    fn global_parameters(&mut self, globals: BTreeSet<GlobalId>) {
        let program = self.instances.program;
        for global in globals {
            let ty = &program.global(global).ty;
            let value = self.parameter(ty, &Pattern::uniform(ty, false));
            self.globals.insert(global, value);
        }
    }

    /// The finished function of an instance with this value.
    fn function(mut self, value: Value, result_type: &Type, effect: Effect, context: Context) -> Function {
        let value = match context {
            Context::Serial => value,
            Context::Lifted(count) => self.lift(value, count),
        };
        debug_assert_eq!(value.pattern(), Pattern::uniform(result_type, context.is_lifted()));
        let results = self.results(&value, effect, context);
        self.builder.finish(results)
    }
}
