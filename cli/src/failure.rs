//! Run-time errors as diagnostics: the place in the user's program, what happened there, and what to do.

use crate::driver::is_stack_format;
use crate::stop::Stop;
use crate::style::Style;
use nesl_backend::{CALLS_KEPT, RuntimeError};
use nesl_frontend::ast::TopLevel;
use nesl_frontend::surroundings::{Surroundings, surroundings};
use nesl_frontend::syntax::nesl::parser;
use nesl_frontend::syntax::{Syntax, failures};
use nesl_frontend::{Diagnostic, Label, Session};
use nesl_prim::{Failure, visible};
use nesl_span::{FileId, SourceMap, Span};
use std::collections::HashMap;
use std::path::Path;

/// The end of a command whose program failed.
pub fn stop(error: &RuntimeError, sources: &SourceMap, style: Style) -> Stop {
    match &error.failure {
        Failure::Interrupted => Stop::interrupted(),
        Failure::Exited { code } => Stop::with_code(*code, ""),
        // Whoever reads has seen enough.
        Failure::OutputLost { closed: true, .. } => Stop::quietly(),
        failure => {
            let stop = Stop::reported(style.diagnostic(&diagnostic(error, sources), sources));
            if matches!(failure, Failure::OutOfTime { .. }) { stop.out_of_time() } else { stop }
        }
    }
}

/// The end of a command whose output does not arrive.
pub fn lost(failure: &Failure) -> Stop {
    match failure {
        Failure::OutputLost { closed: true, .. } => Stop::quietly(),
        _ => Stop::failed(format!("error: {failure}")),
    }
}

/// The diagnostic of a run-time error, at the nearest place in user code.
fn diagnostic(error: &RuntimeError, sources: &SourceMap) -> Diagnostic {
    let place = error.user_span(sources);
    let mut texts = Texts { sources, forms: HashMap::new() };
    let function = texts.around(place).function.map(|name| format!("in `{}`", visible::name(&name)));
    // Of library functions that call each other the outermost is the one that the user wrote.
    let chain = || std::iter::once(error.span).chain(error.calls.iter().copied());
    let called = chain().take_while(|&span| span != place).last().and_then(|span| texts.around(span).function);
    let mut label = Vec::new();
    match &called {
        Some(library) => {
            label.push(format!(
                "in `{library}`, called here{}",
                function.map_or(String::new(), |text| format!(" {text}"))
            ));
        }
        None => label.extend(function),
    }
    label.extend(texts.element(error));
    let syntax = Syntax::of(&sources.file(place.file).name);
    let (message, words) = (failures::message(syntax, &error.failure), failures::hint(syntax, &error.failure));
    let mut diagnostic = Diagnostic::error(error.failure.code(), message, place).saying(label.join("; "));
    diagnostic.calls = texts.calls(error, place);
    let function = called.as_deref().unwrap_or_else(|| leading_name(sources.text(place)));
    let own = match &error.failure {
        _ if words.is_some() => words.map(str::to_owned),
        Failure::LengthMismatch { .. } => lengths_hint(function).map(str::to_owned),
        Failure::IndexOutOfRange { index, length } if *index < 0 && *length > 0 => {
            Some("indices count from 0; from the end they are v[#v - 1], v[#v - 2] and so on".to_owned())
        }
        Failure::BadRange { start, end, stride } => downwards_hint(*start, *end, *stride),
        Failure::BadCount { .. } if matches!(function, "take" | "drop") => Some(format!(
            "{function}_most(v, n) takes a sequence that is shorter, too; a negative count counts from the end"
        )),
        Failure::User { .. } if function == "grep" => {
            Some("grep(pattern, name) reads a file; find_all(s, w) has the places of a text in another".to_owned())
        }
        _ => None,
    };
    let hint = own.unwrap_or_else(|| error.failure.hint().to_owned());
    if !hint.is_empty() {
        diagnostic = diagnostic.hint(hint);
    }
    diagnostic
}

/// So many calls at either end of a chain are shown. What is between them repeats, as a rule, what is there.
const CALLS_SHOWN: usize = 5;

/// The ends of a chain of calls, and between them how many are left out, where that is known.
fn shortened(mut calls: Vec<Label>, is_whole: bool) -> Vec<Label> {
    let hidden = calls.len().saturating_sub(2 * CALLS_SHOWN);
    // One line that says so is no shorter than the line it stands for.
    if hidden > 1 {
        let place = calls[CALLS_SHOWN].span;
        let many = if is_whole { hidden.to_string() } else { "many".to_owned() };
        let text = format!("{many} more calls, the next of them");
        calls.splice(CALLS_SHOWN..CALLS_SHOWN + hidden, [Label { span: place, text }]);
    }
    calls
}

/// The name that a call begins with.
fn leading_name(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("")
}

