//! `--stats`: the counters of a run as a table, one line for each rank.

use crate::style::Style;
use nesl_backend::Counters;
use serde_json::{Map, Value};

/// A column of the table: its heading, and what is in it.
type Heading = (&'static str, fn(&Counters) -> String);

const HEADINGS: [Heading; 12] = [
    ("instructions", |counters| counters.instructions.to_string()),
    ("work", |counters| counters.work().to_string()),
    ("elements", |counters| counters.elements.to_string()),
    ("bytes", |counters| counters.bytes.to_string()),
    ("peak elements", |counters| counters.peak_elements.to_string()),
    ("peak bytes", |counters| counters.peak_bytes.to_string()),
    ("largest part", |counters| counters.largest_part.to_string()),
    ("messages", |counters| counters.messages.to_string()),
    ("bytes sent", |counters| counters.bytes_sent.to_string()),
    ("collectives", |counters| counters.collectives.to_string()),
    ("busy", |counters| seconds(counters.busy)),
    ("waiting", |counters| seconds(counters.waiting)),
];

/// The counters for people, or an object for each rank.
pub fn text(ranks: &[Counters], style: Style) -> String {
    match style {
        Style::Text(_) => table(ranks),
        Style::Json => ranks.iter().enumerate().map(|(rank, counters)| object(rank, counters)).collect(),
    }
}

/// The counters of a rank in one line of JSON; times are in seconds.
fn object(rank: usize, counters: &Counters) -> String {
    let number = |text: String| {
        let text = text.trim_end_matches(" s");
        text.parse::<u64>().map_or_else(|_| Value::from(text.parse::<f64>().unwrap_or(0.0)), Value::from)
    };
    let cells = HEADINGS.iter().map(|(name, cell)| (name.replace(' ', "_"), number(cell(counters))));
    let object: Map<String, Value> = std::iter::once(("rank".to_owned(), Value::from(rank))).chain(cells).collect();
    Value::from(object).to_string() + "\n"
}

/// The table, and the imbalance where there is more than one rank.
pub fn table(ranks: &[Counters]) -> String {
    let mut rows =
        vec![std::iter::once("rank".to_owned()).chain(HEADINGS.iter().map(|(name, _)| (*name).to_owned())).collect()];
    for (rank, counters) in ranks.iter().enumerate() {
        let cells = HEADINGS.iter().map(|(_, cell)| cell(counters));
        rows.push(std::iter::once(rank.to_string()).chain(cells).collect::<Vec<String>>());
    }
    let widths: Vec<usize> =
        (0..=HEADINGS.len()).map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:>width$}")).collect();
        text.push_str(&cells.join("  "));
        text.push('\n');
    }
    if ranks.len() > 1 {
        let busy: Vec<u64> = ranks.iter().map(|counters| counters.busy).collect();
        text.push_str(&format!("imbalance {:.3} (busy time: the most on a rank over the mean)\n", imbalance(&busy)));
    }
    text
}

/// Nanoseconds as seconds.
fn seconds(nanoseconds: u64) -> String {
    format!("{:.4} s", nanoseconds as f64 / 1e9)
}

/// How unevenly something is spread: the most on one rank over the mean; 1 is even.
fn imbalance(counts: &[u64]) -> f64 {
    let most = counts.iter().copied().max().unwrap_or(0) as f64;
    let total: u64 = counts.iter().sum();
    if total == 0 { 1.0 } else { most * counts.len() as f64 / total as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_lines_and_imbalance_is_relative_to_the_mean() {
        let counters = |busy| Counters { busy, ..Counters::default() };
        let text = table(&[counters(30), counters(10)]);
        assert_eq!(text.lines().count(), 4);
        assert!(text.ends_with("imbalance 1.500 (busy time: the most on a rank over the mean)\n"), "{text}");
        assert!(!table(&[counters(1)]).contains("imbalance"));
    }
}
