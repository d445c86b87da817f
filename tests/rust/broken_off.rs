//! A patch of ten files that breaks off: at the N-th system call the disk is full, the disk fails, or the
//! process is killed, for every N. Whatever happens, all files are as before or all as after, and nothing is
//! left behind.
//!
//! The patch runs in a process of its own under `strace`, which makes the call fail. Each run walks a part of
//! the calls; `DCODE_EVERY_CALL=1` walks them all (`make faults`).

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use dcode::backend::local::LocalBackend;
use dcode::backend::{TakenBack, recover};
use dcode::journal::FileLock;
use dcode::protocol::change::SavePolicy;
use dcode::protocol::ids::CallId;
use dcode::tools::apply_patch::{ApplyPatch, Args};
use dcode::tools::tool::{Tool, ToolCtx};
use tokio_util::sync::CancellationToken;

use crate::fake_editor::FakeEditor;
use crate::other_process;

/// What changes the disk, and what may fail for want of room. Each is counted for itself.
const CALLS: [&str; 19] = [
    "openat",
    "write",
    "fsync",
    "fdatasync",
    "syncfs",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "rmdir",
    "fchmod",
    "chmod",
    "ftruncate",
    "flock",
];
/// More calls than the patch needs.
const TOO_MANY: usize = 2_000;

const PATCH: &str = "*** Begin Patch
*** Update File: a
@@
-a2
+A2
*** Update File: hard
@@
-h1
+H1 is longer than before
*** Update File: run.sh
@@
-r1
+R1
*** Add File: new/deep/n1
+n1
*** Add File: new/n2
+n2
*** Delete File: gone
*** Delete File: sub/gone2
*** Update File: sub/moved
*** Move to: new/moved
@@
-m1
+M1
*** Update File: sub/b
@@
-b1
+B1
*** Update File: sub/c
@@
-c1
+C1
*** End Patch
";

fn lay_out(root: &Path) {
    for (name, text, mode) in [
        ("a", "a1\na2\n", 0o644),
        ("hard", "h1\nh2\n", 0o600),
        ("run.sh", "r1\n", 0o755),
        ("gone", "g\n", 0o640),
        ("sub/gone2", "g2\n", 0o644),
        ("sub/moved", "m1\nm2\n", 0o700),
        ("sub/b", "b1\r\nb2\r\n", 0o644),
        ("sub/c", "c1", 0o644),
        ("sub/stays", "s\n", 0o644),
    ] {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = std::fs::File::create(&path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.set_permissions(PermissionsExt::from_mode(mode)).unwrap();
    }
    // Written in place: both names must stay one file.
    std::fs::hard_link(root.join("hard"), root.join("hard-too")).unwrap();
}

/// Name, mode and bytes of everything, folders too.
fn tree(root: &Path) -> BTreeMap<String, (u32, String)> {
    fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<String, (u32, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            let mode = std::fs::symlink_metadata(&path).unwrap().mode();
            if path.is_dir() {
                found.insert(name + "/", (mode, String::new()));
                collect(root, &path, found);
            } else {
                let bytes = std::fs::read(&path).unwrap();
                found.insert(name, (mode, bytes.escape_ascii().to_string()));
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(root, root, &mut found);
    found
}

/// The child: waits for a word, patches, says how it went.
#[test]
#[ignore = "a part of the tests in this file, which start it"]
fn patch() {
    let Some(folder) = other_process::folder() else {
        return;
    };
    let root = folder.join("p");
    // One thread does all the work on the disk, so that the N-th call is always the same.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(1)
        .build()
        .unwrap();
    println!("ready");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    let outcome = runtime.block_on(run(&root, &folder.join("intents")));
    println!("outcome: {}", outcome.replace('\n', " "));
}

async fn run(root: &Path, intents: &Path) -> String {
    let editor = Arc::new(FakeEditor::default());
    let backend = LocalBackend::new(editor, SavePolicy::OnEdit, Arc::new(|_| {})).with_intents(intents);
    let tool = ApplyPatch::new(Arc::new(backend), Arc::default(), true);
    let ctx = ToolCtx {
        call: CallId("c".into()),
        cwd: root.to_owned(),
        cancel: CancellationToken::new(),
        progress: Arc::new(|_| {}),
    };
    let args = Args {
        patch_text: PATCH.to_owned(),
    };
    match tool.run(args, &ctx).await {
        Ok(output) => format!("done: {}", output.text),
        Err(error) => format!("refused: {error}"),
    }
}

/// What happens at a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Error(&'static str),
    Kill,
}

struct Scene {
    _dir: tempfile::TempDir,
    folder: PathBuf,
    before: BTreeMap<String, (u32, String)>,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().canonicalize().unwrap();
        lay_out(&folder.join("p"));
        let before = tree(&folder.join("p"));
        Self {
            _dir: dir,
            folder,
            before,
        }
    }

    fn tree(&self) -> BTreeMap<String, (u32, String)> {
        tree(&self.folder.join("p"))
    }

    fn leftovers(&self) -> Vec<String> {
        let intents = std::fs::read_dir(self.folder.join("intents"));
        let names = intents
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().file_name());
        names.map(|name| name.to_string_lossy().into_owned()).collect()
    }

    /// Runs the patch with the fault at the `nth` call of this kind; the outcome, and whether the fault came to pass.
    fn run(&self, fault: Fault, call: &str, nth: usize) -> Option<(String, bool)> {
        let mut child = other_process::command("broken_off::patch", &self.folder, "")
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        wait_for(&mut output, "ready");
        let what = match fault {
            Fault::Error(name) => format!("error={name}"),
            Fault::Kill => "signal=SIGKILL".to_owned(),
        };
        let log = self.folder.join("strace.log");
        let tracer = trace(&child, call, &format!("{what}:when={nth}"), &log);
        let Some(mut tracer) = tracer else {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        };
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        let status = child.wait().unwrap();
        tracer.wait().unwrap();
        let outcome = text.lines().find_map(|line| line.strip_prefix("outcome: "));
        let injected = std::fs::read_to_string(&log)
            .unwrap_or_default()
            .contains("(INJECTED)");
        let happened = match fault {
            Fault::Kill => status.signal() == Some(9),
            Fault::Error(_) => injected,
        };
        Some((outcome.unwrap_or("died").to_owned(), happened))
    }
}

