//! Which steps were taken back, and what they can be put back from: `<state>/snapshots/<session>/undo.json`.
//!
//! It lies in the state folder in any case: one file, so that an undo over both places is one rename.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::journal::{PrivateDir, path_text};
use crate::protocol::ids::StepIx;
use crate::snapshot::error::SnapshotError;
use crate::snapshot::layout::to_json;
use crate::snapshot::manifest::{After, Before, VERSION, parse};

const NAME: &str = "undo.json";

/// What an undo found at a path, and what it left there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undone {
    /// The file.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// What was there just before the undo: a redo puts it back.
    pub was: Before,
    /// What was there just after it: a redo expects it.
    pub now: After,
}

/// One undo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Undo {
    pub(super) steps: Vec<StepIx>,
    pub(super) files: Vec<Undone>,
}

/// All undos of a session that can still be redone, and the steps that cannot be any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UndoLog {
    #[serde(rename = "dcode_snapshot")]
    version: u64,
    /// The newest last.
    pub(super) undos: Vec<Undo>,
    /// Taken back for good: a new step came after the undo.
    #[serde(default)]
    dropped: Vec<StepIx>,
}

impl Default for UndoLog {
    fn default() -> Self {
        Self {
            version: VERSION,
            undos: Vec::new(),
            dropped: Vec::new(),
        }
    }
}

impl UndoLog {
    /// Whether a step is taken back.
    pub(super) fn holds(&self, step: StepIx) -> bool {
        self.dropped.contains(&step) || self.undos.iter().any(|undo| undo.steps.contains(&step))
    }

    /// Ends what can be redone.
    pub(super) fn drop_redo(&mut self) {
        let gone = self.undos.drain(..).flat_map(|undo| undo.steps);
        self.dropped.extend(gone);
    }

    pub(super) fn write(&self, dir: &PrivateDir) -> Result<(), SnapshotError> {
        let path = dir.path().join(NAME);
        dir.replace(NAME, &to_json(self, &path)?)
            .map_err(|error| SnapshotError::io(&path, &error))
    }

    /// The log in a session's state folder; the empty one when there is none.
    pub(super) fn read(dir: &PrivateDir) -> Result<Self, SnapshotError> {
        let path = dir.path().join(NAME);
        match dir.read(NAME) {
            Ok(bytes) => parse(&path, &bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(SnapshotError::io(&path, &error)),
        }
    }
}
