//! What is there again after the process ended: review, steps, conversation; with files changed meanwhile.

use dcode::journal::{self, Record};
use dcode::protocol::ids::{SessionId, StepIx};
use dcode::protocol::op::Op;
use dcode::review::Selector;

use super::stage::{self, Backdrop};
use super::*;

const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
const AFTER: &str = "ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n";

fn edit(name: &str, old: &str, new: &str) -> (&'static str, Value) {
    let args = json!({"path": name, "old_string": old, "new_string": new});
    ("edit_file", args)
}

/// Two hunks in `a`, a new file `b`, each a step of its own.
fn worked() -> Stage {
    let mut stage = Backdrop::new().file("a", BEFORE).start();
    let first = calls(&[edit("a", "one", "ONE"), edit("a", "seven", "SEVEN")]);
    let made = call("write_file", json!({"path": "b", "content": "new\n"}));
    stage.turn("do the work", [first, made, Say::say("done")]);
    assert_eq!(stage.disk("a").unwrap(), AFTER);
    stage
}

/// Takes the offer, and gives what the person is told.
fn resume(stage: &mut Stage) -> (bool, String) {
    stage.submit(Op::Resume { session: None });
    let resumed = stage.until(|event| matches!(event, Event::SessionResumed { .. }));
    let Event::SessionResumed { ok, message, .. } = resumed else {
        unreachable!()
    };
    (ok, message)
}

fn offered(stage: &mut Stage) -> (usize, usize) {
    let offer = stage.until(|event| matches!(event, Event::SessionOffered { .. }));
    let Event::SessionOffered { hunks, files, .. } = offer else {
        unreachable!()
    };
    (hunks, files)
}

fn waiting(stage: &Stage, name: &str) -> Vec<(Vec<String>, Vec<String>)> {
    let book = stage.agent.review();
    let hunks = book.lock().unwrap().hunks(&stage.path(name));
    hunks.into_iter().map(|hunk| (hunk.removed, hunk.added)).collect()
}

fn pair(old: &str, new: &str) -> (Vec<String>, Vec<String>) {
    let side = |text: &str| text.lines().map(str::to_owned).collect();
    (side(old), side(new))
}

#[test]
fn review_steps_and_conversation_are_there_again() {
    let mut stage = worked();
    let first = stage.agent.status().session;
    stage.restart(|_| {});
    assert_eq!(offered(&mut stage), (3, 2));
    let (ok, message) = resume(&mut stage);
    assert!(ok, "{message}");
    assert_eq!(
        message,
        "The session goes on: 3 hunks in 2 files wait for review, 2 steps can be undone."
    );
    assert_eq!(stage.agent.status().session, first);
    assert_eq!(waiting(&stage, "a"), [pair("one", "ONE"), pair("seven", "SEVEN")]);
    assert_eq!(waiting(&stage, "b"), [pair("", "new")]);

    // Steps are numbered on, the model knows what was said, and undo goes back beyond the restart.
    stage.turn("go on", [calls(&[edit("a", "four", "FOUR")]), Say::say("done")]);
    let requests = stage.backdrop.model.requests();
    let said = json!(requests.last().unwrap().messages()).to_string();
    assert!(said.contains("do the work") && said.contains("go on"), "{said}");
    let (ok, message, _) = stage.restore(Op::undo(Some(3)));
    assert!(ok, "{message}");
    assert_eq!(
        (stage.disk("a").unwrap().as_str(), stage.disk("b")),
        (BEFORE, None)
    );
    let session = SessionId(first);
    stage.shutdown(std::time::Duration::from_secs(30));
    let read = journal::read(&journal::journal_path(&stage.backdrop.state, &session)).unwrap();
    let steps: Vec<StepIx> = read
        .records
        .iter()
        .filter_map(|record| match record {
            Record::StepStarted { step, .. } => Some(*step),
            _ => None,
        })
        .collect();
    assert_eq!(steps, [1, 2, 3].map(StepIx));
}

