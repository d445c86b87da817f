//! The edit distance of two short lists of lines.

/// How many insertions, deletions and substitutions lead from `a` to `b`; `None` when more than
/// `limit`. Takes time for the `2 × limit + 1` diagonals that can matter, not for all.
pub fn distance_within<T: Eq>(a: &[T], b: &[T], limit: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let beyond = limit + 1;
    // cells[k] is the distance of the first `row` of a to the first `row + k - limit` of b.
    let mut cells: Vec<usize> = (0..=2 * limit)
        .map(|k| k.checked_sub(limit).unwrap_or(beyond))
        .collect();
    for (row, left) in a.iter().enumerate() {
        let mut least = beyond;
        let mut before = beyond;
        for k in 0..cells.len() {
            let at = |k: usize| cells.get(k).copied().unwrap_or(beyond);
            // From here on `row + 1` lines of a.
            let distance = match (row + 1 + k).checked_sub(limit) {
                Some(0) => row + 1,
                Some(column) if column <= b.len() => {
                    let differs = usize::from(b.get(column - 1) != Some(left));
                    (at(k) + differs).min(at(k + 1) + 1).min(before + 1)
                }
                _ => beyond,
            };
            before = distance.min(beyond);
            least = least.min(before);
            if let Some(cell) = cells.get_mut(k) {
                *cell = before;
            }
        }
        if least == beyond {
            return None;
        }
    }
    let last = (b.len() + limit).checked_sub(a.len())?;
    cells.get(last).copied().filter(|distance| *distance <= limit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn counts_line_edits() {
        let distance = |a: &[&str], b: &[&str]| distance_within(a, b, 9).unwrap();
        assert_eq!(distance(&[], &[]), 0);
        assert_eq!(distance(&["a", "b", "c"], &["a", "X", "c"]), 1);
        assert_eq!(distance(&["a", "c"], &["a", "b", "c"]), 1);
        assert_eq!(distance(&["x", "y"], &["a", "b"]), 2);
        assert_eq!(distance(&["foo", "bar", "baz"], &["foo", "qux"]), 2);
        assert_eq!(distance(&["a", "b", "c"], &["c", "b", "a"]), 2);
        assert_eq!(distance_within(&["x", "y"], &["a", "b"], 1), None);
    }

    proptest! {
        #[test]
        fn agrees_with_the_plain_algorithm(a in "[abc]{0,9}", b in "[abc]{0,9}", limit in 0usize..5) {
            let (x, y): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            let plain = strsim::levenshtein(&a, &b);
            prop_assert_eq!(distance_within(&x, &y, limit), (plain <= limit).then_some(plain));
        }
    }
}
