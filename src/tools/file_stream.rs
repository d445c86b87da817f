//! Reading a range of a file that is too large for memory: in chunks, from the start to the end of the range.

use std::path::Path;

use crate::backend::Backend;
use crate::fs::text;
use crate::tools::file_pages::{End, Page, Range};
use crate::tools::file_paths::reply;
use crate::tools::read_file::{MAX_RETURNED, go_on, lines_words, past_the_end};
use crate::tools::tool::{ToolCtx, ToolError, ToolOutput};

/// How much is read at a time.
const CHUNK: usize = 1024 * 1024;

/// The file that is read, and how it is spoken of.
pub struct Source<'a> {
    pub backend: &'a dyn Backend,
    pub name: &'a str,
    pub path: &'a Path,
    /// What to say of links on the way; empty, or a sentence with a space in front.
    pub note: &'a str,
}

/// Reads the range of a file of `size` bytes. Memory stays bounded, whatever the size.
pub async fn stream(
    source: &Source<'_>,
    size: u64,
    range: Range,
    ctx: &ToolCtx,
) -> Result<ToolOutput, ToolError> {
    let name = source.name;
    let mut page = Page::new(range, MAX_RETURNED);
    let mut offset: u64 = 0;
    let mut carry: Vec<u8> = Vec::new();
    let mut ends_with_break = false;
    while offset < size && !page.is_done() {
        if ctx.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let read = source.backend.read_bytes(source.path, offset, CHUNK).await;
        let bytes = read.map_err(reply)?.bytes;
        if offset == 0 {
            check_start(name, &bytes)?;
        }
        let Some(last) = bytes.last() else { break };
        ends_with_break = *last == b'\n';
        offset += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let rest = page.skip_lines(&bytes);
        if page.line() < range.first {
            continue;
        }
        carry.extend_from_slice(rest);
        let usable = whole_characters(&carry);
        page.push(&decoded(name, carry.get(..usable).unwrap_or_default())?);
        carry.drain(..usable);
    }
    let lines = page.line() - usize::from(ends_with_break);
    let (text, end) = page.finish();
    if text.is_empty() {
        return Err(past_the_end(name, range, lines));
    }
    let rest = match end {
        End::Full { line, column } => go_on(line, column),
        End::Range => String::new(),
    };
    let summary = lines_words(text.lines().count());
    let text = format!("{text}(The whole file has {size} bytes.{rest}{})\n", source.note);
    Ok(ToolOutput {
        text,
        summary,
        ..ToolOutput::default()
    })
}

/// The first chunk tells whether it is text.
fn check_start(name: &str, bytes: &[u8]) -> Result<(), ToolError> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(ToolError::Reply(format!(
            "{name} is UTF-16 and too large to decode; convert it with iconv in bash first."
        )));
    }
    let usable = whole_characters(bytes);
    decoded(name, bytes.get(..usable).unwrap_or_default()).map(drop)
}

fn decoded(name: &str, bytes: &[u8]) -> Result<String, ToolError> {
    match text::decode(bytes) {
        Ok((text, _)) => Ok(text),
        Err(error) => Err(ToolError::Reply(format!("{name} is not text ({error})."))),
    }
}

/// How many of the bytes end with a whole UTF-8 character. Bytes of another encoding all count.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}
