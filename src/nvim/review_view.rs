//! What drawing asks of the review, while somebody types and scrolls: no more than a window shows.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::nvim::review::{buf_of, lock, path_of};
use crate::nvim::{app, buffers};
use crate::protocol::change::LineEdit;
use crate::protocol::ids::HunkId;
use crate::review::{Existence, Seen, Span};

/// Numbers of one hunk in the answer of [`spans`].
const FIELDS: usize = 5;

/// Which buffer.
#[derive(Deserialize)]
pub struct OfBuffer {
    buf: i64,
}

/// Which lines of a buffer.
#[derive(Deserialize)]
pub struct Window {
    buf: i64,
    /// 1-based, inclusive.
    first: usize,
    last: usize,
    /// How many removed lines of a hunk are shown at most.
    most: usize,
}

/// A hunk that is drawn.
#[derive(Serialize)]
pub struct Row {
    id: HunkId,
    start: usize,
    count: usize,
    gone: usize,
    at_end: bool,
    removed: Vec<String>,
    added: Vec<String>,
}

impl From<Seen> for Row {
    fn from(seen: Seen) -> Self {
        Self {
            id: seen.span.id,
            start: seen.span.start,
            count: seen.span.count,
            gone: seen.span.removed,
            at_end: seen.span.at_end,
            removed: seen.removed,
            added: seen.added,
        }
    }
}

/// Where all hunks of a buffer stand: five numbers each, one after the other (a list of tables would cost
/// Lua more than all the rest). They are id, first line, lines, removed lines, and a sum of 1 (at the end of
/// the file), 2 (the file is new), 4 (the file is deleted), 8 (gives the final newline) and 16 (takes it).
///
/// # Errors
/// When the agent does not run. A buffer that reports nothing has no hunks.
pub fn spans(of: &OfBuffer) -> Result<Vec<u64>, String> {
    let agent = app::agent()?;
    let Ok(path) = path_of(of.buf) else {
        return Ok(Vec::new());
    };
    let spans = lock(&agent).spans(&path);
    let mut numbers = Vec::with_capacity(spans.len() * FIELDS);
    for span in &spans {
        let [start, count, removed] = [span.start, span.count, span.removed].map(|number| number as u64);
        numbers.extend([span.id.0, start, count, removed, flags(span)]);
    }
    Ok(numbers)
}

/// The hunks that show on some lines of a buffer.
///
/// # Errors
/// When the agent does not run.
pub fn seen(window: &Window) -> Result<Vec<Row>, String> {
    let agent = app::agent()?;
    let Ok(path) = path_of(window.buf) else {
        return Ok(Vec::new());
    };
    let seen = lock(&agent).seen(&path, window.first, window.last, window.most);
    Ok(seen.into_iter().map(Row::from).collect())
}

/// A file in which something waits.
#[derive(Serialize)]
pub struct FileRow {
    path: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    buf: Option<i64>,
    hunks: usize,
    /// Lines now and lines of the base, in all hunks together.
    added: usize,
    removed: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<Existence>,
}

/// The files in which something waits, in the order of their paths.
///
/// # Errors
/// When the agent does not run.
pub fn files() -> Result<Vec<FileRow>, String> {
    let agent = app::agent()?;
    let book = lock(&agent);
    let row = |path: &Path| {
        let spans = book.spans(path);
        FileRow {
            path: path.to_owned(),
            buf: buf_of(path),
            hunks: spans.len(),
            added: spans.iter().map(|span| span.count).sum(),
            removed: spans.iter().map(|span| span.removed).sum(),
            file: spans.first().and_then(|span| span.file),
        }
    };
    Ok(book.pending_files().map(row).collect())
}

/// Which file.
#[derive(Deserialize)]
pub struct OfFile {
    path: PathBuf,
}

/// The lines that the person has agreed to; none for a file that was not there.
///
/// # Errors
/// When the agent does not run, or nothing waits in the file.
pub fn base(of: &OfFile) -> Result<Vec<String>, String> {
    let agent = app::agent()?;
    let texts = lock(&agent).export(&of.path);
    let text = texts.ok_or("Nothing waits for review in this file.")?.base;
    let text = text.unwrap_or_default();
    Ok(text.lines().map(str::to_owned).collect())
}

/// The edits of a batch, ascending. The lines are read from the buffer, which holds all of them by now: what
/// was changed further up has moved them since.
///
/// # Errors
/// When the buffer is not loaded.
pub(super) fn batch(buf: i64, changes: &[usize]) -> Result<Vec<LineEdit>, String> {
    let mut moved = 0_isize;
    let mut edits = Vec::with_capacity(changes.len() / 3);
    for change in changes.chunks_exact(3).rev() {
        let &[first, last, new_last] = change else {
            continue;
        };
        let start = first.saturating_add_signed(moved);
        let lines = buffers::lines(buf, start, start + (new_last - first.min(new_last)))?;
        moved += new_last as isize - last as isize;
        edits.push(LineEdit {
            start: first,
            end: last,
            lines,
        });
    }
    Ok(edits)
}

fn flags(span: &Span) -> u64 {
    let file = match span.file {
        Some(Existence::Created) => 2,
        Some(Existence::Deleted) => 4,
        None => 0,
    };
    let newline = match span.final_newline {
        Some(true) => 8,
        Some(false) => 16,
        None => 0,
    };
    u64::from(span.at_end) + file + newline
}
