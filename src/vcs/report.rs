//! A list of changes as text of a bounded length: as a diff, as counts, or as names.

use std::fmt::Write as _;

use crate::vcs::attributes::Attributes;
use crate::vcs::changes::Change;
use crate::vcs::error::{Stop, VcsError};
use crate::vcs::patch::{self, Counts};
use crate::vcs::quote;
use crate::vcs::store::Store;
use crate::vcs::tree::mode;
use crate::vcs::worktree::Differences;

/// The longest report, in bytes.
const MAX_BYTES: usize = 1024 * 1024;
/// Files that are named where something about several is said.
const NAMED: usize = 20;

/// How much of a file may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Visible {
    /// Nothing, not even its name.
    Nothing,
    /// Its name.
    Name,
    /// What it holds.
    Content,
}

/// What is said of each change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A unified diff with that many lines of context.
    Patch(u32),
    /// Lines added and taken away.
    Stat,
    /// A letter and the path.
    Names,
}

impl Form {
    /// Lines of context; none where no lines are shown.
    pub fn context(self) -> u32 {
        match self {
            Self::Patch(context) => context,
            Self::Stat | Self::Names => 0,
        }
    }
}

/// The text, and its sums.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What is to be read; empty when nothing differs.
    pub text: String,
    /// Files that differ, those that were withheld included.
    pub files: usize,
    /// Lines, where they were counted.
    pub counts: Counts,
}

/// Reports on `found`. `visible` says how much of a path may be shown; of a renamed file both paths count.
///
/// # Errors
/// A missing object, or the stop.
pub fn report(
    store: &Store,
    found: &Differences,
    form: Form,
    visible: &dyn Fn(&[u8]) -> Visible,
    stop: &dyn Stop,
) -> Result<Report, VcsError> {
    let mut report = Report {
        files: found.changes.len(),
        ..Report::default()
    };
    let attributes = Attributes::new(store);
    let (mut named, mut hidden, mut left_out) = (Vec::new(), 0, Vec::new());
    for path in &found.unmerged {
        if visible(path) != Visible::Nothing {
            let _ = writeln!(report.text, "* Unmerged path {}", quote::path(path));
        }
    }
    for change in &found.changes {
        stop.check()?;
        let seen = change.paths().map(visible).min().unwrap_or(Visible::Nothing);
        match (seen, form) {
            (Visible::Nothing, _) => hidden += 1,
            (_, Form::Names) => names(change, &mut report.text),
            (Visible::Name, _) => named.push(change),
            _ if report.text.len() >= MAX_BYTES => left_out.push(change),
            (Visible::Content, form) => one(store, &attributes, change, form, &mut report)?,
        }
    }
    if form == Form::Stat && report.files > 0 {
        let counted = found.changes.len() - named.len() - hidden - left_out.len();
        let counts = report.counts;
        sums(&mut report.text, counted, counts.added, counts.removed);
    }
    if report.text.len() > MAX_BYTES {
        cut(&mut report.text);
    }
    let titles = |changes: Vec<&Change>| changes.into_iter().map(title).collect();
    self::left_out(&mut report.text, titles(left_out));
    withheld(&mut report.text, titles(named), hidden);
    if !found.too_large.is_empty() {
        let large = found.too_large.iter().map(|path| quote::path(path)).collect();
        let _ = writeln!(
            report.text,
            "(changed in the working tree, and too large to be compared: {})",
            first_of(large)
        );
    }
    Ok(report)
}

fn one(
    store: &Store,
    attributes: &Attributes<'_>,
    change: &Change,
    form: Form,
    report: &mut Report,
) -> Result<(), VcsError> {
    let counts = match form {
        Form::Patch(context) => patch::write(store, attributes, change, context, &mut report.text)?,
        Form::Stat | Form::Names => {
            let counts = patch::counts(store, attributes, change)?;
            stat(change, counts, &mut report.text);
            counts
        }
    };
    report.counts.added += counts.added;
    report.counts.removed += counts.removed;
    Ok(())
}

fn title(change: &Change) -> String {
    match (&change.old, &change.new) {
        (Some(old), Some(new)) if old.path != new.path => {
            format!("{} => {}", quote::path(&old.path), quote::path(&new.path))
        }
        _ => quote::path(change.path()),
    }
}

fn names(change: &Change, out: &mut String) {
    let letter = match (&change.old, &change.new) {
        (None, _) => "A",
        (_, None) => "D",
        (Some(old), Some(new)) if old.path != new.path => "R",
        (Some(old), Some(new)) if !mode::same_kind(old.mode, new.mode) => "T",
        _ => "M",
    };
    let _ = writeln!(out, "{letter} {}", title(change));
}

fn stat(change: &Change, counts: Counts, out: &mut String) {
    let what = if counts.binary {
        "not text".to_owned()
    } else {
        format!("+{} -{}", counts.added, counts.removed)
    };
    let kind = match (&change.old, &change.new) {
        (None, _) => " (new)",
        (_, None) => " (deleted)",
        _ => "",
    };
    let _ = writeln!(out, "{}{kind} | {what}", title(change));
}

/// Adds the last line of counts.
pub fn sums(text: &mut String, files: usize, added: usize, removed: usize) {
    let plural =
        |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let _ = writeln!(
        text,
        "{} changed, {}, {}",
        plural(files, "file", "files"),
        plural(added, "insertion(+)", "insertions(+)"),
        plural(removed, "deletion(-)", "deletions(-)")
    );
}

/// Cuts at the end of a line.
fn cut(text: &mut String) {
    let mut end = MAX_BYTES.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let end = text
        .get(..end)
        .and_then(|kept| kept.rfind('\n'))
        .map_or(end, |at| at + 1);
    let lost = text.get(end..).unwrap_or_default().lines().count();
    text.truncate(end);
    let _ = writeln!(
        text,
        "({lost} more lines of this file are not shown: narrow with path, or use stat or name_only)"
    );
}

/// The first few of many names.
fn first_of(names: Vec<String>) -> String {
    let more = names.len().saturating_sub(NAMED);
    let mut shown = names.into_iter().take(NAMED).collect::<Vec<_>>().join(", ");
    if more > 0 {
        let _ = write!(shown, " and {more} more");
    }
    shown
}

/// Says which files there was no room for, if any.
pub fn left_out(text: &mut String, files: Vec<String>) {
    if !files.is_empty() {
        let _ = writeln!(
            text,
            "({} more files differ and are not shown: {}. Narrow with path, or use stat or name_only)",
            files.len(),
            first_of(files)
        );
    }
}

/// Says which files differ of which nothing but the name may be shown, and how many more.
pub fn withheld(text: &mut String, named: Vec<String>, hidden: usize) {
    if !named.is_empty() {
        let _ = writeln!(
            text,
            "(differs, and its content may not be shown: {})",
            first_of(named)
        );
    }
    if hidden > 0 {
        let _ = writeln!(text, "({hidden} changed files withheld by a rule)");
    }
}
