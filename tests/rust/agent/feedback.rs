//! What the model hears of what became of its work.

use dcode::protocol::op::Op;
use dcode::protocol::request::Diagnostic;

use super::stage::{self, Backdrop};
use super::*;

fn edit(stage: &mut Stage) {
    let args = json!({"path": "a", "old_string": "2\n", "new_string": "two\n"});
    stage.turn("work", [call("edit_file", args), Say::say("done")]);
}

fn last_prompt(stage: &mut Stage) -> String {
    stage.turn("next", [Say::say("yes")]);
    let request = stage.backdrop.model.requests().pop().unwrap();
    let text = &request.messages().last().unwrap()["content"];
    text.as_str().unwrap().to_owned()
}

#[test]
fn edits_of_the_person_since_the_last_turn_are_shown_once() {
    let mut stage = Backdrop::new().file("a", "1\n2\n3\n").file("b", "x\n").start();
    let a = stage.path("a");
    stage.editor.load(&a, "1\n2\n3\n", false);
    edit(&mut stage);
    // What the files hold is looked at when the turn has ended.
    stage.until(|event| matches!(event, Event::RequestClosed { .. }));
    stage.editor.load(&a, "1\ntwo\n3\nmine\n", true);
    stage::write(&stage.path("b"), "nobody knows it\n");
    let said = last_prompt(&mut stage);
    assert_eq!(
        said,
        "[Since your last turn these files changed:\n```diff\n--- a/a\n+++ b/a\n@@ -1,3 +1,4 @@\n 1\n two\n \
         3\n+mine\n```]\n\nnext"
    );
    assert_eq!(last_prompt(&mut stage), "next");
}

#[test]
fn new_diagnostics_follow_the_edit_in_the_next_request() {
    let mut stage = Backdrop::new().file("a", "1\n2\n3\n").start();
    let a = stage.path("a");
    let found = move |line, message: &str| Diagnostic {
        path: a.clone(),
        line,
        severity: "error".into(),
        source: Some("rustc".into()),
        message: message.into(),
    };
    stage.on_request(move |request| match request {
        Request::Diagnostics { paths: None } => Answer::With(Reply::Diagnostics {
            found: vec![found(1, "old")],
        }),
        Request::Diagnostics { paths: Some(_) } => Answer::With(Reply::Diagnostics {
            found: vec![found(3, "old"), found(2, "new")],
        }),
        _ => Answer::Usual,
    });
    edit(&mut stage);
    let request = stage.backdrop.model.requests().pop().unwrap();
    let result = request.result_of("c0").unwrap();
    assert!(
        result.ends_with("[New diagnostics after your edits:\na:2: error: new (rustc)]"),
        "{result}"
    );
}

#[test]
fn a_binary_file_and_permission_bits_wait_and_are_rejected_as_a_whole() {
    let backdrop = Backdrop::new()
        .with(&json!({"mode": "yolo"}))
        .file("run", "#!/bin/sh\n");
    std::fs::write(backdrop.root.join("bin"), b"\0old").unwrap();
    let mut stage = backdrop.start();
    let command = "printf '\\000new' > bin; printf '\\000made' > made; chmod 755 run";
    stage.turn(
        "run",
        [call("bash", json!({"command": command})), Say::say("done")],
    );
    let book = stage.agent.review().clone();
    let waiting = || -> Vec<String> {
        let book = book.lock().unwrap();
        let all = book.all();
        let rows = all.iter().flat_map(|(path, hunks)| {
            hunks.iter().map(move |hunk| {
                let name = path.file_name().unwrap().to_str().unwrap();
                format!("{name} {}", json!(hunk.whole))
            })
        });
        rows.collect()
    };
    assert_eq!(
        waiting(),
        [
            r#"bin {"kind":"binary"}"#,
            r#"made {"kind":"binary"}"#,
            r#"run {"kind":"mode","from":"644","to":"755"}"#
        ]
    );
    // The person touched one of them: it stays.
    std::fs::write(stage.path("made"), b"\0mine").unwrap();
    for name in ["bin", "run"] {
        stage.submit(Op::Reject {
            path: stage.path(name),
            hunk: None,
        });
        stage.until(|event| matches!(event, Event::FilesChanged { .. }));
    }
    stage.submit(Op::Reject {
        path: stage.path("made"),
        hunk: None,
    });
    let told = stage.until(|event| matches!(event, Event::Notice(_)));
    assert!(json!(told).to_string().contains("changed since"), "{told:?}");
    assert_eq!(std::fs::read(stage.path("bin")).unwrap(), b"\0old");
    assert_eq!(std::fs::read(stage.path("made")).unwrap(), b"\0mine");
    let mode = std::fs::metadata(stage.path("run")).unwrap().permissions();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o644);
    assert_eq!(waiting(), [r#"made {"kind":"binary"}"#]);
}

#[test]
fn a_rejected_hunk_of_a_closed_file_comes_back_on_demand() {
    let mut stage = Backdrop::new().file("a", "1\n2\n3\n").start();
    edit(&mut stage);
    let a = stage.path("a");
    stage.submit(Op::Reject {
        path: a.clone(),
        hunk: None,
    });
    stage.until(|event| matches!(event, Event::FilesChanged { .. }));
    assert_eq!(stage.disk("a").unwrap(), "1\n2\n3\n");
    stage.submit(Op::BringBack { path: a.clone() });
    stage.until(|event| matches!(event, Event::FilesChanged { .. }));
    assert_eq!(stage.disk("a").unwrap(), "1\ntwo\n3\n");
    let hunks = stage.agent.review().lock().unwrap().hunks(&a);
    assert_eq!(
        (hunks.len(), hunks[0].added.as_slice()),
        (1, &["two".to_owned()][..])
    );
}
