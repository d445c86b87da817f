//! Tools behind the whole way in: gate, snapshot, run; and the way back by undo.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use dcode::backend::Backend;
use dcode::config::model::Config;
use dcode::host::{Answer, Human, HumanError};
use dcode::offload::OffloadDir;
use dcode::permission::gate::{Gate, GateSetup};
use dcode::protocol::change::{ChangeSet, FileChange, Origin};
use dcode::protocol::ids::{SessionId, StepIx, TurnId};
use dcode::protocol::request::{Approval, Choice, Question};
use dcode::protocol::tool::Outcome;
use dcode::snapshot::{After, Fit, Plan, Restoration, Scope, SnapshotDirs, SnapshotStore, Undone};
use dcode::tools::apply_patch::ApplyPatch;
use dcode::tools::batch::Batch;
use dcode::tools::delete::Delete;
use dcode::tools::dispatch::{Dispatcher, Place};
use dcode::tools::edit_file::EditFile;
use dcode::tools::finished::Finished;
use dcode::tools::locks::PathLocks;
use dcode::tools::read_file::ReadFile;
use dcode::tools::registry::Registry;
use dcode::tools::seen::SeenFiles;
use dcode::tools::shell_effects::ShellEffects;
use dcode::tools::write_file::WriteFile;
use serde_json::{Value, json};

use crate::project::Project;

/// What the person answers, and what was asked.
type Answering = Box<dyn Fn(&Approval) -> Choice + Send + Sync>;

struct Person {
    answer: Answering,
    asked: Mutex<Vec<Approval>>,
}

#[async_trait]
impl Human for Person {
    fn present(&self) -> bool {
        true
    }

    async fn approve(&self, approval: Approval) -> Result<Answer, HumanError> {
        let decision = (self.answer)(&approval);
        self.asked.lock().unwrap().push(approval);
        Ok(Answer {
            decision,
            feedback: None,
            args: None,
            save: false,
        })
    }

    async fn ask(&self, _: Vec<Question>) -> Result<Option<Vec<Vec<String>>>, HumanError> {
        Ok(None)
    }
}

/// A project with its tools behind a dispatcher. Each call is a step.
struct Session {
    project: Project,
    person: Arc<Person>,
    dispatcher: Dispatcher,
    registry: Registry,
    steps: Mutex<u64>,
}

impl Session {
    fn new() -> Self {
        Self::with(Config::default(), Box::new(|_| Choice::Once))
    }

    fn with(config: Config, answer: Answering) -> Self {
        let project = Project::new();
        let person = Arc::new(Person {
            answer,
            asked: Mutex::default(),
        });
        let backend: Arc<dyn Backend> = Arc::new(project.backend.clone());
        let gate = Gate::new(GateSetup {
            cwd: project.root.clone(),
            config: Arc::new(config),
            user_file: project.root.join(".state/config.toml"),
            ..GateSetup::default()
        });
        let dirs = SnapshotDirs {
            project: project.root.clone(),
            state: project.root.join(".state"),
        };
        let seen = Arc::new(SeenFiles::default());
        let mut registry = Registry::default();
        registry.add(ReadFile::new(Arc::clone(&backend), Arc::clone(&seen)));
        registry.add(WriteFile::new(Arc::clone(&backend), Arc::clone(&seen)));
        registry.add(EditFile::new(Arc::clone(&backend), Arc::clone(&seen)));
        registry.add(ApplyPatch::new(Arc::clone(&backend), Arc::clone(&seen), true));
        registry.add(Delete::new(backend, seen));
        let dispatcher = Dispatcher {
            gate: Arc::new(gate),
            human: person.clone(),
            editor: project.editor.clone(),
            snapshots: Arc::new(SnapshotStore::new(dirs, SessionId("s".to_owned()))),
            offload: Arc::new(OffloadDir::new(&project.root, "s")),
            locks: PathLocks::default(),
            effects: ShellEffects::unseen(),
            panel: project.no_judges(),
        };
        Self {
            project,
            person,
            dispatcher,
            registry,
            steps: Mutex::new(0),
        }
    }

    async fn call(&self, tool: &str, args: Value) -> Finished {
        let step = {
            let mut steps = self.steps.lock().unwrap();
            *steps += 1;
            *steps
        };
        let tool = self.registry.find(tool).unwrap();
        let prepared = match tool.prepare(&args.to_string(), &self.project.root) {
            Ok(prepared) => prepared,
            Err(error) => return Finished::unfit(&error),
        };
        let place = Place {
            step: StepIx(step),
            turn: TurnId(1),
            limit: None,
        };
        self.dispatcher
            .dispatch(tool, prepared, place, self.project.ctx(), &Batch::default())
            .await
    }

