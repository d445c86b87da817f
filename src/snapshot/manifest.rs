//! What a step found and left, as it lies on disk: `<step>/manifest.json`.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::journal::path_text;
use crate::protocol::change::ContentHash;
use crate::protocol::ids::{StepIx, TurnId};
use crate::snapshot::error::SnapshotError;

/// The version of manifest and undo log. A later one is refused.
pub(super) const VERSION: u64 = 1;

/// What lies at a path on disk. Links are not followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Disk {
    /// Nothing.
    Absent {
        /// The folders above it that are missing too, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty", with = "path_text::list")]
        missing: Vec<PathBuf>,
    },
    /// A file.
    File {
        /// Its bytes.
        blob: ContentHash,
        /// Its permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// What it says.
        #[serde(with = "path_text")]
        target: PathBuf,
    },
    /// A folder.
    Folder,
}

impl Disk {
    /// The bytes, of a file.
    pub fn blob(&self) -> Option<&ContentHash> {
        match self {
            Self::File { blob, .. } => Some(blob),
            _ => None,
        }
    }

    /// Whether both hold the same; permission bits and missing folders aside.
    pub(super) fn same_content(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Absent { .. }, Self::Absent { .. }) => true,
            (Self::File { blob: a, .. }, Self::File { blob: b, .. }) => a == b,
            _ => self == other,
        }
    }
}

/// The text of a loaded buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferBefore {
    /// Its text.
    pub blob: ContentHash,
    /// Whether it held unsaved changes: then the text is the person's own word, and not the disk's.
    pub modified: bool,
}

/// What was at a path before something was done to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Before {
    /// On disk.
    pub disk: Disk,
    /// In the loaded buffer, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferBefore>,
}

/// What was at a path after something was done to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct After {
    /// On disk.
    pub disk: Disk,
    /// The text in the loaded buffer, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<ContentHash>,
}

impl From<&Before> for After {
    fn from(before: &Before) -> Self {
        Self {
            disk: before.disk.clone(),
            buffer: before.buffer.as_ref().map(|buffer| buffer.blob.clone()),
        }
    }
}

impl After {
    /// Whether `now` is what was left, as far as a person's work is concerned: a buffer that was
    /// loaded, saved or closed since does not matter, a changed text does.
    pub(super) fn still_is(&self, now: &Before) -> bool {
        let same_disk = self.disk.same_content(&now.disk);
        match (&self.buffer, &now.buffer) {
            (None, None) => same_disk,
            (Some(left), Some(text)) => *left == text.blob && (same_disk || now.disk.blob() == Some(left)),
            // Closed: written before, or thrown away.
            (Some(left), None) => same_disk || now.disk.blob() == Some(left),
            // Loaded since: its text is the disk's unless somebody typed.
            (None, Some(text)) => same_disk && (!text.modified || self.disk.blob() == Some(&text.blob)),
        }
    }
}

/// One file of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    #[serde(with = "path_text")]
    pub(super) path: PathBuf,
    pub(super) before: Before,
    /// `None` until the call is done, and for good when the process died in the middle of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<After>,
    /// Somebody else changed the file between two calls of the step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) interrupted: bool,
    /// A command changed the file and nobody had kept what it held: it is named and never put back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) lost: bool,
}

impl Entry {
    /// Whether the step left the file as it found it. A folder that it made and left empty is nothing
    /// that a person would want to undo.
    pub(super) fn unchanged(&self) -> bool {
        let Some(after) = &self.after else { return false };
        let found = After::from(&self.before);
        let both_absent = matches!(
            (&found.disk, &after.disk),
            (Disk::Absent { .. }, Disk::Absent { .. })
        );
        let same_disk = both_absent || found.disk == after.disk;
        same_disk && found.buffer == after.buffer && !self.interrupted
    }
}

/// The files of a step that are kept in one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    #[serde(rename = "dcode_snapshot")]
    pub(super) version: u64,
    pub(super) step: StepIx,
    pub(super) turn: TurnId,
    pub(super) files: Vec<Entry>,
}

impl Manifest {
    /// The blobs that it speaks of.
    pub(super) fn blobs(&self) -> impl Iterator<Item = &ContentHash> {
        self.files.iter().flat_map(|entry| {
            let Before { disk, buffer } = &entry.before;
            let after = entry.after.as_ref();
            [
                disk.blob(),
                buffer.as_ref().map(|buffer| &buffer.blob),
                after.and_then(|after| after.disk.blob()),
                after.and_then(|after| after.buffer.as_ref()),
            ]
            .into_iter()
            .flatten()
        })
    }
}

/// Reads a versioned JSON file; a later version is refused before anything else of it is looked at.
pub(super) fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, SnapshotError> {
    #[derive(Deserialize)]
    struct Version {
        dcode_snapshot: u64,
    }
    let damaged = |error: serde_json::Error| SnapshotError::Damaged {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    let Version {
        dcode_snapshot: found,
    } = serde_json::from_slice(bytes).map_err(damaged)?;
    if found > VERSION {
        return Err(SnapshotError::Newer {
            path: path.to_owned(),
            found,
            known: VERSION,
        });
    }
    serde_json::from_slice(bytes).map_err(damaged)
}
