//! From a change set to what must be done: edits of loaded buffers, and writes that lie ready on disk.
//! Nothing that a reader of the files could see happens here.

use std::path::{Path, PathBuf};

use crate::backend::BackendError;
use crate::backend::disk::{self, Disk};
use crate::edit::lines::line_edits;
use crate::fs::atomic::{AtomicError, StagedWrite};
use crate::fs::endings::{adapt_endings, to_lf};
use crate::fs::made_parents::MadeParents;
use crate::fs::text::{self, TextFormat};
use crate::protocol::change::{
    BufferEdits, BufferText, Content, ContentHash, Expect, FileChange, SavePolicy,
};

/// One file of the set, ready.
pub struct Planned {
    pub path: PathBuf,
    /// What lay on disk.
    pub before: Disk,
    pub action: Action,
}

/// What will be done with a file.
pub enum Action {
    /// A loaded buffer is edited.
    Buffer(BufferPlan),
    /// The file is replaced on disk. The texts are `None` where there is none.
    Write {
        staged: StagedWrite,
        /// Of the bytes that are written.
        hash: ContentHash,
        old_text: Option<String>,
        new_text: Option<String>,
    },
    /// The file, link or empty folder is removed from disk.
    Remove { old_text: Option<String> },
}

/// The edit of a loaded buffer and what belongs to it on disk.
pub struct BufferPlan {
    pub edits: BufferEdits,
    pub old: BufferText,
    /// The bytes that the editor will write, as far as they can be known; `None` where it writes none.
    pub on_disk: Option<Vec<u8>>,
    /// Permission bits to set after it was written.
    pub mode: Option<u32>,
    /// Folders that were made so that it can be written.
    pub made: MadeParents,
}

/// Plans every change or none: checks what the caller expects, encodes, stages in files that begin with
/// `prefix`. Blocks.
pub fn plan(
    changes: Vec<(FileChange, Option<BufferText>)>,
    save: SavePolicy,
    prefix: &str,
) -> Result<Vec<Planned>, BackendError> {
    let mut plans = Vec::with_capacity(changes.len());
    for (change, buffer) in changes {
        match plan_one(change, buffer, save, prefix) {
            Ok(planned) => plans.push(planned),
            Err(error) => {
                discard(plans);
                return Err(error);
            }
        }
    }
    Ok(plans)
}

/// Drops what was staged, the last first, so that folders made for several files are empty when their
/// maker goes.
pub fn discard(mut plans: Vec<Planned>) {
    while plans.pop().is_some() {}
}

fn plan_one(
    change: FileChange,
    buffer: Option<BufferText>,
    save: SavePolicy,
    prefix: &str,
) -> Result<Planned, BackendError> {
    let path = change.path().to_owned();
    check_folder(&path)?;
    let before = disk::observe(&path)?;
    let action = match (change, buffer) {
        (FileChange::Write { expect, content, .. }, Some(old)) => {
            check(&path, &expect, &before, Some(&old))?;
            Action::Buffer(write_buffer(&path, settled(content)?, old, save, &before)?)
        }
        (FileChange::Write { expect, content, .. }, None) => {
            check(&path, &expect, &before, None)?;
            write_disk(prefix, &path, settled(content)?, &before)?
        }
        (FileChange::Delete { expect, .. }, buffer) => {
            check(&path, &expect, &before, buffer.as_ref())?;
            remove(&path, &before, buffer)?
        }
    };
    Ok(Planned { path, before, action })
}

/// A folder on the way that became a link since the path was resolved would lead somewhere else.
fn check_folder(path: &Path) -> Result<(), BackendError> {
    let is_link = |folder: &Path| std::fs::symlink_metadata(folder).is_ok_and(|found| found.is_symlink());
    if path.ancestors().skip(1).any(is_link) {
        Err(BackendError::Stale(path.to_owned()))
    } else {
        Ok(())
    }
}

fn check(path: &Path, expect: &Expect, disk: &Disk, buffer: Option<&BufferText>) -> Result<(), BackendError> {
    let as_expected = match (expect, disk) {
        (Expect::Any, _) => true,
        (Expect::Absent, Disk::Absent) => buffer.is_none_or(|old| old.text.trim_end_matches('\n').is_empty()),
        (Expect::Bytes(hash), Disk::File { bytes, .. }) => ContentHash::of(bytes) == *hash,
        (Expect::Bytes(hash), Disk::Large { .. }) => disk::hash(path)? == *hash,
        (Expect::Text(hash), _) => match buffer {
            Some(old) => ContentHash::of(old.text.as_bytes()) == *hash,
            None => disk
                .text()
                .is_some_and(|(text, _)| ContentHash::of(text.as_bytes()) == *hash),
        },
        (Expect::Absent | Expect::Bytes(_), _) => false,
    };
    if as_expected {
        Ok(())
    } else {
        Err(BackendError::Stale(path.to_owned()))
    }
}

/// What a file shall hold, in its own words.
enum Settled {
    Text(String),
    Bytes { bytes: Vec<u8>, mode: Option<u32> },
}

fn settled(content: Content) -> Result<Settled, BackendError> {
    match content {
        Content::Text(text) => Ok(Settled::Text(text)),
        Content::Bytes { bytes, mode } => Ok(Settled::Bytes { bytes, mode }),
        Content::Moved { from, text } => moved(&from, text),
    }
}

