//! Takes steps back and forth: all files of a plan, or none and a sentence why.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use crate::agent::core::Core;
use crate::protocol::change::{ChangeSet, Content, ContentHash, Expect, FileChange, Origin};
use crate::protocol::event::Event;
use crate::protocol::ids::HunkId;
use crate::review::Selector;
use crate::snapshot::{After, Before, Fit, Plan, PlanFile, Restoration, Scope, SnapshotStore, Undone};

/// Takes back the steps of `scope`.
pub async fn undo(core: &Arc<Core>, scope: Scope) -> Event {
    let plan = match core.snapshots.plan_undo(scope) {
        Ok(plan) => plan,
        Err(error) => return refused(error.to_string()),
    };
    let restored = match restore(core, &plan, Origin::Restore).await {
        Ok(restored) => restored,
        Err(message) => return refused(message),
    };
    let (steps, paths) = (count(plan.steps.len(), "step"), restored.paths());
    let undone = restored
        .0
        .into_iter()
        .map(|(path, was, now)| Undone { path, was, now })
        .collect();
    let message = match core.snapshots.mark_undone(&plan, undone) {
        Ok(()) => format!(
            "Took back {steps}: {}. :DcodeRedo brings it again.",
            names(core, &paths)
        ),
        Err(error) => format!(
            "Took back {steps}: {}. It cannot be redone: {error}.",
            names(core, &paths)
        ),
    };
    core.note(format!(
        "The person undid your last {steps}: {} as before.",
        names(core, &paths)
    ));
    core.log.undone(&plan.steps);
    Event::Restored {
        ok: true,
        message,
        paths,
    }
}

/// Takes back the last undo. What comes again is the agent's, and waits for review again.
pub async fn redo(core: &Arc<Core>) -> Event {
    let plan = match core.snapshots.plan_redo() {
        Ok(plan) => plan,
        Err(error) => return refused(error.to_string()),
    };
    let restored = match restore(core, &plan, Origin::Agent).await {
        Ok(restored) => restored,
        Err(message) => return refused(message),
    };
    let (steps, paths) = (count(plan.steps.len(), "step"), restored.paths());
    let now = restored.0.into_iter().map(|(path, _, now)| (path, now)).collect();
    let message = match core.snapshots.mark_redone(&plan, now) {
        Ok(()) => format!("Did {steps} again: {}.", names(core, &paths)),
        Err(error) => format!(
            "Did {steps} again: {}. It cannot be undone: {error}.",
            names(core, &paths)
        ),
    };
    core.note(format!(
        "The person put {steps} back that was undone: {}.",
        names(core, &paths)
    ));
    core.log.redone(&plan.steps);
    Event::Restored {
        ok: true,
        message,
        paths,
    }
}

/// Rejects hunks of a file that no buffer holds.
///
/// # Errors
/// A sentence for the person.
pub async fn reject(core: &Arc<Core>, path: &Path, hunk: Option<HunkId>) -> Result<(), String> {
    let selector = hunk.map_or(Selector::All, Selector::Hunk);
    let _held = core.dispatcher.locks.acquire(vec![path.to_owned()]).await;
    let (current, rejection) = {
        let book = core.review.lock().unwrap_or_else(PoisonError::into_inner);
        let rejection = book
            .rejection(path, &selector)
            .map_err(|error| error.to_string())?;
        (book.export(path).and_then(|texts| texts.current), rejection)
    };
    let expect = match &current {
        Some(text) => Expect::Text(ContentHash::of(text.as_bytes())),
        None => Expect::Absent,
    };
    let path = path.to_owned();
    let change = match rejection.text {
        Some(text) => FileChange::Write {
            path: path.clone(),
            expect,
            content: Content::Text(text),
        },
        None => FileChange::Delete {
            path: path.clone(),
            expect,
        },
    };
    let label = format!("reject {}", path.display());
    let set = ChangeSet {
        origin: Origin::Restore,
        label,
        changes: vec![change],
    };
    core.backend.apply(set).await.map_err(|error| error.to_string())?;
    core.events.push(Event::FilesChanged { paths: vec![path] });
    Ok(())
}

/// Of each file: what was there before it was put back, and what is there now.
struct Restored(Vec<(PathBuf, Before, After)>);

impl Restored {
    fn paths(&self) -> Vec<PathBuf> {
        self.0.iter().map(|(path, ..)| path.clone()).collect()
    }
}

