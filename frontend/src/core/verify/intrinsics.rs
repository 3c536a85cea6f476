//! The types that built-in functions may have: what the library declares is held against what they do.
//!
//! What works on any type has one type here. What is defined by tables – scalar operations, alone or as reductions and
//! scans, and the operations on the world outside – needs a row for every type that a declaration admits.

use crate::core::Intrinsic;
use crate::ty::{Class, Scheme, Type};
use nesl_prim::{HostKind, HostOp, ScalarOp, ScalarType};

/// Whether a built-in function is what its declared type says.
pub(super) fn is_of_type(intrinsic: Intrinsic, scheme: &Scheme) -> bool {
    let of_any = |ty: &str| scheme.to_string() == format!("{ty} :: (a in any)");
    let is = |ty: &str| scheme.to_string() == ty;
    match intrinsic {
        Intrinsic::Equal => of_any("(a, a) -> bool"),
        Intrinsic::Identity => of_any("a -> a"),
        Intrinsic::ElementIdentity => of_any("[a] -> a"),
        Intrinsic::Hash => of_any("(a, int) -> int"),
        Intrinsic::HasOrdinalNumbers => of_any("[a] -> bool"),
        Intrinsic::OrdinalNumber => of_any("a -> int"),
        Intrinsic::Length => of_any("[a] -> int"),
        Intrinsic::Dist => of_any("(a, int) -> [a]"),
        Intrinsic::Elt => of_any("([a], int) -> a"),
        Intrinsic::Iseq => is("(int, int, int) -> [int]"),
        Intrinsic::Subseq => of_any("([a], int, int) -> [a]"),
        Intrinsic::Read | Intrinsic::Permute => of_any("([a], [int]) -> [a]"),
        Intrinsic::Write => of_any("([a], [(int, a)]) -> [a]"),
        Intrinsic::Append => of_any("([a], [a]) -> [a]"),
        Intrinsic::Flatten => of_any("[[a]] -> [a]"),
        Intrinsic::Partition => of_any("([a], [int]) -> [[a]]"),
        Intrinsic::Rank(_) => of_any("[a] -> [int]") || is("[char] -> [int]"),
        Intrinsic::Text | Intrinsic::ShortText => of_any("a -> [char]"),
        Intrinsic::ParseFloat => is("[char] -> float"),
        Intrinsic::Rand => is("a -> a :: (a in number)"),
        Intrinsic::RandSeed => is("int -> bool"),
        Intrinsic::WriteObject => of_any("(a, int) -> [char]"),
        Intrinsic::ReadObject => of_any("(a, int) -> (a, [char])"),
        Intrinsic::Scalar(name) => instances(scheme).all(|(parameter, result)| {
            scalars(&parameter)
                .zip(scalars(&result))
                .is_some_and(|(operands, result)| has_row(name, &operands, &result))
        }),
        Intrinsic::Reduce(name) => folds(name, scheme, "[a] -> a"),
        Intrinsic::ReduceIndex(name) => folds(name, scheme, "[a] -> int"),
        Intrinsic::Scan(name) => folds(name, scheme, "[a] -> [a]"),
        Intrinsic::CombineByIndex(name) => folds(name, scheme, "([a], [(int, a)]) -> [a]"),
        Intrinsic::Host(name) => instances(scheme).all(|(parameter, result)| goes_outside(name, &parameter, &result)),
    }
}

/// The parameter and the result at each scalar type that the type parameter may be.
fn instances(scheme: &Scheme) -> impl Iterator<Item = (Type, Type)> {
    let class = scheme.classes.first().copied();
    let scalars = class.map_or(&[ScalarType::Int][..], Class::scalars);
    scalars.iter().map(|scalar| {
        let arguments = vec![Type::Scalar(*scalar); scheme.classes.len()];
        (scheme.parameter.instantiate(&arguments), scheme.result.instantiate(&arguments))
    })
}

/// Whether a type is this one, for all types on which an operator with a neutral element works.
fn folds(name: &str, scheme: &Scheme, ty: &str) -> bool {
    let [class] = scheme.classes[..] else { return false };
    let is_folding = |scalar: &ScalarType| {
        let is_it = |op: &&ScalarOp| op.row().source == Some(name) && *op.row().operands == [*scalar, *scalar];
        ScalarOp::ALL.iter().find(is_it).is_some_and(|op| op.row().identity.is_some() && op.row().result == *scalar)
    };
    scheme.to_string() == format!("{ty} :: (a in {})", class.name()) && class.scalars().iter().all(is_folding)
}

/// The parts of a tuple.
fn parts(ty: &Type) -> Vec<&Type> {
    match ty {
        Type::Unit => Vec::new(),
        Type::Pair(first, rest) => [&**first].into_iter().chain(parts(rest)).collect(),
        other => vec![other],
    }
}

/// The parts of a tuple of scalars.
fn scalars(ty: &Type) -> Option<Vec<ScalarType>> {
    let scalar = |part: &Type| match part {
        Type::Scalar(scalar) => Some(*scalar),
        _ => None,
    };
    parts(ty).into_iter().map(scalar).collect()
}

/// Whether there is a scalar operation of this name and type.
fn has_row(name: &str, operands: &[ScalarType], result: &[ScalarType]) -> bool {
    let is_it = |op: &ScalarOp| op.row().source == Some(name) && op.row().operands == operands;
    ScalarOp::ALL.iter().any(|op| is_it(op) && [op.row().result] == result)
}

/// Whether there is an operation on the world outside of this name and type.
fn goes_outside(name: &str, parameter: &Type, result: &Type) -> bool {
    let kind = |ty: &Type| match ty {
        Type::Scalar(scalar) => Some(HostKind::Scalar(*scalar)),
        Type::Sequence(element) => match **element {
            Type::Scalar(scalar) => Some(HostKind::Column(scalar)),
            _ => None,
        },
        _ => None,
    };
    let kinds = |ty: &Type| parts(ty).into_iter().map(kind).collect::<Option<Vec<HostKind>>>();
    let Some(op) = kinds(parameter).and_then(|operands| HostOp::resolve(name, &operands)) else { return false };
    let given: Vec<HostKind> = op.results().collect();
    // What gives nothing gives true; what ends the program has the result that its place wants.
    let is_end = matches!(op, HostOp::Fail | HostOp::Exit);
    is_end || if given.is_empty() { *result == Type::BOOL } else { kinds(result).as_ref() == Some(&given) }
}
