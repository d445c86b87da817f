//! From steps to what is to be put back, and whether that may be done.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry as Slot};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use crate::protocol::change::{Content, ContentHash, Expect, FileChange};
use crate::protocol::ids::StepIx;
use crate::snapshot::error::SnapshotError;
use crate::snapshot::manifest::{After, Before, Disk};
use crate::snapshot::store::SnapshotStore;

const DIFF_TIME: Duration = Duration::from_millis(200);

/// How much to take back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The newest steps that changed files; all that are left when there are fewer.
    Steps(u32),
    /// All steps of the turn that the newest one belongs to.
    Turn,
    /// This step and all after it.
    From(StepIx),
}

/// Which files shall hold what again. Nothing has been done yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The steps, newest first.
    pub steps: Vec<StepIx>,
    /// The files, sorted by path.
    pub files: Vec<PlanFile>,
}

/// One file of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanFile {
    /// The file.
    pub path: PathBuf,
    /// What shall be there again.
    pub before: Before,
    /// What must be there now; `None` when the process died before it was recorded.
    pub expect: Option<After>,
    /// What one step left and the next one found, where these differ.
    pub(super) gaps: Vec<(After, Before)>,
    /// Somebody wrote in the middle of a step, or the process died there.
    pub(super) unsure: bool,
    /// A step of the plan made a folder of this name.
    folder_made: bool,
}

/// Whether a file may be put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It holds what the agent left there, with or without some of its hunks, or already what it shall
    /// hold.
    Matches,
    /// Somebody else changed it since, or between two steps: putting it back would lose their work.
    ChangedSince {
        /// How many lines are theirs; at least 1.
        lines: usize,
    },
}

/// What is to be done to one file. When there is a `buffer` text, the loaded buffer gets it, and the
/// disk holds `disk` after the buffer was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restoration {
    /// The file.
    pub path: PathBuf,
    /// The text for the loaded buffer; `None` = it stays as it is, or none is loaded.
    pub buffer: Option<String>,
    /// What the disk shall hold; `None` = it stays as it is.
    pub disk: Option<DiskContent>,
    /// What was there when this was worked out.
    pub(super) now: Before,
}

/// What the disk shall hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiskContent {
    /// Nothing, and none of these folders (outermost first) unless something else lies in them.
    Absent {
        /// The folders.
        missing: Vec<PathBuf>,
    },
    /// A file.
    File {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Its permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// What it says.
        target: PathBuf,
    },
    /// A folder.
    Folder {
        /// Its permission bits, where they were kept.
        mode: Option<u32>,
    },
}

impl Restoration {
    /// Whether nothing is to be done.
    pub fn is_nothing(&self) -> bool {
        self.buffer.is_none() && self.disk.is_none()
    }

    /// Whether a text or a file comes: nothing is left to be done when it is there.
    pub fn is_text(&self) -> bool {
        self.buffer.is_some() || matches!(self.disk, Some(DiskContent::File { .. }))
    }

    /// Whether no content would be replaced: at most empty folders go.
    fn keeps_all_content(&self) -> bool {
        let folders = matches!(
            (&self.disk, &self.now.disk),
            (Some(DiskContent::Absent { .. }), Disk::Absent { .. })
        );
        self.buffer.is_none() && (self.disk.is_none() || folders)
    }

    /// The change for the backend; `None` when nothing is to be done or it is one of links and
    /// folders, which only [`SnapshotStore::put_back`] can do.
    pub fn change(&self) -> Option<FileChange> {
        if self.keeps_all_content() {
            return None;
        }
        let path = self.path.clone();
        let expect = match (&self.now.buffer, &self.now.disk) {
            (Some(buffer), _) => Expect::Text(buffer.blob.clone()),
            (None, Disk::File { blob, .. }) => Expect::Bytes(blob.clone()),
            (None, Disk::Absent { .. }) => Expect::Absent,
            (None, Disk::Link { .. } | Disk::Folder { .. }) => return None,
        };
        let content = match (&self.buffer, &self.disk) {
            (Some(text), _) => Content::Text(text.clone()),
            (None, Some(DiskContent::File { bytes, mode })) => Content::Bytes {
                bytes: bytes.clone(),
                mode: Some(*mode),
            },
            (None, Some(DiskContent::Absent { .. })) => return Some(FileChange::Delete { path, expect }),
            (None, Some(DiskContent::Link { .. } | DiskContent::Folder { .. }) | None) => return None,
        };
        Some(FileChange::Write {
            path,
            expect,
            content,
        })
    }
}

