//! Takes steps back and forth: all files of a plan, or none and a sentence why.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use crate::agent::compact;
use crate::agent::core::Core;
use crate::agent::feedback;
use crate::edit::merge::Merged;
use crate::protocol::change::{ChangeSet, FileChange, Origin};
use crate::protocol::event::{Conflict, Event};
use crate::protocol::op::{OnConflict, Restore, Undo};
use crate::snapshot::{
    After, Before, Fit, Plan, PlanFile, Restoration, Scope, SnapshotError, SnapshotStore, Undone,
};
use crate::words::count;

/// Takes back what `wish` names.
pub async fn undo(core: &Arc<Core>, wish: Undo) -> Event {
    let scope = match (wish.from, wish.steps) {
        (Some(first), _) => Scope::From(first),
        (None, Some(count)) => Scope::Steps(count),
        (None, None) => Scope::Turn,
    };
    let plan = match core.snapshots.plan_undo(scope) {
        Ok(plan) => plan,
        Err(error) => return refused(error.to_string()),
    };
    let mut said = String::new();
    let mut paths = Vec::new();
    if wish.what != Restore::Conversation {
        match undo_files(core, &plan, wish.conflicts).await {
            Ok((message, restored)) => (said, paths) = (message, restored),
            Err(event) => return event,
        }
    }
    if wish.what != Restore::Files
        && let Some(first) = plan.steps.last()
    {
        let forgotten = core.forget_from(*first);
        compact::tell_length(core);
        let separator = if said.is_empty() { "" } else { " " };
        said.push_str(separator);
        said.push_str(&format!(
            "The conversation is as before step {first}: {} forgotten.",
            count(forgotten, "message")
        ));
    }
    Event::Restored {
        ok: true,
        message: said,
        paths,
        conflicts: Vec::new(),
    }
}

async fn undo_files(
    core: &Arc<Core>,
    plan: &Plan,
    conflicts: OnConflict,
) -> Result<(String, Vec<PathBuf>), Event> {
    let restored = restore(core, plan, Origin::Restore, conflicts).await?;
    let (steps, paths) = (count(plan.steps.len(), "step"), restored.paths());
    let kept = restored.kept(core);
    let foreign = [restored.merged, restored.marked].concat();
    let undone = restored
        .files
        .into_iter()
        .map(|(path, was, now)| Undone { path, was, now })
        .collect();
    let then = match core.snapshots.mark_undone(plan, undone, &foreign) {
        Ok(()) => ":DcodeRedo brings it again.".to_owned(),
        Err(error) => format!("It cannot be redone: {error}."),
    };
    let names = names(core, &paths);
    core.note(format!(
        "The person undid your last {steps}: {names} as before.{kept}"
    ));
    core.log.undone(&plan.steps);
    Ok((format!("Took back {steps}: {names}.{kept} {then}"), paths))
}

/// Takes back the last undo. What comes again is the agent's, and waits for review again.
pub async fn redo(core: &Arc<Core>) -> Event {
    let plan = match core.snapshots.plan_redo() {
        Ok(plan) => plan,
        Err(error) => return refused(error.to_string()),
    };
    let restored = match restore(core, &plan, Origin::Agent, OnConflict::Refuse).await {
        Ok(restored) => restored,
        Err(event) => return event,
    };
    let (steps, paths) = (count(plan.steps.len(), "step"), restored.paths());
    let now = restored
        .files
        .into_iter()
        .map(|(path, _, now)| (path, now))
        .collect();
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
        conflicts: Vec::new(),
    }
}

/// What was put back.
struct Restored {
    /// Of each file: what was there before it was put back, and what is there now.
    files: Vec<(PathBuf, Before, After)>,
    /// Files in which the lines of somebody else were kept.
    merged: Vec<PathBuf>,
    /// Files between whose old lines and somebody else's conflict markers stand.
    marked: Vec<PathBuf>,
    /// Files that were left as they are.
    skipped: Vec<PathBuf>,
}

impl Restored {
    fn paths(&self) -> Vec<PathBuf> {
        self.files.iter().map(|(path, ..)| path.clone()).collect()
    }

    /// Sentences on what is not simply as before, each with a space before it.
    fn kept(&self, core: &Core) -> String {
        let mut text = String::new();
        for (paths, words) in [
            (&self.merged, "What was written there since is kept in"),
            (&self.marked, "Both versions stand between conflict markers in"),
            (&self.skipped, "Left as it is:"),
        ] {
            if !paths.is_empty() {
                let _ = write!(text, " {words} {}.", names(core, paths));
            }
        }
        text
    }
}

/// What is to be done to each file of a plan.
#[derive(Default)]
struct Decided {
    files: Vec<(PlanFile, Before, Restoration)>,
    merged: Vec<PathBuf>,
    marked: Vec<PathBuf>,
    skipped: Vec<PathBuf>,
    conflicts: Vec<Conflict>,
}

