//! Reads a small file that a stranger may have made: no pipe is waited for, no link followed out of its
//! folder, and never more read than asked.

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The beginning of a file.
pub struct Peek {
    /// Where it really is.
    pub real: PathBuf,
    /// Its first bytes as text; what is no UTF-8 is replaced.
    pub text: String,
    /// The size of the whole file in bytes.
    pub size: u64,
}

/// The first `limit` bytes of `path`, which must be an ordinary file that lies, links resolved, inside
/// `within`; `None` otherwise.
pub fn peek(path: &Path, within: &Path, limit: u64) -> Option<Peek> {
    let real = fs::canonicalize(path).ok()?;
    if !real.starts_with(fs::canonicalize(within).ok()?) {
        return None;
    }
    let file = open(&real)?;
    let meta = file.metadata().ok()?;
    if !meta.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).ok()?;
    // A character that the limit cuts is no fault of the file.
    let cut = meta.len() > limit;
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if cut && text.ends_with(char::REPLACEMENT_CHARACTER) {
        text.pop();
    }
    Some(Peek {
        real,
        text,
        size: meta.len(),
    })
}

fn open(real: &Path) -> Option<File> {
    // Not blocking: opening a pipe would wait for its other end. No link: `real` has none.
    let flags = nix::libc::O_NONBLOCK | nix::libc::O_NOFOLLOW | nix::libc::O_CLOEXEC;
    OpenOptions::new().read(true).custom_flags(flags).open(real).ok()
}

/// Whether an ordinary file stands there, links followed.
pub fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn write(path: &Path, text: &str) {
        crate::fs::atomic::write(path, text.as_bytes(), None).unwrap();
    }

    #[test]
    fn only_ordinary_files_inside_and_never_more_than_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let (project, outside) = (dir.path().join("p"), dir.path().join("secret"));
        fs::create_dir(&project).unwrap();
        write(&outside, "secret");
        write(&project.join("a"), "aé€");
        let text = |name: &str, limit| peek(&project.join(name), &project, limit).map(|peek| peek.text);
        assert_eq!(text("a", 100).as_deref(), Some("aé€"));
        assert_eq!(text("a", 5).as_deref(), Some("aé"));
        symlink(&outside, project.join("out")).unwrap();
        symlink("a", project.join("in")).unwrap();
        let (pipe, kind) = (project.join("pipe"), rustix::fs::FileType::Fifo);
        rustix::fs::mknodat(rustix::fs::CWD, pipe, kind, rustix::fs::Mode::RWXU, 0).unwrap();
        assert_eq!(text("in", 1).as_deref(), Some("a"));
        for name in ["out", "pipe", ".", "nothing"] {
            assert_eq!(text(name, 100), None, "{name}");
        }
    }
}
