//! From the text of an envelope to a [`Patch`]: which files it adds, updates, moves and deletes, and the chunks
//! of each.
//!
//! ```text
//! *** Begin Patch
//! *** Update File: src/a.rs
//! *** Move to: src/b.rs
//! @@ fn main() {
//!  a line that stays
//! -a line that goes
//! +a line that comes
//! *** End Patch
//! ```
//!
//! Markers stand at the beginning of a line; what is taken beyond that, because models write it, is what
//! can be read in one way only. `patch_wrapper.rs` takes off what is put around the envelope.

use thiserror::Error;

use crate::edit::patch::{Chunk, FileAction, FilePatch, Patch, PatchLine};
use crate::edit::patch_wrapper::{BEGIN, END, unwrap};

const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";
/// What an error shows of a line, in characters.
const SHOWN: usize = 60;

/// Why a text is no patch. The texts are for the model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParseError {
    /// No characters.
    #[error("The patch is empty. Give the envelope from `*** Begin Patch` to `*** End Patch`.")]
    Empty,
    /// A diff of another kind, or none at all.
    #[error(
        "The patch has no line `*** Begin Patch`. It is not a unified diff: begin with `*** Begin Patch`, then \
         `*** Update File: path` (or Add File, Delete File), chunks that begin with `@@`, and `*** End Patch`."
    )]
    NoBegin,
    /// It breaks off.
    #[error("The patch breaks off after line {0}: `*** End Patch` is missing. Give the whole patch again.")]
    NoEnd(usize),
    /// An envelope around nothing.
    #[error(
        "The patch holds no file. Put `*** Add File: path`, `*** Update File: path` or `*** Delete File: path` \
         between `*** Begin Patch` and `*** End Patch`."
    )]
    NoFiles,
    /// A line that cannot stand where it stands.
    #[error("Line {line} of the patch ({shown}): {what}")]
    Line {
        /// From 1; `*** Begin Patch` is usually line 1.
        line: usize,
        /// The beginning of the line, quoted.
        shown: String,
        /// What is wrong and what to write.
        what: &'static str,
    },
}

/// Parses a patch as a model wrote it.
pub fn parse(text: &str) -> Result<Patch, ParseError> {
    let envelope = unwrap(text)?;
    let mut parser = Parser::default();
    for (number, line) in &envelope.lines {
        parser.line(*number, line)?;
    }
    let unended = !envelope.ended;
    if unended && (envelope.wrapped || !parser.is_complete()) {
        let last = envelope.lines.last().map_or(1, |(number, _)| *number);
        return Err(ParseError::NoEnd(last));
    }
    parser.finish(unended)
}

pub(super) fn wrong(line: usize, text: &str, what: &'static str) -> ParseError {
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    ParseError::Line {
        line,
        shown: format!("{shown:?}"),
        what,
    }
}

#[derive(Default)]
struct Parser {
    files: Vec<FilePatch>,
    /// Blank lines within the lines of a new file: content if another line follows, else nothing.
    blanks: usize,
    /// The chunk that takes lines; `None` after `*** End of File` and before the first.
    open: Option<Chunk>,
}

impl Parser {
    fn line(&mut self, number: usize, line: &str) -> Result<(), ParseError> {
        // Within a chunk a blank in front makes a line of the file of anything.
        let in_chunk = self.open.is_some();
        let marker = if in_chunk { line.trim_end() } else { line.trim() };
        if marker.starts_with("*** ") {
            return self.marker(number, line, marker);
        }
        match self.files.last_mut().map(|file| &mut file.action) {
            Some(FileAction::Add(lines)) => match line.strip_prefix('+') {
                Some(text) => {
                    lines.extend(std::iter::repeat_n(String::new(), self.blanks));
                    self.blanks = 0;
                    lines.push(text.to_owned());
                    Ok(())
                }
                None if line.trim().is_empty() => {
                    self.blanks += usize::from(!lines.is_empty());
                    Ok(())
                }
                None => Err(wrong(
                    number,
                    line,
                    "every line of a new file begins with `+`; another file begins with `*** Add File:`, \
                     `*** Update File:` or `*** Delete File:`.",
                )),
            },
            Some(FileAction::Update { .. }) => self.chunk_line(number, line),
            _ if line.trim().is_empty() => Ok(()),
            _ => Err(wrong(
                number,
                line,
                "a file must begin here, with `*** Add File: path`, `*** Update File: path` or \
                 `*** Delete File: path`.",
            )),
        }
    }