/// How a range goes down: another language would have counted from the start to above the end.
fn downwards_hint(start: i64, end: i64, stride: i64) -> Option<String> {
    if stride >= 0 || start <= end {
        return None;
    }
    let (first, last) = (end.checked_add(1)?, start.checked_add(1)?);
    Some(match stride {
        -1 => format!("a range goes up; downwards it is reverse([{first}:{last}])"),
        _ => {
            let (length, step) = (start.checked_sub(end)?, stride.checked_neg()?);
            format!("a range goes up; downwards it is {{{start} - i : i in [0:{length}:{step}]}}")
        }
    })
}

/// Which lengths a function of the library wants.
fn lengths_hint(function: &str) -> Option<&'static str> {
    Some(match function {
        "vsep" => "vsep(v) takes a sequence of length 2",
        "interleave" => "in interleave(v, w) w is as long as v, or one shorter",
        "flag_merge" => "in flag_merge(flags, v, w) v has an element for each f in flags, w one for each t",
        "join" => "in join(v, i, w, j) v has an element for each position in i, w one for each in j",
        "permute" => "in permute(v, i) there is one position for each element",
        "put" => "in put(v, i, d) there is one index for each element of v",
        "transpose" => "in transpose(v) all rows have one length",
        "unpack" => "in unpack(v, flags) v has an element for each t in flags",
        _ => return None,
    })
}

/// The texts of a program, read again where something is to be said about a place in them.
struct Texts<'a> {
    sources: &'a SourceMap,
    forms: HashMap<FileId, Vec<TopLevel>>,
}

