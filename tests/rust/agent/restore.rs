//! Edits and taking them back: buffers, files, review, conflicts.

use std::path::PathBuf;

use dcode::protocol::op::{HunkOutcome, Op};
use dcode::review::Hunk;

use super::stage::Backdrop;
use super::*;

fn edit(path: &str, old: &str, new: &str) -> (&'static str, Value) {
    (
        "edit_file",
        json!({"path": path, "old_string": old, "new_string": new}),
    )
}

fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("write_file", json!({"path": path, "content": content}))
}

fn hunks(stage: &Stage, name: &str) -> Vec<Hunk> {
    stage.agent.review().lock().unwrap().hunks(&stage.path(name))
}

fn undo(stage: &mut Stage, steps: Option<u32>) -> (bool, String, Vec<PathBuf>) {
    stage.restore(Op::undo(steps))
}

#[test]
fn an_unsaved_buffer_is_edited_and_put_back_and_the_disk_is_left_alone() {
    let mut stage = Backdrop::new().file("a", "saved\n").start();
    let path = stage.path("a");
    stage.editor.load(&path, "typed\nmore\n", true);
    stage.turn("work", [calls(&[edit("a", "typed", "edited")]), Say::say("done")]);
    assert_eq!(stage.editor.text(&path), "edited\nmore\n");
    assert_eq!(stage.disk("a").unwrap(), "saved\n");
    let done = stage.last_done();
    assert!(
        done.outcome == Outcome::Ok && done.text.contains("unsaved"),
        "{done:?}"
    );
    assert!(undo(&mut stage, None).0);
    assert_eq!(
        (stage.editor.text(&path), stage.disk("a").unwrap()),
        ("typed\nmore\n".into(), "saved\n".into())
    );
    assert!(stage.restore(Op::Redo).0);
    assert_eq!(stage.editor.text(&path), "edited\nmore\n");
}

#[test]
fn a_saved_buffer_is_edited_and_written() {
    let mut stage = Backdrop::new().file("a", "1\n").start();
    let path = stage.path("a");
    stage.editor.load(&path, "1\n", false);
    stage.turn("work", [calls(&[edit("a", "1", "2")]), Say::say("done")]);
    assert_eq!(
        (stage.editor.text(&path), stage.disk("a").unwrap()),
        ("2\n".into(), "2\n".into())
    );
    assert!(undo(&mut stage, None).0);
    assert_eq!(
        (stage.editor.text(&path), stage.disk("a").unwrap()),
        ("1\n".into(), "1\n".into())
    );
}

#[test]
fn a_closed_file_is_reviewed_and_its_hunks_go_with_the_undo() {
    let mut stage = Backdrop::new().file("a", "1\n2\n3\n").start();
    stage.turn(
        "work",
        [
            calls(&[edit("a", "2", "two"), write("b", "new\n")]),
            Say::say("done"),
        ],
    );
    assert_eq!(stage.disk("a").unwrap(), "1\ntwo\n3\n");
    let [hunk] = hunks(&stage, "a").try_into().unwrap();
    assert_eq!(
        (hunk.start, hunk.removed, hunk.added),
        (2, vec!["2".to_owned()], vec!["two".to_owned()])
    );
    assert_eq!(hunks(&stage, "b").len(), 1);
    assert!(
        stage
            .events
            .iter()
            .any(|event| matches!(event, Event::HunksChanged { .. }))
    );
    assert!(undo(&mut stage, None).0);
    assert_eq!(
        (stage.disk("a").unwrap(), stage.disk("b")),
        ("1\n2\n3\n".into(), None)
    );
    assert_eq!(stage.agent.review().lock().unwrap().pending(), 0);
    let (ok, message, _) = stage.restore(Op::Redo);
    assert!(ok, "{message}");
    assert_eq!(
        (stage.disk("a").unwrap(), stage.disk("b").unwrap()),
        ("1\ntwo\n3\n".into(), "new\n".into())
    );
}

