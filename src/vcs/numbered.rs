//! Contents with each line replaced by a short number, for a blame that compares hundreds of versions of one file.
//!
//! libgit2 hashes both sides of each comparison whole, and looks at every byte of every line again. Which lines are
//! equal, and what a comparison looks at beside that (how far a line is indented, whether it is blank, whether it ends)
//! is the same with numbers in place of words; the numbers are a fraction as long, and made once a version.

use std::collections::HashMap;

/// Digits of numbers: none is white space.
const DIGITS: &[u8; 64] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/";

/// The numbers of all lines that were seen.
#[derive(Default)]
pub struct Numbers(HashMap<Box<[u8]>, usize>);

impl Numbers {
    fn of(&mut self, line: &[u8]) -> usize {
        if let Some(number) = self.0.get(line) {
            return *number;
        }
        let number = self.0.len();
        self.0.insert(line.into(), number);
        number
    }
}

/// A content, and the same in numbers. Comparable with others of the same [`Numbers`].
pub struct Numbered {
    /// The content.
    pub bytes: Vec<u8>,
    numbers: Vec<u8>,
    /// Where each line ends, in the content and in the numbers.
    ends: Vec<(usize, usize)>,
}

impl Numbered {
    /// Numbers the lines of a content.
    pub fn new(bytes: Vec<u8>, known: &mut Numbers) -> Self {
        let mut numbers = Vec::with_capacity(bytes.len() / 8);
        let (mut ends, mut end) = (Vec::new(), 0);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            end += line.len();
            let text = line
                .iter()
                .position(|byte| !is_space(*byte))
                .unwrap_or(line.len());
            let (indent, words) = line.split_at(text);
            numbers.extend_from_slice(indent);
            if !words.is_empty() {
                let mut number = known.of(line);
                loop {
                    numbers.extend(DIGITS.get(number % DIGITS.len()));
                    number /= DIGITS.len();
                    if number == 0 {
                        break;
                    }
                }
                if line.ends_with(b"\n") {
                    numbers.push(b'\n');
                }
            }
            ends.push((end, numbers.len()));
        }
        Self { bytes, numbers, ends }
    }

    /// How many lines it has; the last may lack its end.
    pub fn lines(&self) -> usize {
        self.ends.len()
    }

    /// The numbers of the lines in the first `bytes` of the content, which end with a line.
    pub fn upto(&self, bytes: usize) -> &[u8] {
        let lines = self.ends.partition_point(|(end, _)| *end <= bytes);
        let end = lines.checked_sub(1).and_then(|last| self.ends.get(last));
        self.numbers.get(..end.map_or(0, |end| end.1)).unwrap_or_default()
    }
}

/// As C has it.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'\x0b'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_its_indent_and_its_number() {
        let mut known = Numbers::default();
        let one = Numbered::new(
            b"\tlong words\n \x0b\n\nlong words\n\tlong words\n".to_vec(),
            &mut known,
        );
        assert_eq!(one.numbers, b"\t0\n \x0b\n\n1\n\t0\n");
        assert_eq!(one.lines(), 5);
        assert_eq!(one.upto(12 + 3), b"\t0\n \x0b\n");
        assert_eq!(one.upto(0), b"");
        // A line without its end is another one.
        let other = Numbered::new(b"long words".to_vec(), &mut known);
        assert_eq!((other.numbers.as_slice(), other.lines()), (&b"2"[..], 1));
        assert_eq!(Numbered::new(Vec::new(), &mut known).lines(), 0);
    }
}
