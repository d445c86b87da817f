//! How many digits of an object's name are shown: git's own rule, so that a name can be compared with its output.

use std::fs;
use std::io::{Read, Seek, SeekFrom};

use git2::{Oid, Repository};

/// The fewest that git shows unless told otherwise.
const FEWEST: usize = 7;
/// Digits of a whole name.
const ALL: usize = 40;

/// `core.abbrev`, or a length at which two of the repository's packed objects hardly share a name.
pub fn digits(git: &Repository) -> usize {
    let set = git
        .config()
        .ok()
        .and_then(|config| config.get_string("core.abbrev").ok());
    match set.as_deref().map(str::to_ascii_lowercase).as_deref() {
        Some("no" | "off" | "false") => return ALL,
        Some(number) if number.parse::<usize>().is_ok() => {
            return number.parse::<usize>().unwrap_or(FEWEST).clamp(4, ALL);
        }
        _ => {}
    }
    let objects = packed_objects(git);
    let bits = (u64::BITS - objects.leading_zeros()) as usize;
    bits.div_ceil(2).max(FEWEST)
}

/// The sum of the last fan-out entries of the packs' indexes.
fn packed_objects(git: &Repository) -> u64 {
    let packs = fs::read_dir(git.commondir().join("objects/pack"));
    let indexes = packs.into_iter().flatten().flatten().map(|entry| entry.path());
    let count = |path: std::path::PathBuf| -> Option<u64> {
        let mut file = fs::File::open(path).ok()?;
        file.seek(SeekFrom::Start(8 + 255 * 4)).ok()?;
        let mut last = [0; 4];
        file.read_exact(&mut last).ok()?;
        Some(u64::from(u32::from_be_bytes(last)))
    };
    indexes
        .filter(|path| path.extension().is_some_and(|extension| extension == "idx"))
        .filter_map(count)
        .sum()
}

/// The first `least` digits of `id`, or more until no other object has the same.
pub fn unique(git: &Repository, id: Oid, least: usize) -> String {
    let whole = id.to_string();
    let Ok(odb) = git.odb() else { return whole };
    let mut digits = least.min(whole.len());
    while digits < whole.len() {
        let prefix = whole.get(..digits).unwrap_or(&whole);
        // Of a length that is not even, git2 takes the number of digits as it is.
        let taken = Oid::from_str(prefix).and_then(|short| odb.exists_prefix(short, digits));
        match taken {
            Err(error) if error.code() == git2::ErrorCode::Ambiguous => digits += 1,
            _ => break,
        }
    }
    whole.get(..digits).unwrap_or(&whole).to_owned()
}
