//! Takes off what models put around a patch: a shell's here-document, a Markdown fence, JSON, uniform
//! indentation, words.

use serde_json::Value;

use crate::edit::patch_parse::{ParseError, wrong};

/// The first line of an envelope.
pub(super) const BEGIN: &str = "*** Begin Patch";
/// The last line of an envelope.
pub(super) const END: &str = "*** End Patch";
/// How deep the text is looked for in JSON.
const MAX_DEPTH: usize = 4;

/// The lines between the markers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Envelope {
    /// With their numbers in the patch, from 1; without `\r`.
    pub lines: Vec<(usize, String)>,
    /// Whether the end was marked.
    pub ended: bool,
    /// Whether something that has an end of its own was put around it.
    pub wrapped: bool,
}

/// Finds the envelope in a text.
pub(super) fn unwrap(text: &str) -> Result<Envelope, ParseError> {
    if text.trim().is_empty() {
        return Err(ParseError::Empty);
    }
    if let Some(inner) = in_json(text) {
        return unwrap(&inner);
    }
    let mut lines: Vec<(usize, &str)> = text
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .enumerate()
        .map(|(at, line)| (at + 1, line))
        .collect();
    let begin = lines.iter().position(|(_, line)| line.trim() == BEGIN);
    let begin = begin.ok_or(ParseError::NoBegin)?;
    let wrapped = lines
        .iter()
        .take(begin)
        .any(|(_, line)| is_fence(line) || line.contains("<<"));
    let indent = lines.get(begin).map_or("", |(_, line)| indentation(line));
    let mut lines = lines.split_off(begin);
    let uniform = lines
        .iter()
        .all(|(_, line)| line.starts_with(indent) || line.trim().is_empty() || is_fence(line));
    if uniform {
        for (_, line) in &mut lines {
            *line = line.strip_prefix(indent).unwrap_or(line.trim());
        }
    }
    // The marker as it should be ends it; a padded one only where nothing but a wrapper's end follows,
    // because a line of a file may look like it.
    let exact = lines.iter().rposition(|(_, line)| line.trim_end() == END);
    let end = exact.or_else(|| {
        let last = lines.iter().rposition(|(_, line)| !is_closing(line))?;
        lines
            .get(last)
            .filter(|(_, line)| line.trim() == END)
            .map(|_| last)
    });
    if let Some(end) = end {
        let after = lines.split_off(end);
        // A header after the end would be lost without a word.
        if let Some((number, line)) = after.iter().skip(1).find(|(_, line)| line.starts_with("*** ")) {
            return Err(wrong(
                *number,
                line,
                "it stands after `*** End Patch`. Put all files between one `*** Begin Patch` and one \
                 `*** End Patch`.",
            ));
        }
    }
    let owned = lines
        .iter()
        .skip(1)
        .map(|(number, line)| (*number, (*line).to_owned()));
    Ok(Envelope {
        lines: owned.collect(),
        ended: end.is_some(),
        wrapped,
    })
}

fn indentation(line: &str) -> &str {
    let bare = line.trim_start();
    line.get(..line.len() - bare.len()).unwrap_or_default()
}

fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}

/// Blank lines, a fence, the word that ends a here-document, and quotes and brackets behind it.
fn is_closing(line: &str) -> bool {
    let line = line.trim();
    is_fence(line)
        || line
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || "\"'`)]}".contains(c))
}

/// The patch in JSON that was put around it, as other programs' tools take it.
fn in_json(text: &str) -> Option<String> {
    if !text.trim_start().starts_with(['{', '[', '"']) {
        return None;
    }
    let value: Value = serde_json::from_str(text.trim()).ok()?;
    let mut found = Vec::new();
    collect(&value, MAX_DEPTH, &mut found);
    match found.as_slice() {
        [one] => Some((*one).to_owned()),
        _ => None,
    }
}

fn collect<'a>(value: &'a Value, depth: usize, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) if text.contains(BEGIN) => found.push(text),
        Value::Array(items) if depth > 0 => items.iter().for_each(|item| collect(item, depth - 1, found)),
        Value::Object(fields) if depth > 0 => {
            fields.values().for_each(|field| collect(field, depth - 1, found));
        }
        _ => {}
    }
}
