//! The order of values of any type.
//!
//! Engines rank ints, floats and characters. Whatever is made of these is ranked by ints that are in the same order:
//! here the type is taken apart, and functions of the library, which nobody else calls, make the ints of a whole from
//! those of its parts. So lifted code and ranks have nothing of their own for it.

use crate::lower::{Context, Lowering};
use crate::value::Value;
use nesl_frontend::core::{Expr, ExprKind, FunctionId};
use nesl_frontend::ty::Type;
use nesl_prim::ScalarType;

/// Whether engines rank values of a type as they are.
pub(in crate::lower::lift) fn is_ranked(ty: &Type) -> bool {
    match ty.payload() {
        Some(payload) => is_ranked(&payload),
        None => matches!(ty, Type::Scalar(ScalarType::Int | ScalarType::Float | ScalarType::Char)),
    }
}

impl Lowering<'_, '_> {
    /// For each element of a sequence an int, in the order of the elements and equal for equal ones.
    pub(in crate::lower::lift) fn order_numbers(&mut self, element: &Type, vector: Value, context: Context) -> Value {
        if let Some(payload) = element.payload() {
            return self.order_numbers(&payload, vector, context);
        }
        let ints = Type::sequence(Type::INT);
        let own = Type::sequence(element.clone());
        let none = Vec::new;
        match element {
            Type::Scalar(ScalarType::Int) => vector,
            Type::Scalar(ScalarType::Float) => self.of_library("order_floats", none(), vector, &own, &ints, context),
            Type::Scalar(ScalarType::Bool) => self.of_library("order_bools", none(), vector, &own, &ints, context),
            Type::Scalar(ScalarType::Char) => self.of_library("order_chars", none(), vector, &own, &ints, context),
            Type::Pair(first, rest) => {
                let types = vec![(**first).clone(), (**rest).clone()];
                let [first_own, rest_own] = [first, rest].map(|part| Type::sequence((**part).clone()));
                let firsts = self.of_library("order_firsts", types.clone(), vector.clone(), &own, &first_own, context);
                let rests = self.of_library("order_rests", types, vector, &own, &rest_own, context);
                let firsts = self.order_numbers(first, firsts, context);
                let rests = self.order_numbers(rest, rests, context);
                let both = Type::pair(ints.clone(), ints.clone());
                self.of_library("order_pairs", none(), Value::pair(firsts, rests), &both, &ints, context)
            }
            Type::Sequence(inner) if **inner == Type::CHAR => {
                self.of_library("string_keys", none(), vector, &own, &ints, context)
            }
            Type::Sequence(inner) => {
                let types = vec![(**inner).clone()];
                let flat = self.of_library("flatten", types.clone(), vector.clone(), &own, element, context);
                let numbers = self.order_numbers(inner, flat, context);
                let both = Type::pair(ints.clone(), own);
                let argument = Value::pair(numbers, vector);
                self.of_library("order_sequences", types, argument, &both, &ints, context)
            }
            _ => self.of_library("order_none", vec![element.clone()], vector, &own, &ints, context),
        }
    }

    /// The call of a function of the library at these types.
    fn of_library(
        &mut self,
        name: &str,
        types: Vec<Type>,
        argument: Value,
        argument_type: &Type,
        result: &Type,
        context: Context,
    ) -> Value {
        // What the library defines stands before all that programs do.
        let function = self.instances.program.functions.iter().position(|function| &*function.name == name);
        let Some(function) = function else { panic!("the library has no function `{name}`") };
        // All that the call is asked for is its type.
        let call = Expr { kind: ExprKind::Unit, ty: result.clone(), span: self.builder.current_span() };
        self.call_on(&call, FunctionId(function), types, argument, argument_type, context)
    }
}
