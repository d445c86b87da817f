//! The edit distance of two short lists of lines.

/// How many insertions, deletions and substitutions lead from `a` to `b`; `None` when more than
/// `limit`. Looks only at the `2 × limit + 1` diagonals that can matter.
pub fn distance_within<T: Eq>(a: &[T], b: &[T], limit: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let beyond = limit + 1;
    let mut previous: Vec<usize> = (0..=b.len()).map(|column| column.min(beyond)).collect();
    let mut current = vec![beyond; b.len() + 1];
    for (row, left) in a.iter().enumerate() {
        let from = (row + 1).saturating_sub(limit);
        let to = (row + 1 + limit).min(b.len());
        current.fill(beyond);
        if let (0, Some(first)) = (from, current.first_mut()) {
            *first = (row + 1).min(beyond);
        }
        for column in from.max(1)..=to {
            let at = |line: &[usize], column: usize| line.get(column).copied().unwrap_or(beyond);
            let substitution = at(&previous, column - 1) + usize::from(b.get(column - 1) != Some(left));
            let best = substitution
                .min(at(&previous, column) + 1)
                .min(at(&current, column - 1) + 1);
            if let Some(cell) = current.get_mut(column) {
                *cell = best.min(beyond);
            }
        }
        std::mem::swap(&mut previous, &mut current);
    }
    previous.last().copied().filter(|distance| *distance <= limit)
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
