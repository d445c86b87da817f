//! Where the repository is and which branch is checked out, for the system prompt.

use std::path::{Path, PathBuf};

/// What is said of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoSummary {
    /// The working tree.
    pub root: PathBuf,
    /// The branch; none when HEAD is detached.
    pub branch: Option<String>,
}

/// The repository that `cwd` lies in; `None` when there is none, it has no working tree, or its format is
/// one that libgit2 does not read.
pub fn summary(cwd: &Path) -> Option<RepoSummary> {
    let repo = git2::Repository::discover(cwd).ok()?;
    let root = repo.workdir()?.to_owned();
    // `HEAD` is read as it is written: an unborn branch has a name, but resolves to nothing.
    let head = repo.find_reference("HEAD").ok()?;
    let target = head.symbolic_target().ok().flatten();
    let branch = target.and_then(|name| name.strip_prefix("refs/heads/")).map(str::to_owned);
    Some(RepoSummary { root, branch })
}
