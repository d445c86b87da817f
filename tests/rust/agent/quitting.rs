//! Quitting in the middle of everything.

use std::io::Read as _;
use std::sync::mpsc;
use std::time::Duration;

use dcode::protocol::event::RequestEnd;
use dcode::protocol::op::Op;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::stage::Backdrop;
use super::*;

/// A pipe with a name in the project; the answer arrives when nobody holds its other end any more.
fn lifeline(stage: &Stage, name: &str) -> mpsc::Receiver<()> {
    let path = stage.path(name);
    mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        std::fs::File::open(path).unwrap().read_to_end(&mut all).unwrap();
        sender.send(()).ok();
    });
    receiver
}

/// An agent that runs a command of a turn, a command of Lua, a question of Lua, and has a prompt in its queue.
fn busy(shell: &str) -> (Stage, [mpsc::Receiver<()>; 2]) {
    let mut stage = Backdrop::new().with(&json!({"mode": "yolo"})).start();
    stage.on_request(|request| match request {
        Request::Question { .. } => Answer::Hold,
        _ => Answer::Usual,
    });
    let lines = [lifeline(&stage, "one"), lifeline(&stage, "two")];
    let run = |fifo: &str| json!({"command": format!("exec 3>{fifo}; {shell}; echo up; sleep 600")});
    stage.says([calls(&[("bash", run("one"))])]);
    stage.prompt("work");
    stage.prompt("more");
    let day = Duration::from_secs(86_400);
    stage.send_call("bash", run("two"), day);
    let question = json!({"questions": [{"question": "Which?", "options": [{"label": "this"}]}]});
    stage.send_call("question", question, day);
    let mut up = 0;
    while up < 2 || stage.held() == 0 {
        up += usize::from(matches!(stage.next(), Event::ToolProgress { .. }));
    }
    (stage, lines)
}

#[test]
fn everything_ends_in_order_when_there_is_time() {
    let (mut stage, lines) = busy(":");
    let limit = Duration::from_secs(20);
    assert!(stage.shutdown(limit) < limit);
    for line in lines {
        line.try_recv().expect("the child is gone before the agent is");
    }
    let ends: Vec<_> = stage
        .events
        .iter()
        .filter_map(|event| match event {
            Event::TurnFinished { reason, .. } => Some(format!("turn {reason:?}")),
            Event::CallFinished { result, .. } => Some(format!("call {}", result.ok)),
            Event::RequestClosed {
                outcome: RequestEnd::Cancelled,
                ..
            } => Some("request".into()),
            Event::Stopped { reason } => Some(reason.clone()),
            _ => None,
        })
        .collect();
    let mut sorted = ends.clone();
    sorted.sort();
    assert_eq!(
        sorted,
        [
            "call false",
            "call false",
            "request",
            "shutdown",
            "turn Interrupted"
        ]
    );
    assert_eq!(ends.last().map(String::as_str), Some("shutdown"));
    assert!(!stage.agent.submit(Op::Interrupt), "nobody listens any more");
    assert_eq!(stage.shutdown(limit).as_secs(), 0, "a second end is none");
}

#[test]
fn a_call_from_lua_is_answered_before_the_end() {
    let mut stage = Stage::new();
    let line = lifeline(&stage, "line");
    let command = "trap '' TERM; exec 3>line; echo up; sleep 600";
    stage.send_call("bash", json!({ "command": command }), Duration::from_secs(86_400));
    stage.until(|event| matches!(event, Event::ToolProgress { .. }));
    stage.shutdown(Duration::from_secs(20));
    line.recv_timeout(Duration::from_secs(20))
        .expect("the child is gone");
    let [.., answer, Event::Stopped { .. }] = &stage.events[..] else {
        panic!("{}", stage.story())
    };
    assert!(matches!(answer, Event::CallFinished { .. }), "{answer:?}");
}

#[test]
fn quitting_does_not_wait_for_a_child_that_does_not_want_to_end() {
    let (mut stage, lines) = busy("trap '' TERM INT HUP");
    let limit = Duration::from_millis(100);
    let took = stage.shutdown(limit);
    assert!(took < limit + Duration::from_millis(200), "{took:?}");
    for line in lines {
        line.recv_timeout(Duration::from_secs(20))
            .expect("the child is ended all the same");
    }
    stage.faulty = true; // There was no time to tell of every end.
}

#[test]
fn quitting_while_a_file_waits_for_the_editor() {
    let mut stage = Backdrop::new().file("a", "1\n").start();
    stage.editor.load(&stage.path("a"), "1\n", false);
    stage.on_request(|request| match request {
        Request::ApplyEdits(_) => Answer::Hold,
        _ => Answer::Usual,
    });
    stage.says([call(
        "edit_file",
        json!({"path": "a", "old_string": "1", "new_string": "2"}),
    )]);
    stage.prompt("work");
    while stage.held() == 0 {
        stage.next();
    }
    let limit = Duration::from_secs(20);
    assert!(
        stage.shutdown(limit) < limit,
        "nobody answers any more, and nobody is waited for"
    );
    assert_eq!(stage.disk("a").unwrap(), "1\n");
}

#[test]
fn an_agent_that_is_dropped_ends() {
    let stage = Stage::new();
    let line = lifeline(&stage, "line");
    let mut stage = stage;
    stage.send_call(
        "bash",
        json!({"command": "exec 3>line; echo up; sleep 600"}),
        Duration::from_secs(86_400),
    );
    stage.until(|event| matches!(event, Event::ToolProgress { .. }));
    stage.shutdown(Duration::ZERO);
    line.recv_timeout(Duration::from_secs(20))
        .expect("the child is ended");
    stage.faulty = true;
}
