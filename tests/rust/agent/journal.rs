//! What the journal of a session holds, and sessions that cannot have one.

use dcode::journal::{self, Record};
use dcode::protocol::event::Level;
use dcode::protocol::ids::{SessionId, StepIx};
use dcode::protocol::message::{Block, Role};
use dcode::protocol::op::Op;

use super::stage::Backdrop;
use super::*;

#[test]
fn a_run_is_recorded_whole_and_in_order() {
    let mut stage = Backdrop::new().file("a", "1\n").start();
    let edit = json!({"path": "a", "old_string": "1", "new_string": "2"});
    stage.submit(Op::SetMode { mode: "yolo".into() });
    let first = Say::new()
        .reasoning("hm")
        .text("I edit.")
        .tool_call("x", "edit_file", &edit)
        .done();
    stage.turn("work", [first, Say::say("done")]);
    stage.restore(Op::undo(None));
    stage.restore(Op::Redo);
    stage.submit(Op::SetMode {
        mode: "manual".into(),
    });
    stage.until(|event| matches!(event, Event::ModeChanged { mode } if mode == "manual"));
    let session = SessionId(stage.agent.status().session);
    stage.shutdown(std::time::Duration::from_secs(30));
    let path = journal::journal_path(&stage.backdrop.state, &session);
    let read = journal::read(&path).unwrap();
    assert_eq!((read.torn, read.damage), (0, None));
    assert!(!journal::is_locked(&path), "the lock is given back");
    let told: Vec<String> = read
        .records
        .iter()
        .map(|record| match record {
            Record::SessionStarted {
                session: s,
                cwd,
                model,
                mode,
                ..
            } => {
                assert_eq!((s, cwd), (&session, &stage.backdrop.root));
                format!("session {} {mode}", model.as_deref().unwrap())
            }
            Record::MessageAppended { message } => {
                let blocks: Vec<_> = message
                    .blocks
                    .iter()
                    .map(|block| match block {
                        Block::Text { text } => format!("text {text}"),
                        Block::Reasoning { text } => format!("reasoning {text}"),
                        Block::ToolCall(call) => format!("call {} {}", call.id, call.name),
                        Block::ToolResult(result) => format!("result {} {}", result.id, result.is_error),
                        Block::Media { .. } => "media".into(),
                    })
                    .collect();
                let role = match message.role {
                    Role::User => "user",
                    Role::Assistant => "assistant",
                    Role::Tool => "tool",
                };
                format!("{role}: {}", blocks.join(", "))
            }
            Record::ReviewBase { path, .. } => format!("waits {}", path.file_name().unwrap().display()),
            Record::ReviewClosed { path } => format!("settled {}", path.file_name().unwrap().display()),
            other => serde_json::to_string(other).unwrap(),
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    session mock:m manual
    {"type":"mode_changed","mode":"yolo"}
    {"type":"turn_started","turn":1,"text":"work"}
    user: text work
    assistant: reasoning hm, text I edit., call x edit_file
    {"type":"step_started","step":1,"turn":1}
    waits a
    {"type":"step_kept","step":1}
    tool: result x false
    assistant: text done
    {"type":"turn_finished","turn":1,"reason":"done"}
    settled a
    {"type":"step_undone","step":1}
    waits a
    {"type":"step_redone","step":1}
    {"type":"mode_changed","mode":"manual"}
    "#);
    assert_eq!(
        read.records
            .iter()
            .filter(|r| **r == Record::StepUndone { step: StepIx(1) })
            .count(),
        1
    );
}

#[test]
fn a_session_without_a_turn_leaves_nothing() {
    let mut stage = Stage::new();
    stage.until(|event| matches!(event, Event::SessionStarted { .. }));
    stage.shutdown(std::time::Duration::from_secs(30));
    assert_eq!(std::fs::read_dir(&stage.backdrop.state).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(&stage.backdrop.root).unwrap().count(), 0);
}

#[test]
fn a_journal_that_cannot_be_written_is_told_once_and_the_turn_works() {
    let backdrop = Backdrop::new().file("a", "1\n");
    // A file in the place of the folder: also root cannot write below it.
    std::fs::remove_dir(&backdrop.state).unwrap();
    stage::write(&backdrop.state, "in the way");
    let mut stage = backdrop.start();
    for prompt in ["one", "two"] {
        let ended = stage.turn(
            prompt,
            [call("read_file", json!({"path": "a"})), Say::say("done")],
        );
        assert_eq!(ended.reason, TurnEnd::Done);
    }
    let told: Vec<_> = stage
        .notices()
        .into_iter()
        .filter(|notice| notice.level == Level::Warn)
        .collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].message.starts_with("This session is not recorded: "),
        "{told:?}"
    );
}

#[test]
fn where_no_snapshot_can_be_made_nothing_is_changed() {
    let backdrop = Backdrop::new().file("a", "1\n");
    std::fs::remove_dir(&backdrop.state).unwrap();
    stage::write(&backdrop.state, "in the way");
    stage::write(&backdrop.root.join(".deepseek"), "in the way");
    let mut stage = backdrop.start();
    let edit = json!({"path": "a", "old_string": "1", "new_string": "2"});
    stage.turn("work", [call("edit_file", edit), Say::say("done")]);
    let done = stage.last_done();
    assert!(
        done.outcome == Outcome::Failed && done.text.contains("could not be kept for undo"),
        "{done:?}"
    );
    assert_eq!(stage.disk("a").unwrap(), "1\n");
}
