//! Random programs of V: every engine gives what the oracle gives, laid out they have the same trees, and what they have
//! become in NESL is right there.

use nesl_frontend::syntax::v::format::format;
use nesl_span::FileId;
use nesl_tests::agreement::Kind;
use nesl_tests::generate_v::{program, shrink};
use nesl_tests::session::{check, printed, written_in_the_other};

const KIND: Kind = Kind {
    count: 200,
    on_ranks: 60,
    ranks: &[1, 2, 3, 8],
    attempts: 600,
    attempts_on_ranks: 60,
    has_main: true,
    text: program,
    shrink: |seed, attempts, fails| shrink(&program(seed), attempts, fails),
};

/// Failures after which a test of texts ends.
const MOST_PROBLEMS: usize = 3;

#[test]
fn engines_of_this_process_agree_with_the_oracle() {
    KIND.engines_agree();
}

#[test]
fn ranks_agree_with_the_oracle() {
    KIND.ranks_agree(option_env!("CARGO_BIN_EXE_rank_suite"));
}

/// Asks for what is wrong with each program.
fn none_has(problem: fn(&str) -> Option<String>) {
    let mut problems = Vec::new();
    for seed in KIND.seeds() {
        let text = program(seed);
        if let Some(what) = problem(&text) {
            let mut fails = |text: &str| check(text, None).is_ok() && problem(text).is_some();
            let small = shrink(&text, KIND.attempts, &mut fails);
            problems.push(format!("seed {seed}: {what}\n{small}{:?}", problem(&small)));
        }
        if problems.len() >= MOST_PROBLEMS {
            break;
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn programs_that_are_laid_out_have_the_same_tree() {
    none_has(|text| {
        let Ok(laid_out) = format(FileId(0), text) else { return Some("it is not laid out".to_owned()) };
        (printed(&laid_out) != printed(text)).then(|| format!("it has another tree when it is laid out:\n{laid_out}"))
    });
}

#[test]
fn programs_are_right_in_nesl() {
    none_has(|text| match written_in_the_other("random.v", text) {
        Ok(nesl) => check(&nesl, None).is_err().then(|| format!("it is wrong in NESL:\n{nesl}")),
        Err(errors) => Some(format!("it is not printed as NESL: {errors:?}")),
    });
}
