use std::fs::{File, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use dcode::journal::Journal;
use dcode::protocol::change::{BufferText, Content, ContentHash, Expect, FileChange};
use dcode::protocol::ids::{SessionId, StepIx, TurnId};
use dcode::snapshot::{
    After, Before, BufferBefore, Disk, DiskContent, Fit, Plan, Restoration, Scope, SnapshotDirs,
    SnapshotError, SnapshotStore, StepRecord, Undone, prune,
};

use crate::other_process;

/// A project, a state folder, and the store of one session.
pub struct World {
    _temp: tempfile::TempDir,
    pub root: PathBuf,
    pub dirs: SnapshotDirs,
    pub store: SnapshotStore,
}

pub fn session() -> SessionId {
    SessionId("01JZZZZZZZZZZZZZZZZZZZZZZZ".to_owned())
}

impl World {
    pub fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("ws")).unwrap();
        let dirs = SnapshotDirs {
            project: root.join("ws"),
            state: root.join("state"),
        };
        let store = SnapshotStore::new(dirs.clone(), session());
        Self {
            _temp: temp,
            root,
            dirs,
            store,
        }
    }

    /// A path in the project.
    pub fn at(&self, name: &str) -> PathBuf {
        self.dirs.project.join(name)
    }

    /// The process ends, and another one goes on with the session.
    pub fn restart(&mut self) {
        let (store, problems) = SnapshotStore::reopen(self.dirs.clone(), session());
        assert!(problems.is_empty(), "{problems:?}");
        self.store = store;
    }

    /// A step of the agent that does `change` to files that no buffer holds.
    pub fn step(&self, step: u64, turn: u64, names: &[&str], change: impl FnOnce()) {
        for name in names {
            self.store
                .capture(StepIx(step), TurnId(turn), &self.at(name), None)
                .unwrap();
        }
        change();
        for name in names {
            self.store.finish(StepIx(step), &self.at(name), None).unwrap();
        }
    }

    pub fn undo(&self, scope: Scope) -> Result<usize, Refused> {
        let plan = self.store.plan_undo(scope)?;
        let (was, done) = self.carry_out(&plan)?;
        let undone = was
            .into_iter()
            .map(|(path, was)| {
                let now = After::from(&self.store.observe(&path, None).unwrap());
                Undone { path, was, now }
            })
            .collect();
        self.store.mark_undone(&plan, undone, &[])?;
        Ok(done)
    }

    pub fn redo(&self) -> Result<usize, Refused> {
        let plan = self.store.plan_redo()?;
        let (was, done) = self.carry_out(&plan)?;
        let now = was
            .into_iter()
            .map(|(path, _)| {
                let now = After::from(&self.store.observe(&path, None).unwrap());
                (path, now)
            })
            .collect();
        self.store.mark_redone(&plan, now)?;
        Ok(done)
    }

    /// Checks all files, then puts all back; says what was there, and how many files were written.
    fn carry_out(&self, plan: &Plan) -> Result<(Vec<(PathBuf, Before)>, usize), Refused> {
        let mut was = Vec::new();
        let mut restorations = Vec::new();
        let mut conflicts = Vec::new();
        for file in &plan.files {
            let now = self.store.observe(&file.path, None)?;
            match self.store.check(file, &now)? {
                Fit::Matches => restorations.push(self.store.restoration(file, &now)?),
                Fit::ChangedSince { lines } => conflicts.push((file.path.clone(), lines)),
            }
            was.push((file.path.clone(), now));
        }
        if !conflicts.is_empty() {
            return Err(Refused::Conflicts(conflicts));
        }
        restorations.retain(|restoration| !restoration.is_nothing());
        self.store.put_back(&restorations)?;
        Ok((was, restorations.len()))
    }
}

#[derive(Debug)]
pub enum Refused {
    Conflicts(Vec<(PathBuf, usize)>),
    Error(SnapshotError),
}

impl From<SnapshotError> for Refused {
    fn from(error: SnapshotError) -> Self {
        Self::Error(error)
    }
}

