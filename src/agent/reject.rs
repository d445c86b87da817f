//! Rejecting hunks of files that no buffer holds, and bringing them back.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use crate::agent::core::Core;
use crate::protocol::change::{ChangeSet, Content, ContentHash, Expect, FileChange, Origin};
use crate::protocol::event::Event;
use crate::protocol::ids::HunkId;
use crate::review::{FileState, Selector, Whole};

/// Rejects hunks of a file that no buffer holds. What somebody else changed since is left, and said.
///
/// # Errors
/// A sentence for the person.
pub async fn reject(core: &Arc<Core>, path: &Path, hunk: Option<HunkId>) -> Result<(), String> {
    let selector = hunk.map_or(Selector::All, Selector::Hunk);
    let _held = core.dispatcher.locks.acquire(vec![path.to_owned()]).await;
    let (current, rejection) = {
        let mut book = core.review.lock().unwrap_or_else(PoisonError::into_inner);
        let rejection = book
            .rejection(path, &selector)
            .map_err(|error| error.to_string())?;
        book.remember_rejected(path, &selector);
        (book.export(path).map(|texts| texts.current), rejection)
    };
    let lines = rejection.hunks > usize::from(rejection.whole.is_some());
    if let (true, Some(current)) = (lines, current) {
        let expect = expected(current.as_deref());
        apply(core, path, expect, rejection.text, Origin::Restore, "reject").await?;
    }
    if let Some(whole) = rejection.whole {
        put_back(core, path, whole).await?;
        let mut book = core.review.lock().unwrap_or_else(PoisonError::into_inner);
        book.settle_whole(path);
        drop(book);
        core.events.push(Event::HunksChanged {
            paths: vec![path.to_owned()],
        });
    }
    core.events.push(Event::FilesChanged {
        paths: vec![path.to_owned()],
    });
    Ok(())
}

/// Brings back what was rejected last in a file that no buffer holds; it waits for review again.
///
/// # Errors
/// A sentence for the person.
pub async fn bring_back(core: &Arc<Core>, path: &Path) -> Result<(), String> {
    let _held = core.dispatcher.locks.acquire(vec![path.to_owned()]).await;
    let (current, edits) = {
        let mut book = core.review.lock().unwrap_or_else(PoisonError::into_inner);
        let edits = book.bring_back(path).map_err(|error| error.to_string())?;
        (book.export(path).and_then(|texts| texts.current), edits)
    };
    let text = current.clone().unwrap_or_default();
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for edit in edits.iter().rev() {
        let end = edit.end.min(lines.len());
        let new = edit.lines.iter().map(|line| format!("{line}{ending}"));
        lines.splice(edit.start.min(end)..end, new);
    }
    let expect = expected(current.as_deref());
    apply(
        core,
        path,
        expect,
        Some(lines.concat()),
        Origin::Agent,
        "bring back",
    )
    .await?;
    core.events.push(Event::FilesChanged {
        paths: vec![path.to_owned()],
    });
    Ok(())
}

fn expected(current: Option<&str>) -> Expect {
    match current {
        Some(text) => Expect::Text(ContentHash::of(text.as_bytes())),
        None => Expect::Absent,
    }
}

async fn apply(
    core: &Arc<Core>,
    path: &Path,
    expect: Expect,
    text: Option<String>,
    origin: Origin,
    verb: &str,
) -> Result<(), String> {
    let path = path.to_owned();
    let label = format!("{verb} {}", path.display());
    let change = match text {
        Some(text) => FileChange::Write {
            path,
            expect,
            content: Content::Text(text),
        },
        None => FileChange::Delete { path, expect },
    };
    send(core, origin, label, change).await
}

async fn send(core: &Arc<Core>, origin: Origin, label: String, change: FileChange) -> Result<(), String> {
    let set = ChangeSet {
        origin,
        label,
        changes: vec![change],
    };
    core.backend
        .apply(set)
        .await
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Puts a file back as a whole. A file that is not as the agent left it is refused by the backend.
async fn put_back(core: &Arc<Core>, path: &Path, whole: Whole) -> Result<(), String> {
    let path = path.to_owned();
    let label = format!("reject {}", path.display());
    let expect = match &whole.after {
        Some(FileState { blob: Some(blob), .. }) => Expect::Bytes(blob.clone()),
        Some(FileState { blob: None, mode }) => return change_mode(path, *mode, whole.before).await,
        None => Expect::Absent,
    };
    let change = match whole.before {
        None => FileChange::Delete { path, expect },
        Some(FileState { blob: None, .. }) => return Err("What it held is not known any more.".into()),
        Some(FileState {
            blob: Some(blob),
            mode,
        }) => {
            let snapshots = Arc::clone(&core.snapshots);
            let read = tokio::task::spawn_blocking(move || snapshots.blob(&blob)).await;
            let bytes = read
                .map_err(|error| error.to_string())?
                .map_err(|error| error.to_string())?;
            let content = Content::Bytes {
                bytes,
                mode: Some(mode),
            };
            FileChange::Write {
                path,
                expect,
                content,
            }
        }
    };
    send(core, Origin::Restore, label, change).await
}

/// Gives a file its permission bits back, if it still has those that the agent gave it.
async fn change_mode(path: PathBuf, left: u32, before: Option<FileState>) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(before) = before else {
        return Err("What it was is not known any more.".into());
    };
    let changed = tokio::task::spawn_blocking(move || {
        let metadata = std::fs::symlink_metadata(&path)?;
        if !metadata.is_file() || metadata.permissions().mode() & 0o7777 != left {
            return Ok(false);
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(before.mode)).map(|()| true)
    });
    match changed.await {
        Ok(Ok(true)) => Ok(()),
        Ok(Ok(false)) => Err("Its permission bits were changed since; they stay.".into()),
        Ok(Err(error)) => Err(crate::fs::cause::cause(&error)),
        Err(error) => Err(error.to_string()),
    }
}
