//! How alike two files are, as git measures it: how many bytes of one, in pieces of a line or 64 bytes, are in
//! the other.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// A piece ends at a line break, or here.
const PIECE: usize = 64;
/// The best score.
pub const MAX: u64 = 60_000;
/// How like a renamed file must be.
pub const RENAME: u64 = MAX / 2;

/// The pieces of a file: how many bytes there are of each.
pub struct Pieces {
    size: u64,
    counts: HashMap<u64, u64>,
}

/// Makes pieces that can be compared with each other.
#[derive(Default)]
pub struct Measure(RandomState);

impl Measure {
    /// The pieces of a file.
    pub fn pieces(&self, data: &[u8]) -> Pieces {
        let text = !is_binary(data);
        let mut counts: HashMap<u64, u64> = HashMap::new();
        let mut piece = Vec::with_capacity(PIECE);
        let mut bytes = data.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            // The two kinds of line breaks are one.
            if text && byte == b'\r' && bytes.peek() == Some(&b'\n') {
                continue;
            }
            piece.push(byte);
            if piece.len() == PIECE || byte == b'\n' {
                *counts.entry(self.0.hash_one(&piece)).or_default() += piece.len() as u64;
                piece.clear();
            }
        }
        if !piece.is_empty() {
            *counts.entry(self.0.hash_one(&piece)).or_default() += piece.len() as u64;
        }
        Pieces {
            size: data.len() as u64,
            counts,
        }
    }
}

/// Whether git takes it for binary: a NUL near its start.
pub fn is_binary(data: &[u8]) -> bool {
    data.iter().take(8000).any(|byte| *byte == 0)
}

/// Whether sizes alone exclude a score of `least`.
pub fn too_different(one: u64, other: u64, least: u64) -> bool {
    let (small, large) = (one.min(other), one.max(other));
    large * (MAX - least) < (large - small) * MAX
}

/// From 0 to [`MAX`].
pub fn score(old: &Pieces, new: &Pieces) -> u64 {
    let largest = old.size.max(new.size);
    if new.size == 0 || largest == 0 {
        return 0;
    }
    let copied: u64 = old
        .counts
        .iter()
        .filter_map(|(piece, count)| Some(*count.min(new.counts.get(piece)?)))
        .sum();
    copied * MAX / largest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_lines_is_half_of_the_score() {
        let measure = Measure::default();
        let score = |old: &[u8], new: &[u8]| score(&measure.pieces(old), &measure.pieces(new));
        assert_eq!(score(b"one\ntwo\n", b"one\ntwo\n"), MAX);
        assert_eq!(score(b"one\ntwo\n", b"two\nsix\n"), MAX / 2);
        assert_eq!(score(b"one\r\n", b"one\n"), MAX * 4 / 5);
        assert_eq!(score(b"one\n", b""), 0);
        assert!(too_different(10, 100, RENAME) && !too_different(51, 100, RENAME));
    }
}
