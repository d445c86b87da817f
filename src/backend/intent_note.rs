//! What is noted of a change set before it happens, as it lies on disk.
//!
//! A change set has a folder of its own below `<state>/intents/`. In it: `lock`, held while the owner lives;
//! `staged`, written before anything is laid ready; `steps`, written before anything can be seen, and the
//! old bytes that it names. The folder is gone when the set is done.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::journal::path_text;
use crate::protocol::change::ContentHash;

/// The version of both files. A later one is left to the program that knows it.
pub(super) const VERSION: u32 = 1;
pub(super) const LOCK: &str = "lock";
pub(super) const STAGED: &str = "staged";
pub(super) const STEPS: &str = "steps";

/// Where leftovers may lie.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Staged {
    pub version: u32,
    /// Temporary files of this set begin so.
    pub prefix: String,
    /// Folders in which they may lie.
    #[serde(with = "path_text::list")]
    pub folders: Vec<PathBuf>,
    /// Folders that were missing, outermost first.
    #[serde(with = "path_text::list")]
    pub missing: Vec<PathBuf>,
}

/// What is done, in no order.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Steps {
    pub version: u32,
    /// What the person knows it by.
    pub label: String,
    pub steps: Vec<Step>,
}

/// One path.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Step {
    #[serde(with = "path_text")]
    pub path: PathBuf,
    pub before: Before,
    pub after: After,
}

/// What lay there.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Before {
    Absent,
    /// A file; `copy` is the name of its bytes in the folder of the set.
    File {
        copy: String,
        mode: u32,
    },
    /// Too large to be copied.
    Large,
    Link {
        #[serde(with = "path_text")]
        target: PathBuf,
    },
    Folder,
}

/// What shall lie there.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum After {
    Gone,
    /// A file; `copy` is there where the file is not replaced in one move, so that half of it can be known.
    File {
        hash: ContentHash,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        copy: Option<String>,
    },
}
