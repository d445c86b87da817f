//! The list of steps, and going back to one of them: files, conversation, or both.

use dcode::protocol::event::{FileFate, TimelineStep};
use dcode::protocol::ids::StepIx;
use dcode::protocol::op::{OnConflict, Op, Restore, Undo};

use super::stage::{self, Backdrop};
use super::*;

const TEN: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

fn edit(old: &str, new: &str) -> Say {
    let args = json!({"path": "a", "old_string": old, "new_string": new});
    call("edit_file", args)
}

fn timeline(stage: &mut Stage) -> Vec<TimelineStep> {
    stage.submit(Op::Timeline);
    let told = stage.until(|event| matches!(event, Event::Timeline { .. }));
    let Event::Timeline { steps } = told else {
        unreachable!()
    };
    steps
}

/// Two turns: `a` changed and `b` made, then `a` changed again.
fn two_turns() -> Stage {
    let mut stage = Backdrop::new().file("a", TEN).start();
    let made = call("write_file", json!({"path": "b", "content": "x\ny\n"}));
    stage.turn("first", [edit("2\n", "two\n"), made, Say::say("one")]);
    stage.turn(
        "second",
        [edit("8\n", "eight\neight and a half\n"), Say::say("two")],
    );
    stage
}

#[test]
fn steps_are_listed_with_prompt_files_and_counts() {
    let mut stage = two_turns();
    let told: Vec<String> = timeline(&mut stage)
        .iter()
        .map(|step| {
            let file = &step.files[0];
            let name = file.path.file_name().unwrap().to_str().unwrap();
            let counts = (file.added, file.removed);
            assert!(file.undoable && step.files.len() == 1);
            format!(
                "{} {} {name} {:?} {counts:?} {}",
                step.step, step.prompt, file.change, step.undone
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "1 first a Changed (1, 1) false",
            "2 first b Created (2, 0) false",
            "4 second a Changed (2, 1) false"
        ]
    );
    stage.restore(Op::undo(None));
    assert!(timeline(&mut stage)[2].undone);
    stage.submit(Op::StepDiff { step: StepIx(4) });
    let told = stage.until(|event| matches!(event, Event::StepDiff { .. }));
    let Event::StepDiff { diff, .. } = told else {
        unreachable!()
    };
    assert!(
        diff.contains("--- a/a\n") && diff.contains("-8\n+eight\n"),
        "{diff}"
    );
    assert_eq!(FileFate::Created, timeline(&mut stage)[1].files[0].change);
}

fn go_back(stage: &mut Stage, from: u64, what: Restore) -> (bool, String) {
    let (ok, message, _) = stage.restore(Op::Undo(Undo {
        from: Some(StepIx(from)),
        what,
        ..Undo::default()
    }));
    (ok, message)
}

/// What the model is sent with the next prompt.
fn next_request(stage: &mut Stage) -> String {
    stage.turn("next", [Say::say("yes")]);
    json!(stage.backdrop.model.requests().last().unwrap().messages()).to_string()
}

#[test]
fn files_go_back_to_before_a_step() {
    let mut stage = two_turns();
    let (ok, message) = go_back(&mut stage, 2, Restore::Files);
    assert!(ok, "{message}");
    assert_eq!(stage.disk("a").unwrap(), TEN.replace("2\n", "two\n"));
    assert_eq!(stage.disk("b"), None);
    let said = next_request(&mut stage);
    assert!(
        said.contains("second") && said.contains("undid your last 2 steps"),
        "{said}"
    );
}

#[test]
fn the_conversation_goes_back_alone_or_with_the_files() {
    let mut stage = two_turns();
    let (ok, message) = go_back(&mut stage, 4, Restore::Conversation);
    assert!(ok && message.contains("before step 4"), "{message}");
    assert!(stage.disk("a").unwrap().contains("eight"), "files stay");
    let said = next_request(&mut stage);
    assert!(said.contains("first") && !said.contains("second"), "{said}");

    let mut stage = two_turns();
    assert!(go_back(&mut stage, 1, Restore::Both).0);
    assert_eq!((stage.disk("a").unwrap().as_str(), stage.disk("b")), (TEN, None));
    let said = next_request(&mut stage);
    assert!(!said.contains("first") && !said.contains("second"), "{said}");
    // The journal tells the same story.
    stage.restart(|_| {});
    stage.submit(Op::Resume { session: None });
    stage.until(|event| matches!(event, Event::SessionResumed { ok: true, .. }));
    let said = next_request(&mut stage);
    assert!(!said.contains("first") && said.contains("next"), "{said}");
}

#[test]
fn lines_of_the_person_apart_from_the_agents_are_kept() {
    let mut stage = two_turns();
    let mine = stage.disk("a").unwrap().replace("5\n", "5\nmine\n");
    stage::write(&stage.path("a"), &mine);
    let (ok, message, _) = stage.restore(Op::undo(Some(1)));
    assert!(
        ok && message.contains("What was written there since is kept in a."),
        "{message}"
    );
    assert_eq!(
        stage.disk("a").unwrap(),
        mine.replace("eight\neight and a half\n", "8\n")
    );
    // Also over a step that found what the person wrote.
    let (ok, message, _) = stage.restore(Op::undo(Some(2)));
    assert!(ok, "{message}");
    assert_eq!(stage.disk("a").unwrap(), TEN.replace("5\n", "5\nmine\n"));
    let (ok, message, _) = stage.restore(Op::Redo);
    assert!(ok, "{message}");
    assert!(stage.restore(Op::Redo).0);
    assert_eq!(stage.disk("a").unwrap(), mine);
}

#[test]
fn lines_of_the_person_in_the_agents_are_never_overwritten() {
    let mut stage = two_turns();
    let mine = stage.disk("a").unwrap().replace("eight\n", "mine\n");
    stage::write(&stage.path("a"), &mine);
    stage.submit(Op::undo(Some(2)));
    let refused = stage.until(|event| matches!(event, Event::Restored { .. }));
    let Event::Restored { ok, conflicts, .. } = &refused else {
        unreachable!()
    };
    assert!(
        !ok && conflicts.len() == 1 && conflicts[0].path == stage.path("a"),
        "{refused:?}"
    );
    assert_eq!(
        (stage.disk("a").unwrap(), stage.disk("b").unwrap()),
        (mine.clone(), "x\ny\n".into())
    );

    // The other file alone, when the person says so.
    let skip = |conflicts| {
        Op::Undo(Undo {
            steps: Some(2),
            conflicts,
            ..Undo::default()
        })
    };
    let (ok, message, _) = stage.restore(skip(OnConflict::Skip));
    assert!(ok && message.contains("Left as it is: a."), "{message}");
    assert_eq!((stage.disk("a").unwrap(), stage.disk("b")), (mine.clone(), None));
    assert!(stage.restore(Op::Redo).0);

    let (ok, message, _) = stage.restore(skip(OnConflict::Mark));
    assert!(ok && message.contains("conflict markers in a."), "{message}");
    let marked = stage.disk("a").unwrap();
    assert!(
        marked.contains("mine\n") && marked.contains("\n8\n") && marked.contains("<<<<<<<"),
        "{marked}"
    );
}

#[test]
fn a_later_step_goes_back_although_a_hunk_of_an_earlier_one_was_rejected() {
    let mut stage = two_turns();
    let hunk = stage.agent.review().lock().unwrap().hunks(&stage.path("a"))[0].id;
    stage.submit(Op::Reject {
        path: stage.path("a"),
        hunk: Some(hunk),
    });
    stage.until(|event| matches!(event, Event::FilesChanged { .. }));
    assert_eq!(
        stage.disk("a").unwrap(),
        TEN.replace("8\n", "eight\neight and a half\n")
    );
    let (ok, message, _) = stage.restore(Op::undo(Some(1)));
    assert!(ok, "{message}");
    assert_eq!(stage.disk("a").unwrap(), TEN);
}
