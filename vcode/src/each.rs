//! `each`: a function on each of n instances, in one instruction.
//!
//! It names two versions of the function, which agree: the *lifted* one computes for all instances at once, the
//! *serial* one for one of them. Which is run, when, is the machine's choice. The operands are those of the lifted
//! version: the number of instances, then the registers of its arguments, of which some vary by instance (lifted) and
//! others are the same for all (serial). With no instances neither version runs, and every result is empty.
//!
//! In a group ([`crate::fusion`]) it has no number of instances: there is one at each index of the group's space, or of
//! the space within that its own scalars are of.

use crate::layout::EachPlan;
use crate::register::{FunctionId, RegisterType};
use crate::shape::Shape;
use nesl_prim::ScalarType;
use serde::{Deserialize, Serialize};

/// A function on each of n instances.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Each {
    /// The version for one instance. Its parameters are the arguments' serial registers, its results the results'
    /// serial ones.
    pub serial: FunctionId,
    /// The version for all instances. Its parameters are the instruction's operands, its results the results' lifted
    /// registers.
    pub lifted: FunctionId,
    /// What the function takes.
    pub arguments: Vec<Argument>,
    /// What it gives, for each instance.
    pub results: Vec<Shape>,
}

/// An argument of [`Each`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Argument {
    /// Its shape for one instance.
    pub shape: Shape,
    /// Whether each instance has its own.
    pub varies: bool,
}

impl Argument {
    /// Its registers among the operands of the instruction.
    pub fn registers(&self) -> Vec<RegisterType> {
        if self.varies { self.shape.lifted() } else { self.shape.serial() }
    }
}

impl Each {
    /// What it does with its operands and results, register by register.
    pub fn plan(&self) -> EachPlan {
        let mut plan = EachPlan { operands: Vec::new(), results: Shape::all_fields(&self.results) };
        self.arguments.iter().for_each(|argument| plan.argument(&argument.shape.fields(), argument.varies));
        plan
    }

    /// The types of the operands, which are the parameters of the lifted function.
    pub fn operand_types(&self) -> Vec<RegisterType> {
        let count = RegisterType::Scalar(ScalarType::Int);
        std::iter::once(count).chain(self.member_operand_types()).collect()
    }

    /// The types of the operands in a group: all but the number of instances.
    pub fn member_operand_types(&self) -> Vec<RegisterType> {
        self.arguments.iter().flat_map(Argument::registers).collect()
    }

    /// The types of the instruction's results, which are those of the lifted function.
    pub fn result_types(&self) -> Vec<RegisterType> {
        self.results.iter().flat_map(Shape::lifted).collect()
    }

    /// The parameters of the serial function.
    pub fn serial_parameters(&self) -> Vec<RegisterType> {
        self.arguments.iter().flat_map(|argument| argument.shape.serial()).collect()
    }

    /// The results of the serial function.
    pub fn serial_results(&self) -> Vec<RegisterType> {
        self.results.iter().flat_map(Shape::serial).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Field, Holds, Take, Taken};

    const INT: Shape = Shape::Scalar(ScalarType::Int);

    fn sequence(element: Shape) -> Shape {
        Shape::Sequence(Box::new(element))
    }

    /// The plan of an `each` on (x, free, nested) that gives (char, [int]).
    #[test]
    fn a_plan_says_of_each_register_what_an_instance_takes_and_gives() {
        let argument = |shape, varies| Argument { shape, varies };
        let pair = Shape::Pair(Box::new(Shape::Scalar(ScalarType::Char)), Box::new(sequence(INT)));
        let each = Each {
            serial: FunctionId(0),
            lifted: FunctionId(1),
            arguments: vec![
                argument(INT, true),
                argument(sequence(INT), false),
                argument(sequence(Shape::Pair(Box::new(INT), Box::new(sequence(INT)))), true),
            ],
            results: vec![pair],
        };
        let plan = each.plan();
        let column = RegisterType::Column(ScalarType::Int);
        let taken = |register, take, parent| Taken { register, take, parent };
        assert_eq!(
            plan.operands,
            [
                taken(column, Take::Element, None),
                taken(RegisterType::Scalar(ScalarType::Int), Take::Same, None),
                taken(column, Take::Same, Some(1)),
                taken(RegisterType::Descriptor, Take::Element, None),
                taken(column, Take::Slice(3), Some(3)),
                taken(RegisterType::Descriptor, Take::Slice(3), Some(3)),
                taken(column, Take::Data, Some(5)),
            ]
        );
        let field = |holds, parent| Field { holds, parent };
        assert_eq!(
            plan.results,
            [
                field(Holds::Scalars(ScalarType::Char), None),
                field(Holds::Sequences, None),
                field(Holds::Scalars(ScalarType::Int), Some(1)),
            ]
        );
        assert_eq!(plan.operands.len(), each.serial_parameters().len());
    }
}
