//! Which repository a folder belongs to.

use std::path::{Path, PathBuf};

use git2::{ErrorCode, Repository};

/// How many hexadecimal digits of a commit are shown.
const SHORT: usize = 8;

/// A repository in a few words, for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoSummary {
    /// The working tree.
    pub root: PathBuf,
    /// The branch that is checked out; also one without commits. `None` when HEAD is detached.
    pub branch: Option<String>,
    /// The commit of HEAD, 8 digits; `None` before the first commit.
    pub head: Option<String>,
}

/// The repository that holds `folder`; `None` when there is none with a working tree, or none that libgit2
/// can read (a format or hash that it does not know).
pub fn summary(folder: &Path) -> Option<RepoSummary> {
    let repository = Repository::discover(folder).ok()?;
    let root = repository.workdir()?.to_path_buf();
    let (branch, head) = match repository.head() {
        Ok(head) => {
            let branch = head
                .is_branch()
                .then(|| String::from_utf8_lossy(head.shorthand_bytes()).into_owned());
            let commit = head.peel_to_commit().ok()?;
            (
                branch,
                Some(commit.id().to_string().chars().take(SHORT).collect()),
            )
        }
        // HEAD names a branch that has no commit yet.
        Err(error) if error.code() == ErrorCode::UnbornBranch => {
            let head = repository.find_reference("HEAD").ok()?;
            let target = head
                .symbolic_target_bytes()
                .map(|name| String::from_utf8_lossy(name).into_owned());
            let branch = target.map(|name| {
                name.strip_prefix("refs/heads/")
                    .map_or(name.clone(), str::to_owned)
            });
            (branch, None)
        }
        Err(_) => return None,
    };
    Some(RepoSummary { root, branch, head })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(repository: &Repository) -> String {
        let signature = git2::Signature::now("t", "t@example.invalid").unwrap();
        let tree = repository
            .find_tree(repository.index().unwrap().write_tree().unwrap())
            .unwrap();
        repository
            .commit(Some("HEAD"), &signature, &signature, "first", &tree, &[])
            .unwrap()
            .to_string()
    }

    #[test]
    fn a_branch_a_detached_head_and_a_repository_without_commits() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let mut options = git2::RepositoryInitOptions::new();
        let repository = Repository::init_opts(&root, options.initial_head("main")).unwrap();
        std::fs::create_dir(root.join("sub")).unwrap();
        let sub = || summary(&root.join("sub")).unwrap();
        assert_eq!((sub().branch.as_deref(), sub().head), (Some("main"), None));
        let id = commit(&repository);
        assert_eq!(
            (sub().branch.as_deref(), sub().head.as_deref()),
            (Some("main"), Some(&id[..8]))
        );
        assert_eq!(sub().root.canonicalize().unwrap(), root);
        repository
            .set_head_detached(git2::Oid::from_str(&id).unwrap())
            .unwrap();
        assert_eq!((sub().branch, sub().head.as_deref()), (None, Some(&id[..8])));
    }

    #[test]
    fn what_is_no_working_tree_is_none() {
        let dir = tempfile::tempdir().unwrap();
        Repository::init_bare(dir.path()).unwrap();
        assert_eq!(summary(dir.path()), None);
        assert_eq!(summary(Path::new("/nowhere")), None);
        let broken = tempfile::tempdir().unwrap();
        Repository::init(broken.path()).unwrap();
        let config = "[core]\nrepositoryformatversion = 1\n[extensions]\nobjectformat = sha256\n";
        crate::fs::atomic::write(&broken.path().join(".git/config"), config.as_bytes(), None).unwrap();
        assert_eq!(summary(broken.path()), None);
    }
}
