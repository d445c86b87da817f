//! One change set, all or nothing.
//!
//! It happens in four moves, and the first two change nothing that anybody could see: read the loaded
//! buffers; check what the caller expects, compute edits and stage writes (`plan.rs`). Then the editor
//! edits all buffers in one batch, and at last the staged files are renamed into place (`commit.rs`).
//! When the last move fails half-way, the files and then the buffers are put back.

use std::path::{Path, PathBuf};

use crate::backend::BackendError;
use crate::backend::commit::{CommitError, DiskAction, DiskStep, commit};
use crate::backend::disk::{self, Disk};
use crate::backend::intent::Intent;
use crate::backend::local::{blocking, editor_error};
use crate::backend::plan::{Action, BufferPlan, Planned, discard, plan};
use crate::edit::lines::line_edits;
use crate::fs::atomic::PREFIX;
use crate::host::{Editor, EditorError};
use crate::protocol::change::{
    AppliedFile, BufferEdits, BufferText, ChangeSet, EditBatch, FileChange, Origin, SavePolicy,
};

/// A change set on its way.
pub struct Transaction<'a> {
    editor: &'a dyn Editor,
    save: SavePolicy,
    set: &'a ChangeSet,
    intents: Option<&'a Path>,
}

/// A file that was changed on disk, with its texts where it has some.
pub struct Changed {
    pub path: PathBuf,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// What stays of a plan once its disk part has been taken out.
enum Entry {
    Buffer { path: PathBuf, plan: BufferPlan },
    Disk(Changed),
}

enum Failure {
    /// A buffer was changed, loaded or unloaded between reading and editing.
    Stale(PathBuf),
    Final(BackendError),
}

impl From<BackendError> for Failure {
    fn from(error: BackendError) -> Self {
        Self::Final(error)
    }
}

impl<'a> Transaction<'a> {
    /// Prepares nothing yet; refuses a set that changes a path twice.
    /// It is noted below `intents` before it happens, if that is given.
    pub fn new(
        editor: &'a dyn Editor,
        save: SavePolicy,
        set: &'a ChangeSet,
        intents: Option<&'a Path>,
    ) -> Result<Self, BackendError> {
        let mut seen = std::collections::HashSet::new();
        match set.changes.iter().find(|change| !seen.insert(change.path())) {
            Some(twice) => Err(BackendError::Io {
                path: twice.path().to_owned(),
                reason: "it is changed twice in one set; make one change of it".to_owned(),
            }),
            None => Ok(Self {
                editor,
                save,
                set,
                intents,
            }),
        }
    }

    /// Makes the changes. The answer has one entry a change, in order, and the files changed on disk.
    pub async fn run(&self) -> Result<(Vec<AppliedFile>, Vec<Changed>), BackendError> {
        // A second attempt reads and checks everything anew, so it never writes over what somebody
        // changed: it only gives way to a key that was pressed in between.
        let first = self.attempt().await;
        let last = if matches!(first, Err(Failure::Stale(_))) {
            self.attempt().await
        } else {
            first
        };
        last.map_err(|failure| match failure {
            Failure::Stale(path) => BackendError::Stale(path),
            Failure::Final(error) => error,
        })
    }

