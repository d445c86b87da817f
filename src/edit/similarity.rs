//! Which of many lines is most like another, by characters, without comparing all of them in full.

/// Bytes of a line that are looked at; what follows rarely decides which line was meant.
const HEAD: usize = 200;
const BUCKETS: usize = 64;

/// A line prepared for comparison.
#[derive(Clone)]
pub struct Profile<'a> {
    head: &'a [u8],
    counts: [u8; BUCKETS],
}

impl<'a> Profile<'a> {
    /// Counts the bytes of a line.
    pub fn of(line: &'a str) -> Self {
        let bytes = line.as_bytes();
        let head = bytes.get(..HEAD).unwrap_or(bytes);
        let mut counts = [0; BUCKETS];
        for byte in head {
            if let Some(count) = counts.get_mut(usize::from(*byte) % BUCKETS) {
                // HEAD is below 256, so a count cannot overflow.
                *count += 1;
            }
        }
        Self { head, counts }
    }

    /// The length that both are measured against.
    fn longer(&self, other: &Profile<'_>) -> usize {
        self.head.len().max(other.head.len())
    }

    fn distance(&self, other: &Profile<'_>) -> usize {
        strsim::generic_levenshtein(&Bytes(self.head), &Bytes(other.head))
    }
}

/// How like two lists of lines are, line by line: 1 = equal, 0 = nothing in common.
pub fn similarity(a: &[Profile], b: &[Profile]) -> f64 {
    ratio(a, b, |x, y| x.longer(y) - x.distance(y).min(x.longer(y)))
}

/// A number that [`similarity`] never exceeds, found without comparing in full.
pub fn upper_bound(a: &[Profile], b: &[Profile]) -> f64 {
    ratio(a, b, shared)
}

/// Bytes that two lines can have in common at most, in whatever order.
fn shared(a: &Profile<'_>, b: &Profile<'_>) -> usize {
    // The sum is at most HEAD, so it fits a byte, and bytes are added many at a time.
    let counts = a.counts.iter().zip(&b.counts);
    usize::from(counts.map(|(a, b)| *a.min(b)).fold(0, u8::wrapping_add))
}

fn ratio(a: &[Profile], b: &[Profile], equal: impl Fn(&Profile, &Profile) -> usize) -> f64 {
    let pairs = || a.iter().zip(b);
    let all: usize = pairs().map(|(x, y)| x.longer(y)).sum();
    let equal: usize = pairs().map(|(x, y)| equal(x, y)).sum();
    // Lines are cut to HEAD bytes and windows are short: no precision is lost.
    #[allow(clippy::cast_precision_loss)]
    if all == 0 { 1.0 } else { equal as f64 / all as f64 }
}

struct Bytes<'a>(&'a [u8]);

impl<'b> IntoIterator for &'b Bytes<'_> {
    type Item = &'b u8;
    type IntoIter = std::slice::Iter<'b, u8>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(a: &str, b: &str) -> (f64, f64) {
        let (a, b) = ([Profile::of(a)], [Profile::of(b)]);
        (similarity(&a, &b), upper_bound(&a, &b))
    }

    #[test]
    fn equal_lines_are_one_and_foreign_lines_nothing() {
        assert_eq!(of("abc", "abc"), (1.0, 1.0));
        assert_eq!(of("", ""), (1.0, 1.0));
        assert_eq!(of("abc", "xyz").0, 0.0);
        assert!(of("let a = b;", "let a  =  b;").0 > 0.8);
    }

    proptest! {
        #[test]
        fn the_bound_holds(a in ".{0,30}", b in ".{0,30}") {
            let (similarity, bound) = of(&a, &b);
            prop_assert!(similarity <= bound + 1e-9);
        }
    }
}
