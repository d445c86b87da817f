//! Takes steps back and forth: all files of a plan, or none and a sentence why.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use crate::agent::core::Core;
use crate::protocol::change::{ChangeSet, Content, ContentHash, Expect, FileChange, Origin};
use crate::protocol::event::Event;
use crate::protocol::ids::HunkId;
use crate::review::Selector;
use crate::snapshot::manifest::Before;
use crate::snapshot::restore::{Fit, Now, Plan, Scope};

/// Takes back the steps of `scope`.
pub async fn undo(core: &Arc<Core>, scope: Scope) -> Event {
    let plan = match core.snapshots.plan_undo(scope) {
        Ok(plan) => plan,
        Err(error) => return refused(error.to_string()),
    };
    let steps = plan.steps.len();
    match restore(core, &plan).await {
        Err(message) => refused(message),
        Ok((paths, redo)) => {
            let message = match core.snapshots.mark_undone(&plan, redo) {
                Ok(()) => format!("Took back {}: {}. :DcodeRedo brings it again.", count(steps, "step"), names(core, &paths)),
                Err(error) => format!("Took back {}, but it cannot be redone: {error}", count(steps, "step")),
            };
            core.note(format!("The person undid your last {}; {} stand as before.", count(steps, "step"), names(core, &paths)));
            core.log.undone(&plan.steps);
            Event::Restored { ok: true, message, paths }
        }
    }
}

/// Takes back the last undo.
pub async fn redo(core: &Arc<Core>) -> Event {
    let plan = match core.snapshots.plan_redo() {
        Ok(plan) => plan,
        Err(error) => return refused(error.to_string()),
    };
    let steps = plan.steps.len();
    match restore(core, &plan).await {
        Err(message) => refused(message),
        Ok((paths, _)) => {
            let message = match core.snapshots.mark_redone(&plan) {
                Ok(()) => format!("Did {} again: {}.", count(steps, "step"), names(core, &paths)),
                Err(error) => format!("Did {} again, but it cannot be undone: {error}", count(steps, "step")),
            };
            core.note(format!("The person redid the last {} that was undone.", count(steps, "step")));
            core.log.redone(&plan.steps);
            Event::Restored { ok: true, message, paths }
        }
    }
}

/// Rejects hunks of a file that no buffer holds.
///
/// # Errors
/// A sentence for the person.
pub async fn reject(core: &Arc<Core>, path: &Path, hunk: Option<HunkId>) -> Result<(), String> {
    let selector = hunk.map_or(Selector::All, Selector::Hunk);
    let (current, rejection) = {
        let book = core.review.lock().unwrap_or_else(PoisonError::into_inner);
        let rejection = book.rejection(path, &selector).map_err(|error| error.to_string())?;
        (book.export(path).and_then(|texts| texts.current), rejection)
    };
    let expect = match &current {
        Some(text) => Expect::Text(ContentHash::of(text.as_bytes())),
        None => Expect::Absent,
    };
    let path = path.to_owned();
    let change = match rejection.text {
        Some(text) => FileChange::Write { path: path.clone(), expect, content: Content::Text(text) },
        None => FileChange::Delete { path: path.clone(), expect },
    };
    let label = format!("reject {}", path.display());
    let set = ChangeSet { origin: Origin::Restore, label, changes: vec![change] };
    core.backend.apply(set).await.map_err(|error| error.to_string())?;
    core.events.push(Event::FilesChanged { paths: vec![path] });
    Ok(())
}

/// Puts back the files of a plan, and gives what stood there before.
async fn restore(core: &Arc<Core>, plan: &Plan) -> Result<(Vec<PathBuf>, Vec<(PathBuf, Before)>), String> {
    let mut changes = Vec::new();
    let mut redo = Vec::new();
    let mut conflicts = Vec::new();
    for file in &plan.files {
        let buffer = core.dispatcher.editor.read_buffer(&file.path).await.map_err(|error| error.to_string())?;
        let (snapshots, at, expect) = (Arc::clone(&core.snapshots), file.path.clone(), file.expect.clone());
        let text = buffer.clone();
        let look = tokio::task::spawn_blocking(move || {
            let now = Now::look(&at, text.as_ref())?;
            let before = snapshots.before_of(&at, text.as_ref())?;
            Ok::<_, crate::snapshot::SnapshotError>((now.fits(&expect), before))
        });
        let (fit, now) = look.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        if fit == Fit::ChangedSince {
            conflicts.push(file.path.clone());
            continue;
        }
        let content = core.snapshots.content(&file.before, buffer.is_some()).map_err(|error| error.to_string())?;
        let (path, expect) = (file.path.clone(), Expect::Any);
        changes.push(match content {
            Some(content) => FileChange::Write { path, expect, content },
            None => FileChange::Delete { path, expect },
        });
        redo.push((file.path.clone(), now));
    }
    if !conflicts.is_empty() {
        return Err(format!(
            "{} changed since the agent's step, so nothing was put back. Save a copy of what you want to \
             keep and undo your own changes with u first.",
            names(core, &conflicts)
        ));
    }
    let paths: Vec<PathBuf> = plan.files.iter().map(|file| file.path.clone()).collect();
    let set = ChangeSet { origin: Origin::Restore, label: "undo".into(), changes };
    core.backend.apply(set).await.map_err(|error| error.to_string())?;
    core.events.push(Event::HunksChanged { paths: paths.clone() });
    core.events.push(Event::FilesChanged { paths: paths.clone() });
    Ok((paths, redo))
}

fn refused(message: String) -> Event {
    Event::Restored { ok: false, message, paths: Vec::new() }
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The paths as the person knows them, at most three of them.
fn names(core: &Core, paths: &[PathBuf]) -> String {
    let shown = paths.iter().take(3).map(|path| path.strip_prefix(&core.cwd).unwrap_or(path).display().to_string());
    let mut names = shown.collect::<Vec<_>>().join(", ");
    if paths.len() > 3 {
        names.push_str(&format!(" and {} more", paths.len() - 3));
    }
    names
}
