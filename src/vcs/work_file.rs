//! What a file of the working tree, or the buffer over it, would be as a blob: line endings and filters as git
//! applies them when it adds a file.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use git2::{AttrCheckFlags, Oid, Repository};

use crate::fs::cause::cause;
use crate::fs::{endings, text};
use crate::vcs::attributes::Attributes;
use crate::vcs::error::VcsError;
use crate::vcs::open::open_git;
use crate::vcs::store::Store;

/// Larger files are not compared.
pub const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Reads files as blobs. Nothing is written to the repository.
pub struct WorkFiles<'a> {
    store: &'a Store,
    attributes: Attributes<'a>,
    /// Whether all files that look like text have their line endings changed.
    converts_all: bool,
    /// A second handle, whose objects stay in memory; made when a filter is needed.
    scratch: Option<Repository>,
}

impl<'a> WorkFiles<'a> {
    /// For the working tree of this repository.
    pub fn new(store: &'a Store) -> Self {
        let config = store.git().config();
        let autocrlf = config.and_then(|config| config.get_string("core.autocrlf"));
        let converts_all = autocrlf.is_ok_and(|value| {
            let value = value.to_ascii_lowercase();
            !matches!(value.as_str(), "false" | "no" | "off" | "0" | "")
        });
        Self {
            store,
            attributes: Attributes::new(store),
            converts_all,
            scratch: None,
        }
    }

    /// Lends the file at `path` (relative to the root) to the store, and gives its name there; `None` for one
    /// that is too large.
    ///
    /// # Errors
    /// [`VcsError::File`].
    pub fn file(&mut self, path: &[u8]) -> Result<Option<Oid>, VcsError> {
        let relative = Path::new(std::ffi::OsStr::from_bytes(path));
        let whole = self.store.root().join(relative);
        let failed = |error: std::io::Error| VcsError::File {
            path: relative.to_owned(),
            why: cause(&error),
        };
        let metadata = fs::symlink_metadata(&whole).map_err(failed)?;
        if metadata.is_symlink() {
            let target = fs::read_link(&whole).map_err(failed)?;
            return self.store.lend(target.as_os_str().as_bytes().to_vec()).map(Some);
        }
        if metadata.len() > MAX_BYTES {
            return Ok(None);
        }
        let bytes = if self.has_filter(relative) {
            self.filtered(relative)?
        } else {
            fs::read(&whole).map_err(failed)?
        };
        self.store.lend(bytes).map(Some)
    }

    /// The same for the unsaved text of a buffer over the file.
    ///
    /// # Errors
    /// As [`WorkFiles::file`].
    pub fn buffer(&mut self, path: &[u8], buffer: &str) -> Result<Oid, VcsError> {
        let relative = Path::new(std::ffi::OsStr::from_bytes(path));
        let disk = fs::read(self.store.root().join(relative)).unwrap_or_default();
        // As it would be saved: in the file's encoding, with its line endings.
        let format = text::decode(&disk).ok();
        let like = format.as_ref().map_or("", |(like, _)| like.as_str());
        let mut saved = endings::adapt_endings(buffer, like);
        if self.has_filter(relative) {
            saved = endings::to_lf(&saved).into_owned();
        }
        let bytes = format
            .and_then(|(_, format)| text::encode(&saved, &format).ok())
            .unwrap_or_else(|| saved.into_bytes());
        self.store.lend(bytes)
    }

    fn has_filter(&self, path: &Path) -> bool {
        let asked = self.attributes.may_cover(path);
        self.converts_all
            || asked
                && ["text", "eol", "crlf", "filter", "ident"].iter().any(|name| {
                    let value = self
                        .store
                        .git()
                        .get_attr_bytes(path, name, AttrCheckFlags::FILE_THEN_INDEX);
                    value.is_ok_and(|value| value.is_some())
                })
    }

    /// The file through libgit2's filters, which it applies only where it makes a blob: so it makes one, in
    /// memory.
    fn filtered(&mut self, path: &Path) -> Result<Vec<u8>, VcsError> {
        let scratch = match self.scratch.take() {
            Some(scratch) => scratch,
            None => {
                let scratch = open_git(self.store.git_dir())?;
                scratch.odb()?.add_new_mempack_backend(1_000)?;
                scratch
            }
        };
        let bytes = scratch
            .blob_path(&self.store.root().join(path))
            .and_then(|id| Ok(scratch.odb()?.read(id)?.data().to_vec()));
        self.scratch = Some(scratch);
        Ok(bytes?)
    }
}
