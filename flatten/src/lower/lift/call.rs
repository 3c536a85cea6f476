//! Calls.
//!
//! A call of a defined function goes to the instance for its types and for the pattern of its argument; where nothing
//! varies by instance, to the serial version, once for all instances. Where it varies the call is an `each`: it names
//! the lifted version and the serial one, and which of them runs is for the machine to decide. A function that prints
//! has only its lifted version there: its serial one would print at once, in whatever order the instances run. `and`
//! and `or` on bools are conditionals unless their right side is so simple that evaluating it always is the same.
//!
//! The call of a function value is a call like any other: its type says which function it is, and its value is what it
//! captured. Nothing is dispatched at run time.

use crate::instance::{Instances, Source, Version};
use crate::lower::state::state_type;
use crate::lower::{Context, Lowering};
use crate::replacing::{parts_of_write, replacing};
use crate::value::{Pattern, Value, shape};
use nesl_frontend::core::{Expr, ExprKind, FunctionBody, FunctionId, Intrinsic};
use nesl_frontend::ty::Type;
use nesl_prim::{ScalarType, ScalarValue};
use nesl_vcode::{Argument, Each, Operand, Shape};

impl Lowering<'_, '_> {
    pub(crate) fn call(
        &mut self,
        expr: &Expr,
        function: FunctionId,
        type_arguments: Vec<Type>,
        argument: &Expr,
        context: Context,
    ) -> Value {
        if let FunctionBody::Intrinsic(intrinsic) = self.instances.program.function(function).body {
            if let Some(value) = self.short_circuit(expr, intrinsic, argument, context) {
                return value;
            }
            if let (Intrinsic::Write, Context::Serial, Some(parts)) = (intrinsic, context, parts_of_write(argument)) {
                let [destination, index, element] = parts.map(|part| self.eval(part, context));
                return self.replace(&destination, &index, &element);
            }
        }
        let argument_type = self.type_of(argument);
        let argument = self.eval(argument, context);
        if let (Context::Serial, Some((parameter, body))) = (context, replacing(self.instances.program, function)) {
            return self.in_place_of_call(type_arguments, (parameter, body), argument);
        }
        self.call_on(expr, function, type_arguments, argument, &argument_type, context)
    }

    /// The call of a function value: of the function that its type says, on what it captured, if anything, and the
    /// argument.
    pub(crate) fn apply(&mut self, expr: &Expr, function: &Expr, argument: &Expr, context: Context) -> Value {
        let function_type = self.type_of(function);
        let identity = function_type.function_known();
        let captured = self.eval(function, context);
        let argument_type = self.type_of(argument);
        let argument = self.eval(argument, context);
        let argument = if identity.captured.is_empty() { argument } else { Value::pair(captured, argument) };
        let type_arguments = identity.type_arguments.clone();
        self.call_on(expr, FunctionId(identity.function), type_arguments, argument, &argument_type, context)
    }

    /// The call of a function on an evaluated argument; `argument_type` is that of the source argument.
    pub(crate) fn call_on(
        &mut self,
        expr: &Expr,
        function: FunctionId,
        type_arguments: Vec<Type>,
        argument: Value,
        argument_type: &Type,
        context: Context,
    ) -> Value {
        if let FunctionBody::Intrinsic(intrinsic) = self.instances.program.function(function).body {
            let ty = self.type_of(expr);
            return self.intrinsic(intrinsic, argument, argument_type, &ty, context);
        }
        let effect = self.instances.effects.function(function);
        let version = self.version(&argument, effect, context);
        if let (Version::Lifted(pattern), Context::Lifted(count)) = (&version, context)
            && !effect.prints
        {
            return self.each_call(&self.type_of(expr), function, type_arguments, argument, pattern.clone(), count);
        }
        let result_type = self.type_of(expr);
        self.hazard |= context.is_lifted();
        let (Version::Lifted(_), Context::Lifted(count)) = (&version, context) else {
            // The serial version is called for one instance, whatever the context.
            return match self.instances.packing.is_packed(function, argument_type, &result_type) {
                true => self.call_packed(function, type_arguments, argument, &result_type, effect),
                false => self.call_serial(function, type_arguments, Version::Serial, &argument, &result_type, effect),
            };
        };
        let seed = effect.draws.then(|| self.current_seed().operand());
        let globals = self.instances.globals.function(self.instances.program, function, &type_arguments);
        let globals = globals.iter().map(|global| self.globals[global].clone());
        let operands = Instances::arguments(globals, Some(count), seed, &argument);
        let instance =
            self.instances.instance(Source::Function(function), type_arguments, version, self.builder.current_span());
        let pattern = Pattern::uniform(&result_type, true);
        let registers = self.result_registers(&result_type, &pattern, effect, true);
        let results = self.builder.call(instance, &operands, &registers);
        self.take_results(results, &result_type, &pattern, effect, context)
    }

    /// The call of a function on each of the instances, of which there may be none.
    pub(crate) fn each_call(
        &mut self,
        result_type: &Type,
        function: FunctionId,
        type_arguments: Vec<Type>,
        argument: Value,
        pattern: Pattern,
        count: Operand,
    ) -> Value {
        let program = self.instances.program;
        let effect = self.instances.effects.function(function);
        let globals = self.instances.globals.function(program, function, &type_arguments);
        let varying_int = Argument { shape: Shape::Scalar(ScalarType::Int), varies: true };
        let mut arguments: Vec<Argument> = effect.draws.then_some(varying_int).into_iter().collect();
        arguments.extend(pattern.arguments(&program.function(function).scheme.parameter.instantiate(&type_arguments)));
        arguments
            .extend(globals.iter().map(|global| Argument { shape: shape(&program.global(*global).ty), varies: false }));
        let results = std::iter::once(result_type).chain(state_type(effect, true).as_ref()).map(shape).collect();
        let seed = effect.draws.then(|| self.current_seed().operand());
        let globals = globals.iter().map(|global| self.globals[global].clone());
        let operands = Instances::arguments(globals, Some(count), seed, &argument);
        let span = self.builder.current_span();
        let lifted =
            self.instances.instance(Source::Function(function), type_arguments.clone(), Version::Lifted(pattern), span);
        let serial = self.instances.instance(Source::Function(function), type_arguments, Version::Serial, span);
        let results = self.builder.each(Each { serial, lifted, arguments, results }, &operands);
        let pattern = Pattern::uniform(result_type, true);
        self.take_results(results, result_type, &pattern, effect, Context::Lifted(count))
    }

    /// `a and b` as `if a then b else f`, `a or b` as `if a then t else b`, on bools.
    fn short_circuit(&mut self, expr: &Expr, intrinsic: Intrinsic, argument: &Expr, context: Context) -> Option<Value> {
        let Intrinsic::Scalar(source @ ("and" | "or")) = intrinsic else { return None };
        let ExprKind::Pair(left, right) = &argument.kind else { return None };
        let evaluates_both = match context {
            Context::Lifted(_) => self.is_speculable([&**right]),
            Context::Serial => self.is_speculable_for_one(right),
        };
        if self.type_of(expr) != Type::BOOL || evaluates_both {
            return None;
        }
        let left = self.eval(left, context);
        let constant =
            |value: bool| Expr { kind: ExprKind::Literal(ScalarValue::Bool(value)), ty: Type::BOOL, span: expr.span };
        Some(match source {
            "and" => self.conditional(expr, left, right, &constant(false), context),
            _ => self.conditional(expr, left, &constant(true), right, context),
        })
    }
}
