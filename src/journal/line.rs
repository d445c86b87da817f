//! A line of a journal: `<crc32 of the JSON, 8 hex digits> <JSON>\n`.

use serde::{Deserialize, Serialize};

use crate::protocol::ids::SessionId;

/// The version of the format. Another one cannot be read.
pub const MAJOR: u64 = 1;
/// Grows when a kind of record or a field is added; every minor version can be read.
pub const MINOR: u64 = 1;

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`MAJOR`] of the writer.
    #[serde(rename = "dcode_journal")]
    pub major: u64,
    /// [`MINOR`] of the writer.
    #[serde(default)]
    pub minor: u64,
    /// The session.
    pub session: SessionId,
    /// The version of dcode that began the journal.
    #[serde(default)]
    pub version: String,
}

/// The major version alone: it must be readable whatever else a later header holds.
#[derive(Deserialize)]
pub(super) struct Format {
    #[serde(rename = "dcode_journal")]
    pub(super) major: u64,
}

/// JSON never holds a raw newline, so a line is a record.
pub(super) fn encode(json: &str) -> String {
    format!("{:08x} {json}\n", crc32fast::hash(json.as_bytes()))
}

/// The JSON of a line without its newline, if the checksum fits.
pub(super) fn decode(line: &[u8]) -> Option<&str> {
    let (sum, json) = line.split_at_checked(9)?;
    let sum = std::str::from_utf8(sum).ok()?.strip_suffix(' ')?;
    let plain = sum.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let fits = plain && u32::from_str_radix(sum, 16).ok()? == crc32fast::hash(json);
    fits.then(|| std::str::from_utf8(json).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_changed_byte_is_seen() {
        let line = encode(r#"{"type":"x","a":1}"#);
        let line = line.trim_end().as_bytes();
        assert_eq!(decode(line), Some(r#"{"type":"x","a":1}"#));
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut damaged = line.to_vec();
                damaged[at] ^= 1 << bit;
                assert_eq!(decode(&damaged), None, "byte {at}, bit {bit}");
            }
            assert_eq!(decode(&line[..at]), None);
        }
    }
}
