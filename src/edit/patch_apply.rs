//! A text with the chunks of a patch made in it.
//!
//! Lines that stay are the file's own, byte for byte, whatever white space the patch shows of them. A line
//! that comes gets the ending of the line whose place it takes, else of its neighbour. Whether the last
//! line ends with a line break stays as it was.

use thiserror::Error;

use crate::edit::patch::{Chunk, PatchLine};
use crate::edit::patch_pass::Pass;
use crate::edit::patch_seek::{Place, SeekError, old_side, seek};
use crate::edit::reindent::Indents;
use crate::fs::endings::LineEnding;

/// A text with all chunks made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patched {
    /// The whole new text.
    pub text: String,
    /// For each chunk the first and last line (from 1) of what came there; after a removal alone both
    /// name the line where it was.
    pub lines: Vec<(usize, usize)>,
    /// Chunks, from 0, that were found with other white space than the patch has.
    pub loosely: Vec<usize>,
}

/// Why nothing was changed. `patch_hint.rs` has the words for it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ApplyError {
    /// A chunk has no certain place.
    #[error("a chunk has no certain place")]
    Seek(SeekError),
    /// A chunk was found with other indentation, and how a new line should be indented does not follow.
    #[error("the indentation of a new line does not follow from the file")]
    Indent {
        /// Which chunk, from 0.
        chunk: usize,
        /// The line of the file where it stands, from 0.
        line: usize,
    },
}

/// Makes the chunks in `text`: all or none.
pub fn apply(text: &str, chunks: &[Chunk]) -> Result<Patched, ApplyError> {
    let lines: Vec<FileLine<'_>> = text.split_inclusive('\n').map(FileLine::of).collect();
    let bodies: Vec<&str> = lines.iter().map(|line| line.body).collect();
    let places = seek(&bodies, chunks).map_err(ApplyError::Seek)?;
    let mut order: Vec<(usize, &Place)> = places.iter().enumerate().collect();
    order.sort_by_key(|(at, place)| (place.lines.start, place.lines.end, *at));

    let mut output = Output::with_capacity(text.len());
    let mut spans = vec![(1, 1); chunks.len()];
    let mut from = 0;
    for (at, place) in order {
        output.copy(lines.get(from..place.lines.start).unwrap_or_default());
        if let (Some(chunk), Some(span)) = (chunks.get(at), spans.get_mut(at)) {
            let made = Made {
                chunk,
                place,
                lines: &lines,
            };
            *span = made.write(&mut output).ok_or(ApplyError::Indent {
                chunk: at,
                line: place.lines.start,
            })?;
        }
        from = place.lines.end;
    }
    output.copy(lines.get(from..).unwrap_or_default());
    let loosely = places
        .iter()
        .enumerate()
        .filter(|(_, place)| place.pass != Pass::Exact);
    Ok(Patched {
        text: output.finish(text.is_empty() || text.ends_with('\n')),
        lines: spans,
        loosely: loosely.map(|(at, _)| at).collect(),
    })
}

/// The text of a new file.
pub fn new_text(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

/// A line of the file.
#[derive(Clone, Copy, Debug)]
struct FileLine<'a> {
    body: &'a str,
    /// `None` of a last line without line break.
    ending: Option<LineEnding>,
}

impl<'a> FileLine<'a> {
    fn of(line: &'a str) -> Self {
        let ending = LineEnding::of_line(line);
        let length = ending.map_or(0, |ending| ending.as_str().len());
        Self {
            body: line.get(..line.len() - length).unwrap_or_default(),
            ending,
        }
    }
}

/// A chunk at its place.
struct Made<'a> {
    chunk: &'a Chunk,
    place: &'a Place,
    lines: &'a [FileLine<'a>],
}

impl Made<'_> {
    /// Writes what stands at the place afterwards; the answer is the lines that came, from 1. `None` when
    /// a line cannot be indented.
    fn write(&self, output: &mut Output) -> Option<(usize, usize)> {
        let indents = self.indents();
        let count = self.chunk.lines.len().saturating_sub(self.place.dropped);
        let (mut changed_first, mut changed_last) = (None, 0);
        let mut at = self.place.lines.start;
        let mut rest = self.chunk.lines.get(..count).unwrap_or_default();
        while let Some(line) = rest.first() {
            if let PatchLine::Keep(_) = line {
                output.copy(self.lines.get(at..=at).unwrap_or_default());
                at += 1;
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let stays = |line: &PatchLine| matches!(line, PatchLine::Keep(_));
            let (change, after) = rest.split_at(rest.iter().position(stays).unwrap_or(rest.len()));
            changed_first.get_or_insert(output.count + 1);
            at = self.change(change, at, indents.as_ref(), output)?;
            changed_last = output.count;
            rest = after;
        }
        let first = changed_first.unwrap_or(output.count.max(1));
        Some((first, changed_last.max(first)))
    }

    /// Writes lines that come in place of lines that go; the answer is the file's next line.
    fn change(
        &self,
        change: &[PatchLine],
        at: usize,
        indents: Option<&Indents>,
        output: &mut Output,
    ) -> Option<usize> {
        let removed = change
            .iter()
            .filter(|line| matches!(line, PatchLine::Remove(_)))
            .count();
        let next = at + removed;
        let mut gone = self.lines.get(at..next).unwrap_or_default().iter();
        let following = self.lines.get(next).and_then(|line| line.ending);
        for line in change {
            let PatchLine::Add(text) = line else { continue };
            // A new line takes the place of one that goes, one by one; others follow their neighbours.
            let ending = match gone.next() {
                Some(line) => line.ending,
                None => output.ending.or(following).or(Some(LineEnding::Lf)),
            };
            match indents {
                Some(indents) => output.push(&indents.translate(text)?, ending),
                None => output.push(text, ending),
            }
        }
        Some(next)
    }

    /// How to indent new lines; `None` = as the patch has them.
    fn indents(&self) -> Option<Indents> {
        if self.place.pass < Pass::Trimmed {
            return None;
        }
        let old = old_side(self.chunk, self.place.dropped);
        let found = self.lines.get(self.place.lines.clone())?;
        Some(Indents::learn(
            old.into_iter().zip(found.iter().map(|line| line.body)),
        ))
    }
}

/// The new text as it grows.
struct Output {
    text: String,
    /// The last line has no line break so far.
    open: bool,
    /// The last ending that was written.
    ending: Option<LineEnding>,
    count: usize,
}

impl Output {
    fn with_capacity(bytes: usize) -> Self {
        Self {
            text: String::with_capacity(bytes + bytes / 8),
            open: false,
            ending: None,
            count: 0,
        }
    }

    fn copy(&mut self, lines: &[FileLine<'_>]) {
        for line in lines {
            self.push(line.body, line.ending);
        }
    }

    fn push(&mut self, body: &str, ending: Option<LineEnding>) {
        self.close();
        self.text.push_str(body);
        self.count += 1;
        match ending {
            Some(ending) => {
                self.text.push_str(ending.as_str());
                self.ending = Some(ending);
            }
            None => self.open = true,
        }
    }

    fn close(&mut self) {
        if self.open {
            self.text.push_str(self.ending.unwrap_or(LineEnding::Lf).as_str());
            self.open = false;
        }
    }

    /// The text, its last line with a line break or without.
    fn finish(mut self, ends: bool) -> String {
        if ends {
            self.close();
        } else if !self.open
            && let Some(ending) = LineEnding::of_line(&self.text)
        {
            self.text.truncate(self.text.len() - ending.as_str().len());
        }
        self.text
    }
}
