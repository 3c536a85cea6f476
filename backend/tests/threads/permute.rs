//! `gather`, `scatter`, `permute`, `pack`, `merge`, `concat`, `interleave`, `slice`.

use super::random::Random;
use super::*;
use nesl_backend::{Pack, Permute};

#[test]
fn gather_from_anywhere() {
    let mut engines = engines();
    for (seed, &length) in LENGTHS.iter().enumerate() {
        for scalar_type in TYPES {
            let mut random = Random(seed as u64);
            let source = column(&random.constants(scalar_type, 1 + length / 2, 9));
            let indices = column(&random.indices(length, source.len()));
            let context = ("gather", scalar_type, length, "seed", seed);
            check(
                &mut engines,
                &context,
                |e| e.permute(Permute::Gather(&source, &indices)),
                |e| e.permute(Permute::Gather(&source, &indices)),
            );
        }
    }
}

#[test]
fn values_are_combined_in_their_order() {
    let mut engines = engines();
    for (seed, &length) in LENGTHS.iter().enumerate() {
        for op in
            [ScalarOp::AddInt, ScalarOp::AddFloat, ScalarOp::MaximumFloat, ScalarOp::OrBool, ScalarOp::MinimumChar]
        {
            for places in [1, 1 + length / 100, 1 + length * 2] {
                let mut random = Random(seed as u64);
                let destination = random.constants(op.row().result, places, 9);
                let indices = column(&random.indices(length, places));
                let values = column(&random.constants(op.row().result, length, 9));
                let context = ("combine_by_index", op, length, places, "seed", seed);
                let kept = column(&destination);
                for shared in [false, true] {
                    let ours = || if shared { kept.clone() } else { column(&destination) };
                    check(
                        &mut engines,
                        &context,
                        |e| e.permute(Permute::Combine(op, ours(), &indices, &values)),
                        |e| e.permute(Permute::Combine(op, ours(), &indices, &values)),
                    );
                }
                assert_same(&Ok(column(&destination)), &Ok(kept), &context);
            }
        }
    }
}

#[test]
fn values_are_reduced_by_index() {
    let mut engines = engines();
    for (seed, &length) in LENGTHS.iter().enumerate() {
        for op in
            [ScalarOp::AddFloat, ScalarOp::MultiplyFloat, ScalarOp::MaximumFloat, ScalarOp::AddInt, ScalarOp::AndBool]
        {
            for places in [1, 3, 1 + length / 100, 1 + length * 2] {
                let mut random = Random(seed as u64);
                let values = column(&random.constants(op.row().result, length, 9));
                let everywhere = random.indices(length, places);
                for indices in [&everywhere, &Constants::Int(vec![places as i64 - 1; length])] {
                    let indices = column(indices);
                    let context = ("reduce_by_index", op, length, places, "seed", seed);
                    check(
                        &mut engines,
                        &context,
                        |e| e.reduce_by_index(op, &values, &indices, places),
                        |e| e.reduce_by_index(op, &values, &indices, places),
                    );
                }
            }
        }
    }
}

#[test]
fn the_last_of_equal_indices_is_scattered() {
    let mut engines = engines();
    for (seed, &length) in LENGTHS.iter().enumerate() {
        for scalar_type in TYPES {
            for places in [1, 1 + length / 100, 1 + length * 2] {
                let mut random = Random(seed as u64);
                let destination = random.constants(scalar_type, places, 9);
                let indices = column(&random.indices(length, places));
                let values = column(&random.constants(scalar_type, length, 9));
                let context = ("scatter", scalar_type, length, places, "seed", seed);
                let ours = || column(&destination);
                check(
                    &mut engines,
                    &context,
                    |e| e.permute(Permute::Scatter(ours(), &indices, &values)),
                    |e| e.permute(Permute::Scatter(ours(), &indices, &values)),
                );
                let kept = ours();
                let shared = || kept.clone();
                check(
                    &mut engines,
                    &context,
                    |e| e.permute(Permute::Scatter(shared(), &indices, &values)),
                    |e| e.permute(Permute::Scatter(shared(), &indices, &values)),
                );
                assert_same(&Ok(ours()), &Ok(kept), &context);
            }
        }
    }
}

