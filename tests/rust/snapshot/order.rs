//! Steps, turns, redo.

use super::*;

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
