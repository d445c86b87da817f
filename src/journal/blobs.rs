//! Bytes under the name of their SHA-256: the same bytes lie there once.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::journal::error::JournalError;
use crate::journal::private_dir::PrivateDir;
use crate::protocol::change::ContentHash;

/// A folder of blobs. Snapshots and review bases of a session share one.
#[derive(Debug)]
pub struct BlobStore {
    dir: PrivateDir,
}

impl BlobStore {
    /// Opens the store at `dir`, making the folder (0700) and its parents if they are missing.
    pub fn open(dir: &Path) -> Result<Self, JournalError> {
        let dir = PrivateDir::create_all(dir).map_err(|error| JournalError::io(dir, &error))?;
        Ok(Self { dir })
    }

    /// The store in a folder that is open already.
    pub fn in_dir(dir: PrivateDir) -> Self {
        Self { dir }
    }

    /// The folder.
    pub fn dir(&self) -> &PrivateDir {
        &self.dir
    }

    /// Keeps `bytes` and says their name. They are on the disk when this returns, whole or not at all.
    pub fn put(&self, bytes: &[u8]) -> Result<ContentHash, JournalError> {
        let hash = ContentHash::of(bytes);
        if self.holds(&hash, bytes.len() as u64) {
            return Ok(hash);
        }
        self.dir
            .replace(&hash.0, bytes)
            .map_err(|error| JournalError::io(self.dir.path(), &error))?;
        Ok(hash)
    }

    /// Keeps what `reader` gives, however long it is, without holding it in memory.
    pub fn put_reader(&self, reader: &mut dyn Read) -> Result<ContentHash, JournalError> {
        let failed = |error: io::Error| JournalError::io(self.dir.path(), &error);
        let mut pending = self.dir.new_file().map_err(failed)?;
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 64 * 1024];
        let mut size = 0;
        loop {
            let count = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(failed(error)),
            };
            let chunk = buffer.get(..count).unwrap_or_default();
            hasher.update(chunk);
            pending.write_all(chunk).map_err(failed)?;
            size += count as u64;
        }
        let hash = ContentHash(hasher.finalize().iter().fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").ok();
            hex
        }));
        if !self.holds(&hash, size) {
            pending.commit(&hash.0).map_err(failed)?;
        }
        Ok(hash)
    }

    /// The bytes of that name. Their hash is computed anew: damaged bytes are an error, never given out.
    pub fn get(&self, hash: &ContentHash) -> Result<Vec<u8>, JournalError> {
        let absent = || JournalError::NoBlob {
            hash: hash.0.clone(),
            store: self.dir.path().to_owned(),
        };
        if !is_hash(hash) {
            return Err(absent());
        }
        let bytes = match self.dir.read(&hash.0) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(absent()),
            Err(error) => return Err(JournalError::io(&self.dir.path().join(&hash.0), &error)),
        };
        if ContentHash::of(&bytes) == *hash {
            Ok(bytes)
        } else {
            Err(JournalError::DamagedBlob {
                hash: hash.0.clone(),
                store: self.dir.path().to_owned(),
            })
        }
    }

    /// Removes bytes that nothing speaks of any more; what is not there is gone already.
    pub fn remove(&self, hash: &ContentHash) -> Result<(), JournalError> {
        if !is_hash(hash) {
            return Ok(());
        }
        match self.dir.remove(&hash.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(JournalError::io(&self.dir.path().join(&hash.0), &error))
            }
            _ => Ok(()),
        }
    }

    /// A blob of another length is damaged: it is written anew.
    fn holds(&self, hash: &ContentHash, size: u64) -> bool {
        self.dir.size_of(&hash.0) == Some(size)
    }
}

/// A hash read from a file may be anything; as a name it must be one.
fn is_hash(hash: &ContentHash) -> bool {
    hash.0.len() == 64 && hash.0.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn store() -> (tempfile::TempDir, BlobStore) {
        let temp = tempfile::tempdir().unwrap();
        let store = BlobStore::open(&temp.path().join("blobs")).unwrap();
        (temp, store)
    }

    #[test]
    fn the_same_bytes_lie_there_once() {
        let (_temp, store) = store();
        let hash = store.put(b"text").unwrap();
        assert_eq!(store.put(b"text").unwrap(), hash);
        assert_eq!(store.put_reader(&mut &b"text"[..]).unwrap(), hash);
        assert_eq!(hash, ContentHash::of(b"text"));
        assert_eq!(store.dir().names().unwrap().len(), 1);
        assert_eq!(store.get(&hash).unwrap(), b"text");
        let empty = store.put(b"").unwrap();
        assert_eq!(store.get(&empty).unwrap(), b"");
    }

    #[test]
    fn damaged_bytes_are_never_given_out_and_mended_by_the_next_put() {
        let (_temp, store) = store();
        let hash = store.put(b"text").unwrap();
        store.dir().replace(&hash.0, b"tex").unwrap();
        assert!(matches!(store.get(&hash), Err(JournalError::DamagedBlob { .. })));
        store.put(b"text").unwrap();
        assert_eq!(store.get(&hash).unwrap(), b"text");
    }

    #[test]
    fn names_that_are_no_hash_and_links_lead_nowhere() {
        let (temp, store) = store();
        std::fs::DirBuilder::new().create(temp.path().join("x")).unwrap();
        let escape = ContentHash("../x".to_owned());
        assert!(matches!(store.get(&escape), Err(JournalError::NoBlob { .. })));
        let hash = ContentHash::of(b"secret");
        let outside = BlobStore::open(&temp.path().join("x")).unwrap();
        outside.put(b"secret").unwrap();
        symlink(
            outside.dir().path().join(&hash.0),
            store.dir().path().join(&hash.0),
        )
        .unwrap();
        assert!(store.get(&hash).is_err());
        store.put(b"secret").unwrap();
        assert_eq!(store.get(&hash).unwrap(), b"secret");
    }
}