#[test]
fn each_step_has_a_snapshot_and_is_taken_back_by_itself() {
    let mut stage = Backdrop::new().file("a", "1\n").start();
    let steps = [
        calls(&[edit("a", "1", "2")]),
        calls(&[edit("a", "2", "3"), write("x/y/b", "b\n")]),
        Say::say("done"),
    ];
    stage.turn("work", steps);
    let session = stage.agent.status().session;
    let folder = stage.path(".deepseek/snapshots").join(session);
    let mut kept: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| {
            entry
                .unwrap()
                .file_name()
                .into_string()
                .unwrap()
                .parse::<u32>()
                .ok()
        })
        .collect();
    kept.sort_unstable();
    assert_eq!(kept, [1, 2]);

    let (ok, message, mut paths) = undo(&mut stage, Some(1));
    paths.sort();
    assert_eq!((ok, paths), (true, vec![stage.path("a"), stage.path("x/y/b")]));
    assert_eq!(message, "Took back 1 step: a, x/y/b. :DcodeRedo brings it again.");
    assert_eq!(
        (stage.disk("a").unwrap(), stage.path("x").exists()),
        ("2\n".into(), false)
    );
    assert!(undo(&mut stage, Some(1)).0);
    assert_eq!(stage.disk("a").unwrap(), "1\n");
    let (ok, message, _) = undo(&mut stage, Some(1));
    assert!(!ok && !message.is_empty());
    for text in ["2\n", "3\n"] {
        assert!(stage.restore(Op::Redo).0);
        assert_eq!(stage.disk("a").unwrap(), text);
    }
    assert_eq!(stage.disk("x/y/b").unwrap(), "b\n");
    let (ok, message, _) = stage.restore(Op::Redo);
    assert!(!ok && !message.is_empty());
    // More steps than there are: all of them.
    assert!(undo(&mut stage, Some(9)).0);
    assert_eq!(
        (stage.disk("a").unwrap(), stage.path("x").exists()),
        ("1\n".into(), false)
    );
}

#[test]
fn the_model_hears_of_an_undo() {
    let mut stage = Backdrop::new().file("a", "1\n").start();
    stage.turn("one", [calls(&[edit("a", "1", "2")]), Say::say("done")]);
    undo(&mut stage, None);
    stage.submit(Op::Reviewed {
        path: stage.path("a"),
        hunks: [(1, true), (3, false), (5, false)]
            .map(|(line, accepted)| HunkOutcome {
                line,
                text: "x".into(),
                accepted,
            })
            .to_vec(),
    });
    stage.turn("two", [Say::say("fine")]);
    let request = stage.backdrop.model.requests().pop().unwrap();
    let text = request.messages().last().unwrap()["content"].as_str().unwrap();
    assert_eq!(
        text,
        "[The person undid your last 1 step: a as before.]\n\
         [The person accepted 1 hunk of a.]\n\
         [The person rejected 2 hunks of a: the old text stands. (line 3 `x`; line 5 `x`)]\n\ntwo"
    );
    stage.turn("three", [Say::say("fine")]);
    let request = stage.backdrop.model.requests().pop().unwrap();
    assert_eq!(
        request.messages().last().unwrap()["content"],
        "three",
        "it hears of it once"
    );
}

#[test]
fn a_conflict_in_one_file_leaves_all_of_them_alone() {
    let mut stage = Backdrop::new().file("a", "1\n").file("b", "1\n").start();
    stage.turn(
        "work",
        [
            calls(&[edit("a", "1", "2"), edit("b", "1", "2")]),
            Say::say("done"),
        ],
    );
    stage.file("b", "2\nmine\n");
    let before = stage.files_changed().len();
    let (ok, message, paths) = undo(&mut stage, None);
    assert_eq!((ok, paths.len()), (false, 0));
    assert_eq!(
        message,
        "b changed since: undo would lose 1 line of yours. Nothing was put back. Take your changes back with u \
         first, or keep them elsewhere."
    );
    assert_eq!(
        (stage.disk("a").unwrap(), stage.disk("b").unwrap()),
        ("2\n".into(), "2\nmine\n".into())
    );
    assert_eq!(stage.files_changed().len(), before);
    stage.file("b", "2\n");
    assert!(undo(&mut stage, None).0, "nothing of the refused undo is left");
    assert_eq!(
        (stage.disk("a").unwrap(), stage.disk("b").unwrap()),
        ("1\n".into(), "1\n".into())
    );
}

