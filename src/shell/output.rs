//! What a program printed: bounded in memory, and cleaned for reading.

use std::collections::VecDeque;

/// How much of the beginning and of the end is kept, in bytes as printed.
const HEAD: usize = 2 << 20;
const TAIL: usize = 6 << 20;

/// Lines and bytes of the tail that is shown while the program runs.
const PROGRESS_LINES: usize = 12;
const PROGRESS_BYTES: usize = 4 << 10;

/// Collects output. Holds at most 8 MiB however much comes.
#[derive(Debug)]
pub(super) struct OutputBuffer {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_limit: usize,
    tail_limit: usize,
    dropped_bytes: u64,
    dropped_lines: u64,
}

/// Output as text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cleaned {
    pub text: String,
    pub dropped_bytes: u64,
    pub dropped_lines: u64,
}

impl OutputBuffer {
    pub fn new() -> Self {
        Self::with_limits(HEAD, TAIL)
    }

    pub fn with_limits(head_limit: usize, tail_limit: usize) -> Self {
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            head_limit,
            tail_limit,
            dropped_bytes: 0,
            dropped_lines: 0,
        }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        let room = self.head_limit.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.tail_limit);
        self.drop_from_tail(over);
    }

    fn drop_from_tail(&mut self, count: usize) {
        self.dropped_bytes += count as u64;
        let (first, second) = self.tail.as_slices();
        let of_first = first.get(..count.min(first.len())).unwrap_or_default();
        let of_second = second.get(..count - of_first.len()).unwrap_or_default();
        let lines = [of_first, of_second].map(|part| memchr::memchr_iter(b'\n', part).count());
        self.dropped_lines += lines.iter().sum::<usize>() as u64;
        self.tail.drain(..count);
    }

    /// The last lines, for showing while the program runs.
    pub fn progress(&self) -> String {
        let end: Vec<u8> = if self.tail.is_empty() {
            self.head
                .iter()
                .rev()
                .take(PROGRESS_BYTES)
                .rev()
                .copied()
                .collect()
        } else {
            self.tail
                .iter()
                .rev()
                .take(PROGRESS_BYTES)
                .rev()
                .copied()
                .collect()
        };
        let text = clean(&end);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(PROGRESS_LINES)..].join("\n")
    }

    /// The text; where something was dropped a line says how much, and whole lines stand on both sides.
    pub fn finish(mut self) -> Cleaned {
        if self.dropped_bytes == 0 {
            self.head.extend(self.tail);
            return Cleaned {
                text: clean(&self.head),
                dropped_bytes: 0,
                dropped_lines: 0,
            };
        }
        let cut = self
            .head
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(self.head.len(), |at| at + 1);
        let torn = self.head.split_off(cut);
        self.dropped_bytes += torn.len() as u64;
        if let Some(at) = self.tail.iter().position(|byte| *byte == b'\n') {
            self.drop_from_tail(at + 1);
        }
        let (lines, bytes) = (self.dropped_lines, self.dropped_bytes);
        let mut text = clean(&self.head);
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[… {lines} lines ({bytes} bytes) left out …]\n"));
        text.push_str(&clean(self.tail.make_contiguous()));
        Cleaned {
            text,
            dropped_bytes: bytes,
            dropped_lines: lines,
        }
    }
}

/// Text without escape sequences and control characters; invalid UTF-8 becomes U+FFFD. A carriage return
/// becomes a newline, so that nothing that was printed is lost.
pub(super) fn clean(bytes: &[u8]) -> String {
    let mut screen = Plain {
        text: String::with_capacity(bytes.len()),
        after_cr: false,
    };
    let mut parser = vte::Parser::new();
    parser.advance(&mut screen, bytes);
    screen.text
}

struct Plain {
    text: String,
    /// A carriage return waits: before a newline it is nothing, else it is a newline.
    after_cr: bool,
}

impl Plain {
    fn put(&mut self, char: char) {
        if std::mem::take(&mut self.after_cr) && char != '\n' && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push(char);
    }
}

impl vte::Perform for Plain {
    fn print(&mut self, char: char) {
        if !char.is_control() {
            self.put(char);
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => self.put('\n'),
            b'\t' => self.put('\t'),
            b'\r' => self.after_cr = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_control_characters_are_removed() {
        assert_eq!(
            clean(b"\xff\xfe\x00A\x1b[31mred\x1b[0m\rB\n"),
            "\u{fffd}\u{fffd}Ared\nB\n"
        );
        assert_eq!(
            clean(b"\x1b]8;;http://x\x07link\x1b]8;;\x07\r\nnext\tcol\x07\x08"),
            "link\nnext\tcol"
        );
        assert_eq!(clean("größe → 日本\n".as_bytes()), "größe → 日本\n");
        assert_eq!(clean(b"10%\r20%\r\rdone\r\n"), "10%\n20%\ndone\n");
    }

    #[test]
    fn the_middle_is_dropped_at_line_ends_and_counted() {
        let mut buffer = OutputBuffer::with_limits(10, 10);
        for n in 0..10 {
            buffer.push(format!("line{n}\n").as_bytes());
        }
        let cleaned = buffer.finish();
        assert_eq!(cleaned.text, "line0\n[… 8 lines (48 bytes) left out …]\nline9\n");
        assert_eq!((cleaned.dropped_lines, cleaned.dropped_bytes), (8, 48));
    }

    #[test]
    fn nothing_is_dropped_below_the_limit() {
        let mut buffer = OutputBuffer::with_limits(4, 4);
        buffer.push(b"abcd");
        buffer.push(b"efgh");
        assert_eq!(
            buffer.finish(),
            Cleaned {
                text: "abcdefgh".into(),
                dropped_bytes: 0,
                dropped_lines: 0
            }
        );
    }

    #[test]
    fn progress_is_the_last_lines() {
        let mut buffer = OutputBuffer::new();
        for n in 0..100 {
            buffer.push(format!("{n}\n").as_bytes());
        }
        assert_eq!(
            buffer.progress(),
            (88..100).map(|n| n.to_string()).collect::<Vec<_>>().join("\n")
        );
    }
}