impl SnapshotStore {
    /// What an undo would put back: per file the oldest state that the chosen steps found.
    pub fn plan_undo(&self, scope: Scope) -> Result<Plan, SnapshotError> {
        let book = self.book();
        let newest_turn = book.live().next().map(|(_, step)| step.turn);
        let mut steps = Vec::new();
        let mut files: BTreeMap<PathBuf, PlanFile> = BTreeMap::new();
        for (ix, step) in book.live() {
            let chosen = match scope {
                Scope::Steps(count) => steps.len() < usize::try_from(count).unwrap_or(usize::MAX),
                Scope::Turn => Some(step.turn) == newest_turn,
                Scope::From(first) => ix >= first,
            };
            if !chosen {
                break;
            }
            steps.push(ix);
            for entry in step.changed() {
                let unsure = entry.interrupted || entry.after.is_none();
                match files.entry(entry.path.clone()) {
                    Slot::Vacant(slot) => {
                        let file = PlanFile::new(&entry.path, &entry.before, entry.after.clone());
                        slot.insert(PlanFile { unsure, ..file });
                    }
                    Slot::Occupied(mut slot) => {
                        let file = slot.get_mut();
                        let changed = |left: &&After| {
                            !left.still_is(&file.before)
                                && !self.only_rejected(&entry.before, left, &file.before)
                        };
                        if let Some(left) = entry.after.as_ref().filter(changed) {
                            file.gaps.push((left.clone(), file.before.clone()));
                        }
                        file.before = entry.before.clone();
                        file.unsure |= unsure;
                    }
                }
            }
        }
        if steps.is_empty() {
            return Err(SnapshotError::NothingToUndo);
        }
        Ok(Plan::new(steps, files.into_values().collect()))
    }

    /// What a redo would put back: what was there before the last undo.
    pub fn plan_redo(&self) -> Result<Plan, SnapshotError> {
        let book = self.book();
        let undo = book.log.undos.last().ok_or(SnapshotError::NothingToRedo)?;
        let files = undo
            .files
            .iter()
            .map(|file| PlanFile::new(&file.path, &file.was, Some(file.now.clone())));
        Ok(Plan::new(undo.steps.clone(), files.collect()))
    }

    /// Whether `file` may be put back over `now`.
    pub fn check(&self, file: &PlanFile, now: &Before) -> Result<Fit, SnapshotError> {
        // Unless it would step over what the person wrote in between, and the agent then removed.
        if file.gaps.is_empty() && self.restoration(file, now)?.keeps_all_content() {
            return Ok(Fit::Matches);
        }
        let mut seen = now.clone();
        let is_folder = |disk: &Disk| matches!(disk, Disk::Folder { .. });
        let left_folder = file.expect.as_ref().is_some_and(|left| is_folder(&left.disk));
        if file.folder_made && is_folder(&seen.disk) && !left_folder {
            seen.disk = Disk::Absent { missing: Vec::new() };
        }
        let as_left = file
            .expect
            .as_ref()
            .is_some_and(|left| left.still_is(&seen) || self.only_rejected(&file.before, left, &seen));
        if as_left && file.gaps.is_empty() && !file.unsure {
            return Ok(Fit::Matches);
        }
        let since = match &file.expect {
            Some(_) if as_left => 0,
            Some(left) => match self.typed_lines(&file.before, left, &seen) {
                0 => self.lines_between(left, &seen),
                typed => typed,
            },
            None => self.lines_between(&After::from(&file.before), &seen),
        };
        let between: usize = file
            .gaps
            .iter()
            .map(|(left, found)| self.lines_between(left, found))
            .sum();
        Ok(Fit::ChangedSince {
            lines: (since + between).max(1),
        })
    }

    /// What is to be done so that `file`, which holds `now`, holds what it shall hold.
    pub fn restoration(&self, file: &PlanFile, now: &Before) -> Result<Restoration, SnapshotError> {
        Ok(Restoration {
            path: file.path.clone(),
            buffer: self.buffer_part(&file.before, now)?,
            disk: self.disk_part(file, now)?,
            now: now.clone(),
        })
    }

    fn buffer_part(&self, before: &Before, now: &Before) -> Result<Option<String>, SnapshotError> {
        let Some(loaded) = &now.buffer else {
            return Ok(None);
        };
        let wanted = match (&before.buffer, &before.disk) {
            // A file that was not there: the backend empties the buffer with the deletion.
            (Some(buffer), Disk::Absent { .. }) if !buffer.modified => return Ok(None),
            (Some(buffer), _) => &buffer.blob,
            // Loaded since. What is not plain UTF-8 is for the one who decodes `disk`.
            (None, Disk::File { blob, .. }) => blob,
            (None, _) => return Ok(None),
        };
        if *wanted == loaded.blob {
            return Ok(None);
        }
        let text = String::from_utf8(self.blob(wanted)?).ok();
        Ok(text.filter(|text| before.buffer.is_some() || !text.starts_with('\u{feff}')))
    }

