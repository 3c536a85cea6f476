//! The tables of VCODE as pages of its manual, in Markdown.
//!
//! What the rows of the tables say of every instruction, operation and pass, so that the manual cannot be out of date:
//! docs/vcode.md is an introduction by hand, and then exactly this text, which `nesl vcode --manual` prints.

use crate::op::{Depth, Elements, Kind, Row, VectorOp, Work};
use crate::pass::Pass;
use crate::pipeline::{PARTITIONED_PASSES, PASSES, SERIAL_PASSES};
use crate::program::RegisterType;
use nesl_prim::host::{HostRow, Place};
use nesl_prim::{Cost, HostKind, HostOp, Need, Property, ScalarOp, cursor};
use std::fmt::Display;

/// The heading that the generated part of the manual begins with.
pub const FIRST_HEADING: &str = "## Vector instructions";

/// The generated part of the manual: instructions, operations and passes, a table each.
pub fn tables() -> String {
    [vector_instructions(), scalar_operations(), host_operations(), passes(), serial_passes(), partitioned_passes()]
        .join("\n")
}

fn vector_instructions() -> String {
    // Instructions that differ in their operator or direction only share a line.
    let mut lines: Vec<(Vec<String>, &Row)> = Vec::new();
    for op in VectorOp::all() {
        let row = op.row();
        let name = code(general_name(op));
        match lines.iter_mut().find(|(_, other)| other.doc == row.doc) {
            Some((names, _)) if names.contains(&name) => {}
            Some((names, _)) => names.push(name),
            None => lines.push((vec![name], row)),
        }
    }
    let rows = lines.iter().map(|(names, row)| {
        let mut operands: Vec<String> = row.operands.iter().copied().map(kind).collect();
        if row.variadic {
            operands.push("…".to_owned());
        }
        let (work, depth) = cost(row);
        let elements = elements(row.elements, row);
        [
            names.join(" "),
            code(operands.join(", ")),
            code(kind(row.result)),
            elements,
            work,
            depth,
            mark(row.fallible),
            form(row.doc),
        ]
    });
    let operators = ScalarOp::ALL.iter().filter(|op| op.row().identity.is_some()).map(code);
    section(
        FIRST_HEADING,
        &format!(
            "`T` is one scalar type throughout a line. `.op` is a scalar operation with an identity: {}. *Length* is how many \
             elements a column that it gives has, or segments a descriptor, or which number a scalar is; `#c` are the \
             elements of a column, `segments d` and `total d` what a descriptor has of segments and of elements in them. \
             *Work* is how many steps it takes in all, *depth* how many of them follow from one another, both but for a \
             constant factor; no work means that what it gives is known with the operand. An instruction \
             that can fail does so for the reason it states; all can for lack of memory.",
            operators.collect::<Vec<_>>().join(" ")
        ),
        ["instruction", "operands", "result", "length", "work", "depth", "can fail", "meaning"],
        rows,
    )
}

fn scalar_operations() -> String {
    let rows = ScalarOp::ALL.iter().map(|op| {
        let row = op.row();
        let operands: Vec<String> = row.operands.iter().map(ToString::to_string).collect();
        let types = format!("{} -> {}", operands.join(", "), row.result);
        let properties = [(row.commutative, "commutative"), (row.associative, "associative")];
        let mut algebra: Vec<String> =
            properties.iter().filter(|(holds, _)| *holds).map(|(_, property)| (*property).to_owned()).collect();
        algebra.extend(row.identity.map(|identity| format!("identity {}", code(cursor::scalar(identity)))));
        let source = row.source.map_or(String::new(), code);
        let cost = match row.cost {
            Cost::Direct if op.is(Property::Vector) => "one, of vectors too",
            Cost::Direct => "one",
            Cost::Several => "several",
            Cost::Call => "a call",
            Cost::Long => "a long call",
        };
        [
            code(row.mnemonic),
            source,
            code(types),
            algebra.join(", "),
            cost.to_owned(),
            mark(row.fallible),
            row.doc.to_owned(),
        ]
    });
    section(
        "## Scalar operations",
        "Each works on scalars by its own name, and as `map` with its name on the elements of columns. In NESL the operation \
         has the name in the second column, or none where only the compiler uses it. *Associative* means exactly so: such a \
         reduction may be computed in any order; those of floats that are not have the order that `vcode/prim/src/sum.rs` defines. \
         *Instructions* are those of the machine that it becomes, of vectors too where it has a form for several elements at once; \
         what has none is a call, which is long where it takes many steps.",
        ["operation", "in NESL", "types", "algebra", "instructions", "can fail", "meaning"],
        rows,
    )
}

