//! One path that a word of a shell line names.

use std::path::{Path, PathBuf};

use crate::fs::safe_path::{normalize, resolve};

/// A path that a line names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// As it stands after expansion.
    pub text: String,
    /// Absolute, links in the parent resolved and the last name as written: what removing it removes.
    pub entry: PathBuf,
    /// Absolute, all links resolved: what reading or writing it touches.
    pub real: PathBuf,
}

impl Named {
    pub(super) fn new(base: &Path, text: &str) -> Self {
        let written = base.join(text);
        let real = resolve(base, text).map_or_else(|_| normalize(&written), |resolved| resolved.path);
        let plain = normalize(&written);
        // The kernel follows a link before it goes up: `link/../x` is beside the link's target.
        let parent = written.parent().and_then(|parent| parent.canonicalize().ok());
        let entry = match (parent, written.file_name()) {
            _ if text.ends_with('/') || text.ends_with("/.") => real.clone(),
            (Some(parent), Some(name)) => parent.join(name),
            _ => plain,
        };
        Self {
            text: text.to_owned(),
            entry,
            real,
        }
    }

    /// Both paths.
    pub fn paths(&self) -> [&Path; 2] {
        [&self.real, &self.entry]
    }
}

/// The texts in a word that may be paths.
pub(super) fn readings(text: &str) -> Vec<String> {
    let mut readings = vec![text.to_owned()];
    readings.extend(
        text.char_indices()
            .filter(|(_, char)| "=@:,".contains(*char))
            .filter_map(|(at, char)| text.get(at + char.len_utf8()..).map(str::to_owned)),
    );
    let short = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    readings.extend(short.and_then(|rest| rest.get(1..)).map(str::to_owned));
    readings.retain(|reading| !reading.is_empty());
    readings.truncate(8);
    readings
}
