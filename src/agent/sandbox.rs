//! The sandbox of a session: what is writable in it, and what decides how high its walls are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::model::{Config, Sandbox as Wanted};
use crate::permission::gate::Gate;
use crate::permission::judge::Shown;
use crate::shell::near;
use crate::shell::sandbox::{Places, Sandbox};
use crate::tools::bash_walls::{Enclosure, Walled};
use crate::tools::new_repositories::NewRepositories;

/// Tries the sandbox that the configuration wants; none when it is off.
pub fn find(
    config: &Config,
    home: &Path,
    cwd: &Path,
    project: Option<&Path>,
    readable: Vec<PathBuf>,
) -> Option<Result<Sandbox, String>> {
    if config.sandbox == Wanted::Off {
        return None;
    }
    let mut writable: Vec<PathBuf> = project.into_iter().chain([cwd]).map(Path::to_owned).collect();
    writable.extend(
        config
            .permissions
            .allowed_dirs
            .iter()
            .filter_map(|folder| folder.canonicalize().ok()),
    );
    writable.dedup();
    let readable = readable
        .into_iter()
        .chain(config.sandbox_read.iter().cloned())
        .collect();
    let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    Some(Sandbox::find(Places {
        home,
        writable,
        readable,
    }))
}

/// What runs commands, given what [`find`] found.
pub fn enclosure(
    found: Option<Result<Sandbox, String>>,
    config: &Config,
    gate: &Arc<Gate>,
    top: PathBuf,
) -> Enclosure {
    match found {
        Some(Ok(sandbox)) => {
            let (judge, reads) = (Arc::clone(gate), gate.read_filter());
            let git = Arc::clone(gate);
            Enclosure::Walled(Arc::new(Walled {
                repositories: Arc::new(NewRepositories::below(sandbox.writable().to_vec())),
                sandbox,
                only_git: Box::new(move |line| git.runs_only_git(line)),
                unasked: Box::new(move |line| judge.runs_unasked(line)),
                secrets: Box::new(move || below(&top, |path| reads.shown_real(path) != Shown::Content)),
            }))
        }
        Some(Err(why)) if config.sandbox == Wanted::Bwrap => Enclosure::Missing(why),
        Some(Err(_)) | None => Enclosure::Open,
    }
}

/// The files near the top of a folder that are `wanted`, nearest first; links are not followed.
fn below(top: &Path, wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    near::each(top, |entry, kind| {
        let path = entry.path();
        if kind.is_file() && wanted(&path) {
            found.push(path);
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_however_deep_and_not_in_what_is_skipped() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["a/b", "node_modules/x"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        for file in ["a/b/.env", ".env", "node_modules/x/.env", "a/c"] {
            std::fs::File::create(dir.path().join(file)).unwrap();
        }
        let found = below(dir.path(), |path| path.ends_with(".env"));
        assert_eq!(found, [dir.path().join(".env"), dir.path().join("a/b/.env")]);
    }
}
