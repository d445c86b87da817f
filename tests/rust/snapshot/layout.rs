//! Where snapshots lie, and who may read them.

use super::*;
use crate::other_process;

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
    let mut command = other_process::command(
        "snapshot::layout::child_works_in_a_read_only_project",
        &world.root,
        "",
    );
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