    async fn delete(&self, path: &str) -> Finished {
        self.call("delete", json!({"path": path})).await
    }

    /// Takes the newest step back, as `:DcodeUndo` does: what the backend can do first, then the rest.
    async fn undo(&self) {
        let store = &self.dispatcher.snapshots;
        let plan = store.plan_undo(Scope::Steps(1)).unwrap();
        let undone = self.restore(&plan).await;
        store.mark_undone(&plan, undone, &[]).unwrap();
    }

    async fn redo(&self) {
        let store = &self.dispatcher.snapshots;
        let plan = store.plan_redo().unwrap();
        let left = self.restore(&plan).await;
        let now = left.into_iter().map(|file| (file.path, file.now)).collect();
        store.mark_redone(&plan, now).unwrap();
    }

    async fn restore(&self, plan: &Plan) -> Vec<Undone> {
        let store = &self.dispatcher.snapshots;
        let mut todo = Vec::new();
        for file in &plan.files {
            let now = store.observe(&file.path, None).unwrap();
            assert_eq!(
                store.check(file, &now).unwrap(),
                Fit::Matches,
                "{}",
                file.path.display()
            );
            todo.push((now.clone(), store.restoration(file, &now).unwrap()));
        }
        let changes: Vec<FileChange> = todo.iter().filter_map(|(_, one)| one.change()).collect();
        if !changes.is_empty() {
            let set = ChangeSet {
                origin: Origin::Restore,
                label: "undo".to_owned(),
                changes,
            };
            self.project.backend.apply(set).await.unwrap();
        }
        let rest: Vec<Restoration> = todo
            .iter()
            .map(|(_, one)| one.clone())
            .filter(|one| one.change().is_none() && !one.is_nothing())
            .collect();
        store.put_back(&rest).unwrap();
        let pairs = plan.files.iter().zip(todo);
        pairs
            .map(|(file, (was, _))| Undone {
                path: file.path.clone(),
                was,
                now: After::from(&store.observe(&file.path, None).unwrap()),
            })
            .collect()
    }

