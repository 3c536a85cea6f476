//! Programs in another syntax: what a program of V has become in NESL prints what the program prints, and so does what
//! V can say of a program of NESL. What V cannot say has a reason at a place.

#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

use nesl_tests::engines::{Local, run, run_all};
use nesl_tests::outcome::{End, Outcome};
use nesl_tests::programs::{Program, all};
use nesl_tests::session::translated;

/// Of the programs that there are in both languages those of which V cannot say the one in NESL, with the word that the
/// reason has in it: what they give one another are tuples.
const NESL_ALONE: [(&str, &str); 3] = [("v/bank", "tuples"), ("v/gauss", "tuples"), ("v/knapsack", "tuples")];

fn arguments(program: &Program) -> Option<Vec<String>> {
    program.header.as_ref().ok().and_then(|header| header.arguments.clone())
}

/// What a program did, without the places, which are others in another text.
fn outcome(mut outcome: Outcome) -> Outcome {
    if let End::Failed { at, .. } = &mut outcome.end {
        *at = (0, 0);
    }
    outcome
}

#[test]
fn what_programs_of_v_have_become_prints_the_same() {
    let mut count = 0;
    for program in all().into_iter().filter(|program| program.name.ends_with(".v")) {
        let arguments = arguments(&program);
        let own = run(Local::Oracle, &program.text, arguments.as_deref());
        if matches!(own.end, End::Rejected(_)) {
            continue;
        }
        let nesl = translated(&program.text).unwrap_or_else(|errors| panic!("{}: {errors:?}", program.name));
        assert!(nesl.starts_with('%'), "its header stays its header\n{nesl}");
        for (local, other) in Local::ALL.into_iter().zip(run_all(&Local::ALL, &nesl, arguments.as_deref())) {
            assert_eq!(outcome(other), outcome(own.clone()), "{} on {}\n{nesl}", program.name, local.name());
        }
        count += 1;
    }
    assert!(count >= 20, "only {count} programs of V were found");
}

#[test]
fn what_v_can_say_of_programs_of_nesl_prints_the_same() {
    let (mut said, mut reasons) = (Vec::new(), Vec::new());
    for program in all().into_iter().filter(|program| !program.name.ends_with(".v")) {
        let arguments = arguments(&program);
        let own = run(Local::Oracle, &program.text, arguments.as_deref());
        if matches!(own.end, End::Rejected(_)) {
            continue;
        }
        match translated(&program.text) {
            Ok(v) => {
                // What runs knows a program of V by its first comment.
                let other = run(Local::Oracle, &format!("/**/{v}"), arguments.as_deref());
                assert_eq!(outcome(other), outcome(own), "{}\n{v}", program.name);
                said.push(program.name);
            }
            Err(errors) => {
                let is_reason = errors.iter().all(|(code, _)| code == "E0514" || code == "E0199");
                assert!(is_reason, "{}: {errors:?}", program.name);
                reasons.push((program.name, errors));
            }
        }
    }
    println!("V says {} programs of NESL, and has no words for {}", said.len(), reasons.len());
    for (name, errors) in &reasons {
        println!("{name}: {}", errors[0].1);
    }
    let twins: Vec<&str> =
        reasons.iter().map(|(name, _)| name.as_str()).filter(|name| name.starts_with("v/")).collect();
    assert_eq!(twins, NESL_ALONE.map(|(name, _)| name), "of the programs in both languages");
    for (name, word) in NESL_ALONE {
        let (_, errors) = reasons.iter().find(|(other, _)| other == name).unwrap();
        assert!(errors[0].1.contains(word), "{name}: {errors:?}");
    }
    assert!(said.len() >= 100, "V says {} programs alone", said.len());
}
