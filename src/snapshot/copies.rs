//! Copies of files that nothing else holds, made before a command could change them.
//!
//! They lie in one file without a name, which the system takes back when the process ends.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::snapshot::table::Stat;

/// How many bytes are copied, of all files together.
pub(super) const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// How many files are copied.
pub(super) const MAX_FILES: usize = 5_000;
/// Copies of earlier contents are left where they are until the file is this large.
const MAX_ARENA: u64 = 4 * MAX_BYTES;

#[derive(Debug, Default)]
pub(super) struct Copies {
    arena: Option<File>,
    end: u64,
    rows: HashMap<OsString, Copied>,
    /// Bytes of the copies that count.
    live: u64,
}

#[derive(Debug)]
struct Copied {
    stat: Stat,
    at: u64,
}

impl Copies {
    /// Forgets copies of files for which `keep` says no.
    pub(super) fn retain(&mut self, keep: impl Fn(&Path, &Stat) -> bool) {
        let live = &mut self.live;
        self.rows.retain(|path, copied| {
            let kept = keep(Path::new(path), &copied.stat);
            if !kept {
                *live -= copied.stat.size;
            }
            kept
        });
        if self.end > MAX_ARENA {
            *self = Self::default();
        }
    }

    /// Whether the file at `path` is copied as it is.
    pub(super) fn has(&self, path: &Path, stat: &Stat) -> bool {
        self.rows
            .get(path.as_os_str())
            .is_some_and(|copied| copied.stat == *stat)
    }

    /// Copies the file at `path`, which has this `stat`, if there is room. One that changes meanwhile is not
    /// copied.
    pub(super) fn add(&mut self, path: &Path, stat: Stat) -> bool {
        let room = self.rows.len() < MAX_FILES && self.live + stat.size <= MAX_BYTES;
        room && !stat.link && self.copy(path, stat).is_ok()
    }

    fn copy(&mut self, path: &Path, stat: Stat) -> io::Result<()> {
        let mut bytes = Vec::new();
        let file = File::open(path)?;
        if Stat::read(&file.metadata()?) != Some(stat) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        (&file).take(stat.size + 1).read_to_end(&mut bytes)?;
        let now = Stat::read(&file.metadata()?);
        if now != Some(stat) || bytes.len() as u64 != stat.size {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let arena = match &self.arena {
            Some(arena) => arena,
            None => self.arena.insert(tempfile::tempfile()?),
        };
        arena.write_all_at(&bytes, self.end)?;
        let at = self.end;
        self.end += stat.size;
        self.live += stat.size;
        if let Some(old) = self.rows.insert(path.as_os_str().to_owned(), Copied { stat, at }) {
            self.live -= old.stat.size;
        }
        Ok(())
    }

    /// The bytes that the file at `path` had when it had this `stat`.
    pub(super) fn get(&self, path: &Path, stat: &Stat) -> Option<Vec<u8>> {
        let copied = self
            .rows
            .get(path.as_os_str())
            .filter(|copied| copied.stat == *stat)?;
        let mut bytes = vec![0; usize::try_from(stat.size).ok()?];
        self.arena.as_ref()?.read_exact_at(&mut bytes, copied.at).ok()?;
        Some(bytes)
    }
}
