//! The file of a journal: made, opened, appended to.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::OFlags;

use crate::journal::error::JournalError;
use crate::journal::line::{Header, MAJOR, MINOR, encode};
use crate::journal::lock::FileLock;
use crate::journal::private_dir::{PrivateDir, is_plain_name};
use crate::journal::record::Record;
use crate::journal::recover::{Recovered, recover};
use crate::protocol::ids::SessionId;

const NAME: &str = "journal.jsonl";
/// How much of a journal is its beginning.
const START: u64 = 16 * 1024;

/// Where the journal of `session` lies: `<state>/sessions/<session>/journal.jsonl`.
pub fn journal_path(state: &Path, session: &SessionId) -> PathBuf {
    state.join("sessions").join(&session.0).join(NAME)
}

/// A journal that this process alone may write. Cheap to share behind an `Arc`; appends are serialised.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    session: SessionId,
    tail: Mutex<Tail>,
}

/// The locked file, and up to where it holds whole lines.
#[derive(Debug)]
struct Tail {
    lock: FileLock,
    good: u64,
    /// An append failed and its part of a line may still stand behind `good`.
    dirty: bool,
}

/// An opened journal and what it held.
#[derive(Debug)]
pub struct Opened {
    /// To go on with.
    pub journal: Journal,
    /// Its records, and what had to be mended.
    pub recovered: Recovered,
}

impl Journal {
    /// Begins the journal of a new session below `state` and takes its lock.
    pub fn create(state: &Path, session: &SessionId) -> Result<Self, JournalError> {
        if !is_plain_name(&session.0) {
            return Err(JournalError::BadSession(session.0.clone()));
        }
        let path = journal_path(state, session);
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => JournalError::Exists(path.clone()),
            _ => JournalError::io(&path, &error),
        };
        let dir = PrivateDir::create_all(&state.join("sessions"))
            .and_then(|sessions| sessions.subdir(&session.0))
            .map_err(failed)?;
        let file = dir
            .open_with(NAME, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)
            .map_err(failed)?;
        let journal = Self::locked(path.clone(), session.clone(), file, 0)?;
        journal.append_json(&Header {
            major: MAJOR,
            minor: MINOR,
            session: session.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        })?;
        Ok(journal)
    }

    /// Opens an existing journal to go on with it: takes the lock, reads it, cuts off a torn end and
    /// moves damaged lines into a file beside. Blocks for as long as reading takes.
    pub fn open(path: &Path) -> Result<Opened, JournalError> {
        let file = open_file(path, OFlags::RDWR)?;
        let Some(lock) = FileLock::try_take(file).map_err(|error| JournalError::io(path, &error))? else {
            return Err(JournalError::Locked(path.to_owned()));
        };
        let bytes = read_all(path, lock.file())?;
        let mut recovered = recover(path, &bytes)?;
        if let Some(damage) = &mut recovered.damage {
            let from = usize::try_from(recovered.good).unwrap_or(usize::MAX);
            damage.moved_to = Some(put_aside(path, bytes.get(from..).unwrap_or_default())?);
        }
        let journal = Self {
            path: path.to_owned(),
            session: recovered.header.session.clone(),
            tail: Mutex::new(Tail {
                lock,
                good: recovered.good,
                dirty: true,
            }),
        };
        if recovered.unended {
            journal.append_bytes(b"\n")?;
        } else {
            journal
                .tail()
                .mend()
                .map_err(|error| JournalError::io(path, &error))?;
        }
        Ok(Opened { journal, recovered })
    }

    fn locked(path: PathBuf, session: SessionId, file: File, good: u64) -> Result<Self, JournalError> {
        match FileLock::try_take(file) {
            Ok(Some(lock)) => Ok(Self {
                path,
                session,
                tail: Mutex::new(Tail {
                    lock,
                    good,
                    dirty: false,
                }),
            }),
            Ok(None) => Err(JournalError::Locked(path)),
            Err(error) => Err(JournalError::io(&path, &error)),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The session.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Appends a record. It survives the end of this process when this returns, and a power cut after
    /// the next [`Self::sync`]. A failed append leaves the journal as it was. `Unknown` is not written.
    pub fn append(&self, record: &Record) -> Result<(), JournalError> {
        if matches!(record, Record::Unknown(_)) {
            return Ok(());
        }
        self.append_json(record)
    }

    /// Waits until the disk holds what was appended.
    pub fn sync(&self) -> Result<(), JournalError> {
        self.tail()
            .lock
            .file()
            .sync_data()
            .map_err(|error| JournalError::io(&self.path, &error))
    }

    fn append_json(&self, value: &impl serde::Serialize) -> Result<(), JournalError> {
        let json = serde_json::to_string(value).map_err(|e| JournalError::Unwritable(e.to_string()))?;
        self.append_bytes(encode(&json).as_bytes())
    }

    fn append_bytes(&self, bytes: &[u8]) -> Result<(), JournalError> {
        self.tail()
            .append(bytes)
            .map_err(|error| JournalError::io(&self.path, &error))
    }

    fn tail(&self) -> MutexGuard<'_, Tail> {
        // A panic between the two writes leaves `dirty` set, which the next append mends.
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tail {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.mend()?;
        self.dirty = true;
        let mut file = self.lock.file();
        if let Err(error) = file.write_all(bytes) {
            // What could be written of the line goes again: at once, or before the next append.
            self.mend().ok();
            return Err(error);
        }
        self.good += bytes.len() as u64;
        self.dirty = false;
        Ok(())
    }

    /// Cuts off what stands behind the last whole line.
    fn mend(&mut self) -> io::Result<()> {
        if self.dirty {
            let mut file = self.lock.file();
            file.set_len(self.good)?;
            file.seek(SeekFrom::Start(self.good))?;
            self.dirty = false;
        }
        Ok(())
    }
}

/// Reads a journal without its lock and without mending it, for lists and for export. The end may be
/// torn because its owner is writing just now.
pub fn read(path: &Path) -> Result<Recovered, JournalError> {
    let file = open_file(path, OFlags::RDONLY)?;
    recover(path, &read_all(path, &file)?)
}

/// [`read`] of the beginning alone: the header and the first records. The rest looks torn.
pub fn read_start(path: &Path) -> Result<Recovered, JournalError> {
    let file = open_file(path, OFlags::RDONLY)?;
    let mut bytes = Vec::new();
    file.take(START)
        .read_to_end(&mut bytes)
        .map_err(|error| JournalError::io(path, &error))?;
    recover(path, &bytes)
}

fn open_file(path: &Path, flags: OFlags) -> Result<File, JournalError> {
    let opened = match (path.parent(), path.file_name().and_then(|name| name.to_str())) {
        (Some(parent), Some(name)) => PrivateDir::open(parent).and_then(|dir| dir.open_with(name, flags)),
        _ => Err(io::ErrorKind::InvalidFilename.into()),
    };
    opened.map_err(|error| JournalError::io(path, &error))
}

fn read_all(path: &Path, mut file: &File) -> Result<Vec<u8>, JournalError> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)
        .map_err(|error| JournalError::io(path, &error))?;
    Ok(bytes)
}

/// Damaged lines are kept for a person to look at, under a name that no earlier damage has.
fn put_aside(path: &Path, bytes: &[u8]) -> Result<PathBuf, JournalError> {
    let name = format!("{NAME}.damaged-{}", ulid::Ulid::new());
    let aside = path.with_file_name(&name);
    let parent = path.parent().unwrap_or(path);
    PrivateDir::open(parent)
        .and_then(|dir| dir.replace(&name, bytes))
        .map_err(|error| JournalError::io(&aside, &error))?;
    Ok(aside)
}