fn host_operations() -> String {
    let mut groups: Vec<Vec<HostOp>> = Vec::new();
    for op in HostOp::all() {
        match groups.iter_mut().find(|group| group[0].row().mnemonic == op.row().mnemonic) {
            Some(group) => group.push(op),
            None => groups.push(vec![op]),
        }
    }
    let rows = groups.iter().map(|group| {
        let rows: Vec<HostRow> = group.iter().map(|op| op.row()).collect();
        let row = rows[0];
        let name = format!("host.{}{}", row.mnemonic, if group.len() > 1 { ".T" } else { "" });
        let operands: Vec<_> = rows.iter().map(|row| row.operands).collect();
        let results: Vec<_> = rows.iter().map(|row| row.results).collect();
        let mut results = columns(&results);
        if row.reports {
            results.push("message".to_owned());
        }
        let ranks = match (row.place, row.piecewise) {
            (Place::First, false) => "rank 0",
            (Place::First, true) => "rank 0, piece by piece",
            (Place::Every, _) => "every rank, its part",
            (Place::Parts, _) => "every rank, its part of the last operand",
        };
        let sandbox = match row.needs {
            Need::Nothing => "as ever",
            Need::ReadFile => "files of the command line",
            Need::OpenFile => "files of the command line, to read",
            Need::WriteFile | Need::Environment | Need::Command => "refused",
        };
        let (ranks, sandbox) = (ranks.to_owned(), sandbox.to_owned());
        [code(name), codes(&columns(&operands)), codes(&results), ranks, sandbox, form(row.doc)]
    });
    section(
        "## Operations on the world outside",
        "They happen in the order of the program, each once. `T` is the type in the name: `host.write.int`. `message` is a \
         `column char` that says what went wrong, empty if nothing did; operations without one cannot go wrong, or end the \
         program where they do.",
        ["operation", "operands", "results", "in a distributed run", "in a sandbox", "meaning"],
        rows,
    )
}

/// The kinds of a group's rows, position by position: `column T` where they differ.
fn columns(rows: &[&[HostKind]]) -> Vec<String> {
    let kind = |position: usize| match rows.iter().all(|row| row[position] == rows[0][position]) {
        true => RegisterType::from(rows[0][position]).to_string(),
        false => "column T".to_owned(),
    };
    (0..rows[0].len()).map(kind).collect()
}

fn passes() -> String {
    let introduction = "In the order in which they run; a pass that stands here twice runs twice.";
    passes_of("## Passes", introduction, PASSES)
}

fn serial_passes() -> String {
    let introduction = "What then becomes machine code for one instance of a function after another goes through these, too. Such code \
                        leaves errors to the program as it was before.";
    passes_of("## Passes for machine code", introduction, SERIAL_PASSES)
}

fn partitioned_passes() -> String {
    let introduction = "What runs on columns in parts, each on a process of its own, goes through these, too.";
    passes_of("## Passes for columns in parts", introduction, PARTITIONED_PASSES)
}

fn passes_of(heading: &str, introduction: &str, passes: &[Pass]) -> String {
    let rows = passes.iter().map(|pass| [code(pass.name), pass.summary.to_owned(), pass.reason.to_owned()]);
    section(heading, introduction, ["pass", "what it does", "why it stands there"], rows)
}

/// A heading, a paragraph and a table.
fn section<const WIDTH: usize>(
    heading: &str,
    introduction: &str,
    columns: [&str; WIDTH],
    rows: impl Iterator<Item = [String; WIDTH]>,
) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = format!("{heading}\n\n{introduction}\n\n");
    text.push_str(&line(&columns.map(str::to_owned)));
    text.push_str(&line(&columns.map(|_| "---".to_owned())));
    rows.for_each(|row| text.push_str(&line(&row.map(|cell| cell.replace('|', "\\|")))));
    text
}

/// The name of an instruction, `.op` for its operator.
fn general_name(op: VectorOp) -> String {
    match op.operator() {
        Some(_) => format!("{}.op", op.row().mnemonic),
        None => op.name(),
    }
}

/// A number of elements, by the names that a row gives its operands; empty if nothing is said.
fn elements(number: Elements, row: &Row) -> String {
    let text = number_text(number, &row.names());
    if text.is_empty() { text } else { code(text) }
}

fn number_text(number: Elements, names: &[&str]) -> String {
    match number {
        Elements::Unknown => String::new(),
        Elements::Value(position) => names[position].to_owned(),
        Elements::Column(position) => format!("#{}", names[position]),
        Elements::Trues(position) => format!("trues {}", names[position]),
        Elements::Segments(position) => format!("segments {}", names[position]),
        Elements::Total(position) => format!("total {}", names[position]),
        Elements::Texts(position) => format!("chars {}", names[position]),
        Elements::Operands => "operands".to_owned(),
        Elements::Each => format!("#{} each", names[0]),
        Elements::All => format!("#{} all", names[0]),
        Elements::Sum(parts) => sum_text(parts, names),
    }
}

fn sum_text(parts: &[Elements], names: &[&str]) -> String {
    parts.iter().map(|&part| number_text(part, names)).collect::<Vec<_>>().join(" + ")
}

