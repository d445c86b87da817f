//! The system's refusals in words: what happened and what helps, never a bare number.

use std::io::{Error, ErrorKind};

/// Cause and remedy of an I/O error, as the end of a sentence without its full stop.
pub fn cause(error: &Error) -> String {
    let words = match error.kind() {
        ErrorKind::NotFound => "it does not exist",
        ErrorKind::PermissionDenied => {
            "permission is denied; check who owns it with `ls -l`, or write somewhere else"
        }
        ErrorKind::StorageFull => "the disk is full; free some space, then retry",
        ErrorKind::QuotaExceeded => "the disk quota is used up; free some space, then retry",
        ErrorKind::FileTooLarge => "the file would be larger than the system allows here",
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only; write somewhere else",
        ErrorKind::NotADirectory => "a part of the path is a file, not a directory",
        ErrorKind::IsADirectory => "it is a directory",
        ErrorKind::DirectoryNotEmpty => "the directory is not empty",
        ErrorKind::AlreadyExists => "it exists already",
        ErrorKind::InvalidFilename => "the name is too long or not allowed here; use a shorter one",
        ErrorKind::ExecutableFileBusy => "the program is running; stop it first",
        ErrorKind::ResourceBusy => "it is in use by the system; retry later",
        ErrorKind::UnexpectedEof => "it ended before it was read in full; retry",
        ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            "the system did not answer in time; retry"
        }
        ErrorKind::StaleNetworkFileHandle => "the network file system lost it; retry",
        ErrorKind::OutOfMemory => "there is not enough memory",
        _ => return other(error),
    };
    words.to_owned()
}

/// The text of the system without the number that std puts behind it.
fn other(error: &Error) -> String {
    let text = error.to_string();
    let words = text.split(" (os error").next().unwrap_or_default().trim();
    let mut chars = words.chars();
    match chars.next() {
        Some(first) => format!("{}{}", first.to_lowercase(), chars.as_str()),
        None => "the system gave no reason".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_cause_and_remedy_without_numbers() {
        for (errno, words) in [
            (28, "disk is full"),
            (30, "read-only"),
            (13, "permission"),
            (2, "not exist"),
        ] {
            let text = cause(&Error::from_raw_os_error(errno));
            assert!(text.contains(words), "{text}");
        }
        assert_eq!(cause(&Error::from_raw_os_error(5)), "input/output error");
    }
}
