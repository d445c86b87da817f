//! Where snapshots lie.
//!
//! `<project>/.deepseek/snapshots/<session>/` for paths inside the project, and
//! `<state>/snapshots/<session>/` in the same layout for the others, and for all of a project that
//! cannot be written: `blobs/<sha256>`, and `<step, six digits>/manifest.json` with hard links to the
//! blobs that it names.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{Mode, OFlags};

use crate::journal::{BlobStore, PrivateDir};
use crate::protocol::ids::{SessionId, StepIx};
use crate::snapshot::error::SnapshotError;
use crate::snapshot::manifest::{Manifest, parse};

const IGNORE_LINE: &str = "snapshots/";

/// The two places that hold snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotDirs {
    /// The project's root, its links resolved.
    pub project: PathBuf,
    /// `stdpath('state')/dcode`.
    pub state: PathBuf,
}

impl SnapshotDirs {
    /// The folder of `.deepseek`: inside the project, whatever links say; else there is none.
    pub(super) fn deepseek(&self) -> Option<PathBuf> {
        let path = self.project.join(".deepseek");
        match std::fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => {
                let project = self.project.canonicalize().ok()?;
                path.canonicalize().ok().filter(|real| real.starts_with(project))
            }
            _ => Some(path),
        }
    }

    /// `<state>/snapshots`.
    pub(super) fn state_snapshots(&self) -> PathBuf {
        self.state.join("snapshots")
    }
}

/// Which of the two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Project,
    State,
}

impl Place {
    pub(super) const ALL: [Self; 2] = [Self::Project, Self::State];
}

/// The folders of one session in both places, opened when first needed.
#[derive(Debug)]
pub(super) struct Layout {
    dirs: SnapshotDirs,
    session: SessionId,
    /// `None` inside: the project takes no snapshots.
    project: OnceLock<Option<SessionDir>>,
    state: OnceLock<SessionDir>,
}

impl Layout {
    pub(super) fn new(dirs: SnapshotDirs, session: SessionId) -> Self {
        Self {
            dirs,
            session,
            project: OnceLock::new(),
            state: OnceLock::new(),
        }
    }

    /// The project's root.
    pub(super) fn project(&self) -> &Path {
        &self.dirs.project
    }

    /// The place for `path`, and its folder; made when it is not there yet.
    pub(super) fn for_path(&self, path: &Path) -> Result<(Place, &SessionDir), SnapshotError> {
        if path.starts_with(&self.dirs.project)
            && let Some(dir) = self.project_dir()?
        {
            return Ok((Place::Project, dir));
        }
        Ok((Place::State, self.state_dir()?))
    }

    /// The folder of a place; made when it is not there yet.
    pub(super) fn dir(&self, place: Place) -> Result<&SessionDir, SnapshotError> {
        match (place, self.project_dir()) {
            (Place::Project, Ok(Some(dir))) => Ok(dir),
            (Place::Project, Err(error)) => Err(error),
            _ => self.state_dir(),
        }
    }

    /// The folders that are there already; nothing is made.
    pub(super) fn existing(&self) -> Result<Vec<(Place, &SessionDir)>, SnapshotError> {
        let mut found = Vec::new();
        for place in Place::ALL {
            let root = match place {
                Place::Project => self.dirs.deepseek().map(|dir| dir.join("snapshots")),
                Place::State => Some(self.dirs.state_snapshots()),
            };
            let there = root.is_some_and(|root| root.join(&self.session.0).is_dir());
            match place {
                Place::Project if there => found.extend(self.project_dir()?.map(|dir| (place, dir))),
                Place::State if there => found.push((place, self.state_dir()?)),
                _ => {}
            }
        }
        Ok(found)
    }

    fn project_dir(&self) -> Result<Option<&SessionDir>, SnapshotError> {
        if let Some(known) = self.project.get() {
            return Ok(known.as_ref());
        }
        let opened = match self.open_in_project() {
            Ok(dir) => Some(dir),
            // A full disk is not a reason to write elsewhere in silence: the edit waits.
            Err(error) if is_passing(&error) => {
                return Err(SnapshotError::io(&self.dirs.project.join(".deepseek"), &error));
            }
            Err(_) => None,
        };
        Ok(self.project.get_or_init(|| opened).as_ref())
    }

    fn open_in_project(&self) -> io::Result<SessionDir> {
        let leads_out = || io::Error::from(io::ErrorKind::NotADirectory);
        let deepseek = self.dirs.deepseek().ok_or_else(leads_out)?;
        match DirBuilder::new().mode(0o755).create(&deepseek) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let dir = PrivateDir::open(&deepseek)?;
        let snapshots = dir.subdir("snapshots")?;
        keep_out_of_git(&deepseek)?;
        SessionDir::open(&snapshots, &self.session)
    }

