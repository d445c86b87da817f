//! Everything below a folder, for who removes it: links are listed and not followed.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::fs::cause::cause;

/// The most that is listed: entries, and bytes of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Files, links and folders.
    pub entries: usize,
    /// Bytes of all files together.
    pub bytes: u64,
}

/// What lies at a path and below.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Below {
    /// All paths: what lies in a folder comes after it, sorted by name.
    pub paths: Vec<PathBuf>,
    /// How many of them are folders.
    pub folders: usize,
}

/// Why it was not listed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BelowError {
    /// More than the limits.
    #[error("more than {} entries or {} MiB lie there", .limits.entries, .limits.bytes / (1024 * 1024))]
    TooMuch {
        /// The limits.
        limits: Limits,
    },
    /// The system refuses.
    #[error("{path} cannot be looked at: {reason}", path = path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// In words.
        reason: String,
    },
}

/// Lists `path` and all below it; nothing where nothing is.
pub fn below(path: &Path, limits: Limits) -> Result<Below, BelowError> {
    let mut found = Below::default();
    let mut bytes = 0;
    let mut todo = vec![path.to_owned()];
    while let Some(path) = todo.pop() {
        let failed = |error: &io::Error| BelowError::Io {
            path: path.clone(),
            reason: cause(error),
        };
        let metadata = match std::fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(&error)),
        };
        if metadata.is_file() {
            bytes += metadata.len();
        }
        if found.paths.len() >= limits.entries || bytes > limits.bytes {
            return Err(BelowError::TooMuch { limits });
        }
        if metadata.is_dir() {
            found.folders += 1;
            let entries = std::fs::read_dir(&path).map_err(|error| failed(&error))?;
            // One more than may be listed is enough to know.
            let mut children = Vec::new();
            for entry in entries.take(limits.entries + 1) {
                children.push(entry.map_err(|error| failed(&error))?.path());
            }
            children.sort_unstable_by(|a, b| b.cmp(a));
            todo.extend(children);
        }
        found.paths.push(path);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_before_what_is_in_them_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        std::fs::create_dir_all(root.join("d/empty")).unwrap();
        for name in ["d/b", "d/a", "outside"] {
            crate::fs::atomic::write(&root.join(name), b"12345", None).unwrap();
        }
        std::os::unix::fs::symlink(root, root.join("d/link")).unwrap();
        let limits = Limits {
            entries: 5,
            bytes: 10,
        };
        let found = below(&root.join("d"), limits).unwrap();
        let names: Vec<_> = found
            .paths
            .iter()
            .map(|path| path.strip_prefix(root).unwrap())
            .collect();
        assert_eq!(names, ["d", "d/a", "d/b", "d/empty", "d/link"].map(Path::new));
        assert_eq!(found.folders, 2);
        assert_eq!(below(&root.join("none"), limits), Ok(Below::default()));
        for limits in [Limits { entries: 4, ..limits }, Limits { bytes: 9, ..limits }] {
            assert_eq!(
                below(&root.join("d"), limits),
                Err(BelowError::TooMuch { limits })
            );
        }
    }
}