    fn marker(&mut self, number: usize, line: &str, marker: &str) -> Result<(), ParseError> {
        if marker == BEGIN || marker == END {
            // One envelope after the other: `unwrap` has seen where the last one ends.
            self.close()
        } else if let Some(path) = marker.strip_prefix(ADD) {
            self.begin(number, line, path, FileAction::Add(Vec::new()))
        } else if let Some(path) = marker.strip_prefix(DELETE) {
            self.begin(number, line, path, FileAction::Delete)
        } else if let Some(path) = marker.strip_prefix(UPDATE) {
            let (move_to, chunks) = (None, Vec::new());
            self.begin(number, line, path, FileAction::Update { move_to, chunks })
        } else if let Some(path) = marker.strip_prefix(MOVE) {
            self.move_to(number, line, path)
        } else if marker == END_OF_FILE {
            self.end_of_file(number, line)
        } else if self.open.is_some() {
            Err(wrong(
                number,
                line,
                "this marker is not known. If it is a line of the file, put a blank, `-` or `+` in front.",
            ))
        } else {
            Err(wrong(
                number,
                line,
                "this marker is not known. The markers are `*** Add File: path`, `*** Update File: path`, \
                 `*** Move to: path`, `*** Delete File: path`, `*** End of File` and `*** End Patch`.",
            ))
        }
    }

    fn begin(&mut self, number: usize, line: &str, path: &str, action: FileAction) -> Result<(), ParseError> {
        self.close()?;
        let path = path.trim().to_owned();
        if path.is_empty() {
            return Err(wrong(number, line, "the path is missing after the colon."));
        }
        self.files.push(FilePatch {
            line: number,
            path,
            action,
        });
        Ok(())
    }

    fn move_to(&mut self, number: usize, line: &str, path: &str) -> Result<(), ParseError> {
        let path = path.trim();
        match self.files.last_mut().map(|file| &mut file.action) {
            Some(FileAction::Update { move_to, chunks })
                if move_to.is_none() && chunks.is_empty() && self.open.is_none() && !path.is_empty() =>
            {
                *move_to = Some(path.to_owned());
                Ok(())
            }
            _ => Err(wrong(
                number,
                line,
                "`*** Move to: new path` stands once, directly below `*** Update File: old path`.",
            )),
        }
    }

    fn end_of_file(&mut self, number: usize, line: &str) -> Result<(), ParseError> {
        let Some(chunk) = self.open.as_mut().filter(|chunk| !chunk.lines.is_empty()) else {
            return Err(wrong(
                number,
                line,
                "`*** End of File` stands below the lines of a chunk.",
            ));
        };
        chunk.end_of_file = true;
        self.close_chunk()
    }

    fn chunk_line(&mut self, number: usize, line: &str) -> Result<(), ParseError> {
        if let Some(header) = line.strip_prefix("@@") {
            let text = header_text(header);
            // Headers above each other narrow one place down.
            let stacked = self.open.as_ref().is_some_and(|chunk| chunk.lines.is_empty());
            if !stacked {
                self.close_chunk()?;
            }
            let chunk = self.open.get_or_insert_with(|| Chunk {
                line: number,
                ..Chunk::default()
            });
            chunk.headers.extend(text.map(str::to_owned));
            return Ok(());
        }
        if self.open.is_none() && line.trim().is_empty() {
            return Ok(());
        }
        let Some(taken) = patch_line(line) else {
            // What git writes below a last line; the file's own end is kept anyway.
            if line == "\\ No newline at end of file" {
                return Ok(());
            }
            return Err(wrong(
                number,
                line,
                "a line of a chunk begins with a blank (it stays), `-` (it goes) or `+` (it comes).",
            ));
        };
        let chunk = self.open.get_or_insert_with(|| Chunk {
            line: number,
            ..Chunk::default()
        });
        chunk.loose_tail = if line.is_empty() { chunk.loose_tail + 1 } else { 0 };
        chunk.lines.push(taken);
        Ok(())
    }

