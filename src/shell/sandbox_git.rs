//! Git folders within a sandbox: what git, started outside later, would run because of them.

use std::path::{Path, PathBuf};

use super::sandbox::Arguments;

/// What in a git folder runs later, or decides what does.
const PROTECTED: [&str; 5] = ["hooks", "config", "config.worktree", "info/attributes", "modules"];

/// Puts a `.git`, folder or file, behind glass. Where it is `writable`, because git is all that runs, the
/// [`PROTECTED`] are not. Missing hooks are covered by the folder `empty`, so that nobody can make some; other
/// names cannot be covered, because git would read what covers them.
pub(super) fn protect(bwrap: &mut Arguments, git: &Path, writable: bool, empty: &Path) {
    if git.is_dir() && writable {
        // A mount of its own cannot be moved away and replaced.
        bwrap.bind("--bind", git);
        if !git.join("hooks").exists() {
            bwrap.onto("--ro-bind", empty, &git.join("hooks"));
        }
        for path in PROTECTED
            .iter()
            .map(|name| git.join(name))
            .filter(|path| path.exists())
        {
            bwrap.bind("--ro-bind-try", &path);
        }
    } else if git.exists() {
        bwrap.bind("--ro-bind-try", git);
    }
    if let Some(common) = common_dir(git) {
        bwrap.bind(if writable { "--bind-try" } else { "--ro-bind-try" }, &common);
        for path in PROTECTED.map(|name| common.join(name)) {
            bwrap.bind("--ro-bind-try", &path);
        }
    }
}

/// The repository of a linked worktree, whose `.git` is a file. The worktree must be known to it: a project could
/// name any folder.
fn common_dir(file: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(file).ok()?;
    let own = file
        .parent()?
        .join(text.strip_prefix("gitdir:")?.trim())
        .canonicalize()
        .ok()?;
    let back = std::fs::read_to_string(own.join("gitdir")).ok()?;
    let known = own.join(back.trim()).canonicalize().ok()? == file.canonicalize().ok()?;
    let common = own
        .parent()
        .filter(|folder| folder.ends_with("worktrees"))?
        .parent()?;
    let is_repository =
        common.ends_with(".git") && common.join("HEAD").is_file() && common.join("objects").is_dir();
    (known && is_repository).then(|| common.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_worktree_that_its_repository_knows_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let (tree, own) = (
            dir.path().join("tree"),
            dir.path().join("main/.git/worktrees/tree"),
        );
        std::fs::create_dir_all(&tree).unwrap();
        std::fs::create_dir_all(&own).unwrap();
        std::fs::create_dir_all(dir.path().join("main/.git/objects")).unwrap();
        let put =
            |path: PathBuf, text: String| crate::fs::atomic::write(&path, text.as_bytes(), None).unwrap();
        put(dir.path().join("main/.git/HEAD"), "ref: refs/heads/main\n".into());
        put(tree.join(".git"), format!("gitdir: {}\n", own.display()));
        assert_eq!(common_dir(&tree.join(".git")), None);
        put(own.join("gitdir"), format!("{}\n", tree.join(".git").display()));
        assert_eq!(
            common_dir(&tree.join(".git")),
            Some(dir.path().join("main/.git").canonicalize().unwrap())
        );
        put(own.join("gitdir"), "/elsewhere/.git\n".into());
        assert_eq!(common_dir(&tree.join(".git")), None);
    }
}
