//! Repositories that commands in the sandbox make. Git, started outside later, runs what the settings and hooks of a
//! repository say, so one that says more than a new repository does is held: renamed, so that git takes it for none.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::shell::near;
use crate::vcs::obeyed;

/// What the name of a held `.git` ends with.
const HELD: &str = ".held";
/// The file by which a git folder takes settings and hooks from another.
const REDIRECT: &str = "commondir";

/// Knows which repositories below some folders no command of ours made.
#[derive(Debug, Default)]
pub struct NewRepositories {
    folders: Vec<PathBuf>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Each `.git` by its path.
    repositories: HashMap<PathBuf, Seen>,
    /// Commands that run now.
    running: usize,
}

/// What tells whether a `.git` is still the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    device: u64,
    inode: u64,
    /// Whether it is a folder that takes its settings from elsewhere.
    redirected: bool,
}

/// A command that runs, until it is dropped.
pub struct Run(Arc<NewRepositories>);

impl Drop for Run {
    fn drop(&mut self) {
        let mut known = self.0.lock();
        known.running = known.running.saturating_sub(1);
    }
}

impl NewRepositories {
    /// Below these folders, as far as [`near::each`] sees.
    pub fn below(folders: Vec<PathBuf>) -> Self {
        Self {
            folders,
            known: Mutex::default(),
        }
    }

    /// A command is about to run: the `.git` folders and files of the repositories that are known. While none runs
    /// and it is not `busy` with others, all that are there are the person's. Looks at the disk.
    pub fn before(self: &Arc<Self>, busy: bool) -> (Vec<PathBuf>, Run) {
        let mut known = self.lock();
        if known.running == 0 && !busy {
            known.repositories = self.find();
        }
        known.running += 1;
        let mut paths: Vec<PathBuf> = known.repositories.keys().cloned().collect();
        paths.sort();
        (paths, Run(Arc::clone(self)))
    }

    /// Holds what commands made and git would obey; a sentence for each. Looks at the disk.
    pub fn hold(&self) -> Vec<String> {
        let known = self.lock();
        let mut found: Vec<(PathBuf, Seen)> = self.find().into_iter().collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
            .into_iter()
            .filter_map(|(git, now)| match known.repositories.get(&git) {
                Some(old) if *old == now => None,
                Some(old) if (old.device, old.inode) == (now.device, now.inode) => {
                    let why = "settings and hooks from elsewhere";
                    now.redirected
                        .then(|| hold(&git.join(REDIRECT), why, &self.folders))?
                }
                _ => hold(&git, &obeyed::of(&git)?, &self.folders),
            })
            .collect()
    }

    fn find(&self) -> HashMap<PathBuf, Seen> {
        let mut found = HashMap::new();
        for folder in &self.folders {
            near::each(folder, |entry, kind| {
                if entry.file_name() != ".git" {
                    return;
                }
                let path = entry.path();
                if let Ok(data) = entry.metadata() {
                    let seen = Seen {
                        device: data.dev(),
                        inode: data.ino(),
                        redirected: kind.is_dir() && path.join(REDIRECT).symlink_metadata().is_ok(),
                    };
                    found.insert(path, seen);
                }
            });
        }
        found
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Renames it; the sentence for who made it.
fn hold(path: &Path, why: &str, folders: &[PathBuf]) -> Option<String> {
    let mut name = path.file_name()?.to_owned();
    name.push(HELD);
    let free = (0..100).map(|at| match at {
        0 => path.with_file_name(&name),
        at => path.with_file_name(format!("{}.{at}", name.to_string_lossy())),
    });
    let target = free
        .into_iter()
        .find(|target| target.symlink_metadata().is_err())?;
    let top = folders.iter().find(|folder| path.starts_with(folder))?;
    let shown = |path: &Path| path.strip_prefix(top).unwrap_or(path).display().to_string();
    Some(match std::fs::rename(path, &target) {
        Ok(()) => format!(
            "{} came with {why}, which git would obey outside of the sandbox: it was renamed to {}. The person can \
             rename it back",
            shown(path),
            shown(&target)
        ),
        Err(error) => format!(
            "{} came with {why}, which git would obey outside of the sandbox, and it cannot be renamed ({error}). \
             Tell the person",
            shown(path)
        ),
    })
}
