//! What the model hears of what became of its work: decided hunks, the person's own edits, and what a
//! language server has found since.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::agent::core::Core;
use crate::edit::unified::unified_diff;
use crate::protocol::op::HunkOutcome;
use crate::protocol::request::Diagnostic;
use crate::words;

/// The longest quotation of a line, in characters.
const QUOTE: usize = 60;
/// How many decided hunks of a file are told one by one.
const TOLD: usize = 8;
/// How many lines of the person's edits are shown, of all files together.
const DIFF_LINES: usize = 80;
/// How many files are looked at for the person's edits.
const FILES: usize = 40;
/// Texts longer than this are not compared.
const MAX_TEXT: usize = 512 * 1024;
/// How many diagnostics are told at a time.
const DIAGNOSTICS: usize = 10;

/// What is remembered between the prompts of a session.
#[derive(Debug, Default)]
pub struct Feedback {
    decided: BTreeMap<PathBuf, Vec<HunkOutcome>>,
    /// The texts of the files that the model knows, at the end of the last turn.
    left: BTreeMap<PathBuf, Arc<str>>,
    /// What was found before, so that only what is new is told; lines move, so they do not count.
    known: BTreeSet<(PathBuf, String)>,
}

impl Feedback {
    /// The person decided on hunks of a file.
    pub fn decided(&mut self, path: PathBuf, hunks: Vec<HunkOutcome>) {
        self.decided.entry(path).or_default().extend(hunks);
    }

    /// The notes on decisions, taken.
    pub fn take(&mut self, cwd: &Path) -> Vec<String> {
        std::mem::take(&mut self.decided)
            .into_iter()
            .flat_map(|(path, hunks)| outcome(path.strip_prefix(cwd).unwrap_or(&path), &hunks))
            .collect()
    }

    /// Of all that was found in the `asked` files (`None` = in all) only what is new; it counts as told from
    /// now on. What is not found any more is news when it comes again.
    pub fn new_diagnostics(
        &mut self,
        asked: Option<&[PathBuf]>,
        mut found: Vec<Diagnostic>,
    ) -> Vec<Diagnostic> {
        let key = |diagnostic: &Diagnostic| (diagnostic.path.clone(), diagnostic.words());
        let there: BTreeSet<_> = found.iter().map(key).collect();
        let before = std::mem::take(&mut self.known);
        let others = |(path, _): &&(PathBuf, String)| asked.is_some_and(|asked| !asked.contains(path));
        self.known = before.iter().filter(others).chain(&there).cloned().collect();
        let mut told = before;
        found.retain(|diagnostic| told.insert(key(diagnostic)));
        found
    }
}

/// The end of a turn: remembers what the files hold that the model knows.
pub async fn remember(core: &Core) {
    let mut left = BTreeMap::new();
    for path in known_files(core) {
        if let Some(text) = text(core, &path).await {
            left.insert(path, text);
        }
    }
    core.feedback().left = left;
}

/// Files were put back, which the model is told in words: what they hold now is no edit of the person.
pub async fn put_back(core: &Core, paths: &[PathBuf]) {
    for path in paths {
        let now = text(core, path).await;
        let left = &mut core.feedback().left;
        match now.filter(|_| left.contains_key(path)) {
            Some(now) => drop(left.insert(path.clone(), now)),
            None => drop(left.remove(path)),
        }
    }
}

/// What the person changed in the files that the model knows, since the end of the last turn; `None` =
/// nothing.
pub async fn own_edits(core: &Core) -> Option<String> {
    let left = std::mem::take(&mut core.feedback().left);
    let mut diffs = String::new();
    let mut unshown = Vec::new();
    for (path, before) in left {
        let now = text(core, &path).await;
        if now.as_ref() == Some(&before) {
            continue;
        }
        let shown = path
            .strip_prefix(&core.cwd)
            .unwrap_or(&path)
            .display()
            .to_string();
        let Some(now) = now else {
            unshown.push(format!("{shown} (gone)"));
            continue;
        };
        let diff = unified_diff(&shown, &before, &now);
        if diffs.lines().count() + diff.lines().count() > DIFF_LINES {
            unshown.push(shown);
        } else {
            diffs.push_str(&diff);
        }
    }
    let mut note = String::new();
    if !diffs.is_empty() {
        let _ = write!(
            note,
            "Since your last turn these files changed:\n```diff\n{}\n```",
            diffs.trim_end()
        );
    }
    if !unshown.is_empty() {
        let separator = if note.is_empty() { "" } else { "\n" };
        let _ = write!(
            note,
            "{separator}Changed since your last turn, read before you edit: {}.",
            unshown.join(", ")
        );
    }
    (!note.is_empty()).then_some(note)
}

/// What language servers say by now: it is no news later.
pub async fn look_around(core: &Core) {
    let found = core.dispatcher.editor.diagnostics(None).await.unwrap_or_default();
    core.feedback().new_diagnostics(None, found);
}

