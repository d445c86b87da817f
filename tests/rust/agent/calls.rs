//! Calls and explanations from Lua, and what they may do beside a turn.

use std::time::Duration;

use dcode::protocol::op::Op;

use super::stage::Backdrop;
use super::*;

const LONG: Duration = Duration::from_secs(600);

fn question() -> Value {
    json!({"questions": [{"question": "Which?", "options": [{"label": "this"}]}]})
}

/// Holds what the person is asked.
fn absent_minded(request: &Request) -> Answer {
    match request {
        Request::Approval(_) | Request::Question { .. } => Answer::Hold,
        _ => Answer::Usual,
    }
}

#[test]
fn a_call_runs_as_a_models_call_would() {
    let mut stage = Backdrop::new().file("a", "1\n").start();
    let result = stage.call("read_file", json!({"path": "a"}));
    assert_eq!(
        (result.ok, result.text.as_str(), result.decision.as_str()),
        (true, "     1\t1\n", "allow")
    );
    let result = stage.call("execute", json!({"command": "exit 7"}));
    assert_eq!(
        (result.ok, result.decision.as_str()),
        (false, "allow"),
        "{result:?}"
    );
    assert!(result.text.starts_with("exit 7"), "{}", result.text);
    let result = stage.call("write_file", json!({"path": "b", "content": "x\n"}));
    assert!(result.ok);
    let unknown = stage.call("readfile", json!({}));
    assert!(
        !unknown.ok
            && unknown
                .text
                .contains("try one of [read_file, write_file, edit_file"),
        "{unknown:?}"
    );
    let (ok, message, _) = stage.restore(Op::undo(Some(1)));
    assert!(ok, "a call is a step of its own: {message}");
    assert_eq!(stage.disk("b"), None);
}

#[test]
fn calls_run_beside_a_turn_that_waits() {
    let mut stage = Backdrop::new().file("a", "1\n").start();
    stage.on_request(absent_minded);
    stage.says([call("bash", json!({"command": "touch made"})), Say::say("done")]);
    let turn = stage.prompt("work");
    while stage.held() == 0 {
        stage.next();
    }
    assert_eq!(stage.agent.status().state, "waiting");
    assert!(stage.call("read_file", json!({"path": "a"})).ok);
    assert!(stage.call("write_file", json!({"path": "b", "content": "x"})).ok);
    stage.answer_held();
    assert_eq!(stage.finish(turn).reason, TurnEnd::Done);
    assert!(stage.path("made").exists());
}

#[test]
fn the_request_of_a_call_names_its_ticket() {
    let mut stage = Stage::new();
    let ticket = stage.send_call("bash", json!({"command": "touch made"}), LONG);
    assert!(stage.call_result(ticket).ok);
    let asked: Vec<_> = stage
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Request {
                ticket,
                request: Request::Approval(_),
                ..
            } => Some(*ticket),
            _ => None,
        })
        .collect();
    assert_eq!(asked, [Some(ticket)]);
}

#[test]
fn a_call_without_a_person_is_not_asked() {
    let mut stage = Stage::new();
    let ticket = stage.agent.next_ticket();
    stage.submit(Op::Call {
        ticket,
        tool: "bash".into(),
        args: json!({"command": "touch made"}),
        timeout_ms: 10_000,
        human: false,
    });
    let result = stage.call_result(ticket);
    assert_eq!(
        (result.ok, result.decision.as_str()),
        (false, "deny"),
        "{result:?}"
    );
    assert_eq!((stage.approvals(), stage.path("made").exists()), (0, false));
}

#[test]
fn explaining_runs_nothing_and_asks_nobody() {
    let mut stage = Stage::new();
    let mut explain = |tool: &str, args: Value| {
        let ticket = stage.agent.next_ticket();
        stage.submit(Op::Explain {
            ticket,
            tool: tool.into(),
            args,
        });
        let explained =
            stage.until(|event| matches!(event, Event::Explained { ticket: t, .. } if *t == ticket));
        let Event::Explained { explanation, .. } = explained else {
            unreachable!()
        };
        explanation
    };
    let push = explain("bash", json!({"command": "touch made && rm -rf /"}));
    assert_eq!(push["decision"], "deny", "{push}");
    assert_eq!(push["commands"].as_array().unwrap().len(), 2, "{push}");
    assert!(push["rule"].is_string() && push["layer"] == "hard", "{push}");
    assert_eq!(
        explain("execute", json!({"command": "touch made"}))["decision"],
        "ask"
    );
    assert_eq!(explain("read_file", json!({"path": "a"}))["decision"], "allow");
    assert!(
        explain("nonsense", json!({}))["error"]
            .as_str()
            .unwrap()
            .contains("try one of")
    );
    assert!(
        explain("read_file", json!({}))["error"]
            .as_str()
            .unwrap()
            .contains("missing field")
    );
    assert_eq!((stage.asked(|_| true), stage.path("made").exists()), (0, false));
}

