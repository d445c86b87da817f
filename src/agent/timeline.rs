//! The steps that changed files, for the person to look at and to go back to.

use std::path::Path;

use crate::agent::core::Core;
use crate::edit::unified::{diff_stat, unified_diff};
use crate::protocol::event::{Event, FileFate, TimelineFile, TimelineStep};
use crate::protocol::ids::StepIx;
use crate::snapshot::{After, Before, Disk, SnapshotStore};

/// All steps of the session that changed files, as [`Event::Timeline`]. Reads every version of them: call it
/// where blocking is allowed.
pub fn timeline(core: &Core) -> Event {
    let prompts = core.prompts();
    let steps = core.snapshots.steps().into_iter().map(|record| {
        let mut files: Vec<TimelineFile> = changes(&core.snapshots, record.step)
            .map(|(path, before, after)| file(&core.snapshots, &path, &before, after.as_ref()))
            .collect();
        files.extend(record.lost.iter().map(|path| TimelineFile {
            path: path.clone(),
            change: FileFate::Unknown,
            added: 0,
            removed: 0,
            undoable: false,
        }));
        files.sort_by(|a, b| a.path.cmp(&b.path));
        TimelineStep {
            step: record.step,
            turn: record.turn,
            prompt: prompts.get(&record.turn).cloned().unwrap_or_default(),
            undone: record.undone,
            files,
        }
    });
    Event::Timeline {
        steps: steps.collect(),
    }
}

/// What a step changed, as [`Event::StepDiff`]. Blocks too.
pub fn step_diff(core: &Core, step: StepIx) -> Event {
    let mut diff = String::new();
    for (path, before, after) in changes(&core.snapshots, step) {
        let name = path
            .strip_prefix(&core.cwd)
            .unwrap_or(&path)
            .display()
            .to_string();
        let texts = (
            before_text(&core.snapshots, &before),
            after
                .as_ref()
                .map_or(Some(String::new()), |after| after_text(&core.snapshots, after)),
        );
        match texts {
            (Some(old), Some(new)) if old == new => {
                diff.push_str(&format!("{name}: mode {}\n", modes(&before.disk, after.as_ref())));
            }
            (Some(old), Some(new)) => diff.push_str(&unified_diff(&name, &old, &new)),
            _ => diff.push_str(&format!("{name}: not text\n")),
        }
    }
    Event::StepDiff { step, diff }
}

fn changes(
    snapshots: &SnapshotStore,
    step: StepIx,
) -> impl Iterator<Item = (std::path::PathBuf, Before, Option<After>)> {
    let touched = snapshots.touched(step).into_iter();
    touched.filter(|(_, before, after)| after.as_ref() != Some(&After::from(before)))
}

fn file(snapshots: &SnapshotStore, path: &Path, before: &Before, after: Option<&After>) -> TimelineFile {
    let left = after.map(|after| &after.disk);
    let texts =
        after.and_then(|after| Some((before_text(snapshots, before)?, after_text(snapshots, after)?)));
    let stat = texts
        .as_ref()
        .map(|(old, new)| diff_stat(old, new))
        .unwrap_or_default();
    let (added, removed) = (stat.added, stat.removed);
    let change = match (&before.disk, left) {
        (Disk::Absent { .. }, Some(Disk::File { .. })) => FileFate::Created,
        (_, Some(Disk::Absent { .. })) if !matches!(before.disk, Disk::Absent { .. }) => FileFate::Deleted,
        (Disk::File { blob: a, .. }, Some(Disk::File { blob: b, .. })) if a == b && added + removed == 0 => {
            FileFate::Mode
        }
        (Disk::Link { .. } | Disk::Folder, _) | (_, Some(Disk::Link { .. } | Disk::Folder)) => FileFate::Kind,
        _ if texts.is_none() => FileFate::Binary,
        _ => FileFate::Changed,
    };
    TimelineFile {
        path: path.to_owned(),
        change,
        added,
        removed,
        undoable: after.is_some(),
    }
}

fn before_text(snapshots: &SnapshotStore, before: &Before) -> Option<String> {
    let blob = before.buffer.as_ref().map(|buffer| &buffer.blob);
    text(snapshots, blob.or(before.disk.blob()))
}

fn after_text(snapshots: &SnapshotStore, after: &After) -> Option<String> {
    text(snapshots, after.buffer.as_ref().or(after.disk.blob()))
}

/// A text; nothing is an empty one. `None` = no text.
fn text(snapshots: &SnapshotStore, blob: Option<&crate::protocol::change::ContentHash>) -> Option<String> {
    let Some(blob) = blob else {
        return Some(String::new());
    };
    let bytes = snapshots.blob(blob).ok()?;
    crate::fs::text::decode(&bytes).ok().map(|(text, _)| text)
}

fn modes(before: &Disk, after: Option<&After>) -> String {
    let mode = |disk: &Disk| match disk {
        Disk::File { mode, .. } => format!("{mode:o}"),
        _ => "none".to_owned(),
    };
    let left = after.map_or_else(|| "unknown".to_owned(), |after| mode(&after.disk));
    format!("{} → {left}", mode(before))
}
