//! The system prompt and the words around the person's prompt.

use std::fmt::Write as _;
use std::path::Path;

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