    fn state_dir(&self) -> Result<&SessionDir, SnapshotError> {
        if let Some(known) = self.state.get() {
            return Ok(known);
        }
        let root = self.dirs.state_snapshots();
        let opened = PrivateDir::create_all(&root)
            .and_then(|root| SessionDir::open(&root, &self.session))
            .map_err(|error| SnapshotError::io(&root, &error))?;
        Ok(self.state.get_or_init(|| opened))
    }
}

/// Errors that may be gone with the next try; after the others the project takes no snapshots.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge
            | io::ErrorKind::OutOfMemory
    ) || error.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error())
}

/// Adds the one line to `.deepseek/.gitignore`, once. It names the snapshots and nothing else: the
/// project's shared configuration must stay visible to git. A link is left alone.
fn keep_out_of_git(deepseek: &Path) -> io::Result<()> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let path = deepseek.join(".gitignore");
    let mut file = match rustix::fs::open(&path, flags, Mode::from_raw_mode(0o644)) {
        Ok(fd) => File::from(fd),
        Err(rustix::io::Errno::LOOP) => return Ok(()),
        Err(errno) => return Err(errno.into()),
    };
    let mut text = Vec::new();
    if file.metadata()?.is_file() {
        file.read_to_end(&mut text)?;
    } else {
        return Ok(());
    }
    let named = |line: &[u8]| {
        let line = line.trim_ascii_end();
        let line = line.strip_prefix(b"/").unwrap_or(line);
        line.strip_suffix(b"/").unwrap_or(line) == b"snapshots"
    };
    if text.split(|&b| b == b'\n').any(named) {
        return Ok(());
    }
    let newline = if text.last().is_some_and(|&b| b != b'\n') {
        "\n"
    } else {
        ""
    };
    file.write_all(format!("{newline}{IGNORE_LINE}\n").as_bytes())
}

/// `<snapshots>/<session>/`, open.
#[derive(Debug)]
pub(super) struct SessionDir {
    dir: PrivateDir,
    pub(super) blobs: BlobStore,
}

impl SessionDir {
    fn open(snapshots: &PrivateDir, session: &SessionId) -> io::Result<Self> {
        if !crate::journal::is_plain_name(&session.0) {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        let dir = snapshots.subdir(&session.0)?;
        let blobs = BlobStore::in_dir(dir.subdir("blobs")?);
        Ok(Self { dir, blobs })
    }

    /// Writes a step's manifest, and links its blobs beside it first.
    pub(super) fn write(&self, manifest: &Manifest) -> Result<(), SnapshotError> {
        let failed = |error: io::Error| SnapshotError::io(self.dir.path(), &error);
        let step = self.dir.subdir(&folder_name(manifest.step)).map_err(failed)?;
        for blob in manifest.blobs() {
            step.link_from(self.blobs.dir(), &blob.0).map_err(failed)?;
        }
        let json = to_json(manifest, step.path())?;
        step.replace("manifest.json", &json).map_err(failed)
    }

    /// The manifests of all steps, oldest first, or why one cannot be used. A folder without one is a
    /// capture that never ended.
    pub(super) fn manifests(&self) -> Result<Vec<Result<Manifest, SnapshotError>>, SnapshotError> {
        let names = self
            .dir
            .names()
            .map_err(|error| SnapshotError::io(self.dir.path(), &error))?;
        let steps = names.iter().filter_map(|name| Some((name, step_of(name)?)));
        Ok(steps
            .filter_map(|(name, step)| self.manifest(name, step).transpose())
            .collect())
    }

    fn manifest(&self, name: &str, step: StepIx) -> Result<Option<Manifest>, SnapshotError> {
        let path = self.dir.path().join(name).join("manifest.json");
        let read = match self.dir.existing_subdir(name) {
            Ok(Some(dir)) => dir.read("manifest.json"),
            Ok(None) => return Ok(None),
            Err(error) => Err(error),
        };
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(SnapshotError::io(&path, &error)),
        };
        let manifest: Manifest = parse(&path, &bytes)?;
        if manifest.step == step {
            return Ok(Some(manifest));
        }
        let reason = format!("it is that of step {}", manifest.step);
        Err(SnapshotError::Damaged { path, reason })
    }

    /// The folder itself.
    pub(super) fn dir(&self) -> &PrivateDir {
        &self.dir
    }

    /// Removes what a killed process left half-written.
    pub(super) fn sweep(&self) -> Result<(), SnapshotError> {
        self.dir
            .sweep()
            .and_then(|()| self.blobs.dir().sweep())
            .map_err(|error| SnapshotError::io(self.dir.path(), &error))
    }
}

pub(super) fn to_json(value: &impl serde::Serialize, path: &Path) -> Result<Vec<u8>, SnapshotError> {
    serde_json::to_vec_pretty(value).map_err(|error| SnapshotError::Damaged {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

fn folder_name(step: StepIx) -> String {
    format!("{:06}", step.0)
}

fn step_of(name: &str) -> Option<StepIx> {
    let step = StepIx(name.parse().ok()?);
    (folder_name(step) == name).then_some(step)
}
