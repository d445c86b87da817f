//! Names of commits as a person or a model writes them, and what they stand for.

use git2::{Branch, ErrorCode, ObjectType, Oid};

use crate::vcs::error::VcsError;
use crate::vcs::store::Store;

/// Names that are compared for a hint.
const NAMES: usize = 2_000;
/// Names in a hint.
const SHOWN: usize = 3;
/// How like a name must be.
const ENOUGH: f64 = 0.6;
/// Longer texts are no refs.
const MAX_CHARS: usize = 1_000;

/// One commit, or two with how they are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Range {
    /// `main`
    One(String),
    /// `a..b`: what b has and a has not; as a diff, from a to b.
    Two(String, String),
    /// `a...b`: what only one of them has; as a diff, from their common ancestor to b.
    Symmetric(String, String),
}

/// Takes `a..b` and `a...b` apart. An empty side is HEAD.
///
/// # Errors
/// [`VcsError::BadRef`].
pub fn range(written: &str) -> Result<Range, VcsError> {
    let head = |side: &str| {
        let side = side.trim();
        if side.is_empty() {
            "HEAD".to_owned()
        } else {
            side.to_owned()
        }
    };
    check(written)?;
    // `HEAD:a..b` names a file.
    let searched = written.split(':').next().unwrap_or(written);
    let Some(at) = searched.find("..") else {
        return Ok(Range::One(written.trim().to_owned()));
    };
    let (left, rest) = (
        written.get(..at).unwrap_or_default(),
        written.get(at + 2..).unwrap_or_default(),
    );
    let (right, symmetric) = match rest.strip_prefix('.') {
        Some(right) => (right, true),
        None => (rest, false),
    };
    check_side(left)?;
    check_side(right)?;
    let (left, right) = (head(left), head(right));
    Ok(if symmetric {
        Range::Symmetric(left, right)
    } else {
        Range::Two(left, right)
    })
}

fn check_side(side: &str) -> Result<(), VcsError> {
    if side.trim().is_empty() {
        Ok(())
    } else {
        check(side)
    }
}

fn check(name: &str) -> Result<(), VcsError> {
    let bad = |why: &str| {
        let shown: String = name.chars().take(80).collect();
        Err(VcsError::BadRef {
            name: shown.escape_debug().to_string(),
            why: why.to_owned(),
        })
    };
    if name.trim().is_empty() {
        bad("it is empty. Give a branch, a tag, a commit, or HEAD~1")
    } else if name.trim_start().starts_with('-') {
        bad("it begins with `-`. Options are parameters of the tool")
    } else if name.chars().any(char::is_control) {
        bad("it holds a control character")
    } else if name.chars().nth(MAX_CHARS).is_some() {
        bad("it is too long")
    } else {
        Ok(())
    }
}

/// The object that a ref names: a commit, a tag, a tree or a blob (`REF:PATH`).
///
/// # Errors
/// [`VcsError::BadRef`], [`VcsError::NoSuchRef`] with the nearest names, [`VcsError::NoCommits`],
/// [`VcsError::Missing`].
pub fn object(store: &Store, name: &str) -> Result<(Oid, ObjectType), VcsError> {
    check(name)?;
    let name = name.trim();
    let found = store.git().revparse_single(name);
    match found {
        Ok(object) => Ok((object.id(), object.kind().unwrap_or(ObjectType::Any))),
        Err(error) if error.code() == ErrorCode::Ambiguous => Err(VcsError::BadRef {
            name: name.to_owned(),
            why: "it is short for several objects. Give more digits".into(),
        }),
        Err(error) if error.code() == ErrorCode::UnbornBranch => Err(VcsError::NoCommits),
        Err(error) => Err(unknown(store, name, &error)),
    }
}

fn unknown(store: &Store, name: &str, error: &git2::Error) -> VcsError {
    let git = store.git();
    if let Ok(id) = Oid::from_str(name)
        && name.len() == 40
    {
        return VcsError::Missing { id };
    }
    if git
        .head()
        .is_err_and(|error| error.code() == ErrorCode::UnbornBranch)
        && name.starts_with("HEAD")
    {
        return VcsError::NoCommits;
    }
    let base = name.split(['~', '^', '@', ':']).next().unwrap_or(name);
    if base != name && !base.is_empty() && git.revparse_single(base).is_ok() {
        return VcsError::NoSuchRef {
            name: name.to_owned(),
            hint: suffix_hint(store, name, base),
        };
    }
    if name.contains("@{u") || name.contains("@{upstream") {
        return VcsError::NoSuchRef {
            name: name.to_owned(),
            hint: " The branch has no upstream.".into(),
        };
    }
    let hint = match nearest(store, base) {
        names if !names.is_empty() => format!(" Did you mean {}?", names.join(" or ")),
        _ if error.code() == ErrorCode::InvalidSpec => {
            format!(" libgit2 says: {}.", error.message().trim_end_matches('.'))
        }
        _ => String::new(),
    };
    VcsError::NoSuchRef {
        name: name.to_owned(),
        hint,
    }
}