/// Work and depth.
fn cost(row: &Row) -> (String, String) {
    let names = row.names();
    let number = match row.cost.work {
        Work::Known | Work::Constant => String::new(),
        Work::Linear(parts) => sum_text(parts, &names),
        Work::Sorting(number) => number_text(number, &names),
    };
    let work = match row.cost.work {
        Work::Known => String::new(),
        Work::Constant => code(1),
        Work::Linear(_) => code(&number),
        Work::Sorting(_) => code(format!("{number} · log {number}")),
    };
    let depth = match row.cost.depth {
        Depth::Constant if row.cost.work == Work::Known => String::new(),
        Depth::Constant => code(1),
        Depth::Logarithmic if number.contains('+') => code(format!("log ({number})")),
        Depth::Logarithmic => code(format!("log {number}")),
        Depth::Longest(position) => code(format!("longest {}", names[position])),
    };
    (work, depth)
}

/// How an operand or a result is written.
fn kind(kind: Kind) -> String {
    match kind {
        Kind::Scalar(scalar) => scalar.to_string(),
        Kind::ScalarT => "T".to_owned(),
        Kind::Column(scalar) => RegisterType::Column(scalar).to_string(),
        Kind::ColumnT => "column T".to_owned(),
        Kind::Descriptor => RegisterType::Descriptor.to_string(),
    }
}

/// A doc of the form `name operands: meaning`, with what stands before the colon as code.
fn form(doc: &str) -> String {
    match doc.split_once(": ") {
        Some((form, meaning)) => format!("{}: {meaning}", code(form)),
        None => doc.to_owned(),
    }
}

/// Code in Markdown: a backquote in it needs two around it.
fn code(text: impl Display) -> String {
    let text = text.to_string();
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

fn codes(items: &[String]) -> String {
    if items.is_empty() { String::new() } else { code(items.join(", ")) }
}

fn mark(holds: bool) -> String {
    if holds { "yes".to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of the table under a heading, without its first two.
    fn rows<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
        let after = text.split_once(heading).map_or("", |(_, after)| after);
        after
            .lines()
            .skip_while(|line| !line.starts_with('|'))
            .take_while(|line| line.starts_with('|'))
            .skip(2)
            .collect()
    }

    #[test]
    fn nothing_is_left_out() {
        let text = tables();
        assert!(text.starts_with(FIRST_HEADING));
        let has = |heading: &str, name: String| {
            assert!(rows(&text, heading).iter().any(|row| row.contains(&code(&name))), "{heading}: {name}");
        };
        for op in VectorOp::all() {
            has(FIRST_HEADING, general_name(op));
        }
        assert_eq!(rows(&text, "## Scalar").len(), ScalarOp::ALL.len());
        for op in ScalarOp::ALL {
            has("## Scalar", op.to_string());
        }
        for op in HostOp::all() {
            has("## Operations", format!("host.{}{}", op.row().mnemonic, op.scalar_type().map_or("", |_| ".T")));
        }
        assert_eq!(rows(&text, "## Passes").len(), PASSES.len());
        assert_eq!(rows(&text, "## Passes for machine code").len(), SERIAL_PASSES.len());
        assert_eq!(rows(&text, "## Passes for columns in parts").len(), PARTITIONED_PASSES.len());
    }

    #[test]
    fn rows_are_what_the_tables_say() {
        let text = tables();
        for row in [
            "| `build` | `T, …` | `column T` | `operands` | `1` | `1` |  | `build x…`: the column of the given scalars. |",
            "| `length` | `column T` | `int` | `#c` |  |  |  | `length c`: the number of elements. |",
            "| `add.int` | `+` | `int, int -> int` | commutative, associative, identity `0` | one, of vectors too |  | Sum, wrapping. |",
            "| `add.float` | `+` | `float, float -> float` | commutative, identity `0.0` | one, of vectors too |  | Sum. |",
            "| `divide.int` | `/` | `int, int -> int` |  | several | yes | Quotient, truncated towards zero. |",
            "| `host.close` | `int` | `message` | rank 0 | as ever | `close stream`: what is buffered is written first. |",
        ] {
            assert!(text.lines().any(|line| line == row), "{row}");
        }
        let shared = [
            "| `rank_up` `rank_down` | `column T` | `column int` |",
            "| `host.read_rows.T` | `column char, column T` | `column int, column T, message` |",
        ];
        for start in shared {
            assert!(text.lines().any(|line| line.starts_with(start)), "{start}");
        }
    }

    #[test]
    fn every_doc_begins_with_the_form_of_the_instruction() {
        let rows = VectorOp::all().into_iter().map(|op| (op.row().mnemonic, op.row().doc));
        let rows = rows.chain(HostOp::all().into_iter().map(|op| (op.row().mnemonic, op.row().doc)));
        for (mnemonic, doc) in rows {
            assert!(doc.split_once(": ").is_some_and(|(form, _)| form.starts_with(mnemonic)), "{mnemonic}: {doc}");
        }
    }
}
