//! The entries of a project that lie near its top, for looks that must stay short.

use std::collections::VecDeque;
use std::fs::{DirEntry, FileType};
use std::path::Path;

/// How many entries are looked at.
const MOST: usize = 20_000;
/// Folders of tools, with many files and none that anybody wrote.
const SKIPPED: [&str; 6] = [".git", "node_modules", "target", ".venv", "dist", "build"];

/// Hands out the entries below a folder, nearest first, [`MOST`] at the most. Links are not followed, and what the
/// [`SKIPPED`] hold is left out, but not they themselves.
pub fn each(top: &Path, mut found: impl FnMut(&DirEntry, FileType)) {
    let mut looked = 0;
    let mut folders = VecDeque::from([top.to_owned()]);
    while let Some(folder) = folders.pop_front() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            looked += 1;
            if looked > MOST {
                return;
            }
            let Ok(kind) = entry.file_type() else { continue };
            found(&entry, kind);
            if kind.is_dir() && !SKIPPED.iter().any(|name| entry.file_name() == *name) {
                folders.push_back(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_skipped_is_named_and_not_entered() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["a/b", "node_modules/x", ".git/y"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        std::os::unix::fs::symlink(dir.path(), dir.path().join("a/loop")).unwrap();
        let mut names = Vec::new();
        each(dir.path(), |entry, _| {
            names.push(entry.path().strip_prefix(dir.path()).unwrap().to_owned());
        });
        names.sort();
        assert_eq!(
            names,
            [".git", "a", "a/b", "a/loop", "node_modules"].map(std::path::PathBuf::from)
        );
    }
}
