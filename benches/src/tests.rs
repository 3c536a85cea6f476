//! Every program agrees with its twin, and every program is in the table.

use crate::languages::{self, TRIOS};
use crate::measure::{self, Settings, Side};
use crate::outside;
use crate::table::ROWS;
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn programs_and_twins_agree_at_small_sizes_on_one_thread_and_on_two() {
    let mut wrong = Vec::new();
    for row in ROWS.iter().chain(outside::ROWS) {
        for divide in [1_000_000_000, 10_000, 1_000] {
            for threads in [1, 2] {
                let size = row.work.divided(row.size, divide);
                if let Err(message) = measure::times(row, size, Settings { threads, repetitions: 1 }) {
                    wrong.push(format!("{} of {size} on {threads} threads: {message}", row.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_program_file_is_in_the_table_and_every_name_there_once() {
    for (folder, rows) in [("programs", ROWS), ("outside", outside::ROWS)] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        let programs: BTreeSet<String> = rows.iter().map(|row| row.program.to_owned()).collect();
        assert_eq!(files, programs);
        assert_eq!(rows.iter().map(|row| row.name).collect::<BTreeSet<_>>().len(), rows.len());
    }
}

#[test]
fn programs_in_three_languages_give_the_same() {
    let wrong: Vec<String> = (TRIOS.iter())
        .filter_map(|trio| Some(format!("{}: {}", trio.name, languages::times(trio, trio.small, 1).err()?)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("v");
    let files: BTreeSet<String> = (std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name != "main.c")
        .collect();
    let of_trios = TRIOS.iter().flat_map(|trio| ["v", "nesl", "c"].map(|ending| format!("{}.{ending}", trio.name)));
    assert_eq!(files, of_trios.collect());
}

#[test]
fn both_sides_have_a_peak_of_memory() {
    let row = ROWS.iter().find(|row| row.name == "plus-scan").unwrap();
    for side in [Side::Nesl, Side::Twin] {
        let peak = measure::peak_here(row, 1_000_000, 1, side).unwrap();
        assert!(peak.is_none_or(|bytes| bytes > 16_000_000), "{side:?}: {peak:?}");
    }
}
