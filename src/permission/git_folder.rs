//! Which folders git keeps its own things in.

use std::path::{Path, PathBuf};

use crate::permission::ground::{real, starts_with};

/// Whether git takes a folder for a repository, by what it holds; `coming` is counted as if it were there.
pub(super) fn is_git_dir(folder: &Path, coming: Option<&Path>) -> bool {
    let has = |name: &str| {
        let part = folder.join(name);
        coming.is_some_and(|path| starts_with(path, &part)) || part.symlink_metadata().is_ok()
    };
    has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
}

/// `.git` of the working directory and of the folders above it, and what a `.git` file names.
pub(super) fn git_dirs(cwd: &Path) -> Vec<PathBuf> {
    let mut found = vec![cwd.join(".git")];
    let Some(dot_git) = cwd
        .ancestors()
        .map(|folder| folder.join(".git"))
        .find(|path| path.exists())
    else {
        return found;
    };
    found.push(dot_git.clone());
    found.push(real(&dot_git));
    let Some(folder) =
        first_line(&dot_git).and_then(|line| Some(line.strip_prefix("gitdir:")?.trim().to_owned()))
    else {
        return found;
    };
    let git_dir = real(&dot_git.parent().unwrap_or(cwd).join(folder));
    if let Some(common) = first_line(&git_dir.join("commondir")) {
        found.push(real(&git_dir.join(common.trim())));
    }
    found.push(git_dir);
    found
}

/// The first line of a small regular file.
fn first_line(path: &Path) -> Option<String> {
    let meta = std::fs::metadata(path)
        .ok()
        .filter(|meta| meta.is_file() && meta.len() < 16 * 1024)?;
    let text = std::fs::read_to_string(path).ok().filter(|_| meta.len() > 0)?;
    text.lines().next().map(str::to_owned)
}
