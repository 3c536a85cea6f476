//! The library says what it does: every function has a doc string with its costs, and every example in one is true on
//! the reference evaluator and on the reference engine. docs/library.md is what the doc strings make.

use nesl_backend::Strategy;
use nesl_frontend::{Session, manual};
use nesl_span::SourceMap;
use nesl_tests::engines::{Local, run};
use nesl_tests::outcome::End;

fn entries() -> Vec<manual::Entry> {
    let mut sources = SourceMap::default();
    let session = Session::new(&mut sources);
    manual::entries(&session, &sources)
}

#[test]
fn every_function_has_a_doc_string_with_its_costs() {
    let costs = |doc: &str| doc.contains("Work ") && doc.contains("depth ") && doc.ends_with('.');
    let wrong: Vec<String> = entries().into_iter().filter(|entry| !costs(&entry.doc)).map(|entry| entry.name).collect();
    assert!(wrong.is_empty(), "without `Work …, depth ….` in the doc string: {}", wrong.join(" "));
}

/// Functions of which no example has a result that is always the same, or any: one asks a person, some read files made
/// before, and some draw.
const WITHOUT_EXAMPLE: [&str; 13] = [
    "prompt",
    "read_object_from_file",
    "read_array_from_file",
    "read_cube_from_file",
    "plot",
    "plot_values",
    "scatter",
    "scatter_points",
    "histogram_plot",
    "heatmap",
    "image",
    "gray_image",
    "rgb_image",
];

#[test]
fn every_function_for_programs_has_an_example() {
    let has_none = |entry: &manual::Entry| {
        !entry.is_internal()
            && !WITHOUT_EXAMPLE.contains(&entry.name.as_str())
            && manual::examples(&entry.doc).is_empty()
    };
    let wrong: Vec<String> = entries().into_iter().filter(has_none).map(|entry| entry.name).collect();
    assert!(wrong.is_empty(), "without an example: {}", wrong.join(" "));
}

#[test]
fn every_example_is_true() {
    let examples: Vec<(String, manual::Example)> = entries()
        .into_iter()
        .chain(manual::parts())
        .flat_map(|entry| manual::examples(&entry.doc).into_iter().map(move |example| (entry.name.clone(), example)))
        .collect();
    assert!(examples.len() > 100, "only {} examples were found", examples.len());
    // What is evaluated for what it does shows no value by itself.
    let (doing, examples): (Vec<_>, Vec<_>) =
        examples.into_iter().partition(|(_, example)| is_doing(&example.expression));
    let program: String = examples.iter().map(|(_, example)| format!("{};\n", example.expression)).collect();
    let together =
        [Local::Oracle, Local::Reference(Strategy::Auto)].map(|engine| (engine, run(engine, &program, None)));
    let is_right = |outcome: &nesl_tests::outcome::Outcome| {
        outcome.end == End::Done && outcome.lines.iter().eq(examples.iter().map(|(_, example)| &example.result))
    };
    let mut problems = Vec::new();
    for (engine, outcome) in together.iter().filter(|(_, outcome)| !is_right(outcome)) {
        problems.push(format!("{}: {}", engine.name(), outcome.end));
        // One by one says which.
        for (name, example) in &examples {
            let outcome = run(*engine, &format!("{};", example.expression), None);
            if outcome.end != End::Done || outcome.lines != [example.result.clone()] {
                let manual::Example { expression, result } = example;
                problems.push(format!(
                    "{name} on {}: {expression} should give\n  {result}\nbut gives\n{outcome}",
                    engine.name()
                ));
            }
        }
    }
    for (name, example) in &doing {
        for engine in [Local::Oracle, Local::Reference(Strategy::Auto)] {
            let outcome = run(engine, &format!("[{}];", example.expression), None);
            if outcome.end != End::Done || outcome.lines.last() != Some(&format!("[{}]", example.result)) {
                problems.push(format!("{name} on {}: {} gives\n{outcome}", engine.name(), example.expression));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn is_doing(expression: &str) -> bool {
    let does = |word: &str| expression.starts_with(word);
    ["print", "write_", "append_string_to_file", "rand_seed"].into_iter().any(does) || expression.ends_with(", stdout)")
}

#[test]
fn the_manual_has_contents_and_no_heading_twice() {
    let page = manual::page(&entries());
    let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let contents: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("* [")?.split_once("](#").map(|(heading, _)| heading))
        .collect();
    assert_eq!(headings, contents);
    let mut once = headings.clone();
    once.sort_unstable();
    once.dedup();
    assert!(once.len() == headings.len() && headings.iter().all(|heading| !heading.is_empty()), "{headings:?}");
    assert!(page.contains("`pi : float`") && page.contains("`time(EXPRESSION)`"));
}

#[test]
fn the_manual_is_up_to_date() {
    let path = nesl_tests::programs::root().join("docs/library.md");
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == manual::page(&entries()), "docs/library.md is old: nesl doc --all > docs/library.md");
}
