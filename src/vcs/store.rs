//! An open repository: its objects, as git sees them (replace refs, shallow clones), and what is kept of
//! its history.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use git2::{ErrorCode, ObjectType, Oid, Repository};

use crate::vcs::abbrev;
use crate::vcs::commit_graph::CommitGraph;
use crate::vcs::error::VcsError;
use crate::vcs::history::History;

/// Commits of a history that are kept between calls.
const KEPT_COMMITS: usize = 400_000;

/// A repository.
pub struct Store {
    git: Repository,
    git_dir: PathBuf,
    root: PathBuf,
    print: Print,
    replaced: HashMap<Oid, Oid>,
    shallow: HashSet<Oid>,
    history: RefCell<History>,
    abbrev: OnceCell<usize>,
    /// Blobs that are not in the repository: files and buffers as they would be committed.
    lent: RefCell<HashMap<Oid, Vec<u8>>>,
}

/// What changes when the repository's history would be read differently.
#[derive(PartialEq, Eq)]
struct Print {
    shallow: Option<(SystemTime, u64)>,
    graph: Option<(SystemTime, u64)>,
    config: Option<(SystemTime, u64)>,
    replaced: Vec<(Oid, Oid)>,
}

fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

fn print(git: &Repository) -> Print {
    let common = git.commondir();
    let info = common.join("objects/info");
    let mut replaced = Vec::new();
    // The loop over all refs is spared to the many that have no replacements.
    let packed = fs::read(common.join("packed-refs")).unwrap_or_default();
    let named = memmem(&packed, b" refs/replace/");
    if (named || common.join("refs/replace").is_dir())
        && let Ok(refs) = git.references_glob("refs/replace/*")
    {
        for found in refs.flatten() {
            let name = String::from_utf8_lossy(found.name_bytes()).into_owned();
            let old = name.rsplit('/').next().and_then(|id| Oid::from_str(id).ok());
            if let Some(pair) = old.zip(found.target()) {
                replaced.push(pair);
            }
        }
        replaced.sort_unstable();
    }
    Print {
        shallow: stamp(&common.join("shallow")),
        graph: stamp(&info.join("commit-graph"))
            .or_else(|| stamp(&info.join("commit-graphs/commit-graph-chain"))),
        config: stamp(&common.join("config")),
        replaced,
    }
}

fn memmem(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

impl Store {
    /// Takes over a handle. `git_dir` is what it was found by.
    pub fn new(git: Repository, git_dir: &Path) -> Result<Self, VcsError> {
        let root = git.workdir().unwrap_or(git.path());
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let print = print(&git);
        let replaced: HashMap<Oid, Oid> = print.replaced.iter().copied().collect();
        let shallow = fs::read_to_string(git.commondir().join("shallow")).unwrap_or_default();
        let shallow: HashSet<Oid> = shallow.lines().filter_map(|id| Oid::from_str(id).ok()).collect();
        // A graph does not know of replacements, and of a shallow clone it would say too much.
        let whole = replaced.is_empty() && shallow.is_empty();
        let graph = whole.then(|| CommitGraph::open(&git.commondir().join("objects/info")));
        Ok(Self {
            history: RefCell::new(History::new(graph.flatten())),
            git,
            git_dir: git_dir.to_owned(),
            root,
            print,
            replaced,
            shallow,
            abbrev: OnceCell::new(),
            lent: RefCell::default(),
        })
    }

    /// libgit2's handle.
    pub fn git(&self) -> &Repository {
        &self.git
    }

    /// What it was found by.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The working tree, or the folder of a bare repository; links resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The working tree.
    ///
    /// # Errors
    /// [`VcsError::Kind`] for a bare repository.
    pub fn workdir(&self) -> Result<&Path, VcsError> {
        if self.git.is_bare() {
            return Err(VcsError::Kind(format!(
                "{} is a bare repository: it has no working tree. Give a ref (two for a diff).",
                self.root.display()
            )));
        }
        Ok(&self.root)
    }

    /// Whether nothing on disk changed how its history reads.
    pub fn is_fresh(&self) -> bool {
        print(&self.git) == self.print
    }

    /// Whether what it holds in memory is of a reasonable size.
    pub fn is_worth_keeping(&self) -> bool {
        self.history.borrow().len() < KEPT_COMMITS
    }

    /// Whether a commit's parents were left out of the clone.
    pub fn is_shallow(&self, commit: Oid) -> bool {
        self.shallow.contains(&commit)
    }

    /// Whether some are.
    pub fn has_shallow(&self) -> bool {
        !self.shallow.is_empty()
    }

    /// Commits that were looked at.
    pub fn history(&self) -> &RefCell<History> {
        &self.history
    }

    /// The kind and the bytes of an object, given to `look`. A replaced object is the one in its place.
    ///
    /// # Errors
    /// [`VcsError::Missing`] when the clone does not have it.
    pub fn object<T>(&self, id: Oid, look: impl FnOnce(ObjectType, &[u8]) -> T) -> Result<T, VcsError> {
        if let Some(bytes) = self.lent.borrow().get(&id) {
            return Ok(look(ObjectType::Blob, bytes));
        }
        let id = self.replaced.get(&id).copied().unwrap_or(id);
        let odb = self.git.odb()?;
        let object = odb.read(id).map_err(|error| match error.code() {
            ErrorCode::NotFound => VcsError::Missing { id },
            _ => error.into(),
        })?;
        Ok(look(object.kind(), object.data()))
    }

    /// The size of an object in bytes.
    ///
    /// # Errors
    /// [`VcsError::Missing`] when the clone does not have it.
    pub fn size(&self, id: Oid) -> Result<usize, VcsError> {
        if let Some(bytes) = self.lent.borrow().get(&id) {
            return Ok(bytes.len());
        }
        let id = self.replaced.get(&id).copied().unwrap_or(id);
        let header = self.git.odb()?.read_header(id);
        header.map(|(size, _)| size).map_err(|error| match error.code() {
            ErrorCode::NotFound => VcsError::Missing { id },
            _ => error.into(),
        })
    }

    /// The bytes of a blob.
    ///
    /// # Errors
    /// [`VcsError::Missing`] when the clone does not have it.
    pub fn blob(&self, id: Oid) -> Result<Vec<u8>, VcsError> {
        self.object(id, |_, data| data.to_vec())
    }

    /// Takes a blob that the repository does not have, until [`Store::forget_lent`]. Nothing is written.
    ///
    /// # Errors
    /// What libgit2 says.
    pub fn lend(&self, bytes: Vec<u8>) -> Result<Oid, VcsError> {
        let id = Oid::hash_object(ObjectType::Blob, &bytes)?;
        self.lent.borrow_mut().insert(id, bytes);
        Ok(id)
    }

    /// Drops what was lent.
    pub fn forget_lent(&self) {
        self.lent.borrow_mut().clear();
    }

    /// The first digits of an object's name, as many as git would show.
    pub fn short(&self, id: Oid) -> String {
        let least = *self.abbrev.get_or_init(|| abbrev::digits(&self.git));
        abbrev::unique(&self.git, id, least)
    }
}
