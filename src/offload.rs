//! A result that is too long for the conversation goes to a file; the model gets its start and a hint.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A result over this many bytes is offloaded.
pub const MAX_BYTES: usize = 50 * 1024;
/// A result over this many lines is offloaded.
pub const MAX_LINES: usize = 2000;
/// How much of an offloaded result stays in the conversation.
const PREVIEW_BYTES: usize = 8 * 1024;
const PREVIEW_LINES: usize = 100;

/// The private folder of a session's long results: `<tmp>/dcode-<uid>/<session>/`, mode 0700.
pub struct OffloadDir {
    base: PathBuf,
    session: String,
    next: AtomicU32,
}

impl OffloadDir {
    /// The folder of `session` under `tmp` (the system's folder for temporary files). Made at first use.
    pub fn new(tmp: &Path, session: &str) -> Self {
        let uid = rustix::process::getuid().as_raw();
        Self {
            base: tmp.join(format!("dcode-{uid}")),
            session: session.into(),
            next: AtomicU32::new(1),
        }
    }

    /// The folder, whether it exists yet or not.
    pub fn path(&self) -> PathBuf {
        self.base.join(&self.session)
    }

    /// `text` as it is, when it is short enough; else its start, and where the whole can be read.
    ///
    /// `name` becomes part of the file's name. When the file cannot be written the text is cut all the
    /// same, and says so.
    pub fn fit(&self, name: &str, text: String) -> String {
        let lines = text.lines().count();
        if text.len() <= MAX_BYTES && lines <= MAX_LINES {
            return text;
        }
        let preview = preview(&text);
        let size = format!("{lines} lines, {} bytes", text.len());
        match self.store(name, &text) {
            Ok(path) => format!(
                "{preview}\n\n[The result has {size}; only its start is shown. The whole is in {}: read parts \
                 of it with read_file, or search it with grep.]",
                path.display()
            ),
            Err(error) => format!(
                "{preview}\n\n[The result has {size}; only its start is shown, and the rest could not be kept \
                 ({error}). Ask for less at a time.]"
            ),
        }
    }

    fn store(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        private_dir(&self.base)?;
        let dir = self.path();
        private_dir(&dir)?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!("{number:04}-{name}.txt"));
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        io::Write::write_all(&mut file, text.as_bytes())?;
        Ok(path)
    }

    /// Removes the session's files.
    pub fn clear(&self) {
        let dir = self.path();
        if fs::symlink_metadata(&dir).is_ok_and(|meta| meta.is_dir()) {
            // Best effort: the system cleans its temporary folder anyway.
            let _ = fs::remove_dir_all(&dir);
        }
    }
}

/// Makes `dir`, or checks that it is a real folder of ours that nobody else can write.
fn private_dir(dir: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let meta = fs::symlink_metadata(dir)?;
            let ours = meta.is_dir() && meta.uid() == rustix::process::getuid().as_raw();
            if ours && meta.permissions().mode() & 0o077 == 0 {
                Ok(())
            } else {
                Err(io::Error::other(format!(
                    "{} is not a private folder of this user",
                    dir.display()
                )))
            }
        }
        Err(error) => Err(error),
    }
}

fn preview(text: &str) -> &str {
    let mut end = PREVIEW_BYTES.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    if let Some((at, _)) = text[..end].match_indices('\n').nth(PREVIEW_LINES - 1) {
        end = at;
    }
    text[..end].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_results_stay() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = OffloadDir::new(tmp.path(), "s");
        assert_eq!(dir.fit("bash", "ok\n".into()), "ok\n");
        assert_eq!(
            fs::read_dir(tmp.path()).unwrap().count(),
            0,
            "nothing is made before it is needed"
        );
    }

    #[test]
    fn long_results_go_to_a_private_file_that_the_hint_names() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = OffloadDir::new(tmp.path(), "s");
        let text: String = (0..3000).map(|at| format!("line {at} é\n")).collect();
        let fitted = dir.fit("bash", text.clone());
        assert!(
            fitted.starts_with("line 0 é\n") && fitted.len() < 10_000,
            "{}",
            fitted.len()
        );
        assert!(fitted.contains("3000 lines"));
        let path = fitted
            .split(" is in ")
            .nth(1)
            .unwrap()
            .split(": read")
            .next()
            .unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), text);
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
        let parent = Path::new(path).parent().unwrap();
        assert_eq!(fs::metadata(parent).unwrap().permissions().mode() & 0o777, 0o700);
        dir.clear();
        assert!(!parent.exists());
    }

    #[test]
    fn a_folder_that_others_can_write_is_not_trusted() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = OffloadDir::new(tmp.path(), "s");
        std::os::unix::fs::symlink(tmp.path(), &dir.base).unwrap();
        let fitted = dir.fit("bash", "x\n".repeat(3000));
        assert!(fitted.contains("could not be kept"), "{fitted}");
    }
}
