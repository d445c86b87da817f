//! What is captured and put back: files, folders, links, modes.

use super::*;

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
fn a_file_with_two_names_stays_one_file() {
    let mut world = World::new();
    put(&world.at("a"), b"\xef\xbb\xbfone\r\ntwo\n\xff");
    std::fs::set_permissions(world.at("a"), Permissions::from_mode(0o640)).unwrap();
    std::fs::hard_link(world.at("a"), world.at("b")).unwrap();
    world.step(1, 1, &["a"], || put(&world.at("a"), b"changed"));
    world.restart();
    world.undo(Scope::Steps(1)).unwrap();
    for name in ["a", "b"] {
        assert_eq!(
            std::fs::read(world.at(name)).unwrap(),
            b"\xef\xbb\xbfone\r\ntwo\n\xff"
        );
    }
    assert_eq!(std::fs::metadata(world.at("a")).unwrap().nlink(), 2);
    assert_eq!(mode(&world.at("b")), 0o640);
    world.redo().unwrap();
    assert_eq!(read(&world.at("b")), "changed");
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
