//! The version of a file that lies in the working tree, or in a buffer over it, as the child that the next
//! commit would be.

use std::collections::HashMap;

use git2::Oid;

use crate::vcs::blame::{From, Uncommitted};
use crate::vcs::error::{Stop, VcsError};
use crate::vcs::store::Store;
use crate::vcs::tree::mode;
use crate::vcs::work_file::WorkFiles;
use crate::vcs::worktree::{States, differences};
use crate::vcs::{nearby, refs, renames};

/// What to blame for the file as it stands, and the blob of its content, lent to the store. `buffer` is the text
/// of an unsaved buffer over it. A content that is HEAD's is HEAD's.
///
/// # Errors
/// [`VcsError::NoSuchPath`] for what git does not know, a file that cannot be read, the stop.
pub fn version(
    store: &Store,
    path: &[u8],
    buffer: Option<&str>,
    stop: &dyn Stop,
) -> Result<(From, Oid), VcsError> {
    store.workdir()?;
    let whole = store.root().join(nearby::as_path(path));
    let on_disk = std::fs::symlink_metadata(&whole);
    let heads = heads(store)?;
    let head_tree = heads
        .first()
        .map(|head| refs::commit_tree(store, *head))
        .transpose()?;
    let committed = match head_tree {
        Some(tree) => store.entry(tree, path)?,
        None => None,
    };
    let is_folder = on_disk.as_ref().is_ok_and(std::fs::Metadata::is_dir);
    if is_folder || buffer.is_none() && on_disk.is_err() {
        return Err(match head_tree {
            _ if is_folder => VcsError::Kind(format!("{} is a folder. Give a file.", whole.display())),
            Some(tree) if committed.is_none() => nearby::no_such_path(store, tree, path, "HEAD"),
            _ => VcsError::NoSuchPath {
                path: crate::vcs::quote::path(path),
                at: "the working tree".into(),
                hint: " It is in HEAD: give ref=HEAD.".into(),
            },
        });
    }
    let mut files = WorkFiles::new(store);
    let blob = match buffer {
        Some(text) => files.buffer(path, text)?,
        None => files
            .file(path)?
            .ok_or_else(|| VcsError::Kind(format!("{} is too large to be blamed.", whole.display())))?,
    };
    if let (Some((_, id)), [head]) = (committed, heads.as_slice())
        && id == blob
    {
        return Ok((From::Commit(*head), blob));
    }
    let mut parents = Vec::with_capacity(heads.len());
    for head in heads {
        let tree = refs::commit_tree(store, head)?;
        let there = store
            .entry(tree, path)?
            .filter(|(mode, _)| mode::same_kind(*mode, mode::FILE));
        parents.push((head, there.map(|(_, id)| (path.to_vec(), id))));
    }
    if committed.is_none() {
        let renamed = renamed(store, head_tree, path, stop)?;
        match renamed {
            Renamed::From(old, id) => {
                if let Some(first) = parents.first_mut() {
                    first.1 = Some((old, id));
                }
            }
            Renamed::Unknown if parents.iter().all(|(_, there)| there.is_none()) => {
                return Err(VcsError::NoSuchPath {
                    path: crate::vcs::quote::path(path),
                    at: "HEAD".into(),
                    hint: " It is in the working tree, and git does not know it yet: all of it is new."
                        .into(),
                });
            }
            Renamed::New | Renamed::Unknown => {}
        }
    }
    Ok((From::Work(Uncommitted { blob, parents }), blob))
}

/// HEAD, and in a merge what is merged into it.
fn heads(store: &Store) -> Result<Vec<Oid>, VcsError> {
    let mut heads: Vec<Oid> = refs::head(store)?.into_iter().collect();
    let merged = std::fs::read_to_string(store.git().path().join("MERGE_HEAD")).unwrap_or_default();
    heads.extend(merged.lines().filter_map(|id| Oid::from_str(id.trim()).ok()));
    Ok(heads)
}

enum Renamed {
    From(Vec<u8>, Oid),
    /// It is in the index.
    New,
    Unknown,
}

/// The name that a file of the index had in HEAD.
fn renamed(store: &Store, head: Option<Oid>, path: &[u8], stop: &dyn Stop) -> Result<Renamed, VcsError> {
    let found = differences(store, States::TreeIndex(head), b"", &HashMap::new(), stop)?;
    let joined = renames::join(store, found.changes, Some(path), stop)?;
    let change = joined
        .into_iter()
        .find(|change| change.path() == path && change.new.is_some());
    Ok(match change {
        Some(change) => match change.old {
            Some(old) => Renamed::From(old.path, old.id),
            None => Renamed::New,
        },
        None => Renamed::Unknown,
    })
}
