//! Reading a journal whatever its last writer's end was.
//!
//! A process that is killed leaves at most a part of one line at the end, a power cut a stretch of
//! rubbish; both are cut off. A bad line with good ones after it is something else: damage. What
//! stands before it is used, and nothing is thrown away: the rest is moved into a file beside.

use std::path::{Path, PathBuf};

use crate::journal::error::JournalError;
use crate::journal::line::{Format, Header, MAJOR, decode};
use crate::journal::record::Record;

/// What a journal held.
#[derive(Clone, Debug, PartialEq)]
pub struct Recovered {
    /// The first line.
    pub header: Header,
    /// The records before the first bad line.
    pub records: Vec<Record>,
    /// Bytes of the torn end; 0 after an orderly end.
    pub torn: u64,
    /// A bad line in the middle.
    pub damage: Option<Damage>,
    /// Up to where the file is good.
    pub(super) good: u64,
    /// The last good line lacks its newline.
    pub(super) unended: bool,
}

/// A bad line with good ones after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Its number, 1-based; the header is line 1.
    pub line: usize,
    /// Where the lines from there on were moved; `None` when the file was only read.
    pub moved_to: Option<PathBuf>,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "line {} of the journal is damaged; what stands before it is used",
            self.line
        )?;
        match &self.moved_to {
            Some(path) => write!(f, ", the rest was moved to {}.", path.display()),
            None => f.write_str("."),
        }
    }
}

/// Reads all lines. Never fails on a torn or damaged line, only on a first line that is no header.
pub(super) fn recover(path: &Path, bytes: &[u8]) -> Result<Recovered, JournalError> {
    let mut lines = Lines { bytes, at: 0 };
    let Some((first, start)) = lines.next().map(|line| (line, lines.at)) else {
        return Err(JournalError::NotAJournal(path.to_owned()));
    };
    let header = header(path, first.text)?;
    let mut recovered = Recovered {
        header,
        records: Vec::new(),
        torn: 0,
        damage: None,
        good: start as u64,
        unended: !first.ended,
    };
    let mut number = 1;
    while let Some(line) = lines.next() {
        number += 1;
        let Some(record) = decode(line.text).and_then(Record::parse) else {
            let goes_on = lines.any(|later| decode(later.text).is_some());
            if goes_on {
                recovered.damage = Some(Damage {
                    line: number,
                    moved_to: None,
                });
            } else {
                recovered.torn = bytes.len() as u64 - recovered.good;
            }
            return Ok(recovered);
        };
        recovered.records.push(record);
        recovered.good = lines.at as u64;
        recovered.unended = !line.ended;
    }
    Ok(recovered)
}

fn header(path: &Path, line: &[u8]) -> Result<Header, JournalError> {
    let not_ours = || JournalError::NotAJournal(path.to_owned());
    let json = decode(line).ok_or_else(not_ours)?;
    let format: Format = serde_json::from_str(json).map_err(|_| not_ours())?;
    if format.major > MAJOR {
        return Err(JournalError::Newer {
            path: path.to_owned(),
            found: format.major,
        });
    }
    if format.major == 0 {
        return Err(not_ours());
    }
    serde_json::from_str(json).map_err(|_| not_ours())
}

struct Line<'a> {
    text: &'a [u8],
    ended: bool,
}

/// Lines, and where the next one begins.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let mut parts = rest.splitn(2, |&b| b == b'\n');
        let text = parts.next()?;
        let ended = parts.next().is_some();
        self.at += text.len() + usize::from(ended);
        Some(Line { text, ended })
    }
}