#[test]
fn files_changed_comes_once_a_call_that_changed_some() {
    let mut stage = Backdrop::new().file("a", "1\n").start();
    let step = [
        edit("a", "1", "2"),
        edit("a", "nowhere", "3"),
        ("read_file", json!({"path": "a"})),
        write("b", "new\n"),
        ("bash", json!({"command": "ls"})),
    ];
    stage.turn("work", [calls(&step), Say::say("done")]);
    let (a, b) = (stage.path("a"), stage.path("b"));
    assert_eq!(stage.files_changed(), [vec![a.clone()], vec![b.clone()]]);
    undo(&mut stage, None);
    assert_eq!(stage.files_changed()[2..], [vec![a, b]]);
}

/// A view of the files that is kept from these events misses nothing.
#[test]
fn every_tool_that_changes_files_says_which_and_once() {
    let permissions = json!({"bash": {"allow": ["touch *"]}});
    let mut stage = Backdrop::new()
        .with(&json!({ "permissions": permissions }))
        .file("a", "1\n")
        .file("b", "1\n")
        .start();
    let patch = "*** Begin Patch\n*** Update File: b\n*** Move to: c\n*** End Patch";
    let steps: [(&str, Value, &[&str]); 6] = [
        ("read_file", json!({"path": "a"}), &[]),
        ("write_file", json!({"path": "n", "content": "n\n"}), &["n"]),
        (
            "edit_file",
            json!({"path": "a", "old_string": "1", "new_string": "2"}),
            &["a"],
        ),
        ("apply_patch", json!({"patchText": patch}), &["b", "c"]),
        ("delete", json!({"path": "n"}), &["n"]),
        ("bash", json!({"command": "touch made"}), &["made"]),
    ];
    for (tool, args, paths) in steps {
        let before = stage.files_changed().len();
        stage.turn("work", [call(tool, args), Say::say("done")]);
        assert_eq!(stage.last_done().outcome, Outcome::Ok, "{tool}");
        let mut told = stage.files_changed().split_off(before);
        told.iter_mut().for_each(|paths| paths.sort());
        let expected: Vec<_> = paths.iter().map(|name| stage.path(name)).collect();
        let expected = if expected.is_empty() {
            vec![]
        } else {
            vec![expected]
        };
        assert_eq!(told, expected, "{tool}");
    }
}

#[test]
fn hunks_of_a_closed_file_are_rejected_one_by_one() {
    let mut stage = Backdrop::new().file("a", "1\n2\n3\n4\n5\n").start();
    stage.turn(
        "work",
        [
            calls(&[edit("a", "1", "one"), edit("a", "5", "five")]),
            Say::say("done"),
        ],
    );
    let [first, _] = hunks(&stage, "a").try_into().unwrap();
    let path = stage.path("a");
    stage.submit(Op::Reject {
        path: path.clone(),
        hunk: Some(first.id),
    });
    stage.until(|event| matches!(event, Event::FilesChanged { .. }));
    assert_eq!(stage.disk("a").unwrap(), "1\n2\n3\n4\nfive\n");
    assert_eq!(hunks(&stage, "a").len(), 1);
    stage.submit(Op::Reject {
        path: path.clone(),
        hunk: None,
    });
    stage.until(|event| matches!(event, Event::FilesChanged { .. }));
    assert_eq!(
        (stage.disk("a").unwrap(), hunks(&stage, "a")),
        ("1\n2\n3\n4\n5\n".into(), vec![])
    );
    stage.submit(Op::Reject {
        path,
        hunk: Some(first.id),
    });
    stage.until(|event| matches!(event, Event::Notice(_)));
}

#[test]
fn a_file_that_changed_on_disk_is_not_overwritten_by_a_rejection() {
    let mut stage = Backdrop::new().file("a", "1\n").start();
    stage.turn("work", [calls(&[edit("a", "1", "2")]), Say::say("done")]);
    let path = stage.file("a", "2\nmine\n");
    stage.submit(Op::Reject { path, hunk: None });
    stage.until(|event| matches!(event, Event::Notice(_)));
    assert_eq!(stage.disk("a").unwrap(), "2\nmine\n");
}

#[test]
fn a_made_file_goes_when_it_is_rejected() {
    let mut stage = Stage::new();
    stage.turn("work", [calls(&[write("b", "new\n")]), Say::say("done")]);
    stage.submit(Op::Reject {
        path: stage.path("b"),
        hunk: None,
    });
    stage.until(|event| matches!(event, Event::FilesChanged { .. }));
    assert_eq!((stage.disk("b"), hunks(&stage, "b")), (None, vec![]));
}