    async fn attempt(&self) -> Result<(Vec<AppliedFile>, Vec<Changed>), Failure> {
        let mut changes = Vec::with_capacity(self.set.changes.len());
        for change in &self.set.changes {
            let buffer = self
                .editor
                .read_buffer(change.path())
                .await
                .map_err(editor_error)?;
            changes.push((change.clone(), buffer));
        }
        let save = self.save;
        // One loaded buffer is written by the editor, in its own safe way.
        let by_editor_alone = match changes.as_slice() {
            [(FileChange::Write { .. }, buffer)] => buffer.is_some(),
            _ => false,
        };
        let intents = self.intents.filter(|_| !by_editor_alone).map(Path::to_path_buf);
        let label = self.set.label.clone();
        let (plans, intent) = blocking(move || ready(changes, save, intents.as_deref(), &label)).await?;
        let edited = match self.edit_buffers(&plans).await {
            Ok(edited) => edited,
            Err(error) => {
                let buffer = plans
                    .iter()
                    .find(|planned| matches!(planned.action, Action::Buffer(_)));
                let path = buffer.map_or_else(PathBuf::new, |planned| planned.path.clone());
                let dropped = move || {
                    discard(plans);
                    end(intent, false);
                    Ok(())
                };
                blocking(dropped).await?;
                return Err(match error {
                    EditorError::Stale(_) => Failure::Stale(path),
                    other => Failure::Final(editor_error(other)),
                });
            }
        };
        let (steps, entries) = split(plans);
        let modes = modes(&entries);
        let committed = blocking(move || {
            let committed = commit(steps);
            if committed.is_ok() {
                set_modes(&modes);
            }
            Ok(committed)
        });
        let outcome = match committed.await? {
            Ok(()) => Ok(self.report(entries, &edited)),
            Err(failed) => Err(self.roll_back(entries, failed).await.into()),
        };
        let happened = outcome.is_ok();
        blocking(move || {
            end(intent, happened);
            Ok(())
        })
        .await?;
        outcome
    }

    async fn edit_buffers(&self, plans: &[Planned]) -> Result<Vec<AppliedFile>, EditorError> {
        let mut files = Vec::new();
        let mut unloaded = Vec::new();
        for planned in plans {
            match &planned.action {
                Action::Buffer(buffer) => files.push(buffer.edits.clone()),
                Action::Write { .. } | Action::Remove { .. } => unloaded.push(planned.path.clone()),
            }
        }
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let label = self.set.label.clone();
        self.editor
            .apply(EditBatch {
                origin: self.set.origin,
                label,
                files,
                unloaded,
            })
            .await
    }

    /// Puts the buffers back after the disk refused, and words the error.
    async fn roll_back(&self, entries: Vec<Entry>, failed: CommitError) -> BackendError {
        let mut left = failed.left_changed;
        for entry in &entries {
            let Entry::Buffer { path, plan } = entry else {
                continue;
            };
            if self.restore_buffer(path, plan).await.is_err() {
                left.push(path.clone());
            }
        }
        let outcome = if left.is_empty() {
            "All files are as they were before.".to_owned()
        } else {
            let names: Vec<String> = left.iter().map(|path| path.display().to_string()).collect();
            format!(
                "These files could not be put back, look at them: {}.",
                names.join(", ")
            )
        };
        match failed.error {
            BackendError::Io { path, reason } => BackendError::Io {
                path,
                reason: format!("{reason}. {outcome}"),
            },
            error if left.is_empty() => error,
            error => BackendError::Editor(format!("{error} {outcome}")),
        }
    }

    async fn restore_buffer(&self, path: &Path, plan: &BufferPlan) -> Result<(), EditorError> {
        let Some(now) = self.editor.read_buffer(path).await? else {
            return Ok(());
        };
        let (edits, eol) = line_edits(&now.text, &plan.old.text);
        let files = vec![BufferEdits {
            path: path.to_owned(),
            buf: now.buf,
            tick: now.tick,
            edits,
            eol,
            save: plan.edits.save || (plan.edits.deleted && !plan.old.modified),
            deleted: false,
        }];
        let label = format!("take back {}", self.set.label);
        let batch = EditBatch {
            origin: Origin::Restore,
            label,
            files,
            unloaded: Vec::new(),
        };
        self.editor.apply(batch).await.map(drop)
    }

    fn report(&self, entries: Vec<Entry>, edited: &[AppliedFile]) -> (Vec<AppliedFile>, Vec<Changed>) {
        let mut applied = Vec::with_capacity(entries.len());
        let mut changed = Vec::new();
        for entry in entries {
            match entry {
                Entry::Disk(file) => {
                    let text = file.after.clone();
                    applied.push(AppliedFile {
                        path: file.path.clone(),
                        buf: None,
                        saved: true,
                        note: None,
                        text,
                    });
                    changed.push(file);
                }
                Entry::Buffer { path, plan } => {
                    plan.made.keep();
                    let told = edited.iter().find(|file| file.path == path);
                    applied.push(self.report_buffer(path, &plan.edits, plan.old.modified, told));
                }
            }
        }
        (applied, changed)
    }

