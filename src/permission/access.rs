//! What a call is about to touch, declared before it runs.

use std::path::{Path, PathBuf};

/// One thing that a call will touch. Permission, snapshot and the approval float start from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads a file or lists a folder.
    Read(PathBuf),
    /// Makes or changes a file.
    Write(PathBuf),
    /// Removes a file or a folder with all that is in it.
    Delete(PathBuf),
    /// Runs a shell line.
    Run(String),
    /// The line that it stands beside leaves the sandbox.
    OutsideSandbox,
}

impl Access {
    /// The path that is written or removed, if one is.
    pub fn changed_path(&self) -> Option<&Path> {
        match self {
            Self::Write(path) | Self::Delete(path) => Some(path),
            Self::Read(_) | Self::Run(_) | Self::OutsideSandbox => None,
        }
    }
}