#[test]
fn nothing_is_taken_back_while_a_turn_runs() {
    let mut stage = Backdrop::new().file("a", "1\n").start();
    let (slow, release) = Say::new().text("hm").pause();
    stage.says([calls(&[edit("a", "1", "2")]), slow.done()]);
    let turn = stage.prompt("work");
    stage.until(|event| matches!(event, Event::TextDelta { .. }));
    let (ok, message, _) = undo(&mut stage, None);
    assert_eq!(
        (ok, message.as_str()),
        (false, "A turn is running. Stop it first with :Dcode stop.")
    );
    release.go();
    stage.finish(turn);
    assert!(undo(&mut stage, None).0);
}

#[test]
fn nothing_is_taken_back_while_a_call_from_lua_runs() {
    let mut stage = Backdrop::new().file("a", "1\n").start();
    stage.turn("work", [calls(&[write("a", "2\n")]), Say::say("done")]);
    // It waits for the answer to its approval.
    stage.on_request(|request| match request {
        Request::Approval(_) => stage::Answer::Hold,
        _ => stage::Answer::Usual,
    });
    let ticket = stage.send_call(
        "bash",
        json!({"command": "touch b"}),
        std::time::Duration::from_secs(30),
    );
    stage.until(|event| {
        matches!(
            event,
            Event::Request {
                request: Request::Approval(_),
                ..
            }
        )
    });
    let (ok, message, _) = undo(&mut stage, None);
    assert!(!ok && message.contains("A call from Lua is running"), "{message}");
    assert_eq!(stage.disk("a").unwrap(), "2\n");
    stage.submit(Op::Interrupt);
    stage.call_result(ticket);
    assert!(undo(&mut stage, None).0);
    assert_eq!(stage.disk("a").unwrap(), "1\n");
}

#[test]
fn an_edit_that_was_made_while_the_turn_was_stopped_can_be_taken_back() {
    let mut stage = Backdrop::new().file("a", "saved\n").start();
    let path = stage.path("a");
    stage.editor.load(&path, "typed\n", true);
    stage.says([calls(&[edit("a", "typed", "edited")])]);
    let turn = stage.prompt("work");
    loop {
        let event = stage.take();
        let edits = matches!(
            &event,
            Event::Request {
                request: Request::ApplyEdits(_),
                ..
            }
        );
        if edits {
            stage.submit(Op::Interrupt);
        }
        stage.react(&event);
        if edits {
            break;
        }
    }
    stage.finish(turn);
    assert_eq!(stage.editor.text(&path), "edited\n");
    let (ok, message, _) = undo(&mut stage, None);
    assert_eq!(
        (ok, stage.editor.text(&path)),
        (true, "typed\n".into()),
        "{message}"
    );
}

#[test]
fn what_a_redo_brings_again_waits_for_review_again() {
    let mut stage = Backdrop::new().file("a", "1\n").start();
    stage.turn("work", [calls(&[edit("a", "1", "2")]), Say::say("done")]);
    let pending = |stage: &Stage| stage.agent.review().lock().unwrap().pending();
    assert_eq!(pending(&stage), 1);
    assert!(undo(&mut stage, None).0);
    assert_eq!(pending(&stage), 0);
    assert!(stage.restore(Op::Redo).0);
    assert_eq!((pending(&stage), stage.disk("a").unwrap()), (1, "2\n".into()));
}

#[test]
fn a_created_file_that_was_rejected_can_be_written_again() {
    let mut stage = Stage::new();
    let path = stage.path("made");
    stage.turn("one", [calls(&[write("made", "text\n")]), Say::say("done")]);
    // As the editor does it: the buffer is emptied, the file goes.
    stage.editor.load(&path, "\n", false);
    std::fs::remove_file(&path).unwrap();
    stage.turn("two", [calls(&[write("made", "again\n")]), Say::say("done")]);
    let told = stage.last_done().text;
    assert!(told.contains("was removed since you read it"), "{told}");
    stage.turn("three", [calls(&[write("made", "again\n")]), Say::say("done")]);
    assert_eq!(stage.editor.text(&path), "again\n");
}
