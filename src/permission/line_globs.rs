//! What the patterns of one line match, with a limit on how much is looked at.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;

use crate::permission::named_path::Named;

/// Entries of folders that the patterns of one line are tried on. A line that needs more is asked.
const MAX_ENTRIES: usize = 20_000;

/// The patterns of one line and what they matched.
#[derive(Debug)]
pub struct LineGlobs {
    left: Cell<usize>,
    is_exhausted: Cell<bool>,
    matched: RefCell<HashMap<(PathBuf, String), Vec<Named>>>,
}

impl Default for LineGlobs {
    fn default() -> Self {
        Self {
            left: Cell::new(MAX_ENTRIES),
            is_exhausted: Cell::new(false),
            matched: RefCell::default(),
        }
    }
}

impl LineGlobs {
    /// Whether the patterns met more than may be looked at: what they match is not known.
    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted.get()
    }

    /// What the line names is too much to be looked at.
    pub fn give_up(&self) {
        self.is_exhausted.set(true);
    }

    /// What a pattern matches now below `base`, as the shell would: a leading dot only where the pattern has
    /// one. Nothing once the line has looked at too much.
    pub fn matches(&self, base: &Path, pattern: &str) -> Vec<Named> {
        let key = (base.to_owned(), pattern.to_owned());
        if let Some(known) = self.matched.borrow().get(&key) {
            return known.clone();
        }
        let found = self.look(base, pattern);
        self.matched.borrow_mut().insert(key, found.clone());
        found
    }

    fn look(&self, base: &Path, pattern: &str) -> Vec<Named> {
        let start = if pattern.starts_with('/') {
            PathBuf::from("/")
        } else {
            PathBuf::new()
        };
        let mut found = vec![start];
        for part in pattern.split('/').filter(|part| !part.is_empty()) {
            if !part.contains(['*', '?', '[', '{']) {
                found.iter_mut().for_each(|path| path.push(part));
                continue;
            }
            let Some(matcher) = name_matcher(part) else {
                return Vec::new();
            };
            let mut below = Vec::new();
            for folder in &found {
                if !self.spend() {
                    return Vec::new();
                }
                let entries = std::fs::read_dir(base.join(folder)).into_iter().flatten();
                for entry in entries.flatten() {
                    if !self.spend() {
                        return Vec::new();
                    }
                    let Ok(name) = entry.file_name().into_string() else {
                        continue;
                    };
                    if matcher(&name) {
                        below.push(folder.join(name));
                    }
                }
            }
            found = below;
        }
        let texts = found.iter().filter_map(|path| path.to_str());
        texts
            .filter(|text| !text.is_empty())
            .map(|text| Named::new(base, text))
            .collect()
    }

    /// Takes one entry from what the line may look at; `false` when there is none left.
    fn spend(&self) -> bool {
        match self.left.get().checked_sub(1) {
            Some(left) => {
                self.left.set(left);
                true
            }
            None => {
                self.is_exhausted.set(true);
                false
            }
        }
    }
}

/// Whether a name is matched by the last part of a shell pattern.
pub fn name_matcher(pattern: &str) -> Option<impl Fn(&str) -> bool + use<>> {
    let glob = GlobBuilder::new(pattern)
        .literal_separator(true)
        .empty_alternates(true)
        .build()
        .ok()?
        .compile_matcher();
    let dot = pattern.starts_with(['.', '{', '\\', '[']);
    Some(move |name: &str| glob.is_match(name) && (dot || !name.starts_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_leaves_hidden_names_out() {
        let star = name_matcher("*").unwrap();
        assert!(star("a") && !star(".git"));
        let dots = name_matcher(".*").unwrap();
        assert!(dots(".git") && !dots("a"));
        let both = name_matcher("{*,.*}").unwrap();
        assert!(both("a") && both(".git"));
    }
}
