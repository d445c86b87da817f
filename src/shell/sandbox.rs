//! Walls around a command: bubblewrap, with the project writable and the home hidden.
//!
//! Inside, a command sees the system read-only, an empty home but for what builds need, its own `/tmp` and its own
//! processes. It writes in the project and nowhere else, and there not in what runs later without being asked
//! (`.git/hooks`, `.git/config`, `.deepseek`). With [`Walls::network`] off it reaches no other machine.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::scratch::Scratch;

/// What builds need of a home, read-only.
const KEPT: [&str; 22] = [
    ".cargo",
    ".rustup",
    ".gitconfig",
    ".config/git",
    ".config/pip",
    ".local/bin",
    ".local/lib",
    ".local/share/mise",
    ".local/share/uv",
    ".local/share/pnpm",
    ".nvm",
    ".fnm",
    ".volta",
    ".pyenv",
    ".rbenv",
    ".asdf",
    ".sdkman",
    ".m2",
    ".deno",
    ".bun",
    ".npm",
    "go",
];

/// Files in there that hold keys.
const KEYS: [&str; 5] = [
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/git/credentials",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
];

/// What in a repository or a project runs or decides later: read-only.
const PROTECTED: [&str; 6] = [
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".git/info/attributes",
    ".git/modules",
    ".deepseek",
];

/// Of `/run`, where the sockets of other programs lie, only this is seen.
const OF_RUN: [&str; 4] = [
    "/run/systemd/resolve",
    "/run/current-system",
    "/run/opengl-driver",
    "/run/wrappers",
];

/// The places that a sandbox is built around.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The person's home.
    pub home: PathBuf,
    /// Folders that a command may write, links resolved: the project, the working directory.
    pub writable: Vec<PathBuf>,
    /// Folders and files that stay visible for reading although they may lie in the home or in `/tmp`.
    pub readable: Vec<PathBuf>,
}

/// What differs from command to command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walls {
    /// Whether it reaches the network.
    pub network: bool,
    /// Files that read as empty.
    pub hidden: Vec<PathBuf>,
}

/// A sandbox that was seen to work.
#[derive(Debug)]
pub struct Sandbox {
    program: PathBuf,
    places: Places,
    /// `/tmp` and `~/.cache` of the commands, as long as the session lasts.
    scratch: Scratch,
}

impl Sandbox {
    /// Looks for bubblewrap and tries it, which takes some 20 ms.
    ///
    /// # Errors
    /// Why there is no sandbox, as the end of a sentence.
    pub fn find(places: Places) -> Result<Self, String> {
        if let Some(folder) = places
            .writable
            .iter()
            .find(|folder| places.home.starts_with(folder))
        {
            return Err(format!(
                "{} holds your home, and would have to be writable",
                folder.display()
            ));
        }
        let program = super::env::find_program("bwrap").ok_or("bubblewrap (bwrap) is not installed")?;
        let scratch =
            Scratch::new().map_err(|error| format!("its scratch folder cannot be made ({error})"))?;
        let sandbox = Self {
            program,
            places,
            scratch,
        };
        sandbox.try_out()?;
        Ok(sandbox)
    }

    /// Removes what the commands left in their `/tmp` and `~/.cache`. Nothing can be run any more.
    pub fn close(&self) {
        self.scratch.remove();
    }

