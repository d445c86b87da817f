//! The changed-path filters of a commit-graph: Bloom filters over the paths, and the folders above them, that a
//! commit changed against its first parent.

/// Where the filters of a layer lie, and how they were made.
pub struct Filters {
    index: usize,
    data: (usize, usize),
    /// 1: each byte was taken as signed, which matters beyond ASCII; 2: as unsigned.
    version: u32,
    hashes: u32,
}

/// A path as the filters know it.
pub struct Key {
    /// The seeds of its bits, for filters of version 1 and 2.
    seeds: [(u32, u32); 2],
}

const SEEDS: (u32, u32) = (0x293a_e76f, 0x7e64_6e2c);

impl Key {
    /// The keys of a path and of all folders above it: if it changed, each of them is in the filter. None for
    /// the root.
    pub fn of(path: &[u8]) -> Vec<Self> {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let ends = ends
            .map(|(at, _)| at)
            .chain((!path.is_empty()).then_some(path.len()));
        ends.filter_map(|end| path.get(..end))
            .map(|path| Self {
                seeds: [true, false]
                    .map(|signed| (murmur3(SEEDS.0, path, signed), murmur3(SEEDS.1, path, signed))),
            })
            .collect()
    }
}

impl Filters {
    /// The filters in these two chunks; `None` when one is missing or of an unknown make.
    pub fn new(file: &[u8], index: Option<(usize, usize)>, data: Option<(usize, usize)>) -> Option<Self> {
        let (index, data) = index.zip(data)?;
        let word = |at: usize| {
            let bytes = file.get(data.0 + at..data.0 + at + 4)?;
            Some(u32::from_be_bytes(bytes.try_into().ok()?))
        };
        let (version, hashes) = (word(0)?, word(4)?);
        let known = (1..=2).contains(&version) && (1..=64).contains(&hashes);
        known.then_some(Self {
            index: index.0,
            data: (data.0 + 12, data.1),
            version,
            hashes,
        })
    }

    /// Whether the filter of commit `at` of the layer excludes one of `keys`.
    pub fn excludes(&self, file: &[u8], at: usize, keys: &[Key]) -> bool {
        let Some(filter) = self.filter(file, at) else {
            return false;
        };
        let bits = filter.len() as u64 * 8;
        // An empty filter stands for one that was not made; a commit that changed nothing has one byte of zero.
        if bits == 0 {
            return false;
        }
        let which = usize::from(self.version == 2);
        keys.iter().any(|key| {
            let Some((first, step)) = key.seeds.get(which) else {
                return false;
            };
            (0..self.hashes).any(|turn| {
                let bit = u64::from(first.wrapping_add(turn.wrapping_mul(*step))) % bits;
                let byte = usize::try_from(bit / 8).ok().and_then(|at| filter.get(at));
                byte.is_some_and(|byte| byte & (1 << (bit % 8)) == 0)
            })
        })
    }

    fn filter<'a>(&self, file: &'a [u8], at: usize) -> Option<&'a [u8]> {
        let end = |at: usize| {
            let bytes = file.get(self.index + at * 4..self.index + at * 4 + 4)?;
            Some(u32::from_be_bytes(bytes.try_into().ok()?) as usize)
        };
        let start = match at {
            0 => 0,
            _ => end(at - 1)?,
        };
        let (start, end) = (self.data.0 + start, self.data.0 + end(at)?);
        (end <= self.data.1).then(|| file.get(start..end)).flatten()
    }
}

/// MurmurHash3, 32 bits. `signed`: as git made it at first, bytes beyond 127 of the words widened with their sign.
fn murmur3(seed: u32, data: &[u8], signed: bool) -> u32 {
    let widen = |byte: u8| {
        if signed {
            i32::from(byte.cast_signed()).cast_unsigned()
        } else {
            u32::from(byte)
        }
    };
    let scramble = |word: u32| {
        word.wrapping_mul(0xcc9e_2d51)
            .rotate_left(15)
            .wrapping_mul(0x1b87_3593)
    };
    let mut hash = seed;
    let words = data.chunks_exact(4);
    let tail = words.remainder();
    for word in words {
        let word = word
            .iter()
            .rev()
            .fold(0u32, |word, byte| (word << 8) | widen(*byte));
        hash ^= scramble(word);
        hash = hash.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    if !tail.is_empty() {
        let word = tail
            .iter()
            .enumerate()
            .fold(0u32, |word, (at, byte)| word ^ (widen(*byte) << (8 * at)));
        hash ^= scramble(word);
    }
    hash ^= u32::try_from(data.len()).unwrap_or(u32::MAX);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_murmur3() {
        assert_eq!(murmur3(0, b"", false), 0);
        assert_eq!(murmur3(0, b"Hello world!", false), 0x627b_0c2c);
        assert_eq!(
            murmur3(0, b"The quick brown fox jumps over the lazy dog", false),
            0x2e4f_f723
        );
        assert_eq!(murmur3(0, b"\xff\xff\xff\xff", false), 0x7629_3b50);
    }

    #[test]
    fn a_path_has_a_key_for_each_folder_above() {
        assert_eq!(Key::of(b"a/b/c").len(), 3);
        assert!(Key::of(b"").is_empty());
    }
}
