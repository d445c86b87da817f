//! Completes the replies that Lua makes: texts of buffers are read here, without a way through Lua.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::nvim::buffers;
use crate::protocol::change::AppliedFile;
use crate::protocol::request::UnsavedBuffer;

#[derive(Deserialize)]
struct BufferReply {
    buf: Option<i64>,
    #[serde(default)]
    modified: bool,
    #[serde(default = "yes")]
    eol: bool,
}

#[derive(Deserialize)]
struct AppliedReply {
    #[serde(default)]
    files: Vec<AppliedRow>,
}

#[derive(Deserialize)]
struct AppliedRow {
    path: PathBuf,
    buf: i64,
    #[serde(default)]
    saved: bool,
    note: Option<String>,
    #[serde(default = "yes")]
    eol: bool,
    #[serde(default)]
    modified: bool,
}

#[derive(Deserialize)]
struct UnsavedReply {
    buffers: Vec<UnsavedRow>,
}

#[derive(Deserialize)]
struct UnsavedRow {
    path: PathBuf,
    buf: i64,
    #[serde(default = "yes")]
    eol: bool,
}

fn yes() -> bool {
    true
}

/// A reply as the protocol has it, out of one as Lua writes it.
///
/// # Errors
/// When Lua's reply has another shape.
pub fn complete(mut reply: Json) -> Result<Json, String> {
    match reply["kind"].as_str() {
        Some("buffer") => {
            let row: BufferReply = read(reply)?;
            // A buffer that was unloaded since Lua looked is no buffer: the file on disk is the truth.
            let buffer = row
                .buf
                .and_then(|buf| buffers::text(buf, row.eol, row.modified).ok());
            Ok(json!({ "kind": "buffer", "buffer": buffer }))
        }
        Some("applied") => {
            reply["files"] = list(reply["files"].take());
            let applied: AppliedReply = read(reply)?;
            let files = applied.files.into_iter().map(|row| {
                let text = buffers::text(row.buf, row.eol, row.modified)
                    .ok()
                    .map(|buffer| buffer.text);
                AppliedFile {
                    path: row.path,
                    buf: Some(row.buf),
                    saved: row.saved,
                    note: row.note,
                    text,
                }
            });
            Ok(json!({ "kind": "applied", "files": files.collect::<Vec<_>>() }))
        }
        Some("unsaved") => {
            reply["buffers"] = list(reply["buffers"].take());
            let unsaved: UnsavedReply = read(reply)?;
            let buffers = unsaved.buffers.into_iter().filter_map(|row| {
                let text = buffers::text(row.buf, row.eol, true).ok()?.text;
                Some(UnsavedBuffer { path: row.path, text })
            });
            Ok(json!({ "kind": "unsaved", "buffers": buffers.collect::<Vec<_>>() }))
        }
        Some("question") => {
            if !reply["answers"].is_null() {
                let answers = list(reply["answers"].take());
                let answers = answers.as_array().into_iter().flatten().cloned().map(list);
                reply["answers"] = answers.collect();
            }
            Ok(reply)
        }
        _ => Ok(reply),
    }
}

/// An empty Lua table is a list and a map at once; here it is a list.
fn list(value: Json) -> Json {
    match value {
        Json::Object(map) if map.is_empty() => json!([]),
        Json::Null => json!([]),
        other => other,
    }
}

fn read<T: for<'de> Deserialize<'de>>(reply: Json) -> Result<T, String> {
    serde_json::from_value(reply).map_err(|error| format!("dcode cannot read this reply: {error}."))
}
