//! `--stats`: the counters of a run as a table, one line for each rank.

use nesl_backend::Counters;

/// A column of the table: its heading, and the counter in it.
type Heading = (&'static str, fn(&Counters) -> u64);

const HEADINGS: [Heading; 9] = [
    ("instructions", |counters| counters.instructions),
    ("elements", |counters| counters.elements),
    ("bytes", |counters| counters.bytes),
    ("peak elements", |counters| counters.peak_elements),
    ("peak bytes", |counters| counters.peak_bytes),
    ("largest part", |counters| counters.largest_part),
    ("messages", |counters| counters.messages),
    ("bytes sent", |counters| counters.bytes_sent),
    ("collectives", |counters| counters.collectives),
];

/// The table, and the imbalance where there is more than one rank.
pub fn table(ranks: &[Counters]) -> String {
    let mut rows =
        vec![std::iter::once("rank".to_owned()).chain(HEADINGS.iter().map(|(name, _)| (*name).to_owned())).collect()];
    for (rank, counters) in ranks.iter().enumerate() {
        let cells = HEADINGS.iter().map(|(_, counter)| counter(counters).to_string());
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
        text.push_str(&format!("imbalance {:.3} (elements: the most on a rank over the mean)\n", imbalance(ranks)));
    }
    text
}

/// How unevenly elements are spread: the most on one rank over the mean; 1 is even.
fn imbalance(ranks: &[Counters]) -> f64 {
    let most = ranks.iter().map(|counters| counters.elements).max().unwrap_or(0) as f64;
    let total: u64 = ranks.iter().map(|counters| counters.elements).sum();
    if total == 0 { 1.0 } else { most * ranks.len() as f64 / total as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_lines_and_imbalance_is_relative_to_the_mean() {
        let counters = |elements| Counters { elements, ..Counters::default() };
        let text = table(&[counters(30), counters(10)]);
        assert_eq!(text.lines().count(), 4);
        assert!(text.ends_with("imbalance 1.500 (elements: the most on a rank over the mean)\n"), "{text}");
        assert!(!table(&[counters(1)]).contains("imbalance"));
    }
}