/// Writes a file; a new one is 0644 whatever the umask.
pub fn put(path: &Path, bytes: &[u8]) {
    let new = !path.exists();
    File::create(path).unwrap().write_all(bytes).unwrap();
    if new {
        std::fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn buffer(text: &str, modified: bool) -> BufferText {
    BufferText {
        buf: 1,
        tick: 1,
        text: text.to_owned(),
        modified,
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

// Layout.

#[test]
fn nothing_is_made_before_the_first_capture() {
    let world = World::new();
    assert!(matches!(
        world.store.plan_undo(Scope::Steps(1)),
        Err(SnapshotError::NothingToUndo)
    ));
    assert_eq!(world.store.steps(), []);
    assert_eq!(names(&world.root), ["ws"]);
    assert_eq!(names(&world.dirs.project), Vec::<String>::new());
}

#[test]
fn a_step_lies_where_the_manual_says_and_is_private() {
    let world = World::new();
    put(&world.at("a"), b"old");
    world.step(3, 1, &["a"], || put(&world.at("a"), b"new"));
    let folder = world.at(".deepseek/snapshots").join(session().0);
    let (old, new) = (ContentHash::of(b"old").0, ContentHash::of(b"new").0);
    let mut blobs = vec![old.clone(), new];
    blobs.sort();
    assert_eq!(names(&folder.join("blobs")), blobs);
    blobs.push("manifest.json".to_owned());
    assert_eq!(names(&folder.join("000003")), blobs);
    let (blob, linked) = (folder.join("blobs").join(&old), folder.join("000003").join(&old));
    let ino = |path: &Path| std::fs::metadata(path).unwrap().ino();
    assert_eq!(ino(&blob), ino(&linked), "a hard link");
    for path in [
        &folder,
        &folder.join("blobs"),
        &folder.join("000003"),
        folder.parent().unwrap(),
    ] {
        assert_eq!(mode(path), 0o700, "{}", path.display());
    }
    for path in [&blob, &linked, &folder.join("000003/manifest.json")] {
        assert_eq!(mode(path), 0o600, "{}", path.display());
    }
    assert_eq!(read(&world.at(".deepseek/.gitignore")), "snapshots/\n");
    assert!(!world.dirs.state.exists());
}

#[test]
fn the_line_is_added_to_an_existing_gitignore_once() {
    for (before, after) in [
        ("", "snapshots/\n"),
        ("log/", "log/\nsnapshots/\n"),
        ("log/\n", "log/\nsnapshots/\n"),
        ("/snapshots/\n", "/snapshots/\n"),
        ("snapshots\r\n", "snapshots\r\n"),
        ("# snapshots/\n", "# snapshots/\nsnapshots/\n"),
    ] {
        let mut world = World::new();
        std::fs::create_dir(world.at(".deepseek")).unwrap();
        put(&world.at(".deepseek/.gitignore"), before.as_bytes());
        for step in 1..3 {
            world.step(step, 1, &["a"], || {
                put(&world.at("a"), &[b'x'; 3][..usize::try_from(step).unwrap()])
            });
            world.restart();
        }
        assert_eq!(read(&world.at(".deepseek/.gitignore")), after);
    }
}

#[test]
fn a_path_outside_the_project_lies_in_the_state_folder() {
    let mut world = World::new();
    let outside = world.root.join("outside.txt");
    put(&outside, b"old\n");
    let (step, turn) = (StepIx(1), TurnId(1));
    put(&world.at("in"), b"old\n");
    for path in [&outside, &world.at("in")] {
        world.store.capture(step, turn, path, None).unwrap();
        put(path, b"new\n");
        world.store.finish(step, path, None).unwrap();
    }
    let folder = world.dirs.state.join("snapshots").join(session().0);
    assert_eq!(names(&folder), ["000001", "blobs"]);
    assert_eq!([mode(&world.dirs.state), mode(&folder)], [0o700, 0o700]);
    world.restart();
    let record = StepRecord {
        step,
        turn,
        paths: vec![outside.clone(), world.at("in")],
        lost: Vec::new(),
        undone: false,
    };
    assert_eq!(
        world.store.steps(),
        [record],
        "one step, whatever place its files have"
    );
    world.undo(Scope::Steps(1)).unwrap();
    assert_eq!([read(&outside), read(&world.at("in"))], ["old\n", "old\n"]);
}

#[test]
fn a_deepseek_folder_that_leads_out_is_not_used() {
    let world = World::new();
    let elsewhere = world.root.join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, world.at(".deepseek")).unwrap();
    put(&world.at("a"), b"old");
    world.step(1, 1, &["a"], || put(&world.at("a"), b"new"));
    assert_eq!(names(&elsewhere), Vec::<String>::new());
    assert!(
        world
            .dirs
            .state
            .join("snapshots")
            .join(session().0)
            .join("000001")
            .is_dir()
    );
    world.undo(Scope::Steps(1)).unwrap();
    assert_eq!(read(&world.at("a")), "old");
}

#[test]
fn links_below_deepseek_are_not_followed_and_one_inside_the_project_is() {
    let world = World::new();
    let elsewhere = world.root.join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::create_dir(world.at(".deepseek")).unwrap();
    symlink(&elsewhere, world.at(".deepseek/snapshots")).unwrap();
    world.step(1, 1, &["a"], || put(&world.at("a"), b"new"));
    assert_eq!(names(&elsewhere), Vec::<String>::new());
    assert!(world.dirs.state.join("snapshots").is_dir());

    let world = World::new();
    std::fs::create_dir(world.at("config")).unwrap();
    symlink("config", world.at(".deepseek")).unwrap();
    world.step(1, 1, &["a"], || put(&world.at("a"), b"new"));
    assert!(world.at("config/snapshots").is_dir());
    assert!(!world.dirs.state.exists());
}

#[test]
#[ignore = "started by a_read_only_project_is_kept_in_the_state_folder"]
fn child_works_in_a_read_only_project() {
    let Some(root) = other_process::folder() else {
        return;
    };
    let dirs = SnapshotDirs {
        project: root.join("ws"),
        state: root.join("state"),
    };
    assert!(
        File::create(dirs.project.join("x")).is_err(),
        "the project is read-only"
    );
    let store = SnapshotStore::new(dirs.clone(), session());
    let path = dirs.project.join("sub/a");
    store.capture(StepIx(1), TurnId(1), &path, None).unwrap();
    put(&path, b"new");
    store.finish(StepIx(1), &path, None).unwrap();
    let plan = store.plan_undo(Scope::Turn).unwrap();
    let now = store.observe(&path, None).unwrap();
    assert_eq!(store.check(&plan.files[0], &now).unwrap(), Fit::Matches);
    let unreadable = store
        .capture(StepIx(2), TurnId(1), &dirs.project.join("secret"), None)
        .unwrap_err();
    let words = unreadable.to_string();
    assert!(
        words.contains("permission is denied") && !words.contains("os error"),
        "{words}"
    );
    println!("\nchild done");
}

#[test]
fn a_read_only_project_is_kept_in_the_state_folder() {
    let world = World::new();
    std::fs::create_dir(world.at("sub")).unwrap();
    put(&world.at("sub/a"), b"old");
    put(&world.at("secret"), b"");
    std::fs::create_dir(&world.dirs.state).unwrap();
    let chmod = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let root = rustix::process::geteuid().is_root();
    if root {
        // Permissions do not bind root: an ordinary user does the work.
        chmod(world.root.as_path(), 0o755);
        for path in [&world.dirs.state, &world.at("sub"), &world.at("sub/a")] {
            std::os::unix::fs::chown(path, Some(65534), Some(65534)).unwrap();
        }
    }
    chmod(&world.at("secret"), 0o000);
    chmod(&world.dirs.project, 0o555);
    let mut command = other_process::command("snapshot::child_works_in_a_read_only_project", &world.root, "");
    if root {
        std::os::unix::process::CommandExt::uid(&mut command, 65534);
    }
    let output = command.output().unwrap();
    chmod(&world.dirs.project, 0o755);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(126) {
        println!("skipped: an ordinary user cannot run this test binary ({errors})");
        return;
    }
    assert!(text.contains("child done"), "{text}{errors}");
    assert!(
        world
            .dirs
            .state
            .join("snapshots")
            .join(session().0)
            .join("000001/manifest.json")
            .exists()
    );
}

// What is captured and put back.

#[test]
fn every_kind_of_thing_comes_back_with_its_mode() {
    let mut world = World::new();
    put(&world.at("run.sh"), b"#!/bin/sh\n");
    std::fs::set_permissions(world.at("run.sh"), Permissions::from_mode(0o755)).unwrap();
    put(&world.at("gone"), b"\xff\x00binary");
    std::fs::set_permissions(world.at("gone"), Permissions::from_mode(0o640)).unwrap();
    symlink("run.sh", world.at("link")).unwrap();
    symlink("nowhere", world.at("dangling")).unwrap();
    put(&world.at("empty"), b"");
    let touched = ["run.sh", "gone", "link", "dangling", "empty", "new/dir/poem.md"];
    world.step(1, 1, &touched, || {
        put(&world.at("run.sh"), b"changed");
        std::fs::set_permissions(world.at("run.sh"), Permissions::from_mode(0o644)).unwrap();
        for name in ["gone", "link", "dangling"] {
            std::fs::remove_file(world.at(name)).unwrap();
        }
        put(&world.at("link"), b"a file now");
        put(&world.at("empty"), b"full");
        std::fs::create_dir_all(world.at("new/dir")).unwrap();
        put(&world.at("new/dir/poem.md"), b"x");
    });
    world.restart();
    world.undo(Scope::Steps(1)).unwrap();
    assert_eq!(
        (read(&world.at("run.sh")), mode(&world.at("run.sh"))),
        ("#!/bin/sh\n".to_owned(), 0o755)
    );
    assert_eq!(std::fs::read(world.at("gone")).unwrap(), b"\xff\x00binary");
    assert_eq!(mode(&world.at("gone")), 0o640);
    assert_eq!(std::fs::read_link(world.at("link")).unwrap(), Path::new("run.sh"));
    assert_eq!(
        std::fs::read_link(world.at("dangling")).unwrap(),
        Path::new("nowhere")
    );
    assert_eq!(read(&world.at("empty")), "");
    assert!(!world.at("new").exists(), "and the folders that were made for it");
    world.restart();
    world.redo().unwrap();
    assert_eq!(
        (read(&world.at("run.sh")), mode(&world.at("run.sh"))),
        ("changed".to_owned(), 0o644)
    );
    assert!(!world.at("gone").exists() && std::fs::symlink_metadata(world.at("dangling")).is_err());
    assert_eq!(read(&world.at("link")), "a file now");
    assert_eq!(read(&world.at("new/dir/poem.md")), "x");
}

#[test]
fn a_folder_that_holds_something_of_the_persons_stays() {
    let world = World::new();
    world.step(1, 1, &["new/a"], || {
        std::fs::create_dir(world.at("new")).unwrap();
        put(&world.at("new/a"), b"x");
    });
    put(&world.at("new/mine"), b"mine");
    world.undo(Scope::Steps(1)).unwrap();
    assert_eq!(names(&world.at("new")), ["mine"]);
}

#[test]
fn a_link_to_a_folder_outside_is_put_back_and_never_followed() {
    let mut world = World::new();
    std::fs::create_dir(world.root.join("ext")).unwrap();
    put(&world.root.join("ext/f"), b"keep");
    symlink("../ext", world.at("d")).unwrap();
    world.step(1, 1, &["d"], || std::fs::remove_file(world.at("d")).unwrap());
    world.step(2, 1, &["d/f"], || {
        std::fs::create_dir(world.at("d")).unwrap();
        put(&world.at("d/f"), b"agent");
    });
    for _ in 0..2 {
        world.restart();
        world.undo(Scope::Turn).unwrap();
        assert_eq!(std::fs::read_link(world.at("d")).unwrap(), Path::new("../ext"));
        assert_eq!(read(&world.root.join("ext/f")), "keep");
        world.redo().unwrap();
        assert!(!world.at("d").is_symlink());
        assert_eq!(read(&world.at("d/f")), "agent");
        assert_eq!(read(&world.root.join("ext/f")), "keep");
    }
    // The person puts something into the folder: the link cannot come back, and nothing is lost.
    put(&world.at("d/mine"), b"mine");
    let refused = world.undo(Scope::Turn).unwrap_err();
    assert!(
        matches!(&refused, Refused::Error(SnapshotError::FolderInTheWay(_))),
        "{refused:?}"
    );
    assert_eq!(
        [read(&world.at("d/f")), read(&world.at("d/mine"))],
        ["agent", "mine"]
    );
}

#[test]
fn a_link_that_came_to_stand_above_a_file_is_not_followed() {
    let world = World::new();
    std::fs::create_dir(world.at("d")).unwrap();
    put(&world.at("d/f"), b"old");
    world.step(1, 1, &["d/f"], || put(&world.at("d/f"), b"new"));
    std::fs::rename(world.at("d"), world.root.join("ext")).unwrap();
    symlink("../ext", world.at("d")).unwrap();
    assert!(matches!(world.undo(Scope::Turn), Err(Refused::Conflicts(_))));
    assert_eq!(read(&world.root.join("ext/f")), "new");
    let through = world
        .store
        .capture(StepIx(2), TurnId(2), &world.at("d/f"), None)
        .unwrap_err();
    assert!(matches!(through, SnapshotError::Unresolved { .. }), "{through}");
    for odd in ["relative", "/", "/a/../b"] {
        let refused = world.store.capture(StepIx(2), TurnId(2), Path::new(odd), None);
        assert!(matches!(refused, Err(SnapshotError::Unresolved { .. })), "{odd}");
    }
}

#[test]
fn a_pipe_is_refused_and_does_not_block() {
    let world = World::new();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        world.at("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let refused = world.store.capture(StepIx(1), TurnId(1), &world.at("pipe"), None);
    assert!(matches!(refused, Err(SnapshotError::Special(_))));
}

#[test]
fn only_what_differs_is_written() {
    let world = World::new();
    put(&world.at("a"), b"a\n");
    put(&world.at("b"), b"b\n");
    let before = std::fs::metadata(world.at("b")).unwrap();
    // b is captured by a call that failed, and taken back by hand is a.
    world.step(1, 1, &["a", "b"], || put(&world.at("a"), b"A\n"));
    put(&world.at("a"), b"a\n");
    let a = std::fs::metadata(world.at("a")).unwrap();
    assert_eq!(world.undo(Scope::Turn).unwrap(), 0);
    let same = |old: &std::fs::Metadata, name: &str| {
        let new = std::fs::metadata(world.at(name)).unwrap();
        (old.ino(), old.modified().unwrap()) == (new.ino(), new.modified().unwrap())
    };
    assert!(same(&before, "b") && same(&a, "a"));
}

#[test]
fn the_first_capture_of_a_step_wins() {
    let world = World::new();
    put(&world.at("a"), b"1");
    world.step(1, 1, &["a"], || put(&world.at("a"), b"2"));
    world.step(1, 1, &["a"], || put(&world.at("a"), b"3"));
    world.undo(Scope::Steps(1)).unwrap();
    assert_eq!(read(&world.at("a")), "1");
}

#[test]
fn a_step_that_changed_nothing_is_no_step() {
    let world = World::new();
    put(&world.at("a"), b"1\n");
    world.step(1, 1, &["a"], || put(&world.at("a"), b"2\n"));
    world.step(2, 1, &["a"], || {});
    put(&world.at("b"), b"b\n");
    world.step(3, 1, &["b"], || {});
    put(&world.at("b"), b"mine\n");
    assert_eq!(world.store.steps().len(), 1);
    world.undo(Scope::Turn).unwrap();
    assert_eq!([read(&world.at("a")), read(&world.at("b"))], ["1\n", "mine\n"]);
    // A call that failed, then the person, then a call that did something.
    world.step(4, 2, &["b"], || {});
    put(&world.at("b"), b"mine too\n");
    world.step(4, 2, &["b"], || put(&world.at("b"), b"agent\n"));
    world.undo(Scope::Turn).unwrap();
    assert_eq!(read(&world.at("b")), "mine too\n");
}

// What the person did since.

#[test]
fn a_file_that_the_person_changed_stops_the_whole_undo() {
    let world = World::new();
    put(&world.at("a.txt"), b"1\n2\n3\n");
    put(&world.at("b.txt"), b"b\n");
    world.step(1, 1, &["a.txt", "b.txt"], || {
        put(&world.at("a.txt"), b"1\nTWO\n3\n");
        put(&world.at("b.txt"), b"B\n");
    });
    let mut file = OpenOptions::new().append(true).open(world.at("a.txt")).unwrap();
    file.write_all(b"mine\nand mine\n").unwrap();
    match world.undo(Scope::Steps(1)).unwrap_err() {
        Refused::Conflicts(conflicts) => assert_eq!(conflicts, [(world.at("a.txt"), 2)]),
        Refused::Error(error) => panic!("{error}"),
    }
    assert_eq!(
        [read(&world.at("a.txt")), read(&world.at("b.txt"))],
        ["1\nTWO\n3\nmine\nand mine\n", "B\n"]
    );
}

#[test]
fn what_the_person_wrote_between_two_steps_or_calls_is_not_lost() {
    let world = World::new();
    put(&world.at("a"), b"1\n");
    world.step(1, 1, &["a"], || put(&world.at("a"), b"2\n"));
    put(&world.at("a"), b"2\nmine\n");
    world.step(2, 1, &["a"], || put(&world.at("a"), b"3\nmine\n"));
    assert!(matches!(world.undo(Scope::Turn), Err(Refused::Conflicts(_))));
    world.undo(Scope::Steps(1)).unwrap();
    assert_eq!(read(&world.at("a")), "2\nmine\n");
    assert!(
        matches!(world.undo(Scope::Steps(1)), Err(Refused::Conflicts(_))),
        "also one by one"
    );
    assert_eq!(read(&world.at("a")), "2\nmine\n");

    put(&world.at("b"), b"1\n");
    world.step(3, 2, &["b"], || put(&world.at("b"), b"2\n"));
    put(&world.at("b"), b"2\nmine\n");
    world.step(3, 2, &["b"], || put(&world.at("b"), b"3\nmine\n"));
    assert!(
        matches!(world.undo(Scope::Turn), Err(Refused::Conflicts(_))),
        "within one step"
    );

    // Going back over both would change nothing, and leave the person's text behind.
    world.step(4, 3, &["c"], || put(&world.at("c"), b"1\n"));
    put(&world.at("c"), b"mine\n");
    world.step(5, 3, &["c"], || std::fs::remove_file(world.at("c")).unwrap());
    assert!(
        matches!(world.undo(Scope::Turn), Err(Refused::Conflicts(_))),
        "also where the agent removed it"
    );
    world.undo(Scope::Steps(1)).unwrap();
    assert_eq!(read(&world.at("c")), "mine\n");
}

#[test]
fn a_file_that_changes_between_check_and_writing_stops_it_all() {
    let world = World::new();
    for name in ["a", "b"] {
        put(&world.at(name), b"old");
    }
    world.step(1, 1, &["a", "b"], || {
        put(&world.at("a"), b"new");
        put(&world.at("b"), b"new");
    });
    let plan = world.store.plan_undo(Scope::Turn).unwrap();
    let restorations: Vec<Restoration> = plan
        .files
        .iter()
        .map(|file| {
            let now = world.store.observe(&file.path, None).unwrap();
            world.store.restoration(file, &now).unwrap()
        })
        .collect();
    put(&world.at("b"), b"mine");
    let refused = world.store.put_back(&restorations);
    assert!(matches!(refused, Err(SnapshotError::ChangedMeanwhile(path)) if path == world.at("b")));
    assert_eq!([read(&world.at("a")), read(&world.at("b"))], ["new", "mine"]);
}

#[test]
fn a_process_that_died_in_the_middle_of_an_undo_can_go_on_with_it() {
    let mut world = World::new();
    for name in ["a", "b"] {
        put(&world.at(name), b"old");
    }
    world.step(1, 1, &["a", "b"], || {
        put(&world.at("a"), b"new");
        put(&world.at("b"), b"new");
    });
    put(&world.at("a"), b"old");
    world.restart();
    assert_eq!(world.undo(Scope::Turn).unwrap(), 1);
    assert_eq!([read(&world.at("a")), read(&world.at("b"))], ["old", "old"]);
}

#[test]
fn a_process_that_died_before_a_call_ended_leaves_its_file_in_doubt() {
    let mut world = World::new();
    put(&world.at("a"), b"old\n");
    world
        .store
        .capture(StepIx(1), TurnId(1), &world.at("a"), None)
        .unwrap();
    world.restart();
    assert_eq!(
        world.undo(Scope::Turn).unwrap(),
        0,
        "nothing was written: nothing to do"
    );
    world.redo().unwrap();
    put(&world.at("a"), b"old\nsomebody\n");
    match world.undo(Scope::Turn).unwrap_err() {
        Refused::Conflicts(conflicts) => assert_eq!(conflicts, [(world.at("a"), 1)]),
        Refused::Error(error) => panic!("{error}"),
    }
}

// Steps, turns, redo.

#[test]
fn steps_and_turns_are_taken_back_newest_first() {
    let mut world = World::new();
    put(&world.at("a"), b"0");
    for (step, turn) in [(2, 1), (4, 2), (6, 2), (7, 3)] {
        world.step(step, turn, &["a"], || {
            put(&world.at("a"), step.to_string().as_bytes())
        });
    }
    world.restart();
    let undo = |scope, left: &str, steps: &[u64]| {
        let plan = world.store.plan_undo(scope).unwrap();
        assert_eq!(
            plan.steps,
            steps.iter().map(|&step| StepIx(step)).collect::<Vec<_>>()
        );
        world.undo(scope).unwrap();
        assert_eq!(read(&world.at("a")), left);
    };
    undo(Scope::Steps(1), "6", &[7]);
    undo(Scope::Turn, "2", &[6, 4]);
    undo(Scope::Steps(9), "0", &[2]);
    assert!(matches!(
        world.undo(Scope::Turn),
        Err(Refused::Error(SnapshotError::NothingToUndo))
    ));
    for left in ["2", "6", "7"] {
        world.redo().unwrap();
        assert_eq!(read(&world.at("a")), left);
    }
    assert!(matches!(
        world.redo(),
        Err(Refused::Error(SnapshotError::NothingToRedo))
    ));
}

#[test]
fn a_new_step_after_an_undo_ends_the_redo() {
    let mut world = World::new();
    put(&world.at("a"), b"0");
    world.step(1, 1, &["a"], || put(&world.at("a"), b"1"));
    world.step(2, 1, &["a"], || put(&world.at("a"), b"2"));
    world.undo(Scope::Steps(1)).unwrap();
    world.step(3, 2, &["a"], || put(&world.at("a"), b"3"));
    world.restart();
    assert!(matches!(
        world.store.plan_redo(),
        Err(SnapshotError::NothingToRedo)
    ));
    let undone: Vec<bool> = world.store.steps().iter().map(|step| step.undone).collect();
    assert_eq!(undone, [false, true, false]);
    world.undo(Scope::Steps(2)).unwrap();
    assert_eq!(read(&world.at("a")), "0");
}

#[test]
fn what_a_formatter_made_of_a_restored_file_is_no_work_of_the_persons() {
    let world = World::new();
    put(&world.at("a"), b"0");
    world.step(1, 1, &["a"], || put(&world.at("a"), b"1"));
    world.step(2, 1, &["a"], || put(&world.at("a"), b"2"));
    let plan = world.store.plan_undo(Scope::Steps(1)).unwrap();
    let was = world.store.observe(&world.at("a"), None).unwrap();
    put(&world.at("a"), b"1, formatted");
    let now = After::from(&world.store.observe(&world.at("a"), None).unwrap());
    let path = world.at("a");
    world
        .store
        .mark_undone(&plan, vec![Undone { path, was, now }], &[])
        .unwrap();
    world.undo(Scope::Steps(1)).unwrap();
    assert_eq!(read(&world.at("a")), "0");
}

// Buffers.

/// The one file `a` of a plan after a step that found `before` and left `after`; each is disk and buffer.
fn planned(world: &World, before: (&str, Option<BufferText>), after: (&str, Option<&str>)) -> Plan {
    let path = world.at("a");
    put(&path, before.0.as_bytes());
    world
        .store
        .capture(StepIx(1), TurnId(1), &path, before.1.as_ref())
        .unwrap();
    put(&path, after.0.as_bytes());
    world.store.finish(StepIx(1), &path, after.1).unwrap();
    world.store.plan_undo(Scope::Turn).unwrap()
}

/// What is to be done when the disk holds `disk` now and a buffer, if one is loaded, `loaded`.
fn judged(world: &World, plan: &Plan, disk: &str, loaded: Option<BufferText>) -> (Fit, Restoration) {
    put(&world.at("a"), disk.as_bytes());
    let now = world.store.observe(&world.at("a"), loaded.as_ref()).unwrap();
    let fit = world.store.check(&plan.files[0], &now).unwrap();
    (fit, world.store.restoration(&plan.files[0], &now).unwrap())
}

fn file(text: &str) -> Option<DiskContent> {
    Some(DiskContent::File {
        bytes: text.as_bytes().to_vec(),
        mode: 0o644,
    })
}

#[test]
fn a_saved_buffer_gets_its_text_back_and_the_disk_too() {
    let world = World::new();
    let plan = planned(&world, ("x\n", Some(buffer("x\n", false))), ("y\n", Some("y\n")));
    let before = Before {
        disk: Disk::File {
            blob: ContentHash::of(b"x\n"),
            mode: 0o644,
        },
        buffer: Some(BufferBefore {
            blob: ContentHash::of(b"x\n"),
            modified: false,
        }),
    };
    assert_eq!(plan.files[0].before, before);
    let (fit, todo) = judged(&world, &plan, "y\n", Some(buffer("y\n", false)));
    assert_eq!(
        (fit, todo.buffer.as_deref(), &todo.disk),
        (Fit::Matches, Some("x\n"), &file("x\n"))
    );
    let change = FileChange::Write {
        path: world.at("a"),
        expect: Expect::Text(ContentHash::of(b"y\n")),
        content: Content::Text("x\n".to_owned()),
    };
    assert_eq!(todo.change(), Some(change));
    // Closed since.
    let (fit, todo) = judged(&world, &plan, "y\n", None);
    assert_eq!(
        (fit, todo.buffer.as_deref(), &todo.disk),
        (Fit::Matches, None, &file("x\n"))
    );
    let change = FileChange::Write {
        path: world.at("a"),
        expect: Expect::Bytes(ContentHash::of(b"y\n")),
        content: Content::Bytes {
            bytes: b"x\n".to_vec(),
            mode: Some(0o644),
        },
    };
    assert_eq!(todo.change(), Some(change));
    // Typed since, not saved.
    let (fit, _) = judged(&world, &plan, "y\n", Some(buffer("y\nmine\n", true)));
    assert_eq!(fit, Fit::ChangedSince { lines: 1 });
}

#[test]
fn unsaved_typing_comes_back_to_the_buffer_and_never_to_the_disk() {
    let world = World::new();
    let plan = planned(
        &world,
        ("disk\n", Some(buffer("typed\n", true))),
        ("disk\n", Some("typed\nagent\n")),
    );
    let (fit, todo) = judged(&world, &plan, "disk\n", Some(buffer("typed\nagent\n", true)));
    assert_eq!(
        (fit, todo.buffer.as_deref(), &todo.disk),
        (Fit::Matches, Some("typed\n"), &None)
    );
    // Thrown away with `:bdelete!`: nothing of the agent's is left.
    let (fit, todo) = judged(&world, &plan, "disk\n", None);
    assert_eq!((fit, todo.is_nothing()), (Fit::Matches, true));
    // Written together and closed: the typing is the person's, and it stays.
    let (fit, todo) = judged(&world, &plan, "typed\nagent\n", None);
    assert_eq!(
        (fit, todo.buffer.as_deref(), &todo.disk),
        (Fit::Matches, None, &file("typed\n"))
    );
    // Written and still open: the buffer's next `:write` does it.
    let (fit, todo) = judged(
        &world,
        &plan,
        "typed\nagent\n",
        Some(buffer("typed\nagent\n", false)),
    );
    assert_eq!(
        (fit, todo.buffer.as_deref(), &todo.disk),
        (Fit::Matches, Some("typed\n"), &None)
    );
}

#[test]
fn a_buffer_loaded_since_is_restored_as_a_buffer() {
    let world = World::new();
    let plan = planned(&world, ("x\n", None), ("y\n", None));
    let (fit, todo) = judged(&world, &plan, "y\n", Some(buffer("y\n", false)));
    assert_eq!(
        (fit, todo.buffer.as_deref(), &todo.disk),
        (Fit::Matches, Some("x\n"), &file("x\n"))
    );
    let (fit, _) = judged(&world, &plan, "y\n", Some(buffer("y\nmine\n", true)));
    assert_eq!(fit, Fit::ChangedSince { lines: 1 });
    // The disk was changed behind the buffer.
    let (fit, _) = judged(&world, &plan, "other\n", Some(buffer("y\n", false)));
    assert_eq!(fit, Fit::ChangedSince { lines: 1 });
}

#[test]
fn a_file_deleted_under_a_loaded_buffer_comes_back_to_both() {
    let world = World::new();
    let path = world.at("a");
    put(&path, b"x\n");
    world
        .store
        .capture(StepIx(1), TurnId(1), &path, Some(&buffer("x\n", false)))
        .unwrap();
    std::fs::remove_file(&path).unwrap();
    world.store.finish(StepIx(1), &path, Some("")).unwrap();
    let plan = world.store.plan_undo(Scope::Turn).unwrap();
    let now = world.store.observe(&path, Some(&buffer("", true))).unwrap();
    assert_eq!(world.store.check(&plan.files[0], &now).unwrap(), Fit::Matches);
    let todo = world.store.restoration(&plan.files[0], &now).unwrap();
    assert_eq!((todo.buffer.as_deref(), &todo.disk), (Some("x\n"), &file("x\n")));
    // A created one goes from both.
    let world = World::new();
    let path = world.at("new");
    world
        .store
        .capture(StepIx(1), TurnId(1), &path, Some(&buffer("", false)))
        .unwrap();
    put(&path, b"x\n");
    world.store.finish(StepIx(1), &path, Some("x\n")).unwrap();
    let plan = world.store.plan_undo(Scope::Turn).unwrap();
    let now = world.store.observe(&path, Some(&buffer("x\n", false))).unwrap();
    let todo = world.store.restoration(&plan.files[0], &now).unwrap();
    let expect = Expect::Text(ContentHash::of(b"x\n"));
    assert_eq!(todo.change(), Some(FileChange::Delete { path, expect }));
}

// Soundness.

#[test]
fn a_project_cannot_make_an_undo_write_outside_of_it() {
    let world = World::new();
    let victim = world.root.join("victim");
    put(&victim, b"precious");
    put(&world.at("a"), b"old");
    world.step(1, 1, &["a"], || put(&world.at("a"), b"new"));
    let manifest = world
        .at(".deepseek/snapshots")
        .join(session().0)
        .join("000001/manifest.json");
    let honest = read(&manifest);
    let inside = world.at("a").display().to_string();
    for forged in [
        victim.display().to_string(),
        format!("{}/../victim", world.dirs.project.display()),
    ] {
        put(&manifest, honest.replace(&inside, &forged).as_bytes());
        let (store, problems) = SnapshotStore::reopen(world.dirs.clone(), session());
        assert!(
            matches!(problems[..], [SnapshotError::Damaged { .. }]),
            "{problems:?}"
        );
        assert_eq!(store.steps(), []);
    }
}

#[test]
fn a_damaged_step_leaves_the_others_usable() {
    let world = World::new();
    put(&world.at("a"), b"0");
    for step in 1..4_u64 {
        world.step(step, step, &["a"], || {
            put(&world.at("a"), step.to_string().as_bytes())
        });
    }
    let folder = world.at(".deepseek/snapshots").join(session().0);
    put(&folder.join("000001/manifest.json"), b"{");
    std::fs::create_dir(folder.join("000009")).unwrap();
    put(&folder.join("blobs/.tmp-left-by-a-kill"), b"half");
    let (store, problems) = SnapshotStore::reopen(world.dirs.clone(), session());
    assert_eq!(problems.len(), 1);
    assert!(problems[0].to_string().contains("is damaged"), "{}", problems[0]);
    assert_eq!(
        store.steps().iter().map(|step| step.step.0).collect::<Vec<_>>(),
        [2, 3]
    );
    assert!(!folder.join("blobs/.tmp-left-by-a-kill").exists());
    let reopened = World { store, ..world };
    reopened.undo(Scope::Steps(2)).unwrap();
    assert_eq!(read(&reopened.at("a")), "1");
}

#[test]
#[ignore = "started by a_full_disk_refuses_the_capture_and_leaves_the_store_sound"]
fn child_captures_on_a_full_disk() {
    let Some(root) = other_process::folder() else {
        return;
    };
    let dirs = SnapshotDirs {
        project: root.join("ws"),
        state: root.join("state"),
    };
    let store = SnapshotStore::new(dirs.clone(), session());
    let capture = |name: &str| store.capture(StepIx(1), TurnId(1), &dirs.project.join(name), None);
    capture("small").unwrap();
    let refused = capture("big").unwrap_err().to_string();
    assert!(
        refused.contains("larger than the system allows") || refused.contains("full"),
        "{refused}"
    );
    capture("other").unwrap();
    println!("\nchild done");
}

#[test]
fn a_full_disk_refuses_the_capture_and_leaves_the_store_sound() {
    let mut world = World::new();
    put(&world.at("small"), b"small");
    put(&world.at("big"), &vec![b'x'; 600_000]);
    put(&world.at("other"), b"other");
    let setup = "trap '' XFSZ; ulimit -f 64";
    let output = other_process::command("snapshot::child_captures_on_a_full_disk", &world.root, setup)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("child done"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let blobs = world.at(".deepseek/snapshots").join(session().0).join("blobs");
    let mut kept = vec![ContentHash::of(b"small").0, ContentHash::of(b"other").0];
    kept.sort();
    assert_eq!(names(&blobs), kept, "no half blob, no temporary file");
    world.restart();
    let steps = world.store.steps();
    assert_eq!(steps[0].paths, [world.at("other"), world.at("small")]);
}

#[test]
fn a_restoration_that_fails_half_way_is_taken_back() {
    let world = World::new();
    put(&world.at("a"), b"old");
    std::fs::create_dir(world.at("d")).unwrap();
    put(&world.at("d/z"), b"old");
    put(&world.at("gone"), b"old");
    world.step(1, 1, &["a", "d/z", "gone", "made"], || {
        put(&world.at("a"), b"new");
        put(&world.at("made"), b"new");
        std::fs::remove_file(world.at("gone")).unwrap();
        std::fs::remove_dir_all(world.at("d")).unwrap();
    });
    // A file where a folder is needed.
    put(&world.at("d"), b"mine");
    let refused = world.undo(Scope::Turn).unwrap_err();
    assert!(
        matches!(refused, Refused::Error(SnapshotError::Unresolved { .. })),
        "{refused:?}"
    );
    assert_eq!(
        [
            read(&world.at("a")),
            read(&world.at("made")),
            read(&world.at("d"))
        ],
        ["new", "new", "mine"]
    );
    assert!(!world.at("gone").exists());
    std::fs::remove_file(world.at("d")).unwrap();
    world.undo(Scope::Turn).unwrap();
    assert_eq!(
        [
            read(&world.at("a")),
            read(&world.at("d/z")),
            read(&world.at("gone"))
        ],
        ["old"; 3]
    );
    assert!(!world.at("made").exists());
}

#[test]
fn threads_capture_side_by_side() {
    let mut world = World::new();
    let files: Vec<String> = (0..16).map(|at| format!("f{at:02}")).collect();
    for name in &files {
        put(&world.at(name), name.as_bytes());
    }
    std::thread::scope(|scope| {
        for name in &files {
            let world = &world;
            scope.spawn(move || world.step(1, 1, &[name], || put(&world.at(name), b"same")));
        }
    });
    world.restart();
    assert_eq!(world.store.steps()[0].paths.len(), 16);
    world.undo(Scope::Steps(1)).unwrap();
    for name in &files {
        assert_eq!(read(&world.at(name)), *name);
    }
}

#[test]
fn one_edit_in_a_large_tree_keeps_one_file() {
    let world = World::new();
    std::fs::create_dir(world.at("many")).unwrap();
    for at in 0..2_000 {
        put(&world.at(&format!("many/{at}")), b"x");
    }
    File::create(world.at("huge")).unwrap().set_len(2 << 30).unwrap();
    put(&world.at("a"), b"old");
    world.step(1, 1, &["a"], || put(&world.at("a"), b"new"));
    let blobs = names(&world.at(".deepseek/snapshots").join(session().0).join("blobs"));
    assert_eq!(blobs.len(), 2);
}

#[test]
fn the_newest_sessions_keep_their_snapshots_and_a_live_one_too() {
    let world = World::new();
    let id = |at: u32| SessionId(format!("01JZZZZZZZZZZZZZZZZZZZZZ{at:02}"));
    let live = Journal::create(&world.dirs.state, &id(0)).unwrap();
    drop(Journal::create(&world.dirs.state, &id(1)).unwrap());
    let outside = world.root.join("outside");
    for at in 0..6 {
        let store = SnapshotStore::new(world.dirs.clone(), id(at));
        store.capture(StepIx(1), TurnId(1), &world.at("a"), None).unwrap();
        store.capture(StepIx(1), TurnId(1), &outside, None).unwrap();
    }
    let project = world.at(".deepseek/snapshots");
    let state = world.dirs.state.join("snapshots");
    put(&project.join("notes.txt"), b"mine");
    std::fs::create_dir(project.join("00.odd")).unwrap();
    symlink(&world.root, project.join("00LINK")).unwrap();
    assert_eq!(prune(&world.dirs, 3).unwrap(), [id(1), id(2)]);
    let kept: Vec<String> = [0, 3, 4, 5].map(|at| id(at).0).to_vec();
    assert_eq!(names(&state), kept);
    let odd = ["00.odd", "00LINK"].map(str::to_owned).to_vec();
    assert_eq!(
        names(&project),
        [odd, kept.clone(), vec!["notes.txt".to_owned()]].concat()
    );
    drop(live);
    assert_eq!(prune(&world.dirs, 3).unwrap(), [id(0)]);
    assert!(world.dirs.project.exists());
}

// The format's upgrade path (doc/adr/0007-step-snapshots.md).

/// A step folder of a fixture in a project of its own.
fn with_fixture(name: &str) -> (World, Vec<SnapshotError>) {
    let world = World::new();
    let session_dir = world.at(".deepseek/snapshots").join(session().0);
    let folder = session_dir.join("000001");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::create_dir_all(session_dir.join("blobs")).unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/snapshot")
        .join(name);
    let project = world.dirs.project.display().to_string();
    put(
        &folder.join("manifest.json"),
        read(&fixture).replace("/PROJECT", &project).as_bytes(),
    );
    put(
        &session_dir.join("blobs").join(ContentHash::of(b"old\n").0),
        b"old\n",
    );
    put(
        &session_dir.join("blobs").join(ContentHash::of(b"new\n").0),
        b"new\n",
    );
    let (store, problems) = SnapshotStore::reopen(world.dirs.clone(), session());
    (World { store, ..world }, problems)
}

#[test]
fn a_manifest_of_version_1_can_be_undone_for_ever() {
    let (world, problems) = with_fixture("v1.json");
    assert!(problems.is_empty(), "{problems:?}");
    put(&world.at("edited"), b"new\n");
    std::fs::create_dir(world.at("dir")).unwrap();
    put(&world.at("dir/created"), b"new\n");
    world.undo(Scope::Turn).unwrap();
    assert_eq!(
        (read(&world.at("edited")), mode(&world.at("edited"))),
        ("old\n".to_owned(), 0o600)
    );
    assert_eq!(std::fs::read_link(world.at("link")).unwrap(), Path::new("edited"));
    assert!(!world.at("dir").exists());
}

#[test]
fn a_manifest_of_a_later_version_is_refused_with_words() {
    let (world, problems) = with_fixture("v2.json");
    let words: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert!(
        words[0].contains("was written by a newer dcode (snapshot format 2, this one reads 1)"),
        "{words:?}"
    );
    assert_eq!(world.store.steps(), []);
}