/// What language servers found in `changed` files that they had not found before, in words for the model.
pub async fn diagnostics(core: &Core, changed: Vec<PathBuf>) -> Option<String> {
    if changed.is_empty() {
        return None;
    }
    let found = core
        .dispatcher
        .editor
        .diagnostics(Some(changed.clone()))
        .await
        .unwrap_or_default();
    let new = core.feedback().new_diagnostics(Some(&changed), found);
    if new.is_empty() {
        return None;
    }
    let mut text = "New diagnostics after your edits:".to_owned();
    for diagnostic in new.iter().take(DIAGNOSTICS) {
        let shown = diagnostic
            .path
            .strip_prefix(&core.cwd)
            .unwrap_or(&diagnostic.path)
            .display();
        let _ = write!(text, "\n{shown}:{}: {}", diagnostic.line, diagnostic.words());
    }
    if new.len() > DIAGNOSTICS {
        let _ = write!(text, "\nand {} more", new.len() - DIAGNOSTICS);
    }
    Some(text)
}

fn known_files(core: &Core) -> Vec<PathBuf> {
    let mut paths: BTreeSet<PathBuf> = core.seen.paths().into_iter().collect();
    for step in core.snapshots.steps() {
        paths.extend(step.paths);
    }
    paths.into_iter().take(FILES).collect()
}

async fn text(core: &Core, path: &Path) -> Option<Arc<str>> {
    let file = core.backend.read_text(path).await.ok()?;
    (file.text.len() <= MAX_TEXT).then(|| Arc::from(file.text))
}

fn outcome(shown: &Path, hunks: &[HunkOutcome]) -> Vec<String> {
    let shown = shown.display();
    let count = |accepted: bool| hunks.iter().filter(|hunk| hunk.accepted == accepted).count();
    let noun = |number: usize| words::count(number, "hunk");
    let mut notes = Vec::new();
    let accepted = count(true);
    if accepted > 0 {
        notes.push(format!("The person accepted {} of {shown}.", noun(accepted)));
    }
    let rejected: Vec<&HunkOutcome> = hunks.iter().filter(|hunk| !hunk.accepted).collect();
    if !rejected.is_empty() {
        let mut note = format!(
            "The person rejected {} of {shown}: the old text stands.",
            noun(rejected.len())
        );
        let which: Vec<String> = rejected
            .iter()
            .filter(|hunk| hunk.line > 0)
            .take(TOLD)
            .map(|hunk| format!("line {}{}", hunk.line, quoted(&hunk.text)))
            .collect();
        if !which.is_empty() && accepted + rejected.len() > 1 {
            let _ = write!(note, " ({})", which.join("; "));
        }
        notes.push(note);
    }
    notes
}

/// ` (text)`, cut; nothing for nothing.
fn quoted(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() {
        return String::new();
    }
    let cut: String = text.chars().take(QUOTE).collect();
    let dots = if cut.len() < text.len() { "…" } else { "" };
    format!(" `{}{dots}`", cut.replace('`', "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(line: usize, text: &str, accepted: bool) -> HunkOutcome {
        HunkOutcome {
            line,
            text: text.into(),
            accepted,
        }
    }

    #[test]
    fn decisions_are_told_once_and_in_few_words() {
        let mut feedback = Feedback::default();
        let (path, cwd) = (PathBuf::from("/p/src/a.rs"), Path::new("/p"));
        feedback.decided(path.clone(), vec![hunk(3, "let x = 1;", true)]);
        feedback.decided(
            path.clone(),
            vec![hunk(9, "  let `y` = 2;", false), hunk(20, "", false)],
        );
        assert_eq!(
            feedback.take(cwd),
            [
                "The person accepted 1 hunk of src/a.rs.",
                "The person rejected 2 hunks of src/a.rs: the old text stands. (line 9 `let 'y' = 2;`; line 20)",
            ]
        );
        assert_eq!(feedback.take(cwd), Vec::<String>::new());
    }

    #[test]
    fn a_diagnostic_is_news_once_wherever_its_line_moves() {
        let mut feedback = Feedback::default();
        let found = |line| Diagnostic {
            path: "/p/a.rs".into(),
            line,
            severity: "error".into(),
            source: Some("rustc".into()),
            message: "no such\nname".into(),
        };
        let asked = ["/p/a.rs".into()];
        let mut new = |found| feedback.new_diagnostics(Some(&asked), found).len();
        assert_eq!(new(vec![found(3)]), 1);
        assert_eq!(new(vec![found(9)]), 0);
        assert_eq!(new(vec![]), 0);
        assert_eq!(new(vec![found(3)]), 1, "it was gone meanwhile");
        assert_eq!(feedback.new_diagnostics(None, vec![found(1)]), []);
        assert_eq!(found(3).words(), "error: no such name (rustc)");
    }
}
