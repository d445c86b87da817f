//! Walls around a command: bubblewrap, with the project writable and the home hidden.
//!
//! Inside, a command sees the system read-only, an empty home but for what builds need, its own `/tmp` and its own
//! processes. It writes in the project and nowhere else, and there not in what is run or obeyed later without being
//! asked: `.deepseek`, and git folders (`sandbox_git`). With [`Walls::network`] off it reaches no other machine.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::sandbox_git;
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

/// Of `/run`, where the sockets of other programs lie, only this is seen.
const OF_RUN: [&str; 4] = [
    "/run/systemd/resolve",
    "/run/current-system",
    "/run/opengl-driver",
    "/run/wrappers",
];

/// Variables that lead to other programs of the person, which act outside.
const SOCKETS: [&str; 4] = [
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "WAYLAND_DISPLAY",
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walls {
    /// Whether it reaches the network.
    pub network: bool,
    /// Whether it writes in git folders, but for hooks and settings.
    pub git: bool,
    /// Files that read as empty.
    pub hidden: Vec<PathBuf>,
    /// The `.git` folders and files below the writable folders.
    pub repositories: Vec<PathBuf>,
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

    /// The folders that commands may write.
    pub fn writable(&self) -> &[PathBuf] {
        &self.places.writable
    }

    /// Removes what the commands left in their `/tmp` and `~/.cache`. Nothing can be run any more.
    pub fn close(&self) {
        self.scratch.remove();
    }

    #[allow(clippy::disallowed_methods)] // ends at once, and starts nothing
    fn try_out(&self) -> Result<(), String> {
        let walls = Walls::default();
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
            self.protect(&mut bwrap, folder, walls);
        }
        for file in walls.hidden.iter().filter(|file| file.is_file()) {
            bwrap.onto("--ro-bind", Path::new("/dev/null"), file);
        }
        self.close_home(&mut bwrap);
        for name in SOCKETS {
            bwrap.flags(&["--unsetenv", name]);
        }
        // A program that finds no place for its state would put it into the project.
        bwrap.flags(&[
            "--setenv",
            "XDG_STATE_HOME",
            "/tmp/.state",
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

    /// What may not be written in a writable folder.
    fn protect(&self, bwrap: &mut Arguments, folder: &Path, walls: &Walls) {
        let (git, empty) = (folder.join(".git"), self.scratch.path().join("empty"));
        sandbox_git::protect(bwrap, &git, walls.git, &empty);
        for git in walls.repositories.iter().filter(|path| path.starts_with(folder)) {
            sandbox_git::protect(bwrap, git, walls.git, &empty);
        }
        let own = folder.join(".deepseek");
        if own.exists() {
            bwrap.bind("--ro-bind-try", &own);
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

/// The words before the command.
#[derive(Default)]
pub(super) struct Arguments(Vec<OsString>);

impl Arguments {
    fn flags(&mut self, flags: &[&str]) {
        self.0.extend(flags.iter().map(OsString::from));
    }

    pub(super) fn bind(&mut self, how: &str, path: &Path) {
        self.onto(how, path, path);
    }

    pub(super) fn onto(&mut self, how: &str, from: &Path, to: &Path) {
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
        Some(if walls.git {
            "it may write only in the project and in /tmp, and there neither hooks nor settings of git"
        } else {
            "it may write only in the project and in /tmp, and in .git only when the line runs git and nothing else \
             that could: give git a line of its own"
        })
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
            ..Walls::default()
        };
        let why = |output: &str, line: &str, network| hint(output, line, &walls(network));
        assert!(why("touch: /etc/x: Read-only file system", "touch /etc/x", true).is_some());
        assert!(why("curl: (6) Could not resolve host: x", "curl x", false).is_some());
        assert!(why("curl: (6) Could not resolve host: x", "curl x", true).is_none());
        assert!(why("cat: /home/u/x: No such file or directory", "cat ~/x", true).is_some());
        assert!(why("cat: x: No such file or directory", "cat x", true).is_none());
    }
}
