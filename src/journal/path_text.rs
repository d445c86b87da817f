//! Paths in JSON. Text where they are UTF-8, which nearly all are; else `{"hex": …}`, so that every
//! file name of the system survives. Use with `#[serde(with = "path_text")]`.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Bytes { hex: String },
}

/// Writes a path.
pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    write(path).serialize(serializer)
}

/// Reads a path.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    read(Written::deserialize(deserializer)?).map_err(D::Error::custom)
}

fn write(path: &Path) -> Written {
    match path.to_str() {
        Some(text) => Written::Text(text.to_owned()),
        None => Written::Bytes {
            hex: path
                .as_os_str()
                .as_bytes()
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect(),
        },
    }
}

fn read(written: Written) -> Result<PathBuf, &'static str> {
    match written {
        Written::Text(text) => Ok(PathBuf::from(text)),
        Written::Bytes { hex } => {
            let bytes: Option<Vec<u8>> = hex
                .as_bytes()
                .chunks(2)
                .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
                .collect();
            let bytes = bytes.ok_or("a path's hex is not hex")?;
            Ok(PathBuf::from(OsString::from_vec(bytes)))
        }
    }
}

/// The same for a list of paths.
pub mod list {
    use super::{Deserialize, Deserializer, PathBuf, Serialize, Serializer, Written};
    use serde::de::Error as _;

    /// Writes paths.
    pub fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        let written: Vec<Written> = paths.iter().map(|path| super::write(path)).collect();
        written.serialize(serializer)
    }

    /// Reads paths.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        Vec::<Written>::deserialize(deserializer)?
            .into_iter()
            .map(|written| super::read(written).map_err(D::Error::custom))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Holder {
        #[serde(with = "super")]
        path: PathBuf,
    }

    #[test]
    fn a_name_that_is_not_utf8_survives() {
        let odd = Holder {
            path: PathBuf::from(OsString::from_vec(b"/a/\xff\x01".to_vec())),
        };
        let text = serde_json::to_string(&odd).unwrap();
        assert_eq!(text, r#"{"path":{"hex":"2f612fff01"}}"#);
        assert_eq!(serde_json::from_str::<Holder>(&text).unwrap(), odd);
        let plain = Holder { path: "/a/ä".into() };
        assert_eq!(serde_json::to_string(&plain).unwrap(), r#"{"path":"/a/ä"}"#);
        assert!(serde_json::from_str::<Holder>(r#"{"path":{"hex":"zz"}}"#).is_err());
    }
}
