//! A jail in which a line can do no harm: real bash in bubblewrap, where every program of `PATH` is a canary that
//! writes its name and arguments into a log. Wrappers (`env`, `xargs`, `timeout` …) log and then do their work, so
//! that what they run is logged, too.

use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Log and do nothing else.
const QUIET: &[&str] = &[
    "zap",
    "zip1",
    "z",
    "nothing-else",
    "ls",
    "rm",
    "git",
    "tee",
    "sort",
    "grep",
    "rg",
    "make",
    "cargo",
    "cp",
    "mv",
    "touch",
    "mkdir",
    "sed",
    "awk",
    "python3",
    "curl",
    "ssh",
    "sleep",
    "date",
    "wc",
    "head",
    "tail",
];
/// Log and fail.
const FAILING: &[&str] = &["nay"];
/// Log and then do what they are for.
const WORKING: &[&str] = &[
    "env", "xargs", "timeout", "nice", "nohup", "setsid", "stdbuf", "find", "cat", "bash", "sh", "sudo",
];

/// What stands for each of them. `-p`: neither variables nor functions of the line change it.
const CANARY: &str = r#"#!/.jail/real/bash -p
name=${0##*/}
builtin printf '%s\0' "$name" "$#" "$@" >> /.jail/log
case $name in
  nay) exit 1 ;;
  sudo) case ${1-} in ''|-*) exit 0 ;; esac; exec "$@" ;;
  bash|sh)
    skip=
    for word; do
      if [[ $skip ]]; then skip=; continue; fi
      case $word in
        # A shell that reads a file or its input runs what is not in the line.
        --*) exit 0 ;;
        [-+]*c*) if [[ $name = sh ]]; then exec /.jail/real/dash "$@"; else exec /.jail/real/bash "$@"; fi ;;
        [-+]*[oO]) skip=1 ;;
        [-+]*) ;;
        *) exit 0 ;;
      esac
    done
    exit 0 ;;
  env|xargs|timeout|nice|nohup|setsid|stdbuf|find|cat) exec "/.jail/real/$name" "$@" ;;
esac
exit 0
"#;

/// Called by bash for a name that is no program: also what nobody thought of is logged.
const NOT_FOUND: &str =
    r#"() { builtin printf '%s\0' "$1" "$(($# - 1))" "${@:2}" >> /.jail/log; return 127; }"#;

/// How long a line may take, with the start of the jail.
const LIMIT: Duration = Duration::from_secs(4);

/// Something that ran: a program's name and its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ran {
    pub name: String,
    pub arguments: Vec<String>,
}

/// What a line did.
#[derive(Debug, Default)]
pub struct Deeds {
    pub ran: Vec<Ran>,
    /// Paths in the jail, absolute.
    pub created: BTreeSet<String>,
    /// It was ended.
    pub timed_out: bool,
}

/// The canaries, and the shell that is tried.
pub struct Jail {
    canaries: TempDir,
    shell: &'static str,
}

impl Jail {
    /// `None` with a printed reason where bubblewrap cannot run. In CI that is a failure.
    pub fn new(shell: &'static str) -> Option<Self> {
        let canaries = TempDir::new().unwrap();
        let script = canaries.path().join("canary");
        std::fs::write(&script, CANARY).unwrap();
        std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
        let bin = canaries.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        for name in QUIET.iter().chain(FAILING).chain(WORKING) {
            symlink("/.jail/canaries/canary", bin.join(name)).unwrap();
        }
        let jail = Self { canaries, shell };
        let deeds = jail.run("zap 'it works'");
        let works = deeds.ran
            == [Ran {
                name: "zap".into(),
                arguments: vec!["it works".into()],
            }];
        if !works {
            assert!(
                std::env::var_os("CI").is_none(),
                "bubblewrap does not work here: {deeds:?}"
            );
            println!("skipped: bubblewrap is not installed, or may make no namespaces here");
            return None;
        }
        Some(jail)
    }

    /// Runs a line in a fresh jail.
    pub fn run(&self, line: &str) -> Deeds {
        let root = TempDir::new().unwrap();
        furnish(root.path());
        let before = files(root.path());
        let canaries = self.canaries.path();
        let mut command = Command::new("bwrap");
        command
            .arg("--bind")
            .arg(root.path())
            .arg("/")
            .args([
                "--ro-bind",
                "/usr/lib",
                "/usr/lib",
                "--ro-bind",
                "/usr/bin",
                "/.jail/real",
            ])
            .arg("--ro-bind")
            .arg(canaries)
            .arg("/.jail/canaries")
            .arg("--ro-bind")
            .arg(canaries.join("bin"))
            .arg("/usr/bin");
        for library in ["/lib", "/lib64"] {
            if Path::new(library).exists() {
                command.args(["--ro-bind", library, library]);
            }
        }
        command
            .args(["--symlink", "usr/bin", "/bin", "--dev", "/dev", "--proc", "/proc"])
            .args([
                "--unshare-all",
                "--die-with-parent",
                "--new-session",
                "--chdir",
                "/work",
                "--clearenv",
            ])
            .args(["--setenv", "PATH", "/usr/bin", "--setenv", "HOME", "/home/u"])
            // A function that calls itself must not fill the machine.
            .args(["--setenv", "FUNCNEST", "5"])
            .args(["--setenv", "BASH_FUNC_command_not_found_handle%%", NOT_FOUND])
            .arg(format!("/.jail/real/{}", self.shell))
            .args(["-c", line])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else {
            return Deeds::default();
        };
        let started = Instant::now();
        let mut timed_out = false;
        while child.try_wait().unwrap().is_none() {
            if started.elapsed() > LIMIT {
                timed_out = true;
                child.kill().unwrap();
                child.wait().unwrap();
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Deeds {
            ran: read_log(&std::fs::read(root.path().join(".jail/log")).unwrap_or_default()),
            created: files(root.path()).difference(&before).cloned().collect(),
            timed_out,
        }
    }
}

/// A small project and a home.
fn furnish(root: &Path) {
    for folder in ["work/d", "work/.git/hooks", "home/u/.ssh", "tmp", ".jail"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    for file in [
        "work/f",
        "work/d/x",
        "work/.env",
        "work/.git/config",
        "home/u/.bashrc",
        ".jail/log",
    ] {
        std::fs::write(root.join(file), "").unwrap();
    }
}

/// All files below the folders that a line may write, as paths in the jail.
fn files(root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root.join(&folder)).unwrap().flatten() {
            let path = folder.join(entry.file_name());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let mounted = ["dev", "proc", "usr", "lib", "lib64", "bin", ".jail"];
            if folder.as_os_str().is_empty() && mounted.iter().any(|name| path.as_os_str() == *name) {
                continue;
            }
            if is_folder {
                folders.push(path);
            } else {
                found.insert(format!("/{}", path.display()));
            }
        }
    }
    found
}

fn read_log(log: &[u8]) -> Vec<Ran> {
    let mut fields = log
        .split(|byte| *byte == 0)
        .map(|field| String::from_utf8_lossy(field).into_owned());
    let mut ran = Vec::new();
    while let Some(name) = fields.next().filter(|name| !name.is_empty()) {
        let count = fields.next().and_then(|count| count.parse().ok()).unwrap_or(0);
        ran.push(Ran {
            name,
            arguments: fields.by_ref().take(count).collect(),
        });
    }
    ran
}