#[test]
fn a_call_can_be_cancelled_while_it_is_asked_and_while_it_runs() {
    let mut stage = Stage::new();
    stage.on_request(absent_minded);
    let ticket = stage.send_call("bash", json!({"command": "touch made"}), LONG);
    while stage.held() == 0 {
        stage.next();
    }
    stage.submit(Op::CancelCall { ticket });
    let result = stage.call_result(ticket);
    assert_eq!((result.ok, result.decision.as_str()), (false, "ask"));
    assert!(!stage.path("made").exists());

    stage.on_request(|_| Answer::Usual);
    let ticket = stage.send_call("bash", json!({"command": "echo on; sleep 600"}), LONG);
    stage.until(|event| matches!(event, Event::ToolProgress { .. }));
    stage.submit(Op::CancelCall { ticket });
    assert!(!stage.call_result(ticket).ok);
    assert_eq!(stage.last_done().outcome, Outcome::Cancelled);
    stage.submit(Op::CancelCall { ticket });
    assert!(stage.call("ls", json!({})).ok);
}

#[test]
fn a_timeout_ends_the_tool_and_is_named() {
    let mut stage = Stage::new();
    let ticket = stage.send_call("bash", json!({"command": "sleep 600"}), Duration::from_millis(50));
    let result = stage.call_result(ticket);
    assert_eq!(
        (result.ok, result.text.as_str()),
        (false, "Stopped: it took longer than 50 ms (timeout_ms).")
    );
    assert_eq!(stage.last_done().text, result.text);
}

#[test]
fn a_timeout_does_not_count_the_persons_time() {
    let mut stage = Stage::new();
    stage.on_request(absent_minded);
    let limit = Duration::from_secs(2);
    let tickets = [
        stage.send_call("question", question(), limit),
        stage.send_call("bash", json!({"command": "touch made"}), limit),
    ];
    while stage.held() < 2 {
        stage.next();
    }
    // This takes longer than the limit of the two that wait.
    assert!(stage.call("bash", json!({"command": "sleep 2.5"})).ok);
    stage.answer_held();
    for ticket in tickets {
        let result = stage.call_result(ticket);
        assert!(result.ok, "{result:?}");
    }
    for event in &stage.events {
        if let Event::ToolFinished { tool, elapsed_ms, .. } = event
            && tool == "question"
        {
            assert!(*elapsed_ms < 2_500, "{elapsed_ms} ms are not the tool's own time");
        }
    }
}

#[test]
fn a_call_that_waits_for_another_to_write_the_same_file_can_be_stopped() {
    let mut stage = Backdrop::new().file("a", "1\n").start();
    stage.editor.load(&stage.path("a"), "1\n", false);
    stage.on_request(|request| match request {
        Request::ApplyEdits(_) => Answer::Hold,
        _ => Answer::Usual,
    });
    let edit = |new: &str| json!({"path": "a", "old_string": "1", "new_string": new});
    let first = stage.send_call("edit_file", edit("2"), LONG);
    while stage.held() == 0 {
        stage.next();
    }
    let second = stage.send_call("edit_file", edit("3"), LONG);
    stage.until(|event| matches!(event, Event::ToolStarted { .. }));
    stage.submit(Op::CancelCall { ticket: second });
    assert!(!stage.call_result(second).ok);
    assert_eq!(stage.held(), 1, "the first goes on");
    stage.answer_held();
    assert!(stage.call_result(first).ok);
    assert_eq!(stage.disk("a").unwrap(), "2\n");
}

#[test]
fn an_interrupt_is_for_calls_too() {
    let mut stage = Stage::new();
    stage.on_request(absent_minded);
    let ticket = stage.send_call("bash", json!({"command": "touch made"}), LONG);
    while stage.held() == 0 {
        stage.next();
    }
    stage.submit(Op::Interrupt);
    assert!(!stage.call_result(ticket).ok);
    assert!(!stage.path("made").exists());
}
