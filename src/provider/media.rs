//! What a model is given of images and other media.

use crate::protocol::message::Block;

/// Formats that every model that sees can read.
const PICTURES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// A piece of media as a request carries it.
pub(super) enum Shown<'a> {
    /// The bytes.
    Picture { mime: &'a str, base64: &'a str },
    /// A line in their place.
    Notice(String),
}

/// How a block of media is shown to a model; None for other blocks.
pub(super) fn shown(block: &Block, sees: bool) -> Option<Shown<'_>> {
    let Block::Media {
        kind,
        mime_type,
        base64,
    } = block
    else {
        return None;
    };
    if sees && PICTURES.contains(&mime_type.as_str()) {
        return Some(Shown::Picture {
            mime: mime_type,
            base64,
        });
    }
    let kib = (base64.len() / 4 * 3).div_ceil(1024);
    let why = if sees && kind == "image" {
        "this model cannot read the format"
    } else if sees {
        "this model is given text and images only"
    } else {
        "this model is given text only"
    };
    Some(Shown::Notice(format!(
        "[{kind}, {mime_type}, {kib} KiB: not shown, {why}]"
    )))
}

/// `data:` with the bytes.
pub(super) fn data_url(mime: &str, base64: &str) -> String {
    format!("data:{mime};base64,{base64}")
}
