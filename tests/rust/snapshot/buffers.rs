//! Buffers: saved, unsaved, loaded since.

use super::*;

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
