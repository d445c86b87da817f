//! Which commits to list.

use git2::Oid;

use crate::vcs::changes::between_trees;
use crate::vcs::error::{Stop, VcsError};
use crate::vcs::refs::{self, Range};
use crate::vcs::renames;
use crate::vcs::store::Store;
use crate::vcs::trail::Trails;
use crate::vcs::walk::{Query, Walk};

/// What to list.
pub struct Wanted<'a> {
    /// A ref or a range; `None` is HEAD.
    pub range: Option<&'a str>,
    /// Only commits that change this file or folder, relative to the root; empty: all.
    pub path: &'a [u8],
    /// Go on under the old name where the file was renamed.
    pub follow: bool,
    /// Not older than this, in seconds since 1970.
    pub since: Option<i64>,
    /// At most so many.
    pub limit: usize,
}

/// Commits, the newest first.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The commits.
    pub commits: Vec<Oid>,
    /// There are more.
    pub more: bool,
    /// The oldest one listed is where a shallow clone ends.
    pub cut: bool,
    /// The name that the file had before, where it was followed.
    pub renamed_from: Option<Vec<u8>>,
}

/// Lists commits as `git log` does.
///
/// # Errors
/// What the refs say ([`refs::commit`]), a missing object, the stop.
pub fn list(store: &Store, wanted: &Wanted<'_>, stop: &dyn Stop) -> Result<Listed, VcsError> {
    let (tips, excluded) = ends(store, wanted.range)?;
    let mut listed = Listed::default();
    if wanted.follow && !wanted.path.is_empty() {
        follow(store, wanted, tips, excluded, stop, &mut listed)?;
    } else {
        let query = Query {
            tips,
            excluded,
            path: wanted.path,
            since: wanted.since,
        };
        let mut walk = Walk::new(store, &query, stop)?;
        while let Some(ix) = walk.step()? {
            if listed.commits.len() == wanted.limit {
                listed.more = true;
                break;
            }
            let id = store.history().borrow().id(ix);
            listed.commits.push(id);
        }
    }
    listed.cut = !listed.more && store.has_shallow();
    Ok(listed)
}

type Ends = (Vec<Oid>, Vec<Oid>);

fn ends(store: &Store, range: Option<&str>) -> Result<Ends, VcsError> {
    let Some(range) = range else {
        return match refs::head(store)? {
            Some(head) => Ok((vec![head], Vec::new())),
            None => Err(VcsError::NoCommits),
        };
    };
    match refs::range(range)? {
        Range::One(name) => Ok((vec![refs::commit(store, &name)?], Vec::new())),
        Range::Two(from, to) => Ok((vec![refs::commit(store, &to)?], vec![refs::commit(store, &from)?])),
        Range::Symmetric(one, other) => {
            let ends = [refs::commit(store, &one)?, refs::commit(store, &other)?];
            let bases = match store.git().merge_bases(ends[0], ends[1]) {
                Ok(bases) => bases.iter().copied().collect(),
                Err(error) if error.code() == git2::ErrorCode::NotFound => Vec::new(),
                Err(error) => return Err(error.into()),
            };
            Ok((ends.to_vec(), bases))
        }
    }
}

/// Each commit that changes the file against its one parent; where it appears, under which name it was before.
fn follow(
    store: &Store,
    wanted: &Wanted<'_>,
    tips: Vec<Oid>,
    excluded: Vec<Oid>,
    stop: &dyn Stop,
    listed: &mut Listed,
) -> Result<(), VcsError> {
    let query = Query {
        tips,
        excluded,
        path: b"",
        since: wanted.since,
    };
    let mut walk = Walk::new(store, &query, stop)?;
    let mut path = wanted.path.to_vec();
    let mut trails = Trails::new(&path);
    let history = store.history();
    while let Some(ix) = walk.step()? {
        let node = history.borrow_mut().load(store, ix)?;
        let parents = history.borrow().parents(&node).to_vec();
        let (parent, there, before) = match parents.as_slice() {
            [] => (None, trails.at(store, ix, &node)?, None),
            [parent] => {
                if trails.surely_same(&history.borrow(), ix, *parent) {
                    trails.forget(ix);
                    continue;
                }
                let above = history.borrow_mut().load(store, *parent)?;
                let there = trails.at(store, ix, &node)?;
                let before = trails.at_parent(store, ix, *parent, &above)?;
                (Some(above), there, before)
            }
            _ => continue,
        };
        trails.forget(ix);
        if there == before {
            continue;
        }
        if listed.commits.len() == wanted.limit {
            listed.more = true;
            break;
        }
        listed.commits.push(history.borrow().id(ix));
        if let (Some(_), None, Some(above)) = (there, before, parent) {
            let changes = between_trees(store, Some(above.tree), Some(node.tree), b"", stop)?;
            let joined = renames::join(store, changes, Some(&path), stop)?;
            let renamed = joined
                .into_iter()
                .find(|change| change.path() == path && change.old.is_some());
            if let Some(old) = renamed.and_then(|change| change.old) {
                path = old.path;
                trails = Trails::new(&path);
                listed.renamed_from = Some(path.clone());
            }
        }
    }
    Ok(())
}
