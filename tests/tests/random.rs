//! Random programs: every engine gives what the oracle gives, with all passes and without each of them.

use nesl_tests::agreement::Kind;
use nesl_tests::engines::{self, Local};
use nesl_tests::generate::feature::Feature;
use nesl_tests::generate::{self, Generated, shrink, tree};
use nesl_vcode::pipeline::{PASSES, SERIAL_PASSES};
use std::collections::{BTreeMap, BTreeSet};

const KIND: Kind = Kind {
    count: 300,
    on_ranks: 150,
    ranks: &[1, 2, 3, 4, 5, 7, 8],
    attempts: 400,
    attempts_on_ranks: 60,
    has_main: false,
    text: |seed| generate::program(seed).text(),
    shrink: |seed, attempts, fails| tree::text(&shrink::shrink(generate::program(seed).forms, attempts, fails)),
};

/// Of so many programs one is compiled without each of the passes.
const STEP_WITHOUT: usize = 10;

/// The programs of a run that use a feature, at least.
const FEWEST: usize = 5;

/// How many programs use each feature, and how often all of them do.
fn uses(programs: impl Iterator<Item = Generated>) -> BTreeMap<Feature, (usize, usize)> {
    let mut uses = BTreeMap::new();
    for program in programs {
        for (feature, times) in program.features {
            let (programs, total) = uses.entry(feature).or_default();
            *programs += 1;
            *total += times;
        }
    }
    uses
}

#[test]
fn each_feature_occurs_in_the_programs_of_a_run() {
    let uses = uses((1..=KIND.count).map(generate::program));
    for (feature, (programs, total)) in &uses {
        println!("{:40} {total:6} times in {programs:4} of {} programs", feature.text(), KIND.count);
    }
    let rare: Vec<&str> = Feature::ALL
        .iter()
        .filter(|feature| uses.get(feature).is_none_or(|(programs, _)| *programs < FEWEST))
        .map(|feature| feature.text())
        .collect();
    assert!(rare.is_empty(), "in fewer than {FEWEST} of {} programs: {}", KIND.count, rare.join(", "));
}

#[test]
fn engines_of_this_process_agree_with_the_oracle() {
    KIND.engines_agree();
}

#[test]
fn ranks_agree_with_the_oracle() {
    KIND.ranks_agree(option_env!("CARGO_BIN_EXE_rank_suite"));
}

#[test]
fn every_pass_can_be_left_out() {
    let passes = PASSES.iter().chain(SERIAL_PASSES);
    let names: BTreeSet<&'static str> = passes.map(|pass| pass.name).collect();
    let mut problems = Vec::new();
    let seeds = KIND.seeds();
    let is_long = KIND.is_long(&seeds);
    for (index, seed) in seeds.step_by(STEP_WITHOUT).enumerate() {
        let text = generate::program(seed).text();
        let expected = KIND.run(Local::Oracle, &text);
        let count = if is_long { 1 } else { names.len() };
        for pass in names.iter().cycle().skip(index % names.len()).take(count) {
            if !engines::run_without(pass, &text).agrees(&expected) {
                let other = |text: &str| engines::run_without(pass, text);
                problems.push(KIND.report(seed, &format!("without {pass}"), KIND.attempts, &other));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
