//! Operations on named vectors in the order of a stack.
//!
//! A model of the stack is kept while the text is written. An operand is moved to the top where it is used last, and
//! copied elsewhere. Both branches of an `IF` leave what is used later in the same order, below what they yield.

use super::lower::{Action, Line, Value};
use super::{Result, limitation};
use nesl_span::Span;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// The deepest nesting of branches that the format allows.
const DEEPEST: usize = 50;

/// The text of a function.
pub(super) fn function(
    name: &str,
    parameters: &[Value],
    mut lines: Vec<Line>,
    results: &[Value],
    span: Span,
) -> Result<String> {
    prune(&mut lines, &mut results.iter().copied().collect());
    let mut writer = Writer { text: format!("FUNC {name}\n"), stack: parameters.to_vec(), depth: 0, span };
    writer.block(&lines, results, &HashSet::new())?;
    writer.text.push_str("RET\n");
    Ok(writer.text)
}

/// Leaves out lines whose results nobody needs, and results of branches; `needed` becomes what is needed before the
/// lines.
fn prune(lines: &mut Vec<Line>, needed: &mut HashSet<Value>) {
    let mut kept = Vec::new();
    while let Some(mut line) = lines.pop() {
        if let Action::If(branches) = &mut line.action {
            let used: Vec<bool> = line.outputs.iter().map(|output| needed.contains(output)).collect();
            retain(&mut line.outputs, &used);
            let after = needed.clone();
            for (inner, results) in branches.iter_mut() {
                retain(results, &used);
                let mut before = after.clone();
                before.extend(results.iter().copied());
                prune(inner, &mut before);
                needed.extend(before);
            }
            line.is_kept = !line.outputs.is_empty() || branches.iter().any(|(inner, _)| !inner.is_empty());
        }
        if line.is_kept || line.outputs.iter().any(|output| needed.contains(output)) {
            needed.extend(line.inputs.iter().copied());
            kept.push(line);
        }
    }
    kept.reverse();
    *lines = kept;
}

fn retain(values: &mut Vec<Value>, used: &[bool]) {
    let mut used = used.iter();
    values.retain(|_| used.next().copied().unwrap_or(false));
}

/// How often each vector is used in lines and among their results, in inner blocks too.
fn uses(lines: &[Line], results: &[Value], counts: &mut HashMap<Value, usize>) {
    for line in lines {
        line.inputs.iter().for_each(|&input| *counts.entry(input).or_default() += 1);
        if let Action::If(branches) = &line.action {
            branches.iter().for_each(|(inner, results)| uses(inner, results, counts));
        }
    }
    results.iter().for_each(|&result| *counts.entry(result).or_default() += 1);
}

struct Writer {
    text: String,
    /// Bottom to top.
    stack: Vec<Value>,
    depth: usize,
    span: Span,
}

impl Writer {
    fn statement(&mut self, text: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{:width$}{text}", "", width = 2 * (self.depth + 1));
    }

    /// Lines, then results on top of what is live after them, and nothing else.
    fn block(&mut self, lines: &[Line], results: &[Value], live: &HashSet<Value>) -> Result<()> {
        let mut left = HashMap::new();
        uses(lines, results, &mut left);
        self.keep_only(|value| live.contains(&value) || left.contains_key(&value), 0);
        for line in lines {
            self.push(&line.inputs, &mut left, live);
            self.stack.truncate(self.stack.len() - line.inputs.len());
            match &line.action {
                Action::Emit(text) => self.statement(text),
                Action::If(branches) => self.branches(branches, &mut left, live)?,
            }
            self.stack.extend(&line.outputs);
            self.keep_only(|value| live.contains(&value) || left.get(&value).is_some_and(|&count| count > 0), 0);
        }
        self.push(results, &mut left, live);
        self.keep_only(|value| live.contains(&value), results.len());
        Ok(())
    }

    fn branches(
        &mut self,
        branches: &[(Vec<Line>, Vec<Value>); 2],
        left: &mut HashMap<Value, usize>,
        live: &HashSet<Value>,
    ) -> Result<()> {
        if self.depth == DEEPEST {
            return limitation(format!("has no branches in more than {DEEPEST} others"), self.span);
        }
        let mut inner = HashMap::new();
        branches.iter().for_each(|(lines, results)| uses(lines, results, &mut inner));
        for (value, count) in inner {
            if let Some(left) = left.get_mut(&value) {
                *left = left.saturating_sub(count);
            }
        }
        let is_live = |value: &&Value| live.contains(value) || left.get(value).is_some_and(|&count| count > 0);
        let after: HashSet<Value> = self.stack.iter().filter(is_live).copied().collect();
        let before = self.stack.clone();
        for (word, (lines, results)) in ["IF", "ELSE"].into_iter().zip(branches) {
            self.stack.clone_from(&before);
            self.statement(word);
            self.depth += 1;
            self.block(lines, results, &after)?;
            self.depth -= 1;
        }
        self.statement("ENDIF");
        self.stack = before.into_iter().filter(|value| after.contains(value)).collect();
        Ok(())
    }

    /// Brings vectors to the top in this order: moved where this is their last use.
    fn push(&mut self, values: &[Value], left: &mut HashMap<Value, usize>, live: &HashSet<Value>) {
        let is_last =
            |value: &Value, left: &HashMap<Value, usize>| !live.contains(value) && left.get(value) == Some(&1);
        if self.stack.ends_with(values) && values.iter().all(|value| is_last(value, left)) {
            left.extend(values.iter().map(|&value| (value, 0)));
            return;
        }
        for (done, &value) in values.iter().enumerate() {
            // What was brought to the top already is not the original.
            let originals = &self.stack[..self.stack.len() - done];
            let Some(position) = originals.iter().rposition(|&entry| entry == value) else {
                unreachable!("a vector that is used is on the stack");
            };
            let depth = self.stack.len() - 1 - position;
            if is_last(&value, left) {
                self.stack.remove(position);
                if depth > 0 {
                    self.statement(&format!("CPOP 1 {depth}"));
                }
            } else {
                self.statement(&format!("COPY 1 {depth}"));
            }
            self.stack.push(value);
            if let Some(count) = left.get_mut(&value) {
                *count = count.saturating_sub(1);
            }
        }
    }

    /// Deletes all entries below the `top` highest that are not to be kept.
    fn keep_only(&mut self, keep: impl Fn(Value) -> bool, top: usize) {
        let mut end = self.stack.len() - top;
        while end > 0 {
            if keep(self.stack[end - 1]) {
                end -= 1;
                continue;
            }
            let start = self.stack[..end].iter().rposition(|&value| keep(value)).map_or(0, |position| position + 1);
            self.statement(&format!("POP {} {}", end - start, self.stack.len() - end));
            self.stack.drain(start..end);
            end = start;
        }
    }
}