impl Texts<'_> {
    /// What is around a place.
    fn around(&mut self, place: Span) -> Surroundings {
        let sources = self.sources;
        let forms = self.forms.entry(place.file);
        let source = sources.file(place.file);
        let parse = || match Syntax::of(&source.name) {
            _ if is_stack_format(Path::new(&source.name)) => Vec::new(),
            Syntax::Nesl => parser::parse(place.file, &source.text).forms,
            Syntax::V => Session::new(&mut SourceMap::default()).forms(sources, place.file),
        };
        surroundings(forms.or_insert_with(parse), place)
    }

    /// The calls from user code behind that at the place of an error, the innermost first. Equal ones that follow each
    /// other, of a function that calls itself, are one.
    fn calls(&mut self, error: &RuntimeError, place: Span) -> Vec<Label> {
        let chain: Vec<Span> = std::iter::once(error.span).chain(error.calls.iter().copied()).collect();
        let first = chain.iter().position(|&span| span == place).unwrap_or(chain.len());
        let mut calls: Vec<(Label, usize)> = Vec::new();
        for behind in chain.get(first..).unwrap_or_default().windows(2) {
            let (callee, call) = (self.around(behind[0]), behind[1]);
            // What runs `main` calls it by its name alone.
            let is_bare = callee.function.as_deref() == Some(self.sources.text(call)) && callee.inner.is_none();
            if callee.is_loop || is_bare || !self.sources.is_user(call) {
                continue;
            }
            if let Some((_, count)) = calls.last_mut().filter(|(last, _)| last.span == call) {
                *count += 1;
                continue;
            }
            let name = callee.inner.or(callee.function).filter(|name| !name.is_empty());
            let callee = name.map_or_else(String::new, |name| format!("`{}` ", visible::name(&name)));
            let caller = self.around(call).function;
            let caller = caller.map_or_else(String::new, |name| format!(" in `{}`", visible::name(&name)));
            calls.push((Label { span: call, text: format!("{callee}called{caller}") }, 1));
        }
        let is_whole = error.calls.len() < 2 * CALLS_KEPT;
        let counted = |(mut label, count): (Label, usize)| {
            match count {
                1 => {}
                _ if is_whole => label.text += &format!(", {count} times,"),
                _ => label.text += ", again and again,",
            }
            label
        };
        shortened(calls.into_iter().map(counted).collect(), is_whole)
    }

    /// Which element an error was on. The engine counts the elements that the failing operation ran on: those of one
    /// apply-to-each, if that is the only one around the places that led there, and nothing sorted any of them out. Of
    /// instances that ran one by one it knows each, inside each other.
    fn element(&mut self, error: &RuntimeError) -> Option<String> {
        let path: Vec<usize> = error.instances.iter().map(|instance| instance.index).chain(error.element).collect();
        let element = *path.last()?;
        let (mut levels, mut branches, mut selected_around) = (0, 0, false);
        // From the outermost call inwards. The middle of a long chain is missing: it repeats what is at its ends.
        for &place in error.calls.iter().rev().chain([&error.span]) {
            // Within a part of a function of which it runs one instance, what is around the part counts.
            let part = error.instances.iter().find(|instance| instance.place.contains(place));
            let around = self.around(part.map_or(place, |instance| instance.place));
            branches += around.branches_inside + if levels > 0 { around.branches_outside } else { 0 };
            // Branches in a function do not sort out instances of which it runs one.
            selected_around |= around.branches_inside > 0 && around.eaches > 0;
            levels += around.eaches;
        }
        // The element is one of all, whatever branches it has taken, if all of these are counted through.
        let selected = branches > error.conditionals as usize;
        // These look at the elements of a sequence, unless it is `v[i]`.
        let has_elements = matches!(error.failure, Failure::IndexOutOfRange { .. } | Failure::NotAPermutation { .. });
        let in_sequence = has_elements && !self.around(error.span).is_index;
        let levels = levels + usize::from(in_sequence);
        let sorted_out = if error.element.is_none() { selected_around } else { selected };
        if path.len() > 1 && path.len() == levels && !sorted_out {
            let outer: String = path.iter().rev().skip(1).map(|outer| format!(", inside element {outer}")).collect();
            return Some(format!("first in element {element}{outer}"));
        }
        if error.element.is_none() && path.len() < levels {
            // The operation that failed has no elements of its own, such as one that needs memory.
            return Some(format!("in element {element} of an apply-to-each around this"));
        }
        let selected = if path.len() == levels { sorted_out } else { selected };
        Some(match (levels, selected) {
            (_, true) => format!("first in element {element} of all that get here"),
            (1, false) if !in_sequence => format!("first in element {element} of the apply-to-each"),
            (0 | 1, false) => format!("first at element {element}"),
            (_, false) => format!("first in element {element}, counted through all inner sequences"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_span::Origin;

    #[test]
    fn failures_in_the_library_name_its_function() {
        let mut sources = SourceMap::default();
        let text = "function f (a) = a;\nfunction take (v, n) = subseq(v, 0, n);";
        let library = sources.add("stdlib/a.nesl", text, Origin::Library);
        let user = sources.add("a.nesl", "take([1], 2);", Origin::User);
        let at = text.find("subseq").unwrap();
        let failure = Failure::BadSubsequence { start: 0, end: 2, length: 1 };
        let span = Span::new(library, at, at + 6);
        let error = RuntimeError { calls: vec![Span::new(user, 0, 12)], ..RuntimeError::at(span, failure) };
        let text = Style::plain().diagnostic(&diagnostic(&error, &sources), &sources);
        assert!(text.contains("in `take`, called here") && text.contains("a.nesl:1:1"), "{text}");
        let failure = Failure::BadCount { count: 2, length: 1 };
        let error = RuntimeError { calls: vec![Span::new(user, 0, 12)], ..RuntimeError::at(span, failure) };
        let hint = diagnostic(&error, &sources).hint;
        assert!(hint.as_ref().is_some_and(|hint| hint.contains("take_most(v, n)")), "{hint:?}");
    }

    #[test]
    fn the_calls_that_led_there_are_told() {
        let mut sources = SourceMap::default();
        let text =
            "function g(v) = v[5];\nfunction down(n, v) = if n == 0 then g(v) else down(n - 1, v) + 1;\ndown(3, [1]);";
        let user = sources.add("a.nesl", text, Origin::User);
        let at = |part: &str| {
            let start = text.rfind(part).unwrap();
            Span::new(user, start, start + part.len())
        };
        let failure = Failure::IndexOutOfRange { index: 5, length: 1 };
        let mut calls = vec![at("g(v)")];
        calls.extend([at("down(n - 1, v)"); 3]);
        calls.push(at("down(3, [1])"));
        let error = RuntimeError { calls, ..RuntimeError::at(at("v[5]"), failure) };
        let text = Style::plain().diagnostic(&diagnostic(&error, &sources), &sources);
        let calls = "  `g` called in `down` at a.nesl:2:38\n  `down` called in `down`, 3 times, at a.nesl:2:48\n  `down` \
                     called at a.nesl:3:1\n";
        assert!(text.ends_with(calls), "{text}");
        let label = |line: usize| Label { span: Span::new(user, line, line + 1), text: String::new() };
        assert_eq!(shortened((0..11).map(label).collect(), true).len(), 11);
        let cut = shortened((0..20).map(label).collect(), true);
        assert_eq!((cut.len(), &*cut[5].text), (11, "10 more calls, the next of them"));
    }

    #[test]
    fn ranges_that_go_down_are_said_as_they_are_written() {
        assert!(downwards_hint(10, 0, -1).is_some_and(|hint| hint.contains("reverse([1:11])")));
        assert!(downwards_hint(10, 0, -3).is_some_and(|hint| hint.contains("{10 - i : i in [0:10:3]}")));
        assert_eq!(downwards_hint(10, 0, 1), None);
        assert_eq!(downwards_hint(i64::MAX, 0, -1), None);
    }
}
