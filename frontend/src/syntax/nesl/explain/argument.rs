//! Arguments of named functions: one that does not fit, or too many or too few of them.

use super::Words;
use super::conflict::conflict_report;
use super::operands::free_names;
use super::types::{Names, constraints, describe, label, show};
use crate::ast::Symbol;
use crate::diagnostic::Diagnostic;
use crate::infer::problem::meeting::{Argument, Called, Conflict};
use crate::infer::problem::types::{Operand, Resolved, Writing};
use nesl_span::Span;

/// Words for numbers of arguments.
pub(super) fn arguments(count: usize) -> String {
    match count {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        _ => format!("{count} arguments"),
    }
}

/// A message about a function with what it needs, and where it is defined.
pub(super) fn with_function(report: Diagnostic, function: &Called, wanted: &str) -> Diagnostic {
    let report = report.also(function.span, format!("needs {wanted}"));
    match function.defined {
        Some(defined) => report.also(defined, "defined here"),
        None => report,
    }
}

/// A text without the parentheses around it.
fn bare(text: &str) -> &str {
    let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    inner.filter(|inner| !inner.contains(')')).unwrap_or(text)
}

impl Words<'_> {
    /// What is wrong with a number of arguments.
    pub(super) fn count(
        &self,
        function: &Called,
        parameters: &[String],
        count: usize,
        argument: &Operand,
        keyword: Option<&Symbol>,
    ) -> Diagnostic {
        let names = if parameters.is_empty() { String::new() } else { format!(" ({})", parameters.join(", ")) };
        let message = format!("`{}` takes {}{names}, got {count}", function.name, arguments(parameters.len()));
        let mut names = Names::default();
        let wanted = show(&function.parameter, &mut names);
        let wanted = wanted + &constraints(&names);
        let mut report = Diagnostic::error("E0213", message, argument.span).saying(label(&argument.ty));
        let by_name = |keyword: &Symbol| format!("parameters with a default are passed by name: {keyword} := …");
        report.hint = match keyword {
            Some(keyword) if count > parameters.len() => Some(by_name(keyword)),
            _ => self.count_hint(&function.name, &function.parameter, argument),
        };
        with_function(report, function, &wanted)
    }

    /// The hint for a wrong number of arguments.
    fn count_hint(&self, name: &str, parameter: &Resolved, argument: &Operand) -> Option<String> {
        let parts = match argument.writing {
            Writing::Tuple(parts) => Some(parts),
            _ => None,
        };
        let types = argument.ty.split(parts.unwrap_or(1));
        let known = match (name, parts) {
            ("plot" | "scatter", None) => return Some(self.one_column(name, argument)),
            ("print_line" | "print_string" | "error", Some(2..)) if types[0].is_text() => {
                return Some(self.joined(name, &types, argument));
            }
            ("max" | "min", _) if argument.ty.element().is_some() => {
                return Some(format!("for the elements of a sequence there is {name}_val(v)"));
            }
            ("zip", Some(3)) => "three sequences go side by side by `zip3(a, b, c)`",
            ("round", Some(2)) => "the text with so many digits after the point is `fixed_string(x, digits)`",
            ("diff", None) => "the differences of neighbours are `differences(v)`",
            ("join", Some(2)) => "`join_strings(parts, separator)` puts a text between others",
            ("log", None) => "`ln(x)` is the logarithm to the base e, and `log(x, 10.0)` that to 10",
            // Where they have one type.
            (_, Some(_)) if parameter.element().is_some() && types.iter().all(|ty| *ty == types[0]) => {
                let inner = self.quote(argument.span)?.strip_prefix('(')?.strip_suffix(')')?;
                return Some(format!("a sequence of these is written {name}([{inner}])"));
            }
            _ => return None,
        };
        Some(known.to_owned())
    }

    /// The hint for a picture of one sequence.
    fn one_column(&self, name: &str, argument: &Operand) -> String {
        let values = self.quote(argument.span).map_or("y", bare);
        match argument.ty.element() {
            Some(Resolved::Pair(..)) => format!("points are taken apart: let (x, y) = unzip({values}) in {name}(x, y)"),
            _ => format!("values by their positions: {name}(index(#{values}), {values})"),
        }
    }

    /// The hint for a text and other values that are to be printed in a line.
    fn joined(&self, name: &str, types: &[&Resolved], argument: &Operand) -> String {
        let parts = self.quote(argument.span).map(bare).map(|text| text.split(',').map(str::trim).collect::<Vec<_>>());
        // A comma within a part is none between them.
        let parts = parts.filter(|parts| parts.len() == types.len() && !parts.iter().any(|part| part.contains('(')));
        let parts = parts.unwrap_or_else(|| vec!["\"text\"", "x"]);
        let text = |(place, part): (usize, &&str)| match types.get(place).is_some_and(|ty| ty.is_text()) {
            true => (*part).to_owned(),
            false => format!("@{part}"),
        };
        let joined: Vec<String> = parts.iter().enumerate().map(text).collect();
        format!("texts are joined by `++`, and `@` makes text of a value: {name}({})", joined.join(" ++ \" \" ++ "))
    }

    /// What is wrong with an argument.
    pub(super) fn argument(&self, conflict: &Conflict, argument: &Argument) -> Diagnostic {
        let (name, given) = (&argument.function.name, &argument.given);
        let report = conflict_report(conflict, &format!("`{name}`"), given.span);
        let mut report = report.unwrap_or_else(|| self.shape(argument));
        let of_element = || match argument.function.parameter.split(argument.count).get(argument.index) {
            Some(Resolved::Sequence(_)) => self.element_hint(given),
            _ => None,
        };
        let swapped = || {
            let [first, second] = argument.swapped?;
            Some(format!("the other way round: {name}({}, {})", self.quote(second)?, self.quote(first)?))
        };
        let hint = report.hint.take().or_else(of_element);
        report.hint = hint.or_else(|| self.argument_hint(argument)).or_else(swapped);
        let wanted = describe(&argument.function.parameter);
        with_function(report.saying(label(&argument.alone)), &argument.function, &wanted)
    }

    /// What is wrong with an argument whose shape is another one.
    fn shape(&self, argument: &Argument) -> Diagnostic {
        let (name, given, place) = (&argument.function.name, &argument.given, argument.index + 1);
        let subject = match &argument.parameter {
            Some(_) if argument.count > 1 && argument.is_constructor => format!("part {place} of `{name}`"),
            Some(parameter) if argument.count > 1 => format!("argument {place} (`{parameter}`) of `{name}`"),
            _ => format!("the argument of `{name}`"),
        };
        let mut names = Names::default();
        let wanted = show(&argument.wanted, &mut names);
        let found = show(&given.ty, &mut names);
        let message = format!("{subject} must be {wanted}, got {found}{}", constraints(&names));
        let mut report = Diagnostic::error("E0202", message, given.span);
        // Two arguments of one type: either may be the one to change.
        let own = match argument.twin.and_then(|twin| argument.before.get(twin)) {
            Some(twin) => self.mixing_hint(twin, given),
            None => self.conversion_hint(given, &argument.wanted),
        };
        // One before may be the one to change, whose elements have said what is wanted.
        let changed = || argument.before.iter().find_map(|before| self.elements_hint(before, &given.ty));
        report.hint = own.or_else(changed);
        report
    }

    /// The hint for an argument that the function of this name does not take.
    fn argument_hint(&self, argument: &Argument) -> Option<String> {
        let (name, given) = (&*argument.function.name, &argument.given.ty);
        let element = given.element();
        let has_whole_elements = element.is_some_and(|element| element.scalar().is_none());
        match name {
            "max" | "min" if matches!(given, Resolved::Sequence(_) | Resolved::Pair(..)) => {
                let place = usize::from(name == "max");
                return Some(format!("`sort` orders values of any type: of two it is sort([a, b])[{place}]"));
            }
            "max_val" if has_whole_elements => {
                return Some("`sort` orders values of any type: the last is sort(v)[#v - 1]".to_owned());
            }
            "min_val" if has_whole_elements => {
                return Some("`sort` orders values of any type: the first is sort(v)[0]".to_owned());
            }
            "lower_bound" | "upper_bound" if has_whole_elements => {
                let is_before = if name == "lower_bound" { "string_less(y, x)" } else { "not(string_less(x, y))" };
                return Some(format!("for keys of any type: partition_point(y => {is_before}, v)"));
            }
            "append" if argument.fits_as_element => {
                return Some("one element is appended by `snoc(v, x)`, or `v ++ [x]`".to_owned());
            }
            "enumerate" if element.is_some() => {
                let sequence = self.quote(argument.given.span).map_or("v", bare);
                let names: String = free_names([sequence, "i"]).take(1).collect();
                return Some(format!(
                    "elements with their places: {{(i, {names}) : {names} in {sequence}; i in index(#{sequence})}}"
                ));
            }
            "split" if given.is_text() => {
                return Some("`split_string(s, separator)` has the parts of a text, `wordify(s)` its words".to_owned());
            }
            _ => {}
        }
        // Of a text the characters are seldom meant.
        if argument.count != 1 || given.is_text() || !argument.element_fits {
            return None;
        }
        self.by_element_hint(name, element?, argument.given.span)
    }

    /// The hint for a function that takes the elements of a sequence.
    fn by_element_hint(&self, name: &str, element: &Resolved, sequence: Span) -> Option<String> {
        let sequence = bare(self.quote(sequence)?);
        Some(match element.element() {
            Some(_) => format!("for each inner sequence: {{{name}(v) : v in {sequence}}}"),
            None => {
                let element: String = free_names([sequence, name]).take(1).collect();
                format!("for all elements write {{{name}({element}) : {element} in {sequence}}}")
            }
        })
    }
}
