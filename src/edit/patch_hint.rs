//! What to tell a model whose patch does not fit a file.

use std::fmt::Write;

use crate::edit::hint::nearest;
use crate::edit::patch::Chunk;
use crate::edit::patch_apply::ApplyError;
use crate::edit::patch_seek::{SeekError, old_side};

/// Places named of a chunk that fits several.
const PLACES_NAMED: usize = 5;

/// Why the chunks do not fit `text`, and what to do. Looks for the nearest place, so keep it off the main
/// thread; when `cancel` becomes true that is left out.
pub fn explain(
    path: &str,
    text: &str,
    chunks: &[Chunk],
    error: &ApplyError,
    cancel: &dyn Fn() -> bool,
) -> String {
    let which = |at: usize| {
        let line = chunks.get(at).map_or(0, |chunk| chunk.line);
        format!("Chunk {} of {path} (line {line} of the patch)", at + 1)
    };
    match error {
        ApplyError::Indent { chunk, line } => format!(
            "{} stands at line {} with other indentation, and how the new lines should be indented does not \
             follow from it. Give all its lines with the indentation of the file.",
            which(*chunk),
            line + 1
        ),
        ApplyError::Seek(SeekError::NoHeader { chunk, header }) => {
            let header = chunks.get(*chunk).and_then(|chunk| chunk.headers.get(*header));
            format!(
                "{}: the file has no line like its header `@@ {}`. Take a line that stands above the place, or \
                 leave the header out and give three lines of context.",
                which(*chunk),
                header.map_or("", String::as_str)
            )
        }
        ApplyError::Seek(SeekError::Overlap { chunk, line }) => format!(
            "{} changes line {}, and another chunk does too. Make one chunk of them.",
            which(*chunk),
            line + 1
        ),
        ApplyError::Seek(SeekError::Ambiguous { chunk, places }) => {
            let named: Vec<String> = places
                .iter()
                .take(PLACES_NAMED)
                .map(|line| (line + 1).to_string())
                .collect();
            let more = if places.len() > PLACES_NAMED {
                " and further on"
            } else {
                ""
            };
            format!(
                "{} fits several places, at lines {}{more}. Add lines of context, or a header: `@@` and a line \
                 that stands above the right place.",
                which(*chunk),
                named.join(", ")
            )
        }
        ApplyError::Seek(SeekError::NotFound { chunk, elsewhere }) => {
            let mut message = format!("{} was not found.", which(*chunk));
            if let Some(chunk) = chunks.get(*chunk) {
                not_found(&mut message, text, chunk, *elsewhere, cancel);
            }
            message
        }
    }
}

fn not_found(
    message: &mut String,
    text: &str,
    chunk: &Chunk,
    elsewhere: Option<usize>,
    cancel: &dyn Fn() -> bool,
) {
    // Writing to a String cannot fail.
    if let Some(line) = elsewhere {
        let wrong = if chunk.end_of_file {
            "and not at the end of the file; leave `*** End of File` out"
        } else {
            "and not below its header; take another header, or leave it out"
        };
        let _ = write!(message, " Its lines stand at line {}, {wrong}.", line + 1);
        return;
    }
    if text.is_empty() {
        message.push_str(" The file is empty: give only lines with `+`.");
        return;
    }
    let lines: Vec<&str> = text.lines().collect();
    let wanted = old_side(chunk, chunk.loose_tail);
    if let Some(near) = nearest(&lines, &wanted, "the chunk", cancel) {
        message.push_str(&near);
    }
    message.push_str(" Read those lines, then give them exactly as the file has them.");
}
