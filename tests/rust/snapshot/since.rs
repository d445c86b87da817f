//! What the person did since a step, and processes that died in the middle.

use super::*;

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