impl Decided {
    fn add(&mut self, file: &PlanFile, now: Before, judged: Judged, wish: OnConflict) {
        let path = file.path.clone();
        let restoration = match (judged, wish) {
            (Judged::Fits(restoration), _) => restoration,
            (Judged::Merged(restoration), _) => {
                self.merged.push(path);
                restoration
            }
            (
                Judged::Conflict {
                    marked: Some(restoration),
                    ..
                },
                OnConflict::Mark,
            ) => {
                self.marked.push(path);
                restoration
            }
            (Judged::Conflict { .. }, OnConflict::Skip) => return self.skipped.push(path),
            (Judged::Conflict { lines, .. }, _) => return self.conflicts.push(Conflict { path, lines }),
        };
        self.files.push((file.clone(), now, restoration));
    }
}

/// Puts back the files of a plan: all but those that are to be skipped, or none and a sentence why.
async fn restore(core: &Arc<Core>, plan: &Plan, origin: Origin, wish: OnConflict) -> Result<Restored, Event> {
    // A call from Lua may run beside an undo.
    let paths = plan.files.iter().map(|file| file.path.clone()).collect();
    let _held = core.dispatcher.locks.acquire(paths).await;
    let mut decided = Decided::default();
    for file in &plan.files {
        let now = observe(core, &file.path).await.map_err(refused)?;
        let judged = judge(core, file, &now).await.map_err(refused)?;
        decided.add(file, now, judged, wish);
    }
    if !decided.conflicts.is_empty() {
        return Err(conflict(core, decided.conflicts));
    }
    let files = carry_out(core, &decided.files, origin).await.map_err(refused)?;
    let restored = Restored {
        files,
        merged: decided.merged,
        marked: decided.marked,
        skipped: decided.skipped,
    };
    {
        let mut book = core.review.lock().unwrap_or_else(PoisonError::into_inner);
        restored
            .files
            .iter()
            .for_each(|(path, ..)| book.settle_whole(path));
    }
    feedback::put_back(core, &restored.paths()).await;
    core.events.push(Event::FilesChanged {
        paths: restored.paths(),
    });
    Ok(restored)
}

async fn carry_out(
    core: &Arc<Core>,
    files: &[(PlanFile, Before, Restoration)],
    origin: Origin,
) -> Result<Vec<(PathBuf, Before, After)>, String> {
    let changes: Vec<FileChange> = files.iter().filter_map(|(.., what)| what.change()).collect();
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
    for (file, _, what) in files {
        if what.change().is_some() && what.is_text() {
            continue;
        }
        let now = observe(core, &file.path).await?;
        let restoration = blocking(core, {
            let (file, now) = (file.clone(), now.clone());
            move |snapshots| {
                snapshots
                    .restoration(&file, &now)
                    .map_err(|error| error.to_string())
            }
        })
        .await?;
        if restoration.change().is_none() && !restoration.is_nothing() {
            rest.push(restoration);
        }
    }
    blocking(core, move |snapshots| {
        snapshots.put_back(&rest).map_err(|error| error.to_string())
    })
    .await?;
    let mut restored = Vec::new();
    for (file, was, _) in files {
        let now = After::from(&observe(core, &file.path).await?);
        restored.push((file.path.clone(), was.clone(), now));
    }
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

/// Whether and how a file may be put back.
enum Judged {
    /// Nobody else wrote in it.
    Fits(Restoration),
    /// Somebody did, in other lines, which stay.
    Merged(Restoration),
    /// Somebody did, in the same lines.
    Conflict {
        lines: usize,
        /// What puts both versions there, where that can be done.
        marked: Option<Restoration>,
    },
}

async fn judge(core: &Arc<Core>, file: &PlanFile, now: &Before) -> Result<Judged, String> {
    let (file, now) = (file.clone(), now.clone());
    blocking(core, move |snapshots| {
        let judged = || -> Result<Judged, SnapshotError> {
            let Fit::ChangedSince { lines } = snapshots.check(&file, &now)? else {
                return Ok(Judged::Fits(snapshots.restoration(&file, &now)?));
            };
            Ok(match snapshots.merged(&file, &now)? {
                Some((Merged::Clean(_), restoration)) => Judged::Merged(restoration),
                Some((Merged::Conflict { .. }, restoration)) => Judged::Conflict {
                    lines,
                    marked: Some(restoration),
                },
                None => Judged::Conflict { lines, marked: None },
            })
        };
        judged().map_err(|error| error.to_string())
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

fn conflict(core: &Core, conflicts: Vec<Conflict>) -> Event {
    let mut text = String::new();
    for Conflict { path, lines } in &conflicts {
        let shown = path.strip_prefix(&core.cwd).unwrap_or(path).display();
        let _ = write!(
            text,
            "{shown} changed since: undo would lose {} of yours. ",
            count(*lines, "line")
        );
    }
    text.push_str("Nothing was put back. Take your changes back with u first, or keep them elsewhere.");
    Event::Restored {
        ok: false,
        message: text,
        paths: Vec::new(),
        conflicts,
    }
}

fn refused(message: String) -> Event {
    Event::Restored {
        ok: false,
        message,
        paths: Vec::new(),
        conflicts: Vec::new(),
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
