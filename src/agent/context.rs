//! The system prompt and the words around the person's prompt.

use std::fmt::Write as _;
use std::path::Path;

use crate::protocol::op::{PromptContext, Selection};
use crate::vcs::repo;

const SYSTEM: &str = include_str!("prompts/system.md");

/// The system prompt of a session. Made once: every request of the session shares its bytes.
pub fn system_prompt(cwd: &Path, shell: &str) -> String {
    let mut prompt = SYSTEM.trim_end().to_owned();
    prompt.push_str("\n\nEnvironment:\n");
    let _ = writeln!(prompt, "- working directory: {}", cwd.display());
    let _ = writeln!(
        prompt,
        "- platform: {} ({})",
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    let _ = writeln!(prompt, "- shell of the bash tool: {shell}");
    if let Some(summary) = repo::summary(cwd) {
        let branch = summary.branch.as_deref().unwrap_or("none (detached)");
        let _ = writeln!(
            prompt,
            "- git repository at {}, branch {branch}",
            summary.root.display()
        );
    }
    prompt
}

/// The person's prompt with what the editor knows: notes since the last prompt, place and selection.
pub fn user_text(text: &str, context: &PromptContext, notes: &[String], cwd: &Path) -> String {
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
