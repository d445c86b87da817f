//! The text of buffers, read through Neovim's C functions: twice as fast as through Lua.

#![allow(unsafe_code)]

use nvim_oxi::api::Buffer;

use crate::protocol::change::BufferText;

/// Lines `first..last` of a buffer (0-based, `last` exclusive; past the end is cut), appended to `out`,
/// each ended by `\n`. Bytes that are not UTF-8 are replaced: Neovim keeps invalid bytes as they are.
///
/// # Errors
/// When the buffer is not loaded.
pub fn append_lines(buf: i64, first: usize, last: usize, out: &mut String) -> Result<(), String> {
    let buffer = loaded(buf)?;
    let lines = buffer.get_lines(first..last, false).map_err(|_| gone(buf))?;
    for line in lines {
        out.push_str(&String::from_utf8_lossy(line.as_bytes()));
        out.push('\n');
        free(line);
    }
    Ok(())
}

/// Lines `first..last` of a buffer (0-based, `last` exclusive).
///
/// # Errors
/// When the buffer is not loaded.
pub fn lines(buf: i64, first: usize, last: usize) -> Result<Vec<String>, String> {
    let mut text = String::new();
    append_lines(buf, first, last, &mut text)?;
    // Not `str::lines`: a carriage return before the newline belongs to the line.
    Ok(text.split_terminator('\n').map(str::to_owned).collect())
}

/// The whole text: lines joined by `\n`, with a final `\n` where `eol` says so.
///
/// # Errors
/// When the buffer is not loaded.
pub fn text(buf: i64, eol: bool, modified: bool) -> Result<BufferText, String> {
    let buffer = loaded(buf)?;
    let count = buffer.line_count().map_err(|_| gone(buf))?;
    let tick = buffer.get_changedtick().map_err(|_| gone(buf))?;
    let mut text = String::new();
    append_lines(buf, 0, count, &mut text)?;
    if text == "\n" && count == 1 {
        // An empty buffer has one empty line; its file has none.
        text.clear();
    } else if !eol {
        text.pop();
    }
    Ok(BufferText {
        buf,
        tick: u64::from(tick),
        text,
        modified,
    })
}

fn loaded(buf: i64) -> Result<Buffer, String> {
    let handle = i32::try_from(buf).map_err(|_| gone(buf))?;
    let buffer = Buffer::from(handle);
    // The other functions load a buffer that is not, which may raise a swap-file dialog.
    if buffer.is_valid() && buffer.is_loaded() {
        Ok(buffer)
    } else {
        Err(gone(buf))
    }
}

fn gone(buf: i64) -> String {
    format!("Buffer {buf} is not loaded.")
}

/// Gives a line back to the allocator that made it. nvim-oxi never does: 8 MB a read of a large buffer.
fn free(line: nvim_oxi::String) {
    let line = std::mem::ManuallyDrop::new(line);
    let start = line.as_ptr();
    if !start.is_null() {
        // SAFETY: Neovim allocated the line with malloc for its caller (`nvim_buf_get_lines` returns
        // owned memory), nothing else holds it, and `ManuallyDrop` keeps it from being touched again.
        unsafe { libc::free(start.cast_mut().cast()) };
    }
}
