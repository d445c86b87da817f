//! The steps of a session as the person sees them, and what stands in the way of taking one back.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::protocol::ids::{StepIx, TurnId};

/// A file in which an undo would overwrite lines of somebody else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// The file.
    pub path: PathBuf,
    /// How many lines; at least 1.
    pub lines: usize,
}

/// A step of the timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineStep {
    /// Which.
    pub step: StepIx,
    /// Of which turn.
    pub turn: TurnId,
    /// What the person asked for; empty for a call from Lua.
    pub prompt: String,
    /// Whether it is taken back.
    pub undone: bool,
    /// The files, sorted by path.
    pub files: Vec<TimelineFile>,
}

/// A file of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineFile {
    /// The file.
    pub path: PathBuf,
    /// What the step did with it.
    pub change: FileFate,
    /// Lines added; 0 for what is no text.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
    /// Whether the step's change can be taken back.
    pub undoable: bool,
}

/// What became of a file as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileFate {
    /// It was not there before.
    Created,
    /// It is not there any more.
    Deleted,
    /// Its text changed.
    Changed,
    /// Its content changed, which is no text.
    Binary,
    /// Its permission bits alone changed.
    Mode,
    /// It became a link or a folder, or was one.
    Kind,
    /// It changed, and what it held is not known any more.
    Unknown,
}
