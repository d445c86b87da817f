//! A prompt as a message: the person's words with what the editor knows.

use std::fmt::Write as _;
use std::path::Path;

use crate::agent::attach;
use crate::agent::core::Core;
use crate::protocol::event::Level;
use crate::protocol::message::Block;
use crate::protocol::op::{PromptContext, Selection};

/// A prompt of fewer bytes is never too long.
const SHORT: usize = 4 * 1024;

/// The blocks of the message that the model reads; `more` is what it hears beside the notes that wait.
pub fn blocks(
    core: &Core,
    text: &str,
    context: &PromptContext,
    more: impl IntoIterator<Item = String>,
) -> Vec<Block> {
    let attached = if text.contains('@') {
        tokio::task::block_in_place(|| attach::attached(text, &core.cwd, &core.home))
    } else {
        attach::Attached::default()
    };
    let sees = core.provider().is_ok_and(|provider| provider.sees_images());
    let blind = (!attached.blocks.is_empty() && !sees)
        .then(|| "This model is given text only: it reads a notice in the place of an image.".to_owned());
    for notice in attached.notices.into_iter().chain(blind) {
        core.notice(Level::Warn, notice, None);
    }
    let mut notes = core.take_notes();
    notes.extend(more);
    let text = fitted(core, user_text(text, context, &notes, &core.cwd));
    std::iter::once(Block::Text { text })
        .chain(attached.blocks)
        .collect()
}

/// What is too long to be read whole with every request goes to a file, from which the model reads parts.
fn fitted(core: &Core, text: String) -> String {
    if text.len() < SHORT {
        return text;
    }
    let length = text.len();
    let fitted = tokio::task::block_in_place(|| core.dispatcher.offload.fit("prompt", text));
    if fitted.len() == length {
        return fitted;
    }
    fitted.replacen("[The result has ", "[What the person sent has ", 1)
}

/// The same for words that came while the model works.
pub fn added(core: &Core, text: &str, context: &PromptContext) -> Vec<Block> {
    let mut blocks = blocks(core, text, context, None);
    if let Some(Block::Text { text }) = blocks.first_mut() {
        text.insert_str(0, "[Added while you work:]\n");
    }
    blocks
}

/// The person's prompt with what the editor knows: notes since the last prompt, place and selection.
fn user_text(text: &str, context: &PromptContext, notes: &[String], cwd: &Path) -> String {
    let mut out = String::new();
    for note in notes {
        let _ = writeln!(out, "[{note}]");
    }
    if let Some(path) = &context.path {
        let shown = path.strip_prefix(cwd).unwrap_or(path).display();
        match (&context.selection, context.line) {
            (Some(Selection { first, last, text }), _) => {
                let fence = fence_for(text);
                let _ = writeln!(
                    out,
                    "[Selected in {shown}, lines {first}-{last}:]\n{fence}\n{text}\n{fence}"
                );
            }
            (None, Some(line)) => {
                let _ = writeln!(out, "[The cursor is in {shown}, line {line}.]");
            }
            (None, None) => {
                let _ = writeln!(out, "[Open in the editor: {shown}]");
            }
        }
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(text);
    out
}

/// A Markdown fence that `text` does not contain.
fn fence_for(text: &str) -> String {
    let longest = text
        .split(|letter| letter != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_stands_last_and_unchanged() {
        let context = PromptContext {
            path: Some("/p/src/a.rs".into()),
            line: Some(3),
            selection: Some(Selection {
                first: 2,
                last: 3,
                text: "```\nx".into(),
            }),
        };
        let notes = ["The person rejected 1 hunk of a.rs.".to_owned()];
        assert_eq!(
            user_text("fix it", &context, &notes, Path::new("/p")),
            "[The person rejected 1 hunk of a.rs.]\n[Selected in src/a.rs, lines 2-3:]\n````\n```\nx\n````\n\nfix it"
        );
        assert_eq!(
            user_text("hi", &PromptContext::default(), &[], Path::new("/p")),
            "hi"
        );
    }
}