    fn report_buffer(
        &self,
        path: PathBuf,
        edits: &BufferEdits,
        was_modified: bool,
        told: Option<&AppliedFile>,
    ) -> AppliedFile {
        let buf = Some(edits.buf);
        if edits.deleted {
            return AppliedFile {
                path,
                buf,
                saved: true,
                note: None,
                text: None,
            };
        }
        let saved = told.is_some_and(|file| file.saved);
        let own = match self.save {
            _ if saved => None,
            _ if was_modified => {
                Some("the buffer held unsaved changes, so the file on disk was left as it is")
            }
            SavePolicy::OnEdit => Some("the editor did not write the file"),
            SavePolicy::OnAccept => Some("the file on disk is written when the person accepts the hunks"),
            SavePolicy::Never => Some("the file on disk is written by the person"),
        };
        let note = told
            .and_then(|file| file.note.clone())
            .or_else(|| own.map(str::to_owned));
        AppliedFile {
            path,
            buf,
            saved,
            note,
            text: told.and_then(|file| file.text.clone()),
        }
    }
}

/// Notes the set, works it out and lays it ready: nothing can be seen of it yet. Blocks.
fn ready(
    changes: Vec<(FileChange, Option<BufferText>)>,
    save: SavePolicy,
    intents: Option<&Path>,
    label: &str,
) -> Result<(Vec<Planned>, Option<Intent>), BackendError> {
    let paths: Vec<PathBuf> = changes
        .iter()
        .map(|(change, _)| change.path().to_owned())
        .collect();
    let mut intent = intents.map(|dir| Intent::begin(dir, &paths)).transpose()?;
    let prefix = intent.as_ref().map_or(PREFIX, Intent::prefix).to_owned();
    let ready = plan(changes, save, &prefix).and_then(|plans| {
        let promised = match &mut intent {
            Some(intent) => intent.promise(label, &plans),
            None => Ok(()),
        };
        match promised {
            Ok(()) => Ok(plans),
            Err(error) => {
                discard(plans);
                Err(error)
            }
        }
    });
    match ready {
        Ok(plans) => Ok((plans, intent)),
        Err(error) => {
            end(intent, false);
            Err(error)
        }
    }
}

fn end(intent: Option<Intent>, happened: bool) {
    if let Some(intent) = intent {
        intent.end(happened);
    }
}

/// Takes the disk part out of the plans. A deleted buffer has both parts.
fn split(plans: Vec<Planned>) -> (Vec<DiskStep>, Vec<Entry>) {
    let mut steps = Vec::new();
    let mut entries = Vec::with_capacity(plans.len());
    for Planned { path, before, action } in plans {
        match action {
            Action::Buffer(plan) => {
                if plan.edits.deleted && before != Disk::Absent {
                    steps.push(DiskStep {
                        path: path.clone(),
                        before,
                        what: DiskAction::Remove,
                    });
                }
                entries.push(Entry::Buffer { path, plan });
            }
            Action::Write {
                staged,
                old_text,
                new_text,
                ..
            } => {
                steps.push(DiskStep {
                    path: path.clone(),
                    before,
                    what: DiskAction::Write(staged),
                });
                entries.push(Entry::Disk(Changed {
                    path,
                    before: old_text,
                    after: new_text,
                }));
            }
            Action::Remove { old_text } => {
                steps.push(DiskStep {
                    path: path.clone(),
                    before,
                    what: DiskAction::Remove,
                });
                entries.push(Entry::Disk(Changed {
                    path,
                    before: old_text,
                    after: None,
                }));
            }
        }
    }
    (steps, entries)
}

/// Permission bits that the editor does not set when it writes a buffer.
fn modes(entries: &[Entry]) -> Vec<(PathBuf, u32)> {
    let mode = |entry: &Entry| match entry {
        Entry::Buffer { path, plan } if plan.edits.save => plan.mode.map(|mode| (path.clone(), mode)),
        _ => None,
    };
    entries.iter().filter_map(mode).collect()
}

fn set_modes(modes: &[(PathBuf, u32)]) {
    for (path, mode) in modes {
        // The content is in place; a file that the editor could not write keeps its mode.
        disk::set_mode(path, *mode).ok();
    }
}
