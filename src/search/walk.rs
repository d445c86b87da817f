//! The files below a folder.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ignore::{DirEntry, IncrementalIgnore, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};
use thread_local::ThreadLocal;
use tokio_util::sync::CancellationToken;

use crate::search::glob::Glob;

/// The most files that are listed; what comes after is not seen at all.
const MAX_FILES: u64 = 1_000_000;

/// Entries between two looks at whether the turn was stopped; a look takes a lock that the threads share.
const ENTRIES_UNLOOKED: u64 = 64;

/// Version control folders: never entered, not even by `hidden`; only when the root lies in one.
pub(super) const VERSION_CONTROL: [&str; 4] = [".git", ".hg", ".svn", ".jj"];

/// Folders that are as good as ignored, whether or not an ignore file says so.
pub(super) const GENERATED: [&str; 7] = [
    "node_modules",
    ".venv",
    "__pycache__",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".tox",
];

/// What is walked.
#[derive(Clone, Debug)]
pub struct Walk {
    /// The folder, links resolved: links below it are listed by nobody and followed by nobody.
    pub root: PathBuf,
    /// Names that begin with a dot are listed.
    pub hidden: bool,
    /// Ignore files and the list of generated folders are not regarded.
    pub no_ignore: bool,
}

/// Which of the files are listed.
#[derive(Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// Those that it picks.
    pub only: Option<&'a Glob>,
    /// Of these, those that may be named; asked by several threads at once.
    pub shown: Option<&'a (dyn Fn(&Path) -> bool + Sync)>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Plain files, in the byte order of their paths.
    pub files: Vec<PathBuf>,
    /// Picked, but not to be named.
    pub withheld: u64,
    /// What is not in it.
    pub left_out: LeftOut,
}

/// Entries that a walk did not list. A folder counts as one, whatever is in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Names that begin with a dot.
    pub hidden: u64,
    /// Ignored, or generated.
    pub ignored: u64,
    /// Folders and files that could not be read.
    pub unreadable: u64,
    /// The walk ended early: there are more files than anybody could use.
    pub too_many: bool,
}

/// Lists the files that are wanted. `None` when cancelled.
pub fn list(walk: &Walk, wanted: Wanted<'_>, cancel: &CancellationToken) -> Option<Listing> {
    let tally = Arc::new(Counts::default());
    let rules = match walk.no_ignore || is_ignored(&walk.root) {
        true => None,
        false => Rules::of(&walk.root),
    };
    let found = Mutex::new(Vec::new());
    let mut builder = WalkBuilder::new(&walk.root);
    builder.standard_filters(false).threads(threads());
    let seen = Arc::clone(&tally);
    let hidden = walk.hidden;
    builder.filter_entry(move |entry| seen.keeps(entry, hidden, rules.as_ref()));
    let mut visitors = Visitors {
        root: &walk.root,
        wanted,
        cancel,
        tally: &tally,
        found: &found,
    };
    builder.build_parallel().visit(&mut visitors);
    if cancel.is_cancelled() {
        return None;
    }
    let mut files = found.into_inner().unwrap_or_default();
    sort(&mut files);
    Some(Listing {
        files,
        withheld: tally.withheld.load(Ordering::Relaxed),
        left_out: tally.left_out(),
    })
}

/// What the ignore files at, above and below a root say. The walker could apply them itself, but does not tell
/// what it left out, and to count that, every folder would have to be read twice.
struct Rules {
    root: PathBuf,
    fresh: IncrementalIgnore,
    /// Each thread of the walk keeps the ignore files that it has read.
    own: ThreadLocal<RefCell<IncrementalIgnore>>,
}

impl Rules {
    fn of(root: &Path) -> Option<Self> {
        Some(Self {
            root: root.to_owned(),
            fresh: matcher(root)?,
            own: ThreadLocal::new(),
        })
    }

    fn leave_out(&self, entry: &DirEntry) -> bool {
        let own = self.own.get_or(|| RefCell::new(self.fresh.clone()));
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        let below = below(&self.root, entry.path());
        own.borrow_mut().matched(below, is_dir).is_ignore()
    }
}

/// Puts paths in the order of their bytes. That of their components takes ten times as long.
pub(super) fn sort(files: &mut [PathBuf]) {
    files.sort_unstable_by(|a, b| {
        a.as_os_str()
            .as_encoded_bytes()
            .cmp(b.as_os_str().as_encoded_bytes())
    });
}

/// As many as help: the work is half waiting for the disk.
pub(super) fn threads() -> usize {
    std::thread::available_parallelism()
        .map_or(2, std::num::NonZero::get)
        .clamp(1, 8)
}

