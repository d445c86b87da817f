//! A repository in a few words: for the model's first request, and for the person's status line.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use git2::{BranchType, ErrorCode, Oid, Repository};

use crate::vcs::error::{Stop, VcsError};
use crate::vcs::open;
use crate::vcs::refs;
use crate::vcs::store::Store;
use crate::vcs::walk::{Query, Walk};
use crate::vcs::worktree::{States, differences};

/// How many hexadecimal digits of a commit are shown.
const SHORT: usize = 8;

/// The words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The working tree.
    pub root: PathBuf,
    /// Where its HEAD and index lie: what to watch.
    pub git_dir: PathBuf,
    /// The branch that is checked out; also one without commits. `None` when HEAD is detached.
    pub branch: Option<String>,
    /// The commit of HEAD, 8 digits; `None` before the first commit.
    pub head: Option<String>,
    /// What the branch is compared with.
    pub upstream: Option<Upstream>,
    /// Files that git knows and that differ from HEAD; `None` when it could not be found out in time.
    pub dirty: Option<usize>,
}

/// How far a branch is from the one it follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// Its name, for example `origin/main`.
    pub name: String,
    /// Commits that only the branch has.
    pub ahead: usize,
    /// Commits that only the upstream has.
    pub behind: usize,
}

/// Ends work at a time.
pub struct Until(pub Instant);

impl Stop for Until {
    fn stopped(&self) -> bool {
        Instant::now() >= self.0
    }
}

/// The repository that holds `folder`; `None` when there is none with a working tree, or none that libgit2
/// can read (a format or hash that it does not know). What `stop` cuts short is left out.
pub fn facts(folder: &Path, stop: &dyn Stop) -> Option<Facts> {
    let store = open::discover(folder).and_then(|git| open::open(&git)).ok()?;
    let git = store.git();
    let root = git.workdir()?.to_path_buf();
    let (branch, id) = head(git)?;
    let upstream = branch
        .as_deref()
        .zip(id)
        .and_then(|(branch, id)| upstream(&store, branch, id, stop));
    Some(Facts {
        root,
        git_dir: git.path().to_path_buf(),
        branch,
        head: id.map(|id| id.to_string().chars().take(SHORT).collect()),
        upstream,
        dirty: dirty(&store, id, stop).ok(),
    })
}

fn head(git: &Repository) -> Option<(Option<String>, Option<Oid>)> {
    match git.head() {
        Ok(head) => {
            let name = || String::from_utf8_lossy(head.shorthand_bytes()).into_owned();
            let branch = head.is_branch().then(name);
            Some((branch, Some(head.peel_to_commit().ok()?.id())))
        }
        // HEAD names a branch that has no commit yet.
        Err(error) if error.code() == ErrorCode::UnbornBranch => {
            let head = git.find_reference("HEAD").ok()?;
            let name = String::from_utf8_lossy(head.symbolic_target_bytes()?).into_owned();
            let branch = name
                .strip_prefix("refs/heads/")
                .map_or(name.clone(), str::to_owned);
            Some((Some(branch), None))
        }
        Err(_) => None,
    }
}

fn upstream(store: &Store, branch: &str, id: Oid, stop: &dyn Stop) -> Option<Upstream> {
    let found = store
        .git()
        .find_branch(branch, BranchType::Local)
        .ok()?
        .upstream()
        .ok()?;
    let name = String::from_utf8_lossy(found.name_bytes().ok()?).into_owned();
    let other = found.into_reference().peel_to_commit().ok()?.id();
    let count = |from: Oid, without: Oid| -> Result<usize, VcsError> {
        let query = Query {
            tips: vec![from],
            excluded: vec![without],
            path: b"",
            since: None,
        };
        let (mut walk, mut count) = (Walk::new(store, &query, stop)?, 0);
        while walk.step()?.is_some() {
            count += 1;
        }
        Ok(count)
    };
    Some(Upstream {
        ahead: count(id, other).ok()?,
        behind: count(other, id).ok()?,
        name,
    })
}