    /// Everything in the project, a line each, what dcode keeps aside.
    fn tree(&self) -> Vec<String> {
        fn collect(root: &Path, folder: &Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(root).unwrap().display().to_string();
                if [".deepseek", ".state"].contains(&name.as_str()) {
                    continue;
                }
                if path.is_symlink() {
                    found.push(format!(
                        "{name} -> {}",
                        std::fs::read_link(&path).unwrap().display()
                    ));
                } else if path.is_dir() {
                    found.push(format!("{name}/"));
                    collect(root, &path, found);
                } else {
                    found.push(format!("{name} {}", std::fs::read(&path).unwrap().escape_ascii()));
                }
            }
        }
        let mut found = Vec::new();
        collect(&self.project.root, &self.project.root, &mut found);
        found.sort();
        found
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_goes_as_a_whole_and_comes_back_as_a_whole() {
    let session = Session::new();
    session.project.file("d/a.txt", b"a\r\n");
    session.project.file("d/sub/b.bin", b"\0\xff");
    session.project.file("keep", b"k");
    std::fs::create_dir_all(session.project.root.join("d/empty/er")).unwrap();
    symlink("../keep", session.project.root.join("d/link")).unwrap();
    let mode = |name: &str| {
        let metadata = std::fs::metadata(session.project.root.join(name)).unwrap();
        metadata.permissions().mode() & 0o7777
    };
    for (name, mode) in [("d/sub", 0o750), ("d/empty/er", 0o700), ("d", 0o711)] {
        let mode = PermissionsExt::from_mode(mode);
        std::fs::set_permissions(session.project.root.join(name), mode).unwrap();
    }
    let open = session.project.root.join("d/a.txt");
    session.project.editor.load(&open, "a\n", false);
    let before = session.tree();

    let done = session.delete("d").await;
    assert_eq!(
        (done.outcome, done.text.as_str()),
        (Outcome::Ok, "Deleted the directory d with 3 files.")
    );
    assert_eq!(session.tree(), ["keep k"]);
    session.project.editor.close_all();
    session.undo().await;
    assert_eq!(session.tree(), before);
    assert_eq!(
        [mode("d/sub"), mode("d/empty/er"), mode("d")],
        [0o750, 0o700, 0o711]
    );
    session.redo().await;
    assert_eq!(session.tree(), ["keep k"]);
    session.undo().await;
    assert_eq!(session.tree(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_goes_and_what_it_leads_to_stays() {
    let session = Session::new();
    session.project.file("real/a", b"a");
    symlink("real", session.project.root.join("link")).unwrap();
    let done = session.delete("link").await;
    assert!(done.text.starts_with("Deleted the link link;"), "{}", done.text);
    assert_eq!(session.tree(), ["real/", "real/a a"]);
    session.undo().await;
    assert_eq!(session.tree(), ["link -> real", "real/", "real/a a"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_must_stay_stays() {
    let session = Session::new();
    let outside = tempfile::tempdir().unwrap();
    dcode::fs::atomic::write(&outside.path().join("x"), b"x", None).unwrap();
    symlink(outside.path(), session.project.root.join("out")).unwrap();
    for (path, words) in [
        (".", "is the working directory"),
        ("..", "is the working directory or holds it"),
        ("sub/..", "is the working directory"),
        ("/", "is the working directory or holds it"),
        ("out/x", "through a link"),
    ] {
        let done = session.delete(path).await;
        assert_ne!(done.outcome, Outcome::Ok, "{path}");
        assert!(done.text.contains(words), "{path}: {}", done.text);
    }
    let missing = session.delete("ouf").await;
    assert!(
        missing.text.contains("does not exist. Did you mean"),
        "{}",
        missing.text
    );
    assert!(outside.path().join("x").exists() && session.project.root.join("out").is_symlink());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_refused_file_keeps_the_whole_folder() {
    let session = Session::with(Config::default(), Box::new(|_| Choice::Deny));
    session.project.file("d/a", b"a");
    session.project.file("d/deep/.env", b"K=1");
    let before = session.tree();
    let done = session.delete("d").await;
    assert_eq!(done.outcome, Outcome::Denied, "{}", done.text);
    assert_eq!(session.tree(), before);
    let asked = session.person.asked.lock().unwrap();
    assert_eq!(asked[0].paths, Some(vec![session.project.root.join("d")]));
    assert!(asked[0].reason.contains(".env"), "{}", asked[0].reason);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_came_while_the_person_was_asked_is_not_removed_unseen() {
    let late = Arc::new(Mutex::new(None::<std::path::PathBuf>));
    let place = Arc::clone(&late);
    let session = Session::with(
        Config::default(),
        Box::new(move |_| {
            let path = place.lock().unwrap().clone().unwrap();
            dcode::fs::atomic::write(&path, b"mine", None).unwrap();
            Choice::Once
        }),
    );
    session.project.file("d/.env", b"K=1");
    *late.lock().unwrap() = Some(session.project.root.join("d/new"));
    let done = session.delete("d").await;
    assert!(
        done.text.contains("there is something else in it"),
        "{}",
        done.text
    );
    assert_eq!(session.tree(), ["d/", "d/.env K=1", "d/new mine"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn as_much_as_can_be_kept_goes_and_comes_back() {
    let session = Session::new();
    let folder = session.project.root.join("d");
    std::fs::create_dir(&folder).unwrap();
    for n in 0..999 {
        let mut file = std::fs::File::create(folder.join(format!("f{n}"))).unwrap();
        std::io::Write::write_all(&mut file, format!("content {n}\n").as_bytes()).unwrap();
    }
    let start = std::time::Instant::now();
    let done = session.delete("d").await;
    println!("deleted in {:.0?}", start.elapsed());
    assert_eq!(done.text, "Deleted the directory d with 999 files.");
    assert_eq!(done.changed.len(), 1_000);
    assert!(!folder.exists());
    let start = std::time::Instant::now();
    session.undo().await;
    println!("undone in {:.0?}", start.elapsed());
    assert_eq!(std::fs::read(folder.join("f998")).unwrap(), b"content 998\n");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 999);
}

#[tokio::test(flavor = "multi_thread")]
async fn too_much_to_be_kept_is_refused() {
    let session = Session::new();
    for n in 0..1_001 {
        std::fs::File::create(session.project.root.join(format!("f{n}"))).unwrap();
    }
    std::fs::create_dir(session.project.root.join("d")).unwrap();
    for n in 0..1_000 {
        let name = format!("f{n}");
        std::fs::rename(
            session.project.root.join(&name),
            session.project.root.join("d").join(&name),
        )
        .unwrap();
    }
    let done = session.delete("d").await;
    assert!(done.text.contains("more than 1000 entries"), "{}", done.text);
    assert!(session.project.root.join("d/f0").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_changed_since_it_was_read_is_not_removed() {
    let session = Session::new();
    let path = session.project.file("d/a", b"one\n");
    session.call("read_file", json!({"path": "d/a"})).await;
    dcode::fs::atomic::write(&path, b"two\n", None).unwrap();
    for name in ["d/a", "d"] {
        let done = session.delete(name).await;
        assert!(
            done.text.contains("d/a changed since you read it"),
            "{}",
            done.text
        );
    }
    session.call("read_file", json!({"path": "d/a"})).await;
    assert_eq!(session.delete("d").await.outcome, Outcome::Ok);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_patch_is_undone_as_one() {
    let session = Session::new();
    session.project.file("a", b"a\n");
    session.project.file("b", b"b\n");
    session.project.file("c", b"c\n");
    let before = session.tree();
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-a\n+A\n*** Update File: b\n*** Move to: x/b\n\
                 *** Delete File: c\n*** Add File: y/n\n+n\n*** End Patch";
    let done = session.call("apply_patch", json!({"patch": patch})).await;
    assert_eq!(done.outcome, Outcome::Ok, "{}", done.text);
    assert_eq!(done.summary, "5 files · +2 −3");
    assert_eq!(session.tree(), ["a A\\n", "x/", "x/b b\\n", "y/", "y/n n\\n"]);
    session.undo().await;
    let files = |tree: Vec<String>| {
        tree.into_iter()
            .filter(|line| !line.ends_with('/'))
            .collect::<Vec<_>>()
    };
    assert_eq!(files(session.tree()), before);
    session.redo().await;
    assert_eq!(session.tree(), ["a A\\n", "x/", "x/b b\\n", "y/", "y/n n\\n"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_path_of_a_patch_leaves_the_working_directory() {
    let session = Session::with(
        Config {
            mode: dcode::permission::mode::Mode::Yolo,
            ..Config::default()
        },
        Box::new(|_| Choice::Once),
    );
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), session.project.root.join("out")).unwrap();
    session.project.file("real/a", b"a\n");
    symlink("real", session.project.root.join("in")).unwrap();
    let patch = |body: &str| json!({"patchText": format!("*** Begin Patch\n*** Add File: ok\n+x\n{body}\n*** End Patch")});
    for body in [
        "*** Add File: ../evil\n+x",
        "*** Add File: out/evil\n+x",
        "*** Add File: /etc/dcode-evil\n+x",
        "*** Update File: real/a\n*** Move to: ../evil",
        "*** Delete File: out/evil",
    ] {
        let done = session.call("apply_patch", patch(body)).await;
        assert_eq!(done.outcome, Outcome::Denied, "{body}: {}", done.text);
        assert!(
            done.text.contains("outside the working directory"),
            "{}",
            done.text
        );
        assert!(!session.project.root.join("ok").exists(), "{body}");
    }
    let done = session
        .call("apply_patch", patch("*** Update File: in/a\n@@\n-a\n+b"))
        .await;
    assert!(
        done.text.contains("in/a leads through a link to"),
        "{}",
        done.text
    );
    assert_eq!(session.project.bytes("real/a"), b"b\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_asked_sees_what_would_change() {
    let session = Session::with(
        Config {
            mode: dcode::permission::mode::Mode::AskAll,
            ..Config::default()
        },
        Box::new(|_| Choice::Deny),
    );
    session.project.file("a", b"one\r\ntwo\r\n");
    session.project.file("d/x", b"x\n");
    session.project.file("d/y", b"y\n");
    let patch = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-two\n+2\n*** Add File: n\n+n\n\
                 *** Update File: d/x\n*** Move to: z\n*** Delete File: d/y\n*** End Patch";
    let changed = "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    let calls = [
        ("write_file", json!({"path": "a", "content": "one\n2\n"}), changed),
        (
            "edit_file",
            json!({"path": "a", "old_string": "two", "new_string": "2"}),
            changed,
        ),
        (
            "delete",
            json!({"path": "a"}),
            "--- a/a\n+++ b/a\n@@ -1,2 +0,0 @@\n-one\n-two\n",
        ),
        ("delete", json!({"path": "d"}), "d\nd/x\nd/y"),
        (
            "apply_patch",
            json!({ "patchText": patch }),
            "--- a/a\n+++ b/b\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n--- a/n\n+++ b/n\n@@ -0,0 +1 @@\n+n\nd/x → z\n\
             --- a/d/y\n+++ b/d/y\n@@ -1 +0,0 @@\n-y\n",
        ),
    ];
    for (tool, args, preview) in calls {
        let done = session.call(tool, args).await;
        assert_eq!(done.outcome, Outcome::Denied, "{tool}: {}", done.text);
        let asked = session.person.asked.lock().unwrap().pop().unwrap();
        assert_eq!(asked.diff.as_deref(), Some(preview), "{tool}");
    }
}
