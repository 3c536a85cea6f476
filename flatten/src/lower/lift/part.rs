//! Parts of a body that compute on scalars alone and branch.
//!
//! Such a part is not vectorised where it stands: splitting the instances by flags and merging what comes back would
//! move every element for each branch. It becomes a function of its free variables, and the part an `each` of it: its
//! serial version runs per instance, its lifted one is what flattening would have made in place. Straight scalar code
//! stays, for that is elementwise instructions.

use crate::free;
use crate::instance::{Instances, Part, Source, Version};
use crate::lower::{Context, Lowering};
use crate::supply::Supply;
use crate::value::{Pattern, Value, shape};
use nesl_frontend::core::{Expr, ExprKind, VariableId, walk};
use nesl_frontend::ty::Type;
use nesl_vcode::{Argument, Each, Operand};
use std::collections::BTreeMap;

/// Whether values of a type are scalars, or tuples of them.
pub(crate) fn is_scalar(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) => true,
        Type::Pair(first, rest) => is_scalar(first) && is_scalar(rest),
        _ => false,
    }
}

impl Lowering<'_, '_> {
    /// A conditional for `count` instances as an `each` of a function of its own, if it is such a part.
    pub(crate) fn part(&mut self, expr: &Expr, count: Operand) -> Option<Value> {
        let ExprKind::If { condition, then_branch, else_branch } = &expr.kind else { return None };
        let varies = |id: &VariableId| !self.environment[id].is_invariant();
        let is_selection = self.is_speculable([&**then_branch, else_branch]);
        if self.is_scalar_function || is_selection || self.effect_of([expr]).any() {
            return None;
        }
        if !free::variables([&**condition]).iter().any(varies) {
            return None;
        }
        let mut types = BTreeMap::new();
        let mut all_scalar = true;
        for inner in walk::parts(expr) {
            all_scalar &= is_scalar(&self.type_of(inner));
            if let ExprKind::Variable(id) = inner.kind {
                types.insert(id, inner.ty.clone());
            }
        }
        if !all_scalar {
            return None;
        }
        let variables: Vec<(VariableId, Type)> =
            free::variables([expr]).into_iter().map(|id| (id, types[&id].clone())).collect();
        let value = |(id, _): &(VariableId, Type)| self.environment[id].clone();
        let argument = variables.iter().map(value).rev().reduce(|rest, first| Value::pair(first, rest))?;
        let globals = self.instances.globals.part(self.instances.program, expr, &self.type_arguments);

        let pattern = argument.pattern();
        let part = Part { expr: expr.clone(), variables };
        let argument_type = part.argument(&self.type_arguments);
        let mut arguments = pattern.arguments(&argument_type);
        let program = self.instances.program;
        let shared = globals.iter().map(|id| Argument { shape: shape(&program.global(*id).ty), varies: false });
        arguments.extend(shared);
        let values: Vec<Value> = globals.iter().map(|id| self.globals[id].clone()).collect();
        let operands = Instances::arguments(values.into_iter(), Some(count), None, &argument);
        let result_type = self.type_of(expr);
        let source = Source::Part(self.instances.part(expr, part));
        let (types, span) = (self.type_arguments.clone(), expr.span);
        let lifted = self.instances.instance(source, types.clone(), Version::Lifted(pattern), span);
        let serial = self.instances.instance(source, types, Version::Serial, span);
        let each = Each { serial, lifted, arguments, results: vec![shape(&result_type)] };
        let results = self.builder.each(each, &operands);
        Some(Pattern::uniform(&result_type, true).value(&result_type, &mut Supply::of(results)))
    }

    /// Binds the free variables of a part to its argument.
    pub(crate) fn bind_part(&mut self, variables: &[(VariableId, Type)], argument: Value) {
        let mut rest = Some(argument);
        for (index, (id, _)) in variables.iter().enumerate() {
            let Some(value) = rest.take() else { return };
            if index + 1 == variables.len() {
                self.environment.insert(*id, value);
            } else {
                let (first, others) = value.into_pair();
                self.environment.insert(*id, first);
                rest = Some(others);
            }
        }
    }

    /// The value of a part, in its own function: the conditional itself.
    pub(crate) fn eval_part(&mut self, expr: &Expr, context: Context) -> Value {
        self.is_scalar_function = true;
        self.eval(expr, context)
    }
}

impl Part {
    /// The type of its argument: the tuple of its free variables.
    pub(crate) fn argument(&self, type_arguments: &[Type]) -> Type {
        let types = self.variables.iter().map(|(_, ty)| ty.instantiate(type_arguments));
        match types.rev().reduce(|rest, first| Type::pair(first, rest)) {
            Some(ty) => ty,
            None => panic!("a part without variables is the same for all instances"),
        }
    }
}