#[test]
fn permutations_and_the_first_element_whose_place_is_taken() {
    let mut engines = engines();
    for (seed, &length) in LENGTHS.iter().enumerate() {
        for scalar_type in TYPES {
            for twice in [0, 1, 5].into_iter().filter(|&twice| twice == 0 || length > 1) {
                let mut random = Random(seed as u64);
                let mut permutation = random.permutation(length);
                for _ in 0..twice {
                    permutation[random.below(length)] = permutation[random.below(length)];
                }
                let values = column(&random.constants(scalar_type, length, 9));
                let indices = column(&Constants::Int(permutation));
                let context = ("permute", scalar_type, length, twice, "seed", seed);
                check(
                    &mut engines,
                    &context,
                    |e| e.permute(Permute::Permute(&values, &indices)),
                    |e| e.permute(Permute::Permute(&values, &indices)),
                );
            }
        }
    }
}

#[test]
#[should_panic(expected = "out of bounds")]
fn an_unchecked_index_is_not_ignored_by_several_threads() {
    let mut engine = Threads::new(2, None).unwrap();
    let values = engine.fill(Fill::Iota(100_000)).unwrap();
    let indices = engine.fill(Fill::Dist(ScalarValue::Int(-1), 100_000)).unwrap();
    drop(engine.permute(Permute::Scatter(values.clone(), &indices, &values)));
}

/// Flags that are true in `of` of 8 cases.
fn flags(random: &mut Random, length: usize, of: usize) -> Vec<bool> {
    (0..length).map(|_| random.below(8) < of).collect()
}

#[test]
fn pack_and_merge_are_inverse() {
    let mut engines = engines();
    for (seed, &length) in LENGTHS.iter().enumerate() {
        for scalar_type in TYPES {
            for of in [0, 1, 4, 8] {
                let mut random = Random(seed as u64);
                let all = column(&random.constants(scalar_type, length, 9));
                let flags = flags(&mut random, length, of);
                let not = column(&Constants::Bool(flags.iter().map(|flag| !flag).collect()));
                let flags = column(&Constants::Bool(flags));
                let context = ("pack", scalar_type, length, of, "seed", seed);
                check(
                    &mut engines,
                    &context,
                    |e| e.pack(Pack::Pack(&all, &flags)),
                    |e| e.pack(Pack::Pack(&all, &flags)),
                );
                let mut reference = Reference::new(None);
                let (yes, no) = (
                    reference.pack(Pack::Pack(&all, &flags)).unwrap(),
                    reference.pack(Pack::Pack(&all, &not)).unwrap(),
                );
                check(
                    &mut engines,
                    &("merge", context),
                    |e| e.pack(Pack::Merge(&flags, &yes, &no)),
                    |e| e.pack(Pack::Merge(&flags, &yes, &no)),
                );
            }
        }
    }
}

#[test]
fn concat_interleave_and_slice() {
    let mut engines = engines();
    for (seed, &length) in LENGTHS.iter().enumerate() {
        for scalar_type in TYPES {
            for count in [1, 2, 3, 5] {
                let mut random = Random(seed as u64);
                let columns: Vec<_> =
                    (0..count).map(|_| column(&random.constants(scalar_type, length / count, 9))).collect();
                let context = (scalar_type, length, count, "seed", seed);
                check(
                    &mut engines,
                    &context,
                    |e| e.pack(Pack::Interleave(&columns)),
                    |e| e.pack(Pack::Interleave(&columns)),
                );
                let columns: Vec<_> = (0..count)
                    .map(|number| column(&random.constants(scalar_type, number * length / count, 9)))
                    .collect();
                check(&mut engines, &context, |e| e.pack(Pack::Concat(&columns)), |e| e.pack(Pack::Concat(&columns)));
            }
            let all = column(&Random(seed as u64).constants(scalar_type, length, 9));
            let context = ("slice", scalar_type, length, "seed", seed);
            check(
                &mut engines,
                &context,
                |e| e.permute(Permute::Slice(&all, length / 3, length / 2)),
                |e| e.permute(Permute::Slice(&all, length / 3, length / 2)),
            );
        }
    }
}