fn wait_for(output: &mut impl BufRead, word: &str) {
    let mut line = String::new();
    while !line.contains(word) {
        line.clear();
        assert!(
            output.read_line(&mut line).unwrap() > 0,
            "the process ended early"
        );
    }
}

/// Attaches to the process; `None` where that is not possible.
fn trace(child: &Child, call: &str, what: &str, log: &Path) -> Option<Child> {
    let mut tracer = Command::new("strace")
        .args(["-f", "-p", &child.id().to_string(), "-o"])
        .arg(log)
        .arg(format!("--trace={call}"))
        .arg(format!("--inject={call}:{what}"))
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut lines = BufReader::new(tracer.stderr.take()?).lines();
    let attached = lines.find_map(|line| line.ok().filter(|line| line.contains("attached")));
    if attached.is_none() {
        tracer.wait().ok()?;
        return None;
    }
    // Read on, so that it never waits for us.
    std::thread::spawn(move || lines.for_each(drop));
    Some(tracer)
}

/// What the files are when all goes well.
fn after() -> BTreeMap<String, (u32, String)> {
    let scene = Scene::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let outcome = runtime.block_on(run(&scene.folder.join("p"), &scene.folder.join("intents")));
    assert!(outcome.starts_with("done"), "{outcome}");
    assert!(scene.leftovers().is_empty(), "{:?}", scene.leftovers());
    let after = scene.tree();
    assert_ne!(after, scene.before);
    after
}

/// Walks the calls, every one or a part of them.
fn walk(fault: Fault, judge: impl Fn(&Scene, &str, &str)) {
    let step = if std::env::var_os("DCODE_EVERY_CALL").is_some() {
        1
    } else {
        17
    };
    let mut tried = 0;
    for (at, call) in CALLS.into_iter().enumerate() {
        // Another part of the calls of each kind.
        for nth in (1 + at * 5 % step..TOO_MANY).step_by(step) {
            let scene = Scene::new();
            let Some((outcome, happened)) = scene.run(fault, call, nth) else {
                println!("skipped: strace is not there or may not attach");
                return;
            };
            if !happened {
                assert!(outcome.starts_with("done"), "{outcome}");
                break;
            }
            judge(&scene, &outcome, &format!("{fault:?} at {call} {nth}: {outcome}"));
            tried += 1;
        }
    }
    println!("{fault:?}: {tried} calls tried");
    assert!(tried > 5, "only {tried} calls were met");
}