/// Whether an ignore file above `root` leaves it out. Who names such a folder wants what is in it.
fn is_ignored(root: &Path) -> bool {
    let base = root.ancestors().find(|path| path.join(".git").exists());
    let Some(base) = base.or_else(|| root.parent()) else {
        return false;
    };
    let Ok(below) = root.strip_prefix(base) else {
        return false;
    };
    let generated = |part: std::path::Component<'_>| {
        part.as_os_str()
            .to_str()
            .is_some_and(|name| GENERATED.contains(&name))
    };
    below.components().any(generated)
        || matcher(base).is_some_and(|mut matcher| matcher.matched(below, true).is_ignore())
}

/// What the ignore files at, above and below `root` say.
fn matcher(root: &Path) -> Option<IncrementalIgnore> {
    let mut builder = WalkBuilder::new(root);
    builder.hidden(false).require_git(false).build_matchers().pop()
}

/// The path of an entry from the root on. `strip_prefix` compares component by component, which is a fifth of
/// what an entry costs.
fn below<'a>(root: &Path, path: &'a Path) -> &'a Path {
    let bytes = path.as_os_str().as_bytes();
    let after = bytes.strip_prefix(root.as_os_str().as_bytes()).unwrap_or(bytes);
    Path::new(OsStr::from_bytes(after.strip_prefix(b"/").unwrap_or(after)))
}

/// Counts of a walk, shared by its threads.
#[derive(Default)]
struct Counts {
    files: AtomicU64,
    hidden: AtomicU64,
    ignored: AtomicU64,
    unreadable: AtomicU64,
    withheld: AtomicU64,
    too_many: AtomicU64,
}

impl Counts {
    /// Whether an entry is listed, or entered. Without `rules` nothing is ignored.
    fn keeps(&self, entry: &DirEntry, hidden: bool, rules: Option<&Rules>) -> bool {
        if entry.depth() == 0 {
            return true;
        }
        let name = entry.file_name().to_str().unwrap_or_default();
        if VERSION_CONTROL.contains(&name) {
            return false;
        }
        if let Some(rules) = rules
            && (GENERATED.contains(&name) || rules.leave_out(entry))
        {
            self.ignored.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        if !hidden && entry.file_name().as_bytes().starts_with(b".") {
            self.hidden.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        true
    }

    fn left_out(&self) -> LeftOut {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        LeftOut {
            hidden: get(&self.hidden),
            ignored: get(&self.ignored),
            unreadable: get(&self.unreadable),
            too_many: get(&self.too_many) > 0,
        }
    }
}

#[derive(Clone, Copy)]
struct Visitors<'a> {
    root: &'a Path,
    wanted: Wanted<'a>,
    cancel: &'a CancellationToken,
    tally: &'a Counts,
    found: &'a Mutex<Vec<PathBuf>>,
}

impl<'a> ParallelVisitorBuilder<'a> for Visitors<'a> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 'a> {
        Box::new(Visitor {
            shared: *self,
            visited: 0,
            files: Vec::new(),
        })
    }
}

impl Visitors<'_> {
    fn picks(&self, file: &Path) -> bool {
        let only = self.wanted.only;
        only.is_none_or(|glob| glob.picks(below(self.root, file)))
    }
}

/// One thread of a walk. Gives its files over when it ends.
struct Visitor<'a> {
    shared: Visitors<'a>,
    visited: u64,
    files: Vec<PathBuf>,
}

impl ParallelVisitor for Visitor<'_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        let shared = &self.shared;
        self.visited += 1;
        if self.visited.is_multiple_of(ENTRIES_UNLOOKED) && shared.cancel.is_cancelled() {
            return WalkState::Quit;
        }
        let counts = shared.tally;
        let Ok(entry) = entry else {
            counts.unreadable.fetch_add(1, Ordering::Relaxed);
            return WalkState::Continue;
        };
        let Some(kind) = entry.file_type() else {
            return WalkState::Continue;
        };
        if kind.is_file() {
            if counts.files.fetch_add(1, Ordering::Relaxed) >= MAX_FILES {
                counts.too_many.store(1, Ordering::Relaxed);
                return WalkState::Quit;
            }
            if !shared.picks(entry.path()) {
                return WalkState::Continue;
            }
            if shared.wanted.shown.is_none_or(|shown| shown(entry.path())) {
                self.files.push(entry.into_path());
            } else {
                counts.withheld.fetch_add(1, Ordering::Relaxed);
            }
        }
        WalkState::Continue
    }
}

impl Drop for Visitor<'_> {
    fn drop(&mut self) {
        if let Ok(mut found) = self.shared.found.lock() {
            found.append(&mut self.files);
        }
    }
}