    fn close_chunk(&mut self) -> Result<(), ParseError> {
        let Some(chunk) = self.open.take() else {
            return Ok(());
        };
        if chunk.lines.len() == chunk.loose_tail {
            let shown = chunk
                .headers
                .last()
                .map_or("@@".to_owned(), |text| format!("@@ {text}"));
            return Err(wrong(
                chunk.line,
                &shown,
                "no line that goes or comes stands below this `@@`.",
            ));
        }
        if let Some(FileAction::Update { chunks, .. }) = self.files.last_mut().map(|file| &mut file.action) {
            chunks.push(chunk);
        }
        Ok(())
    }

    /// Ends the section that is open.
    fn close(&mut self) -> Result<(), ParseError> {
        self.close_chunk()?;
        self.blanks = 0;
        match self.files.last() {
            Some(FilePatch {
                line,
                path,
                action:
                    FileAction::Update {
                        move_to: None,
                        chunks,
                    },
            }) if chunks.is_empty() => Err(wrong(
                *line,
                &format!("{UPDATE} {path}"),
                "nothing stands below this header. Give at least one chunk: `@@`, then lines with `-` and `+`.",
            )),
            _ => Ok(()),
        }
    }

    /// Whether the text may end here as far as it can be told.
    fn is_complete(&self) -> bool {
        match (self.files.last().map(|file| &file.action), &self.open) {
            (None, _) => false,
            (Some(FileAction::Add(lines)), _) => !lines.is_empty(),
            (Some(FileAction::Delete), _) => true,
            (Some(FileAction::Update { move_to, chunks }), None) => !chunks.is_empty() || move_to.is_some(),
            (Some(FileAction::Update { .. }), Some(chunk)) => !chunk.lines.is_empty(),
        }
    }

    fn finish(mut self, unended: bool) -> Result<Patch, ParseError> {
        self.close()?;
        if self.files.is_empty() {
            return Err(ParseError::NoFiles);
        }
        Ok(Patch {
            files: self.files,
            unended,
        })
    }
}

fn patch_line(line: &str) -> Option<PatchLine> {
    let mut chars = line.chars();
    let sign = chars.next();
    let text = || chars.as_str().to_owned();
    match sign {
        None => Some(PatchLine::Keep(String::new())),
        Some(' ') => Some(PatchLine::Keep(text())),
        Some('-') => Some(PatchLine::Remove(text())),
        Some('+') => Some(PatchLine::Add(text())),
        Some(_) => None,
    }
}

/// The text of a header; `None` when it says nothing. Line numbers, as in a unified diff, say nothing:
/// models guess them.
fn header_text(after: &str) -> Option<&str> {
    let text = after.trim();
    let text = text.strip_suffix("@@").map_or(text, str::trim_end);
    let text = match text.split_once("@@") {
        Some((range, rest)) if is_range(range) => rest.trim(),
        _ if is_range(text) => "",
        _ => text,
    };
    (!text.is_empty()).then_some(text)
}

/// `-12,3 +12,4`
fn is_range(text: &str) -> bool {
    let part = |part: &str, sign: char| {
        part.strip_prefix(sign).is_some_and(|numbers| {
            !numbers.is_empty() && numbers.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
        })
    };
    let mut parts = text.split_whitespace();
    matches!(
        (parts.next(), parts.next(), parts.next()),
        (Some(old), Some(new), None) if part(old, '-') && part(new, '+')
    )
}
