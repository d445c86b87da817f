//! Answers: kept until the session ends, or for good in the person's `config.toml`.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use thiserror::Error;

use crate::permission::decision::Decision;
use crate::permission::finding::{Finding, Key};
use crate::permission::persist::{self, PersistError};

/// What was answered in this session.
#[derive(Debug, Default)]
pub struct Memory {
    keys: Mutex<BTreeSet<Key>>,
}

/// Why an answer was not kept. The call itself may run all the same.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MemoryError {
    /// It was not on offer: destructive, unparsable, or asked by a rule.
    #[error("This answer cannot be kept: it was not on offer. Answer `once` or `deny`.")]
    NotOffered,
    /// It holds for the session, but could not be written.
    #[error("The answer holds until the session ends, but not for good: {0}.")]
    NotWritten(#[from] PersistError),
}

impl Memory {
    /// Turns an Ask that was answered before into an Allow; never touches anything else.
    pub fn apply(&self, finding: Finding) -> Finding {
        let Some(key) = finding.key.as_ref().filter(|_| finding.decision == Decision::Ask) else {
            return finding;
        };
        if finding.sticky
            || !self
                .keys
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .contains(key)
        {
            return finding;
        }
        let words = key.words();
        Finding::allow(
            "memory",
            format!("you allowed `{words}` for this session; :Dcode new forgets it"),
            format!("You allowed `{words}` before."),
        )
    }

    /// Keeps answers until the session ends.
    pub fn keep(&self, keys: impl IntoIterator<Item = Key>) {
        self.keys
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(keys);
    }

    /// The answers, sorted.
    pub fn kept(&self) -> Vec<Key> {
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.iter().cloned().collect()
    }

    /// Forgets every answer that is listed as `words`; false when there was none.
    pub fn forget(&self, words: &str) -> bool {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let before = keys.len();
        keys.retain(|key| key.words() != words);
        keys.len() < before
    }

    /// Keeps answers for good, and for the session in any case.
    pub fn keep_for_good(&self, user_file: &Path, keys: Vec<Key>) -> Result<(), MemoryError> {
        let written = persist::remember(user_file, &keys);
        self.keep(keys);
        Ok(written?)
    }
}
