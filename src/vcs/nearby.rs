//! What to say of a path that a commit does not have.

use std::path::Path;

use git2::Oid;

use crate::vcs::error::VcsError;
use crate::vcs::quote;
use crate::vcs::store::Store;
use crate::vcs::tree::{entries, mode};

/// Folders that are searched for a file of the same name.
const FOLDERS: usize = 2_000;
/// Names in a hint.
const SHOWN: usize = 3;
/// How like a name must be.
const ENOUGH: f64 = 0.7;

/// A path of a repository as a path of the system.
pub fn as_path(path: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(path))
}

/// [`VcsError::NoSuchPath`] with the nearest paths of the tree.
pub fn no_such_path(store: &Store, tree: Oid, path: &[u8], at: &str) -> VcsError {
    let names = nearest(store, tree, path);
    let hint = if names.is_empty() {
        String::new()
    } else {
        format!(" Near by: {}.", names.join(", "))
    };
    VcsError::NoSuchPath {
        path: quote::path(path),
        at: at.to_owned(),
        hint,
    }
}

/// Paths with the same file name or one that is like it, the most alike first.
fn nearest(store: &Store, tree: Oid, path: &[u8]) -> Vec<String> {
    let wanted = String::from_utf8_lossy(path).into_owned();
    let wanted_name = wanted.rsplit('/').next().unwrap_or(&wanted).to_lowercase();
    let mut scored: Vec<(f64, String)> = Vec::new();
    let mut open = std::collections::VecDeque::from([(Vec::new(), tree)]);
    let mut folders = 0;
    while let Some((folder, id)) = open.pop_front() {
        folders += 1;
        if folders > FOLDERS {
            break;
        }
        let read = store.tree(id, |data| {
            for entry in entries(data) {
                let mut path: Vec<u8> = folder.clone();
                if !path.is_empty() {
                    path.push(b'/');
                }
                path.extend_from_slice(entry.name);
                if entry.mode == mode::TREE {
                    open.push_back((path, entry.id));
                    continue;
                }
                let name = String::from_utf8_lossy(entry.name).to_lowercase();
                let alike = strsim::normalized_levenshtein(&name, &wanted_name);
                if alike >= ENOUGH {
                    let whole = String::from_utf8_lossy(&path);
                    let score = alike + strsim::normalized_levenshtein(&whole, &wanted) / 10.0;
                    scored.push((score, quote::path(&path)));
                }
            }
        });
        if read.is_err() {
            break;
        }
    }
    scored.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    scored.into_iter().take(SHOWN).map(|(_, path)| path).collect()
}