/// What another file holds, or a text laid down as that one is.
fn moved(from: &Path, text: Option<String>) -> Result<Settled, BackendError> {
    let source = disk::observe(from)?;
    let laid_down = source.text();
    match (source, text) {
        (Disk::File { bytes, mode, .. }, None) => Ok(Settled::Bytes {
            bytes,
            mode: Some(mode),
        }),
        (Disk::File { mode, .. }, Some(text)) => {
            let (old, format) = laid_down.unwrap_or_default();
            // The lines of a buffer have no `\r`; those of its file may.
            let bytes = encode(from, &adapt_endings(&text, &old), &format)?;
            Ok(Settled::Bytes {
                bytes,
                mode: Some(mode),
            })
        }
        // A buffer that was never written.
        (Disk::Absent, Some(text)) => Ok(Settled::Text(text)),
        (Disk::Large { .. }, _) => Err(BackendError::Io {
            path: from.to_owned(),
            reason: "it is too large to be moved here; use mv in bash".to_owned(),
        }),
        (Disk::Directory, _) => Err(BackendError::IsDirectory(from.to_owned())),
        (Disk::Absent | Disk::Link(_), _) => Err(BackendError::Stale(from.to_owned())),
    }
}

fn encode(path: &Path, text: &str, format: &TextFormat) -> Result<Vec<u8>, BackendError> {
    text::encode(text, format).map_err(|error| BackendError::Encoding {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

fn write_buffer(
    path: &Path,
    content: Settled,
    old: BufferText,
    save: SavePolicy,
    disk: &Disk,
) -> Result<BufferPlan, BackendError> {
    let (text, mode) = match content {
        Settled::Text(text) => (text, None),
        Settled::Bytes { bytes, mode } => {
            let (text, _) = text::decode(&bytes).map_err(|error| BackendError::Binary {
                path: path.to_owned(),
                reason: format!("{error}, and it is open in the editor; close its buffer first"),
            })?;
            (text, mode)
        }
    };
    // The lines of a buffer have no `\r`: 'fileformat' supplies it. Where they do have one it is text.
    let text = if old.text.contains('\r') {
        text
    } else {
        to_lf(&text).into_owned()
    };
    let save = save == SavePolicy::OnEdit && !old.modified;
    let made = match path.parent() {
        Some(folder) if save => MadeParents::make(folder).map_err(not_written)?,
        _ => MadeParents::default(),
    };
    let on_disk = save.then(|| written(&text, disk)).flatten();
    let (edits, eol) = line_edits(&old.text, &text);
    let edits = BufferEdits {
        path: path.to_owned(),
        buf: old.buf,
        tick: old.tick,
        edits,
        eol,
        save,
        deleted: false,
    };
    Ok(BufferPlan {
        edits,
        old,
        on_disk,
        mode,
        made,
    })
}

/// What the editor makes of a buffer's text when it writes it over `disk`, formatters aside.
fn written(text: &str, disk: &Disk) -> Option<Vec<u8>> {
    let (old, format) = match disk {
        Disk::Absent => (String::new(), TextFormat::default()),
        _ => disk.text()?,
    };
    text::encode(&adapt_endings(text, &old), &format).ok()
}

fn write_disk(prefix: &str, path: &Path, content: Settled, before: &Disk) -> Result<Action, BackendError> {
    match before {
        Disk::Directory => return Err(BackendError::IsDirectory(path.to_owned())),
        // Links were resolved: this one was put here since.
        Disk::Link(_) => return Err(BackendError::Stale(path.to_owned())),
        Disk::Absent | Disk::File { .. } | Disk::Large { .. } => {}
    }
    let (old_text, format) = before
        .text()
        .map_or((None, TextFormat::default()), |(text, format)| {
            (Some(text), format)
        });
    let (bytes, mode, new_text) = match content {
        Settled::Text(text) => {
            let text = match text.strip_prefix('\u{feff}') {
                Some(bare) if format.bom => bare.to_owned(),
                _ => text,
            };
            (encode(path, &text, &format)?, None, Some(text))
        }
        Settled::Bytes { bytes, mode } => {
            let text = text::decode(&bytes).ok().map(|(text, _)| text);
            (bytes, mode, text)
        }
    };
    let staged = StagedWrite::stage_exact(prefix, path, &bytes, mode).map_err(not_written)?;
    Ok(Action::Write {
        staged,
        hash: ContentHash::of(&bytes),
        old_text,
        new_text,
    })
}

fn remove(path: &Path, before: &Disk, buffer: Option<BufferText>) -> Result<Action, BackendError> {
    let Some(old) = buffer else {
        if *before == Disk::Absent {
            let hint = crate::fs::nearest::hint(path);
            return Err(BackendError::NotFound {
                path: path.to_owned(),
                hint,
            });
        }
        return Ok(Action::Remove {
            old_text: before.text().map(|(text, _)| text),
        });
    };
    let (edits, eol) = line_edits(&old.text, "");
    let edits = BufferEdits {
        path: path.to_owned(),
        buf: old.buf,
        tick: old.tick,
        edits,
        eol,
        save: false,
        deleted: true,
    };
    Ok(Action::Buffer(BufferPlan {
        edits,
        old,
        on_disk: None,
        mode: None,
        made: MadeParents::default(),
    }))
}

fn not_written(error: AtomicError) -> BackendError {
    BackendError::Io {
        path: error.path,
        reason: error.reason,
    }
}
