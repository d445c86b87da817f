//! What a command changed, as hunks.

use std::path::PathBuf;
use std::sync::PoisonError;

use crate::fs::text;
use crate::protocol::change::ContentHash;
use crate::protocol::ids::StepIx;
use crate::review::{FileState, SharedBook};
use crate::snapshot::{Disk, Effect, SnapshotStore};

/// Of a command that changed more files than this, the rest is only undone with its step.
const MAX_FILES: usize = 1_000;
/// Texts longer than this are only undone with their step.
const MAX_TEXT: usize = 4 * 1024 * 1024;

/// Lets what a command changed wait for review, as far as it is text whose old version is known. Blocks.
pub fn review(book: &SharedBook, store: &SnapshotStore, effects: &[Effect]) {
    for effect in effects.iter().take(MAX_FILES) {
        let (Some(before), Some(after)) = (&effect.before, &effect.after) else {
            continue;
        };
        let (Some(old), Some(new)) = (text_of(store, &before.disk), text_of(store, &after.disk)) else {
            continue;
        };
        if old != new {
            book.lock().unwrap_or_else(PoisonError::into_inner).effect(
                &effect.path,
                old.as_deref(),
                new.as_deref(),
            );
        }
    }
}

/// Lets what a call changed in `paths` wait for review where no line shows it: files that are no text, and
/// permission bits. Blocks.
pub fn review_whole(book: &SharedBook, store: &SnapshotStore, step: StepIx, paths: &[PathBuf]) {
    for (path, before, after) in store.touched(step) {
        let Some(after) = after.filter(|_| paths.contains(&path)) else {
            continue;
        };
        let lines = text_of(store, &before.disk).is_some() && text_of(store, &after.disk).is_some();
        let (old, new) = (state(&before.disk, lines), state(&after.disk, lines));
        // Of a text file that comes or goes its lines say all.
        let shown = lines && (old.is_none() || new.is_none());
        if old != new && !shown {
            book.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .change_whole(&path, old, new);
        }
    }
}

/// A file as a whole; with `lines` its content is told by its lines.
fn state(disk: &Disk, lines: bool) -> Option<FileState> {
    match disk {
        Disk::File { blob, mode } => Some(FileState {
            blob: (!lines).then(|| blob.clone()),
            mode: *mode,
        }),
        Disk::Absent { .. } | Disk::Link { .. } | Disk::Folder => None,
    }
}

/// The text of a file; `Some(None)` = there is none.
fn text_of(store: &SnapshotStore, disk: &Disk) -> Option<Option<String>> {
    match disk {
        Disk::Absent { .. } => Some(None),
        Disk::File { blob, .. } => decoded(store, blob).map(Some),
        Disk::Link { .. } | Disk::Folder => None,
    }
}

fn decoded(store: &SnapshotStore, blob: &ContentHash) -> Option<String> {
    let bytes = store.blob(blob).ok().filter(|bytes| bytes.len() <= MAX_TEXT)?;
    text::decode(&bytes).ok().map(|(text, _)| text)
}
