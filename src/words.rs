//! Numbers in sentences.

use std::fmt::Display;

/// A number with its noun, which takes an `s` for all but one: `1 hunk`, `0 hunks`.
pub fn count<N: Copy + Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_alone() {
        assert_eq!(
            [0_usize, 1, 2].map(|n| count(n, "old file")).join(", "),
            "0 old files, 1 old file, 2 old files"
        );
        assert_eq!(count(1_u64, "hunk"), "1 hunk");
    }
}
