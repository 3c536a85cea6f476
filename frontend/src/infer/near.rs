//! Names that are like one another: what somebody may have meant.

use super::Inference;
use crate::ast::Symbol;

/// The number of single-character edits between two words, counted up to `limit + 1`.
pub fn edit_distance(one: &str, other: &str, limit: usize) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > limit {
        return limit + 1;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    let mut previous: Vec<usize> = row.clone();
    for (i, letter) in one.iter().enumerate() {
        let before = std::mem::replace(&mut previous, row);
        row = vec![i + 1; other.len() + 1];
        for (j, target) in other.iter().enumerate() {
            let change = previous[j] + usize::from(letter != target);
            row[j + 1] = change.min(previous[j + 1] + 1).min(row[j] + 1);
            // Two neighbours swapped are one mistake.
            if i > 0 && j > 0 && *letter == other[j - 1] && one[i - 1] == *target {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
    }
    row[other.len()]
}

/// How many edits make a name another one that may have been meant.
fn most_edits(name: &str) -> usize {
    (name.chars().count() / 3).min(3)
}

impl Inference<'_> {
    /// The names of functions and values that are the most like this one, at most three.
    pub(super) fn near_names(&self, name: &str) -> Vec<Symbol> {
        let limit = most_edits(name);
        let locals = self.locals.iter().filter(|(_, scopes)| !scopes.is_empty()).map(|(known, _)| known);
        let mut near: Vec<(usize, &Symbol)> = (locals.chain(self.text.names()).chain(self.environment.names.keys()))
            .filter(|known| known.chars().any(char::is_alphanumeric))
            .map(|known| (edit_distance(name, known, limit), known))
            .filter(|&(distance, known)| distance <= limit && **known != *name)
            .collect();
        near.sort_unstable();
        near.dedup();
        let best = near.first().map_or(0, |&(distance, _)| distance);
        near.into_iter().filter(|(distance, _)| *distance == best).take(3).map(|(_, known)| known.clone()).collect()
    }

    /// The datatype whose name is the most like this one, if one is.
    pub(super) fn near_datatype(&self, name: &str) -> Option<Symbol> {
        let limit = most_edits(name);
        let known = self.text.datatype_names().chain(self.environment.datatypes.keys());
        let near = known.map(|known| (edit_distance(name, known, limit), known));
        near.filter(|(distance, _)| *distance <= limit).min().map(|(_, known)| known.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::edit_distance;

    #[test]
    fn edit_distance_counts_changes() {
        assert_eq!(edit_distance("sum", "sum", 2), 0);
        assert_eq!(edit_distance("lenght", "length", 2), 1);
        assert_eq!(edit_distance("plusscan", "plus_scan", 2), 1);
        assert!(edit_distance("sum", "permute", 2) > 2);
    }
}