fn a_failing_call(error: &'static str) {
    let after = after();
    walk(Fault::Error(error), |scene, outcome, about| {
        let expected = if outcome.starts_with("done") {
            &after
        } else {
            assert!(outcome.starts_with("refused"), "{about}");
            &scene.before
        };
        assert_eq!(&scene.tree(), expected, "{about}");
        assert_eq!(recover(&scene.folder.join("intents")), [], "{about}");
        assert_eq!(scene.leftovers(), Vec::<String>::new(), "{about}");
        assert_eq!(&scene.tree(), expected, "{about}, after the next start");
    });
}

#[test]
fn a_disk_that_is_full_at_any_call_changes_nothing() {
    a_failing_call("ENOSPC");
}

#[test]
fn a_disk_that_fails_at_any_call_changes_nothing() {
    a_failing_call("EIO");
}

#[test]
fn a_kill_at_any_call_is_made_good_by_the_next_start() {
    let after = after();
    walk(Fault::Kill, |scene, _, about| {
        let taken_back = recover(&scene.folder.join("intents"));
        let left = |done: &TakenBack| done.left.clone();
        assert!(
            taken_back.iter().all(|done| left(done).is_empty()),
            "{about}: {taken_back:?}"
        );
        let tree = scene.tree();
        assert!(
            tree == scene.before || tree == after,
            "{about}: {taken_back:?}\n{tree:#?}"
        );
        let (one, other) = ("hard", "hard-too");
        let inode = |name: &str| {
            std::fs::metadata(scene.folder.join("p").join(name))
                .unwrap()
                .ino()
        };
        assert_eq!(inode(one), inode(other), "{about}");
        assert_eq!(scene.leftovers(), Vec::<String>::new(), "{about}");
        assert_eq!(
            recover(&scene.folder.join("intents")),
            [],
            "{about}: once is enough"
        );
    });
}

/// A file that somebody changed after the crash is theirs; the others come back.
#[test]
fn what_was_changed_since_is_left_and_named() {
    let mut left = None;
    // Somewhere between the renames of the files.
    for nth in 2..20 {
        let scene = Scene::new();
        let Some((_, true)) = scene.run(Fault::Kill, "renameat", nth) else {
            break;
        };
        let now = scene.tree();
        let changed = |name: &str| now.get(name) != scene.before.get(name);
        if !(changed("a") && now.get("sub/c") == scene.before.get("sub/c")) {
            continue;
        }
        dcode::fs::atomic::write(&scene.folder.join("p/a"), b"mine\n", None).unwrap();
        left = Some(recover(&scene.folder.join("intents")));
        assert_eq!(std::fs::read(scene.folder.join("p/a")).unwrap(), b"mine\n");
        let (now, before) = (scene.tree(), &scene.before);
        assert!(
            before
                .keys()
                .filter(|name| *name != "a")
                .all(|name| now.get(name) == before.get(name))
        );
        break;
    }
    match left {
        Some(done) => {
            assert_eq!(done.len(), 1);
            assert_eq!(done[0].left.len(), 1, "{done:?}");
            assert!(done[0].label.starts_with("apply_patch a and"), "{done:?}");
        }
        None => println!("skipped: strace is not there, or no call lies between the files"),
    }
}

/// A set whose process lives is not touched.
#[test]
fn a_living_process_is_left_alone() {
    let scene = Scene::new();
    let intents = scene.folder.join("intents/1-living");
    std::fs::create_dir_all(&intents).unwrap();
    let lock = std::fs::File::create(intents.join("lock")).unwrap();
    let lock = FileLock::try_take(lock).unwrap().unwrap();
    assert_eq!(recover(&scene.folder.join("intents")), []);
    assert!(intents.exists());
    drop(lock);
    // Nothing was noted yet, and process 1 lives: it may be about to.
    assert_eq!(recover(&scene.folder.join("intents")), []);
    assert!(intents.exists());
}
