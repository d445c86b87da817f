//! What the git tools share: from a path as the model wrote it to an open repository, off the agent's threads.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::permission::access::Access;
use crate::permission::judge::Shown;
use crate::tools::file_paths::{Entry, resolve, resolve_entry};
use crate::tools::git_answers::{Question, answer};
use crate::tools::grep::Buffers;
use crate::tools::tool::{ToolCtx, ToolError, ToolOutput};
use crate::vcs::error::VcsError;
use crate::vcs::open::{Pool, is_submodule};
use crate::vcs::report::Visible;
use crate::vcs::store::Store;

/// Says how much of a file (absolute, links resolved) may be shown.
pub type Shows = Arc<dyn Fn(&Path) -> Shown + Send + Sync>;

/// What the git tools work with. One a session.
#[derive(Clone)]
pub struct GitService {
    pool: Arc<Pool>,
    buffers: Buffers,
    shows: Shows,
    program: bool,
}

/// A path of a call.
pub struct Place {
    /// The file or folder: its folder's links are resolved, a link at the end is what is meant.
    pub path: PathBuf,
    /// Whether the call names it; else it is the working directory.
    pub named: bool,
    /// Where the search for the repository begins.
    pub from: PathBuf,
}

impl Place {
    /// The path as written, or the working directory.
    pub fn new(cwd: &Path, written: Option<&str>) -> Result<Self, ToolError> {
        let written = written.filter(|path| !path.trim().is_empty());
        let path = match written {
            Some(written) => match resolve_entry(cwd, written) {
                // A link that leads to a folder is looked through, as a shell would.
                Ok(entry) if entry.is_link() && entry.resolved.path.is_dir() => entry.resolved.path,
                Ok(Entry { path, .. }) => path,
                Err(error) => return Err(error),
            },
            None => resolve(cwd, ".")?.path,
        };
        // A submodule is an entry of the repository around it; any other repository is itself.
        let from = match path.parent() {
            Some(parent) if is_submodule(&path) => parent.to_owned(),
            _ => path.clone(),
        };
        Ok(Self {
            path,
            named: written.is_some(),
            from,
        })
    }

    /// What reading it touches.
    pub fn access(&self) -> Vec<Access> {
        vec![Access::Read(self.path.clone())]
    }

    /// The path from the root of its repository; empty for the root.
    ///
    /// # Errors
    /// [`VcsError::Argument`] for a path outside.
    pub fn inside(&self, store: &Store) -> Result<Vec<u8>, VcsError> {
        inside(store, &self.path)
    }
}

/// A path from the root of the repository.
///
/// # Errors
/// [`VcsError::Argument`] for a path outside.
pub fn inside(store: &Store, path: &Path) -> Result<Vec<u8>, VcsError> {
    match path.strip_prefix(store.root()) {
        Ok(below) => Ok(below.as_os_str().as_bytes().to_vec()),
        Err(_) => Err(VcsError::Argument(outside(path, store.root()))),
    }
}

/// What to say of a path that lies outside of a repository.
pub fn outside(path: &Path, root: &Path) -> String {
    format!(
        "{} is outside of the repository {}.",
        path.display(),
        root.display()
    )
}

impl GitService {
    /// Tools that see `buffers` in place of the files they hold, and show of a file what `shows` allows.
    pub fn new(buffers: Buffers, shows: Shows) -> Self {
        Self {
            pool: Arc::default(),
            buffers,
            shows,
            program: false,
        }
    }

    /// Whether the git program may answer for repositories that libgit2 cannot read.
    pub fn with_program(mut self, allowed: bool) -> Self {
        self.program = allowed;
        self
    }

    /// The texts of unsaved buffers.
    pub async fn unsaved(&self) -> Vec<(PathBuf, String)> {
        (self.buffers)().await
    }

    /// How much of a path of the repository may be shown.
    pub fn visible(&self, store: &Store, path: &[u8]) -> Visible {
        self.visible_at(&store.root().join(std::ffi::OsStr::from_bytes(path)))
    }

    /// How much of a file (absolute) may be shown.
    pub fn visible_at(&self, path: &Path) -> Visible {
        match (self.shows)(path) {
            Shown::Content => Visible::Content,
            Shown::Name => Visible::Name,
            Shown::Nothing => Visible::Nothing,
        }
    }

    /// Does `work` with the repository of a place, on a thread that may block. Where libgit2 cannot read the
    /// repository, the git program answers the question, if the person allows it.
    ///
    /// # Errors
    /// The words of [`VcsError`], or the stop.
    pub async fn ask(
        &self,
        place: &Place,
        ctx: &ToolCtx,
        question: Question,
        work: impl FnOnce(&Self, &mut Store) -> Result<ToolOutput, VcsError> + Send + 'static,
    ) -> Result<ToolOutput, ToolError> {
        let (service, from, cancel) = (self.clone(), place.from.clone(), ctx.cancel.clone());
        let done = tokio::task::spawn_blocking(move || {
            if cancel.is_cancelled() {
                return Err(VcsError::Cancelled);
            }
            service.pool.with(&from, |store| work(&service, store))
        });
        match done.await {
            Ok(Err(VcsError::Format { .. } | VcsError::Index(_))) if self.program => {
                answer(self, place, ctx, question).await
            }
            Ok(result) => result.map_err(reply),
            Err(_) => Err(ToolError::fault()),
        }
    }
}

/// The words of an error, or the stop.
pub fn reply(error: VcsError) -> ToolError {
    match error {
        VcsError::Cancelled => ToolError::Cancelled,
        other => ToolError::Reply(other.to_string()),
    }
}