fn dirty(store: &Store, head: Option<Oid>, stop: &dyn Stop) -> Result<usize, VcsError> {
    let tree = head.map(|head| refs::commit_tree(store, head)).transpose()?;
    let found = differences(store, States::TreeWork(tree), b"", &HashMap::new(), stop)?;
    let mut paths: Vec<&[u8]> = found
        .changes
        .iter()
        .map(crate::vcs::changes::Change::path)
        .collect();
    paths.dedup();
    Ok(paths.len())
}

impl Facts {
    /// The branch with how far it is from its upstream and how many files are changed, for one line.
    pub fn words(&self) -> String {
        let mut words = match (&self.branch, &self.head) {
            (Some(branch), _) => format!("branch {branch}"),
            (None, Some(head)) => format!("no branch, detached at {head}"),
            (None, None) => "no branch".into(),
        };
        if self.branch.is_some() && self.head.is_none() {
            words += " (no commits yet)";
        }
        if let Some(upstream) = &self.upstream {
            let (name, ahead, behind) = (&upstream.name, upstream.ahead, upstream.behind);
            words += &format!(", {ahead} ahead and {behind} behind {name}");
        }
        match self.dirty {
            Some(0) => words += ", nothing uncommitted",
            Some(1) => words += ", 1 file with uncommitted changes",
            Some(count) => words += &format!(", {count} files with uncommitted changes"),
            None => {}
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;

    use super::*;

    fn commit(repository: &Repository, parents: &[Oid]) -> Oid {
        let signature = git2::Signature::now("t", "t@example.invalid").unwrap();
        let tree = repository
            .find_tree(repository.index().unwrap().write_tree().unwrap())
            .unwrap();
        let parents: Vec<_> = parents
            .iter()
            .map(|id| repository.find_commit(*id).unwrap())
            .collect();
        let parents: Vec<_> = parents.iter().collect();
        repository
            .commit(Some("HEAD"), &signature, &signature, "words", &tree, &parents)
            .unwrap()
    }

    fn of(folder: &Path) -> Option<Facts> {
        facts(folder, &CancellationToken::new())
    }

    #[test]
    fn a_branch_a_detached_head_and_a_repository_without_commits() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let mut options = git2::RepositoryInitOptions::new();
        let repository = Repository::init_opts(&root, options.initial_head("main")).unwrap();
        std::fs::create_dir(root.join("sub")).unwrap();
        let sub = || of(&root.join("sub")).unwrap();
        assert_eq!((sub().branch.as_deref(), sub().head), (Some("main"), None));
        let first = commit(&repository, &[]);
        let short: String = first.to_string().chars().take(SHORT).collect();
        assert_eq!(
            (sub().branch.as_deref(), sub().head),
            (Some("main"), Some(short.clone()))
        );
        assert_eq!(sub().root.canonicalize().unwrap(), root);
        assert_eq!(sub().words(), "branch main, nothing uncommitted");
        repository
            .reference("refs/remotes/origin/main", first, true, "")
            .unwrap();
        repository.remote("origin", "/nowhere").unwrap();
        let mut branch = repository.find_branch("main", BranchType::Local).unwrap();
        branch.set_upstream(Some("origin/main")).unwrap();
        commit(&repository, &[first]);
        assert_eq!(
            sub().words(),
            "branch main, 1 ahead and 0 behind origin/main, nothing uncommitted"
        );
        repository.set_head_detached(first).unwrap();
        assert_eq!((sub().branch, sub().head), (None, Some(short)));
    }

    #[test]
    fn what_is_no_working_tree_is_none() {
        let dir = tempfile::tempdir().unwrap();
        Repository::init_bare(dir.path()).unwrap();
        assert_eq!(of(dir.path()), None);
        assert_eq!(of(Path::new("/nowhere")), None);
        let broken = tempfile::tempdir().unwrap();
        Repository::init(broken.path()).unwrap();
        let config = "[core]\nrepositoryformatversion = 1\n[extensions]\nobjectformat = sha256\n";
        crate::fs::atomic::write(&broken.path().join(".git/config"), config.as_bytes(), None).unwrap();
        assert_eq!(of(broken.path()), None);
    }

    #[test]
    fn without_time_there_is_no_count() {
        let dir = tempfile::tempdir().unwrap();
        let repository = Repository::init(dir.path()).unwrap();
        commit(&repository, &[]);
        let found = facts(dir.path(), &Until(Instant::now())).unwrap();
        assert!(found.head.is_some());
    }
}