#[test]
fn what_was_decided_before_the_end_stays_decided() {
    let mut stage = worked();
    let a = stage.path("a");
    {
        let mut book = stage.agent.review().lock().unwrap();
        let first = book.hunks(&a)[0].id;
        book.accept(&a, &Selector::Hunk(first)).unwrap();
        book.accept(&stage.path("b"), &Selector::All).unwrap();
    }
    stage.restart(|_| {});
    assert_eq!(offered(&mut stage), (1, 1));
    assert!(resume(&mut stage).0);
    assert_eq!(waiting(&stage, "a"), [pair("seven", "SEVEN")]);
    stage
        .agent
        .review()
        .lock()
        .unwrap()
        .accept(&a, &Selector::All)
        .unwrap();
    stage.restart(|_| {});
    assert_eq!(waiting(&stage, "a"), []);
    let (ok, message) = resume(&mut stage);
    assert!(ok, "the newest session of the project");
    assert_eq!(
        message,
        "The session goes on; nothing waits for review, 2 steps can be undone."
    );
}

#[test]
fn hunks_that_still_fit_come_back_and_the_others_are_named() {
    let mut stage = worked();
    stage.restart(|stage| {
        stage::write(
            &stage.path("a"),
            &AFTER.replace("ONE", "one").replace("four\n", "four\nmine\n"),
        );
        std::fs::remove_file(stage.path("b")).unwrap();
    });
    let (ok, message) = resume(&mut stage);
    assert!(ok, "{message}");
    assert_eq!(
        message,
        "The session goes on: 1 hunk in 1 file wait for review, 2 steps can be undone. \
         a: it changed since, 1 hunk is gone. b: it changed since, 1 hunk is gone."
    );
    assert_eq!(waiting(&stage, "a"), [pair("seven", "SEVEN")]);
    // What was written meanwhile is the person's: rejecting leaves it.
    stage.submit(Op::Reject {
        path: stage.path("a"),
        hunk: None,
    });
    stage.until(|event| matches!(event, Event::FilesChanged { .. }));
    assert_eq!(stage.disk("a").unwrap(), BEFORE.replace("four\n", "four\nmine\n"));
    stage.turn("look", [Say::say("yes")]);
    let requests = stage.backdrop.model.requests();
    let said = json!(requests.last().unwrap().messages()).to_string();
    assert!(said.contains("changed meanwhile"), "{said}");
}

#[test]
fn a_session_that_another_process_has_is_not_offered_and_not_given() {
    let mut stage = worked();
    let session = SessionId(stage.agent.status().session);
    stage.restart(|_| {});
    let path = journal::journal_path(&stage.backdrop.state, &session);
    let other = journal::try_lock(&path).unwrap().unwrap();
    let (ok, message) = resume(&mut stage);
    assert!(!ok);
    assert_eq!(message, "There is no earlier session of this project.");
    stage.submit(Op::Resume {
        session: Some(session),
    });
    let refused = stage.until(|event| matches!(event, Event::SessionResumed { .. }));
    assert!(
        matches!(refused, Event::SessionResumed { ok: false, .. }),
        "{refused:?}"
    );
    drop(other);
    assert!(resume(&mut stage).0);
}

#[test]
fn a_new_session_takes_over_what_waits() {
    let mut stage = worked();
    let old = SessionId(stage.agent.status().session);
    stage.submit(Op::NewSession);
    stage.until(|event| matches!(event, Event::SessionStarted { session, .. } if *session != old));
    assert_eq!(waiting(&stage, "a").len(), 2);
    stage.restart(|_| {});
    let offer = stage.until(|event| matches!(event, Event::SessionOffered { .. }));
    let Event::SessionOffered { session, others, .. } = offer else {
        unreachable!()
    };
    assert!(session != old && others == 0, "the old session gave it away");
    assert!(resume(&mut stage).0);
    assert_eq!(waiting(&stage, "a").len(), 2);
}