    #[allow(clippy::disallowed_methods)] // ends at once, and starts nothing
    fn try_out(&self) -> Result<(), String> {
        let walls = Walls {
            network: false,
            hidden: Vec::new(),
        };
        let output = Command::new(&self.program)
            .args(self.arguments(Path::new("/"), &walls))
            .args(["/bin/sh", "-c", ":"])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("bubblewrap does not start ({error})"))?;
        if output.status.success() {
            return Ok(());
        }
        let words = String::from_utf8_lossy(&output.stderr);
        let first = words.lines().next().unwrap_or("it gives no reason").trim();
        Err(format!("bubblewrap does not work here ({first})"))
    }

    /// The words before the shell: a program and its arguments.
    pub fn wrap(&self, cwd: &Path, walls: &Walls) -> Vec<OsString> {
        let mut words = vec![self.program.clone().into_os_string()];
        words.extend(self.arguments(cwd, walls));
        words
    }

    fn arguments(&self, cwd: &Path, walls: &Walls) -> Vec<OsString> {
        let mut bwrap = Arguments::default();
        bwrap.flags(&[
            "--die-with-parent",
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
            "--cap-drop",
            "ALL",
        ]);
        if !walls.network {
            bwrap.flags(&["--unshare-net"]);
        }
        bwrap.bind("--ro-bind", Path::new("/"));
        bwrap.flags(&["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"]);
        for path in OF_RUN {
            bwrap.bind("--ro-bind-try", Path::new(path));
        }
        bwrap.onto("--bind", &self.scratch.path().join("tmp"), Path::new("/tmp"));
        self.home(&mut bwrap);
        for path in &self.places.readable {
            bwrap.bind("--ro-bind-try", path);
        }
        for folder in &self.places.writable {
            bwrap.bind("--bind-try", folder);
        }
        for folder in &self.places.writable {
            self.protect(&mut bwrap, folder);
        }
        for file in walls.hidden.iter().filter(|file| file.is_file()) {
            bwrap.onto("--ro-bind", Path::new("/dev/null"), file);
        }
        self.close_home(&mut bwrap);
        // A program that finds no place for its state would put it into the project.
        bwrap.flags(&[
            "--setenv",
            "XDG_STATE_HOME",
            "/tmp/.state",
            "--unsetenv",
            "SSH_AUTH_SOCK",
            "--setenv",
            "TMPDIR",
            "/tmp",
            "--chdir",
        ]);
        bwrap.0.push(cwd.into());
        bwrap.flags(&["--"]);
        bwrap.0
    }

    fn home(&self, bwrap: &mut Arguments) {
        let home = &self.places.home;
        if !home.is_dir() || home.parent().is_none() {
            return;
        }
        bwrap.flags(&["--tmpfs"]);
        bwrap.0.push(home.into());
        for path in KEPT
            .iter()
            .map(|name| home.join(name))
            .filter(|path| path.exists())
        {
            bwrap.bind("--ro-bind-try", &path);
        }
        for folder in covered(&std::env::var_os("PATH").unwrap_or_default(), home) {
            bwrap.bind("--ro-bind-try", &folder);
        }
        bwrap.onto("--bind", &self.scratch.path().join("cache"), &home.join(".cache"));
        for file in KEYS
            .iter()
            .map(|name| home.join(name))
            .filter(|file| file.is_file())
        {
            bwrap.onto("--ro-bind", Path::new("/dev/null"), &file);
        }
    }

    /// What is written to an empty home would be lost without a word, so it is refused.
    fn close_home(&self, bwrap: &mut Arguments) {
        let home = &self.places.home;
        let is_open = self.places.writable.iter().any(|folder| home.starts_with(folder));
        if home.is_dir() && home.parent().is_some() && !is_open {
            bwrap.flags(&["--remount-ro"]);
            bwrap.0.push(home.into());
        }
    }

    /// What may not be written in a writable folder. A folder of hooks that is missing is made, so that no command
    /// can make one.
    fn protect(&self, bwrap: &mut Arguments, folder: &Path) {
        let git = folder.join(".git");
        if git.is_dir() {
            // A mount of its own cannot be moved away and replaced.
            bwrap.bind("--bind", &git);
            if !git.join("hooks").exists() {
                bwrap.onto(
                    "--ro-bind",
                    &self.scratch.path().join("empty"),
                    &git.join("hooks"),
                );
            }
        }
        for path in PROTECTED
            .iter()
            .map(|name| folder.join(name))
            .filter(|path| path.exists())
        {
            bwrap.bind("--ro-bind-try", &path);
        }
        if git.is_file() {
            bwrap.bind("--ro-bind-try", &git);
        }
        if let Some(common) = common_dir(folder) {
            bwrap.bind("--bind-try", &common);
            for path in ["hooks", "config"].map(|name| common.join(name)) {
                bwrap.bind("--ro-bind-try", &path);
            }
        }
    }
}

/// Folders of `PATH` that the sandbox's own home and `/tmp` would cover.
fn covered(path: &OsStr, home: &Path) -> Vec<PathBuf> {
    let covers = |folder: &PathBuf| {
        let below = |root: &Path| folder.starts_with(root) && folder != root;
        below(home) || below(Path::new("/tmp"))
    };
    std::env::split_paths(path).filter(covers).collect()
}

