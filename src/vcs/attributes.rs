//! Whether the attribute `diff` says that a file is binary, or text. libgit2 looks for each path at all the files that
//! may hold attributes; most repositories have none, which is found out once a folder.

use std::cell::RefCell;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use git2::{AttrCheckFlags, AttrValue};

use crate::vcs::nearby::as_path;
use crate::vcs::store::Store;

/// The file in a folder.
const NAME: &str = ".gitattributes";
/// The file of the system.
const SYSTEM: &str = "/etc/gitattributes";

/// The attributes of one repository, as long as it is looked at for one answer.
pub struct Attributes<'a> {
    store: &'a Store,
    /// There are some that do not lie in the folders of the working tree.
    elsewhere: bool,
    /// Whether a folder, or one above it, has the file.
    folders: RefCell<HashMap<PathBuf, bool>>,
}

impl<'a> Attributes<'a> {
    /// Looks where there are some.
    pub fn new(store: &'a Store) -> Self {
        Self {
            store,
            elsewhere: elsewhere(store),
            folders: RefCell::default(),
        }
    }

    /// Whether any may be about this path (from the root). Without, nothing needs to be asked.
    pub fn may_cover(&self, path: &Path) -> bool {
        self.elsewhere || path.parent().is_some_and(|folder| self.has_some(folder))
    }

    /// `None` where they say nothing.
    pub fn is_binary(&self, path: &[u8]) -> Option<bool> {
        let path = as_path(path);
        if !self.may_cover(path) {
            return None;
        }
        let flags = AttrCheckFlags::FILE_THEN_INDEX;
        let value = self.store.git().get_attr_bytes(path, "diff", flags).ok()?;
        match AttrValue::from_bytes(value) {
            AttrValue::False => Some(true),
            AttrValue::True => Some(false),
            _ => None,
        }
    }

    /// Whether the working tree or the index has a file of attributes in the folder (from the root) or above it.
    fn has_some(&self, folder: &Path) -> bool {
        if let Some(known) = self.folders.borrow().get(folder) {
            return *known;
        }
        let file = folder.join(NAME);
        let here = std::fs::symlink_metadata(self.store.root().join(&file)).is_ok();
        let some =
            here || in_index(self.store, &file) || folder.parent().is_some_and(|above| self.has_some(above));
        self.folders.borrow_mut().insert(folder.to_owned(), some);
        some
    }
}

fn elsewhere(store: &Store) -> bool {
    let git = store.git();
    let configured = git
        .config()
        .and_then(|config| config.get_path("core.attributesFile"));
    let own = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config")));
    configured.is_ok()
        || git.commondir().join("info/attributes").exists()
        || git.path().join("info/attributes").exists()
        || own.is_some_and(|own| own.join("git/attributes").exists())
        || Path::new(SYSTEM).exists()
}

/// Whether the index has the file; an index that cannot be asked may have it.
fn in_index(store: &Store, file: &Path) -> bool {
    // git2 panics at other names.
    let plain = file.components().all(|part| matches!(part, Component::Normal(_)));
    let named = plain && !file.as_os_str().as_bytes().contains(&0);
    store
        .git()
        .index()
        .map_or(true, |index| !named || index.get_path(file, 0).is_some())
}