    fn disk_part(&self, file: &PlanFile, now: &Before) -> Result<Option<DiskContent>, SnapshotError> {
        let before = &file.before;
        if let Some(typed) = before.buffer.as_ref().filter(|buffer| buffer.modified) {
            let left = file.expect.as_ref().and_then(|left| left.buffer.as_ref());
            let written = left.is_some() && now.disk.blob() == left && !now.disk.same_content(&before.disk);
            match &now.buffer {
                // The person wrote their own text together with the agent's and closed the buffer.
                None if written => {
                    return Ok(Some(DiskContent::File {
                        bytes: self.blob(&typed.blob)?,
                        mode: mode_of(&before.disk).or(mode_of(&now.disk)).unwrap_or(0o644),
                    }));
                }
                // The disk is the person's: only what the agent removed comes back.
                Some(_) if !matches!(now.disk, Disk::Absent { .. }) => return Ok(None),
                _ => {}
            }
        }
        let there = match (&before.disk, &now.disk) {
            // A folder that was missing and is there goes too, if nothing lies in it.
            (Disk::Absent { missing: wanted }, Disk::Absent { missing }) => {
                wanted.iter().all(|folder| missing.contains(folder))
            }
            (wanted, found) => wanted == found,
        };
        (!there).then(|| self.content(&before.disk)).transpose()
    }

    /// What `disk` was, with its bytes.
    pub fn content(&self, disk: &Disk) -> Result<DiskContent, SnapshotError> {
        Ok(match disk {
            Disk::Absent { missing } => DiskContent::Absent {
                missing: missing.clone(),
            },
            Disk::File { blob, mode } => DiskContent::File {
                bytes: self.blob(blob)?,
                mode: *mode,
            },
            Disk::Link { target } => DiskContent::Link {
                target: target.clone(),
            },
            Disk::Folder { mode } => DiskContent::Folder { mode: *mode },
        })
    }

    fn lines_between(&self, left: &After, found: &Before) -> usize {
        let found_buffer = found.buffer.as_ref().map(|buffer| &buffer.blob);
        let mut old = left.buffer.as_ref().or(left.disk.blob());
        let mut new = found_buffer.or(found.disk.blob());
        if old == new {
            (old, new) = (left.disk.blob(), found.disk.blob());
        }
        // The count is for a message: a lost blob must not hide that there is a conflict.
        let bytes =
            |hash: Option<&ContentHash>| hash.and_then(|hash| self.blob(hash).ok()).unwrap_or_default();
        changed_lines(&bytes(old), &bytes(new)).max(1)
    }
}

impl PlanFile {
    fn new(path: &Path, before: &Before, expect: Option<After>) -> Self {
        Self {
            path: path.to_owned(),
            before: before.clone(),
            expect,
            gaps: Vec::new(),
            unsure: false,
            folder_made: false,
        }
    }
}

impl Plan {
    fn new(steps: Vec<StepIx>, mut files: Vec<PlanFile>) -> Self {
        let made: BTreeSet<PathBuf> = files
            .iter()
            .filter_map(|file| match &file.before.disk {
                Disk::Absent { missing } => Some(missing.clone()),
                _ => None,
            })
            .flatten()
            .collect();
        for file in &mut files {
            file.folder_made = made.contains(&file.path);
        }
        Self { steps, files }
    }
}

fn mode_of(disk: &Disk) -> Option<u32> {
    match disk {
        Disk::File { mode, .. } => Some(*mode),
        _ => None,
    }
}

/// Lines that differ; a replaced line counts once.
fn changed_lines(old: &[u8], new: &[u8]) -> usize {
    let old: Vec<&[u8]> = old.split_inclusive(|&b| b == b'\n').collect();
    let new: Vec<&[u8]> = new.split_inclusive(|&b| b == b'\n').collect();
    let deadline = Instant::now() + DIFF_TIME;
    capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(deadline))
        .iter()
        .map(|op| match *op {
            DiffOp::Equal { .. } => 0,
            DiffOp::Delete { old_len, .. } => old_len,
            DiffOp::Insert { new_len, .. } => new_len,
            DiffOp::Replace { old_len, new_len, .. } => old_len.max(new_len),
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::changed_lines;

    #[test]
    fn lines_are_counted_once() {
        for (old, new, lines) in [
            ("a\nb\n", "a\nb\n", 0),
            ("a\nb\n", "a\nB\n", 1),
            ("a\nb\n", "a\nb\nmine\n", 1),
            ("", "x\ny\n", 2),
            ("a\nb\nc\n", "", 3),
        ] {
            assert_eq!(
                changed_lines(old.as_bytes(), new.as_bytes()),
                lines,
                "{old:?} {new:?}"
            );
        }
    }
}
