//! Taking a step back out of a file in which somebody else wrote since: a three-way merge a step.

use crate::edit::merge::{Merged, merge};
use crate::protocol::change::ContentHash;
use crate::snapshot::error::SnapshotError;
use crate::snapshot::manifest::{After, Before, Disk};
use crate::snapshot::restore::{DiskContent, PlanFile, Restoration};
use crate::snapshot::store::SnapshotStore;

impl SnapshotStore {
    /// What is to be done so that `file`, which holds `now`, holds what it was and what somebody else wrote
    /// since. `None` where that is no question of lines: a file that is gone, is no text, or whose state
    /// after the step is not known.
    ///
    /// # Errors
    /// When a kept text cannot be read.
    pub fn merged(
        &self,
        file: &PlanFile,
        now: &Before,
    ) -> Result<Option<(Merged, Restoration)>, SnapshotError> {
        let Some(left) = &file.expect else { return Ok(None) };
        let own_disk = matches!(now.disk, Disk::File { .. });
        if file.unsure || !(own_disk || now.buffer.is_some()) || !plain(&file.before.disk) {
            return Ok(None);
        }
        // From the newest step back: what it left, what is there, what it found.
        let mut steps = vec![self.left_text(left)?];
        for (left, found) in &file.gaps {
            steps.push(self.found_text(found)?);
            steps.push(self.left_text(left)?);
        }
        steps.push(self.found_text(&file.before)?);
        let Some(mut text) = self.found_text(now)? else {
            return Ok(None);
        };
        let mut lines = 0;
        let mut clean = true;
        for pair in steps.chunks(2) {
            let [Some(left), Some(found)] = pair else {
                return Ok(None);
            };
            match merge(left, &text, found) {
                Merged::Clean(merged) => text = merged,
                Merged::Conflict { marked, lines: more } => {
                    clean = false;
                    lines += more;
                    text = marked;
                }
            }
        }
        let restoration = Restoration {
            path: file.path.clone(),
            buffer: now.buffer.is_some().then(|| text.clone()),
            disk: match (&now.buffer, &now.disk) {
                (None, Disk::File { mode, .. }) => Some(DiskContent::File {
                    bytes: text.clone().into_bytes(),
                    mode: *mode,
                }),
                _ => None,
            },
            now: now.clone(),
        };
        let merged = if clean {
            Merged::Clean(text)
        } else {
            Merged::Conflict { marked: text, lines }
        };
        Ok(Some((merged, restoration)))
    }

    fn left_text(&self, left: &After) -> Result<Option<String>, SnapshotError> {
        self.text(left.buffer.as_ref(), &left.disk)
    }

    fn found_text(&self, found: &Before) -> Result<Option<String>, SnapshotError> {
        self.text(found.buffer.as_ref().map(|buffer| &buffer.blob), &found.disk)
    }

    /// A buffer's text, else that on the disk; a file that is not there is an empty one. `None` = no text.
    fn text(&self, buffer: Option<&ContentHash>, disk: &Disk) -> Result<Option<String>, SnapshotError> {
        match (buffer.or(disk.blob()), disk) {
            (Some(blob), _) => Ok(String::from_utf8(self.blob(blob)?).ok()),
            (None, Disk::Absent { .. }) => Ok(Some(String::new())),
            (None, _) => Ok(None),
        }
    }
}

fn plain(disk: &Disk) -> bool {
    matches!(disk, Disk::File { .. } | Disk::Absent { .. })
}
