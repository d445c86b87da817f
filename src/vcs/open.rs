//! Which repository a path belongs to, and handles that are kept warm between calls.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once};

use git2::{ErrorCode, Repository, RepositoryOpenFlags};

use crate::vcs::error::VcsError;
use crate::vcs::store::Store;
use crate::vcs::tree::mode;
use crate::vcs::worktree::index_entry;

/// Handles that are kept; each holds the objects that were looked at last.
const KEPT: usize = 2;
/// What libgit2 may keep of small objects, for all handles together.
const CACHE_BYTES: libc::ssize_t = 64 * 1024 * 1024;

/// Handles between calls. A handle serves one call at a time; two calls at once have two.
#[derive(Default)]
pub struct Pool(Mutex<Vec<Store>>);

impl Pool {
    /// Gives `work` the repository of `path` and keeps its handle for the next call.
    ///
    /// # Errors
    /// What [`open`] says, and what `work` does.
    pub fn with<T>(
        &self,
        path: &Path,
        work: impl FnOnce(&mut Store) -> Result<T, VcsError>,
    ) -> Result<T, VcsError> {
        let found = discover(path)?;
        let kept = {
            let mut kept = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let at = kept.iter().position(|store| store.git_dir() == found);
            at.map(|at| kept.remove(at)).filter(Store::is_fresh)
        };
        let mut store = match kept {
            Some(store) => store,
            None => open(&found)?,
        };
        let result = work(&mut store);
        store.forget_lent();
        // A handle whose work panicked is dropped with it.
        if store.is_worth_keeping() {
            let mut kept = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            kept.truncate(KEPT - 1);
            kept.insert(0, store);
        }
        result
    }
}

/// libgit2's settings for the whole process; before its first use.
#[allow(unsafe_code)] // the settings are globals of libgit2, which git2 therefore calls unsafe
pub(super) fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: all use of libgit2 goes through this module, and the first waits here: no other thread is in
        // libgit2 yet. A failure leaves the defaults, with which less can be opened.
        unsafe {
            // Objects that a partial clone does not have are reported one by one.
            let _ = git2::opts::set_extensions(&["partialclone"]);
            let _ = git2::opts::set_cache_max_size(CACHE_BYTES);
        }
        // Objects come from git; what it wrote is not hashed again with each read.
        git2::opts::strict_hash_verification(false);
    });
}

/// The `.git` folder of the repository that holds `path`, which need not exist. Looks at no variable of the
/// environment: the person's `GIT_DIR` speaks of another work.
///
/// A folder that is itself the root of a repository belongs to it, unless the repository around it knows it as
/// a submodule: then it is one entry of that.
///
/// # Errors
/// [`VcsError::NoRepository`].
pub fn discover(path: &Path) -> Result<PathBuf, VcsError> {
    prepare();
    let existing = path.ancestors().find(|path| path.exists()).unwrap_or(path);
    let none: [&Path; 0] = [];
    let find = |from: &Path| Repository::discover_path(from, none).ok();
    let found = find(existing).or_else(|| existing.parent().and_then(find));
    found.ok_or_else(|| VcsError::NoRepository(path.to_owned()))
}

/// Whether the repository around `folder` has it as a submodule.
pub fn is_submodule(folder: &Path) -> bool {
    let Some((parent, name)) = folder.parent().zip(folder.file_name()) else {
        return false;
    };
    if std::fs::symlink_metadata(folder.join(".git")).is_err() {
        return false;
    }
    let Ok(repository) = discover(parent).and_then(|git| open_git(&git)) else {
        return false;
    };
    let Some(root) = repository.workdir().and_then(|root| root.canonicalize().ok()) else {
        return false;
    };
    let Some(inside) = parent.strip_prefix(&root).ok().map(|below| below.join(name)) else {
        return false;
    };
    use std::os::unix::ffi::OsStrExt;
    repository.index().is_ok_and(|index| {
        index_entry(&index, inside.as_os_str().as_bytes()).is_some_and(|entry| entry.mode == mode::SUBMODULE)
    })
}

/// Opens the repository with this `.git` folder.
///
/// # Errors
/// [`VcsError::Owner`], [`VcsError::Format`], and what else libgit2 says.
pub fn open(git_dir: &Path) -> Result<Store, VcsError> {
    Store::new(open_git(git_dir)?, git_dir)
}

/// The same as libgit2's own handle.
///
/// # Errors
/// As [`open`].
pub fn open_git(git_dir: &Path) -> Result<Repository, VcsError> {
    prepare();
    let none: [&Path; 0] = [];
    Repository::open_ext(git_dir, RepositoryOpenFlags::NO_SEARCH, none).map_err(|error| {
        let path = if git_dir.ends_with(".git") {
            git_dir.parent().unwrap_or(git_dir).to_owned()
        } else {
            git_dir.to_owned()
        };
        match error.code() {
            ErrorCode::NotFound => VcsError::NoRepository(path),
            ErrorCode::Owner => VcsError::Owner(path),
            _ => VcsError::Format {
                path,
                what: error.message().to_owned(),
            },
        }
    })
}