/// Puts back the files of a plan: all, or none and a sentence why.
async fn restore(core: &Arc<Core>, plan: &Plan, origin: Origin) -> Result<Restored, String> {
    // A call from Lua may run beside an undo.
    let paths = plan.files.iter().map(|file| file.path.clone()).collect();
    let _held = core.dispatcher.locks.acquire(paths).await;
    let mut found = Vec::new();
    let mut conflicts = Vec::new();
    for file in &plan.files {
        let now = observe(core, &file.path).await?;
        let (fit, restoration) = judge(core, file, &now).await?;
        if let Fit::ChangedSince { lines } = fit {
            conflicts.push((file.path.clone(), lines));
        }
        found.push((now, restoration));
    }
    if !conflicts.is_empty() {
        return Err(conflict(core, &conflicts));
    }
    let changes: Vec<FileChange> = found
        .iter()
        .filter_map(|(_, restoration)| restoration.change())
        .collect();
    if !changes.is_empty() {
        let set = ChangeSet {
            origin,
            label: "undo".into(),
            changes,
        };
        core.backend.apply(set).await.map_err(|error| error.to_string())?;
    }
    // What a change set cannot do: links, and folders, which are empty only now.
    let mut rest = Vec::new();
    for file in &plan.files {
        let now = observe(core, &file.path).await?;
        let (_, restoration) = judge(core, file, &now).await?;
        if restoration.change().is_none() && !restoration.is_nothing() {
            rest.push(restoration);
        }
    }
    blocking(core, move |snapshots| {
        snapshots.put_back(&rest).map_err(|error| error.to_string())
    })
    .await?;
    let mut restored = Vec::new();
    for (file, (was, _)) in plan.files.iter().zip(found) {
        let now = After::from(&observe(core, &file.path).await?);
        restored.push((file.path.clone(), was, now));
    }
    let restored = Restored(restored);
    core.events.push(Event::FilesChanged {
        paths: restored.paths(),
    });
    Ok(restored)
}

async fn observe(core: &Arc<Core>, path: &Path) -> Result<Before, String> {
    let buffer = core
        .dispatcher
        .editor
        .read_buffer(path)
        .await
        .map_err(|error| error.to_string())?;
    let path = path.to_owned();
    blocking(core, move |snapshots| {
        snapshots
            .observe(&path, buffer.as_ref())
            .map_err(|error| error.to_string())
    })
    .await
}

async fn judge(core: &Arc<Core>, file: &PlanFile, now: &Before) -> Result<(Fit, Restoration), String> {
    let (file, now) = (file.clone(), now.clone());
    blocking(core, move |snapshots| {
        let fit = snapshots.check(&file, &now).map_err(|error| error.to_string())?;
        let restoration = snapshots
            .restoration(&file, &now)
            .map_err(|error| error.to_string())?;
        Ok((fit, restoration))
    })
    .await
}

async fn blocking<T: Send + 'static>(
    core: &Core,
    work: impl FnOnce(&SnapshotStore) -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let snapshots = Arc::clone(&core.snapshots);
    let done = tokio::task::spawn_blocking(move || work(&snapshots)).await;
    done.unwrap_or_else(|_| Err("The undo failed by a fault of its own; see :Dcode log.".into()))
}

fn conflict(core: &Core, conflicts: &[(PathBuf, usize)]) -> String {
    let mut text = String::new();
    for (path, lines) in conflicts {
        let shown = path.strip_prefix(&core.cwd).unwrap_or(path).display();
        let _ = write!(
            text,
            "{shown} changed since: undo would lose {} of yours. ",
            count(*lines, "line")
        );
    }
    text.push_str("Nothing was put back. Take your changes back with u first, or keep them elsewhere.");
    text
}

fn refused(message: String) -> Event {
    Event::Restored {
        ok: false,
        message,
        paths: Vec::new(),
    }
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

/// The paths as the person knows them, at most three of them.
fn names(core: &Core, paths: &[PathBuf]) -> String {
    let shown = paths
        .iter()
        .take(3)
        .map(|path| path.strip_prefix(&core.cwd).unwrap_or(path).display().to_string());
    let mut names = shown.collect::<Vec<_>>().join(", ");
    if paths.len() > 3 {
        names.push_str(&format!(" and {} more", paths.len() - 3));
    }
    names
}