/// The base is there and what follows is not.
fn suffix_hint(store: &Store, name: &str, base: &str) -> String {
    if name.contains("@{u") || name.contains("@{push") {
        format!(" {base} has no upstream.")
    } else if store.has_shallow() {
        format!(" {base} is there, but this is a shallow clone: its history ends early.")
    } else {
        format!(" {base} is there; it does not have what follows.")
    }
}

fn nearest(store: &Store, name: &str) -> Vec<String> {
    let git = store.git();
    let mut names = Vec::new();
    for (branch, _) in git.branches(None).into_iter().flatten().flatten().take(NAMES) {
        if let Ok(name) = Branch::name_bytes(&branch) {
            names.push(String::from_utf8_lossy(name).into_owned());
        }
    }
    if let Ok(tags) = git.tag_names(None) {
        names.extend(
            tags.iter_bytes()
                .take(NAMES)
                .map(|name| String::from_utf8_lossy(name).into_owned()),
        );
    }
    let lower = name.to_lowercase();
    let like = |other: &String| {
        let short = other.rsplit('/').next().unwrap_or(other).to_lowercase();
        let whole = strsim::normalized_damerau_levenshtein(&lower, &other.to_lowercase());
        whole.max(strsim::normalized_damerau_levenshtein(&lower, &short))
    };
    let mut scored: Vec<(f64, String)> = names.into_iter().map(|name| (like(&name), name)).collect();
    scored.retain(|(score, _)| *score >= ENOUGH);
    scored.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    scored.dedup_by(|one, other| one.1 == other.1);
    scored.into_iter().take(SHOWN).map(|(_, name)| name).collect()
}

/// The commit that a ref names; tags are followed.
///
/// # Errors
/// As [`object`], and [`VcsError::Kind`] when it is no commit.
pub fn commit(store: &Store, name: &str) -> Result<Oid, VcsError> {
    let (id, kind) = object(store, name)?;
    peel(store, id, kind)?.ok_or_else(|| VcsError::Kind(format!("{name} is not a commit.")))
}

/// The commit that a tag or commit leads to; `None` for trees and blobs.
fn peel(store: &Store, id: Oid, kind: ObjectType) -> Result<Option<Oid>, VcsError> {
    match kind {
        ObjectType::Commit => Ok(Some(id)),
        ObjectType::Tag => {
            let target = store.git().find_tag(id)?.peel();
            Ok(target
                .ok()
                .filter(|object| object.kind() == Some(ObjectType::Commit))
                .map(|object| object.id()))
        }
        _ => Ok(None),
    }
}

/// The tree that a ref names: a commit's, or itself.
///
/// # Errors
/// As [`object`], and [`VcsError::Kind`] when it is neither.
pub fn tree(store: &Store, name: &str) -> Result<Oid, VcsError> {
    let (id, kind) = object(store, name)?;
    match peel(store, id, kind)? {
        Some(commit) => commit_tree(store, commit),
        None if kind == ObjectType::Tree => Ok(id),
        None => Err(VcsError::Kind(format!(
            "{name} is neither a commit nor a tree. For a file use git_show."
        ))),
    }
}

/// The tree of a commit.
///
/// # Errors
/// [`VcsError::Missing`].
pub fn commit_tree(store: &Store, commit: Oid) -> Result<Oid, VcsError> {
    let mut history = store.history().borrow_mut();
    let ix = history.number(commit);
    Ok(history.load(store, ix)?.tree)
}

/// The commit of HEAD; `None` before the first.
///
/// # Errors
/// What libgit2 says.
pub fn head(store: &Store) -> Result<Option<Oid>, VcsError> {
    match store.git().head() {
        Ok(head) => Ok(Some(head.peel_to_commit()?.id())),
        Err(error) if matches!(error.code(), ErrorCode::UnbornBranch | ErrorCode::NotFound) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The common ancestor of two commits.
///
/// # Errors
/// [`VcsError::Kind`] when there is none.
pub fn merge_base(store: &Store, one: Oid, other: Oid) -> Result<Oid, VcsError> {
    store
        .git()
        .merge_base(one, other)
        .map_err(|error| match error.code() {
            ErrorCode::NotFound => VcsError::Kind("The two commits have no common ancestor.".into()),
            _ => error.into(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_taken_apart_and_files_are_not() {
        let two = |one: &str, other: &str| Range::Two(one.into(), other.into());
        assert_eq!(range("main").unwrap(), Range::One("main".into()));
        assert_eq!(range("a..b").unwrap(), two("a", "b"));
        assert_eq!(range("..b").unwrap(), two("HEAD", "b"));
        assert_eq!(range("a..").unwrap(), two("a", "HEAD"));
        assert_eq!(range("a...b").unwrap(), Range::Symmetric("a".into(), "b".into()));
        assert_eq!(range("HEAD:x..y").unwrap(), Range::One("HEAD:x..y".into()));
        for bad in ["", " ", "-p", "a..--output=x", "a\0b", "\n"] {
            assert!(matches!(range(bad), Err(VcsError::BadRef { .. })), "{bad:?}");
        }
    }
}
