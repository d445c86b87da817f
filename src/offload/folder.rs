//! The private folder of a session for what is too long for the conversation, and for what programs put there.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::fs::safe_path::normalize;
use crate::offload::preview::{MAX_BYTES, MAX_LINES, preview};

/// Paths below this one are files of the session's folder, never of the real root.
const ROUTE: &str = "/retrieved";

/// The private folder of a session: `<tmp>/dcode-<uid>/<session>/`, mode 0700, gone with the session; or
/// `<artifacts_dir>/<session>/`, which stays.
pub struct OffloadDir {
    /// Where it lies; made when missing.
    above: PathBuf,
    /// Private folders below, outermost first; the last one is the session's.
    folders: Vec<PathBuf>,
    kept: bool,
    next: AtomicU32,
}

impl OffloadDir {
    /// The folder of `session` under `tmp` (the system's folder for temporary files). Made at first use.
    pub fn new(tmp: &Path, session: &str) -> Self {
        let uid = rustix::process::getuid().as_raw();
        let base = tmp.join(format!("dcode-{uid}"));
        Self {
            above: tmp.to_owned(),
            folders: vec![base.clone(), base.join(session)],
            kept: false,
            next: AtomicU32::new(1),
        }
    }

    /// The folder of `session` under `artifacts`, which the person chose and which may lie in the project.
    /// Made at first use; what is put there stays.
    pub fn chosen(artifacts: &Path, session: &str) -> Self {
        Self {
            above: artifacts.to_owned(),
            folders: vec![artifacts.join(session)],
            kept: true,
            next: AtomicU32::new(1),
        }
    }

    /// The folder, whether it exists yet or not.
    pub fn path(&self) -> &Path {
        // There is always one; see the constructors.
        self.folders.last().map_or(Path::new(""), PathBuf::as_path)
    }

    /// The real path of `/retrieved/…`: a file of this session's folder. `None` for any other path. `..` is
    /// taken away before.
    pub fn route(&self, written: &Path) -> Option<PathBuf> {
        let below = normalize(written);
        let below = below.strip_prefix(ROUTE).ok()?;
        let folder = self.path().join("retrieved");
        Some(if below.as_os_str().is_empty() {
            folder
        } else {
            folder.join(below)
        })
    }

    /// Makes the folder, or checks that it is a real folder of ours that nobody else can write.
    ///
    /// # Errors
    /// When it cannot be made or is not private.
    pub fn make(&self) -> io::Result<&Path> {
        fs::create_dir_all(&self.above)?;
        for folder in &self.folders {
            private_dir(folder)?;
        }
        Ok(self.path())
    }

    /// `text` as it is, when it is short enough; else its start and its end, and where the whole can be read.
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
                "{preview}\n\n[The result has {size}; only its start and its end are shown. The whole is in {}: read \
                 parts of it with read_file (start_line, end_line), or search it with grep.]",
                path.display()
            ),
            Err(error) => format!(
                "{preview}\n\n[The result has {size}; only its start and its end are shown, and the rest could not be \
                 kept ({error}). Ask for less at a time.]"
            ),
        }
    }

    fn store(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.make()?.join(format!("{number:04}-{name}.txt"));
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        io::Write::write_all(&mut file, text.as_bytes())?;
        Ok(path)
    }

    /// The session is over: removes its files, unless the person chose the folder.
    pub fn clear(&self) {
        let dir = self.path();
        if !self.kept && fs::symlink_metadata(dir).is_ok_and(|meta| meta.is_dir()) {
            // Best effort: the system cleans its temporary folder anyway.
            let _ = fs::remove_dir_all(dir);
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
    fn the_folder_is_named_by_user_and_session() {
        let dir = OffloadDir::new(Path::new("/t"), "s1");
        let uid = rustix::process::getuid().as_raw();
        assert_eq!(dir.path(), Path::new(&format!("/t/dcode-{uid}/s1")));
    }

    #[test]
    fn two_thousand_lines_and_fifty_kilobytes_stay() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = OffloadDir::new(tmp.path(), "s");
        for (text, stays) in [
            ("x\n".repeat(2_000), true),
            ("x\n".repeat(2_001), false),
            ("x".repeat(50 * 1024), true),
            ("x".repeat(50 * 1024 + 1), false),
        ] {
            let size = text.len();
            assert_eq!(dir.fit("bash", text.clone()) == text, stays, "{size} bytes");
        }
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
        std::os::unix::fs::symlink(tmp.path(), &dir.folders[0]).unwrap();
        let fitted = dir.fit("bash", "x\n".repeat(3000));
        assert!(fitted.contains("could not be kept"), "{fitted}");
    }

    #[test]
    fn a_chosen_folder_is_made_and_stays() {
        let project = tempfile::tempdir().unwrap();
        let chosen = project.path().join("build/artifacts");
        let dir = OffloadDir::chosen(&chosen, "s");
        assert!(!chosen.exists(), "nothing is made before it is needed");
        let fitted = dir.fit("bash", "x\n".repeat(3000));
        assert!(fitted.contains(&chosen.join("s/0001-bash.txt").display().to_string()));
        dir.clear();
        assert!(chosen.join("s/0001-bash.txt").exists());
    }

    #[test]
    fn retrieved_paths_never_mean_the_real_root() {
        let dir = OffloadDir::new(Path::new("/t"), "s");
        let route = |path: &str| dir.route(Path::new(path)).map(|path| path.display().to_string());
        let inside = |below: &str| Some(dir.path().join(below).display().to_string());
        assert_eq!(route("/retrieved/b1/a.txt"), inside("retrieved/b1/a.txt"));
        assert_eq!(route("/retrieved"), inside("retrieved"));
        assert_eq!(route("//retrieved/./b1/../b2/"), inside("retrieved/b2"));
        assert_eq!(route("/retrieved/../etc/passwd"), None);
        assert_eq!(route("/retrieved-not"), None);
        assert_eq!(route("retrieved/b1"), None);
    }
}