/// The repository of a linked worktree. The worktree must be known to it: a project could name any folder.
fn common_dir(folder: &Path) -> Option<PathBuf> {
    let file = folder.join(".git");
    let text = std::fs::read_to_string(&file).ok()?;
    let own = folder
        .join(text.strip_prefix("gitdir:")?.trim())
        .canonicalize()
        .ok()?;
    let back = std::fs::read_to_string(own.join("gitdir")).ok()?;
    let known = own.join(back.trim()).canonicalize().ok()? == file.canonicalize().ok()?;
    let common = own
        .parent()
        .filter(|folder| folder.ends_with("worktrees"))?
        .parent()?;
    let is_repository =
        common.ends_with(".git") && common.join("HEAD").is_file() && common.join("objects").is_dir();
    (known && is_repository).then(|| common.to_owned())
}

#[derive(Default)]
struct Arguments(Vec<OsString>);

impl Arguments {
    fn flags(&mut self, flags: &[&str]) {
        self.0.extend(flags.iter().map(OsString::from));
    }

    fn bind(&mut self, how: &str, path: &Path) {
        self.onto(how, path, path);
    }

    fn onto(&mut self, how: &str, from: &Path, to: &Path) {
        self.0.extend([OsString::from(how), from.into(), to.into()]);
    }
}

/// A hint for the model when a command failed that ran within walls, and why it may have.
pub fn hint(output: &str, line: &str, walls: &Walls) -> Option<&'static str> {
    const WRITES: [&str; 3] = ["Read-only file system", "EROFS", "Device or resource busy"];
    const NETWORK: [&str; 8] = [
        "Network is unreachable",
        "Temporary failure in name resolution",
        "Could not resolve host",
        "Name or service not known",
        "Connection refused",
        "EAI_AGAIN",
        "ENETUNREACH",
        "failed to lookup address",
    ];
    const ABSENT: [&str; 4] = ["No such file", "not found", "does not exist", "Permission denied"];
    let has = |words: &[&str]| words.iter().any(|word| output.contains(word));
    let names_home = line.contains('~') || line.contains("HOME") || line.contains("ssh");
    if has(&WRITES) {
        Some("it may write only in the project and in /tmp, and there neither .git/hooks nor .git/config")
    } else if !walls.network && has(&NETWORK) {
        Some("it has no network")
    } else if has(&ABSENT) && (names_home || output.contains("/run/") || output.contains("publickey")) {
        Some("the home folder and the sockets of other programs are hidden")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_would_be_covered_stay() {
        let path = OsStr::new("/usr/bin:/home/a/bin:/home/a:/tmp/tools:/tmp:/tmpx/bin");
        let kept = covered(path, Path::new("/home/a"));
        assert_eq!(kept, ["/home/a/bin", "/tmp/tools"].map(PathBuf::from));
    }

    #[test]
    fn a_home_within_what_is_writable_is_refused() {
        let places = Places {
            home: "/home/u".into(),
            writable: vec!["/home".into()],
            ..Places::default()
        };
        assert!(
            Sandbox::find(places)
                .unwrap_err()
                .contains("/home holds your home")
        );
    }

    #[test]
    fn the_reason_of_a_failure_is_named() {
        let walls = |network| Walls {
            network,
            hidden: Vec::new(),
        };
        let why = |output: &str, line: &str, network| hint(output, line, &walls(network));
        assert!(why("touch: /etc/x: Read-only file system", "touch /etc/x", true).is_some());
        assert!(why("curl: (6) Could not resolve host: x", "curl x", false).is_some());
        assert!(why("curl: (6) Could not resolve host: x", "curl x", true).is_none());
        assert!(why("cat: /home/u/x: No such file or directory", "cat ~/x", true).is_some());
        assert!(why("cat: x: No such file or directory", "cat x", true).is_none());
    }

    #[test]
    fn only_a_worktree_that_its_repository_knows_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let (tree, own) = (
            dir.path().join("tree"),
            dir.path().join("main/.git/worktrees/tree"),
        );
        std::fs::create_dir_all(&tree).unwrap();
        std::fs::create_dir_all(&own).unwrap();
        std::fs::create_dir_all(dir.path().join("main/.git/objects")).unwrap();
        let put =
            |path: PathBuf, text: String| crate::fs::atomic::write(&path, text.as_bytes(), None).unwrap();
        put(dir.path().join("main/.git/HEAD"), "ref: refs/heads/main\n".into());
        put(tree.join(".git"), format!("gitdir: {}\n", own.display()));
        assert_eq!(common_dir(&tree), None);
        put(own.join("gitdir"), format!("{}\n", tree.join(".git").display()));
        assert_eq!(
            common_dir(&tree),
            Some(dir.path().join("main/.git").canonicalize().unwrap())
        );
        put(own.join("gitdir"), "/elsewhere/.git\n".into());
        assert_eq!(common_dir(&tree), None);
    }
}
