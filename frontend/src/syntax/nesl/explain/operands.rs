//! Operands that do not fit an operator, and the forms in which they would: element by element, as text, in another
//! order.
//!
//! A form is only proposed where its own types fit, with names that the texts of the operands do not use.

use super::Words;
use super::conflict::conflict_report;
use super::types::{describe, label};
use crate::diagnostic::Diagnostic;
use crate::infer::problem::meeting::Conflict;
use crate::infer::problem::types::{Operand, Resolved, Writing};
use crate::ty::Class;
use nesl_prim::{ScalarOp, ScalarType};

/// An operand in a hint: its type and its text.
type Side<'t> = (&'t Resolved, &'t str);

/// Names for elements, but for those that a text mentions.
pub(super) fn free_names(texts: [&str; 2]) -> impl Iterator<Item = char> {
    let is_used = move |name: char| {
        let words = texts.into_iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'));
        words.into_iter().any(|word| word.chars().eq([name]))
    };
    "xyzuvwabcdghijkmnopqrs".chars().filter(move |&name| !is_used(name))
}

impl Words<'_> {
    /// What is wrong with operands. `wanted` is what the operator needs of the one that does not fit, if that is not the
    /// type of the other.
    pub(super) fn operands(
        &self,
        conflict: &Conflict,
        op: &str,
        (left, right): (&Operand, &Operand),
        is_left: bool,
        wanted: Option<&Resolved>,
    ) -> Diagnostic {
        let (here, there) = if is_left { (left, right) } else { (right, left) };
        let is_single = op == "++" && here.ty.element().is_none();
        let report = conflict_report(conflict, &format!("`{op}`"), here.span).unwrap_or_else(|| {
            let given = describe(&here.ty);
            let message = match wanted {
                _ if is_single => format!("`++` joins sequences, got {given}"),
                Some(wanted) if is_left || op != "++" => {
                    let side = if is_left { "left" } else { "right" };
                    format!("the {side} operand of `{op}` must be {}, got {given}", describe(wanted))
                }
                _ => {
                    let (one, other) = (describe(&left.ty), describe(&right.ty));
                    format!("`{op}` needs two operands of the same type, got {one} and {other}")
                }
            };
            Diagnostic::error("E0202", message, here.span)
        });
        let mut report = report.saying(label(&here.ty)).also(there.span, label(&there.ty));
        if report.hint.is_none() {
            report.hint = self.operand_hint(op, left, right).or_else(|| match op {
                _ if is_single => Some("a sequence of one element is written [x]".to_owned()),
                "^" => Some("expt(a, b) takes the power of floats".to_owned()).filter(|_| !is_left),
                _ if wanted.is_none() => self.mixing_hint(left, right),
                _ => None,
            });
        }
        report
    }

    /// The hint for operands that do not fit an operator.
    fn operand_hint(&self, op: &str, one: &Operand, other: &Operand) -> Option<String> {
        let (left, right) = (self.quote(one.span).unwrap_or("v"), self.quote(other.span).unwrap_or("w"));
        let types = (&one.ty, &other.ty);
        let sides = ((types.0, left), (types.1, right));
        let is_sequence = |ty: &Resolved| ty.element().is_some();
        let is_char = |ty: &Resolved| ty.scalar() == Some(ScalarType::Char);
        let is_int = |ty: &Resolved| ty.scalar() == Some(ScalarType::Int);
        match op {
            "<-" if !is_sequence(types.0) => {
                return Some("to compare with a negative number write a space: a < -b".to_owned());
            }
            "||" if !is_sequence(types.0) => return Some("disjunction is `or`".to_owned()),
            "==" | "/=" if is_char(types.0) && types.1.is_text() => return character_hint(&other.writing),
            "==" | "/=" if types.0.is_text() && is_char(types.1) => return character_hint(&one.writing),
            "<" | "<=" | ">" | ">=" if types.0.is_text() && types.1.is_text() => {
                return order_hint(op, types.0, (left, right));
            }
            "*" if types.0.is_text() && is_int(types.1) => {
                return Some(format!("a text so many times is repeat_string({left}, {right})"));
            }
            "*" if types.1.is_text() && is_int(types.0) => {
                return Some(format!("a text so many times is repeat_string({right}, {left})"));
            }
            _ => {}
        }
        if matches!(op, "+" | "++")
            && let Some(joined) = joined_texts(sides)
        {
            return Some(joined);
        }
        if let Some(form) = by_element(op, sides.0, sides.1, &mut free_names([left, right])) {
            let is_other_reading = is_sequence(types.0) && is_sequence(types.1);
            let other = match op {
                "+" if is_other_reading => "; `++` joins sequences",
                "<" | "<=" | ">" | ">=" if is_other_reading => "; `sort` and `rank` order whole sequences",
                _ => "",
            };
            return Some(format!("for all elements write {form}{other}"));
        }
        let is_same = describe(types.0) == describe(types.1);
        match op {
            "+" if is_sequence(types.0) && is_same => Some(format!("`++` joins sequences: {left} ++ {right}")),
            "<" | "<=" | ">" | ">=" if is_same => order_hint(op, types.0, (left, right)),
            _ => pair_hint(op, sides),
        }
    }
}

/// Texts that were to be joined, with each other or with other values.
fn joined_texts(((left, one), (right, other)): (Side<'_>, Side<'_>)) -> Option<String> {
    // Of a value of an unknown type nobody can say whether it is text already.
    let is_value = |ty: &Resolved| matches!(ty, Resolved::Scalar(_) | Resolved::Pair(..) | Resolved::Sequence(_));
    let is_unknown = |ty: &Resolved| matches!(ty, Resolved::Variable(_, Class::Any));
    let is_texts = |ty: &Resolved| ty.element().is_some_and(Resolved::is_text);
    let is_char = |ty: &Resolved| ty.scalar() == Some(ScalarType::Char);
    match (left.is_text(), right.is_text()) {
        (true, true) => Some(format!("write ++ to join sequences: {one} ++ {other}")),
        (true, false) if is_char(right) => Some(format!("`++` joins sequences: {one} ++ [{other}]")),
        (false, true) if is_char(left) => Some(format!("`++` joins sequences: [{one}] ++ {other}")),
        (true, false) if is_texts(right) => Some(format!("`++` joins sequences: [{one}] ++ {other}")),
        (false, true) if is_texts(left) => Some(format!("`++` joins sequences: {one} ++ [{other}]")),
        (true, false) if is_value(right) => Some(format!("`@` makes text of a value: {one} ++ @{other}")),
        (false, true) if is_value(left) => Some(format!("`@` makes text of a value: @{one} ++ {other}")),
        (true, false) if is_unknown(right) => {
            Some(format!("`++` joins texts: {one} ++ {other}; of any other value `@` makes text"))
        }
        (false, true) if is_unknown(left) => {
            Some(format!("`++` joins texts: {one} ++ {other}; of any other value `@` makes text"))
        }
        _ => None,
    }
}

/// The operation for all elements, as deep as the operands nest; none if its types would not fit either.
fn by_element(op: &str, left: Side<'_>, right: Side<'_>, names: &mut impl Iterator<Item = char>) -> Option<String> {
    let elements = (left.0.element(), right.0.element());
    if elements == (None, None) {
        return None;
    }
    let mut sources = Vec::new();
    let mut side = |element: Option<&'_ Resolved>, (ty, text): Side<'_>| {
        let Some(element) = element else { return Some((ty.clone(), text.to_owned())) };
        let name = names.next()?;
        sources.push(format!("{name} in {text}"));
        Some((element.clone(), name.to_string()))
    };
    let (one, other) = (side(elements.0, left)?, side(elements.1, right)?);
    let (one, other) = ((&one.0, &*one.1), (&other.0, &*other.1));
    let body = of_scalars(op, one, other).or_else(|| by_element(op, one, other, names))?;
    Some(format!("{{{body} : {}}}", sources.join("; ")))
}

/// An operation on scalars, where it fits or one of them only has to become a float.
fn of_scalars(op: &str, (left, one): Side<'_>, (right, other): Side<'_>) -> Option<String> {
    let takes = |left, right| ScalarOp::resolve(op, &[left, right]).is_some();
    if let (Resolved::Variable(_, Class::Number), true) = (left, left == right) {
        return takes(ScalarType::Float, ScalarType::Float).then(|| format!("{one} {op} {other}"));
    }
    let (left, right) = (left.scalar()?, right.scalar()?);
    match (left, right) {
        _ if takes(left, right) => Some(format!("{one} {op} {other}")),
        (ScalarType::Int, ScalarType::Float) if takes(right, right) => Some(format!("float({one}) {op} {other}")),
        (ScalarType::Float, ScalarType::Int) if takes(left, left) => Some(format!("{one} {op} float({other})")),
        _ => None,
    }
}

/// How values are compared that `<` does not take.
fn order_hint(op: &str, ty: &Resolved, (left, right): (&str, &str)) -> Option<String> {
    if ty.is_text() {
        return Some(match op {
            "<" => format!("strings are compared by string_less({left}, {right})"),
            ">" => format!("strings are compared by string_less({right}, {left})"),
            _ => format!("strings are compared by string_compare({left}, {right}) {op} 0"),
        });
    }
    let is_whole = matches!(ty, Resolved::Sequence(_) | Resolved::Pair(..));
    is_whole
        .then(|| format!("`sort` and `rank` order values of any type: the first of two is sort([{left}, {right}])[0]"))
}

/// The hint for `parse_int(s) + 1`, whose operand is a number and whether it is one.
fn pair_hint(op: &str, ((left, one), (right, other)): (Side<'_>, Side<'_>)) -> Option<String> {
    fn number(ty: &Resolved) -> Option<&Resolved> {
        match ty {
            Resolved::Pair(first, second) if second.scalar() == Some(ScalarType::Bool) => Some(first),
            _ => None,
        }
    }
    fn taken<'t>(ty: &'t Resolved, text: &str) -> (&'t Resolved, String) {
        match number(ty) {
            Some(first) => (first, format!("first({text})")),
            None => (ty, text.to_owned()),
        }
    }
    number(left).or(number(right))?;
    let (one, other) = (taken(left, one), taken(right, other));
    let form = of_scalars(op, (one.0, &one.1), (other.0, &other.1))?;
    Some(format!("this is a pair, a value and whether it is one: {form}"))
}

/// The hint for a string of one character where a character is needed.
fn character_hint(writing: &Writing) -> Option<String> {
    match writing {
        Writing::Character(byte) if byte.is_ascii_graphic() => {
            Some(format!("a character is written `{}", char::from(*byte)))
        }
        _ => None,
    }
}
