//! Turns: which calls run together, queued prompts, limits, loops, and the bytes of requests.

use dcode::protocol::op::{Op, PromptContext};

use super::stage::Backdrop;
use super::*;

fn read(path: &str) -> (&'static str, Value) {
    ("read_file", json!({ "path": path }))
}

fn write(path: &str) -> (&'static str, Value) {
    (
        "write_file",
        json!({"path": path, "content": format!("{path}\n")}),
    )
}

#[test]
fn reads_run_together_and_answer_in_their_order() {
    let mut stage = Backdrop::new().file("a", "1\n").file("b", "2\n").start();
    stage.on_request(|request| match request {
        Request::ReadBuffer { .. } => Answer::Hold,
        _ => Answer::Usual,
    });
    stage.says([calls(&[read("a"), read("b")]), Say::say("done")]);
    let turn = stage.prompt("read");
    while stage.held() < 2 {
        stage.next();
    }
    // The second is answered first, whichever of the two asked first.
    let of_b = stage.events.iter().find_map(|event| match event {
        Event::Request {
            id,
            request: Request::ReadBuffer { path },
            ..
        } if path.ends_with("b") => Some(*id),
        _ => None,
    });
    stage.reply(of_b.unwrap(), Reply::Buffer { buffer: None });
    stage.until(|event| matches!(event, Event::ToolFinished { .. }));
    stage.answer_held();
    stage.finish(turn);
    let texts: Vec<_> = stage.done().into_iter().map(|done| done.text).collect();
    assert_eq!(texts, ["     1\t2\n", "     1\t1\n"]);
    let request = &stage.backdrop.model.requests()[1];
    let results: Vec<_> = request
        .messages()
        .iter()
        .filter(|m| m["role"] == "tool")
        .collect();
    assert_eq!(
        (&results[0]["content"], &results[1]["content"]),
        (&json!("     1\t1\n"), &json!("     1\t2\n"))
    );
}

#[test]
fn what_changes_something_runs_alone_and_in_order() {
    let mut stage = Backdrop::new().file("a", "1\n").start();
    let plan = json!({"todos": [{"subject": "s", "status": "pending"}]});
    let step = [
        read("a"),
        write("x"),
        write("y"),
        read("x"),
        read("a"),
        ("bash", json!({"command": "cat x y"})),
        ("todo_write", plan),
        read("y"),
    ];
    let ended = stage.turn("work", [calls(&step), Say::say("done")]);
    assert_eq!(ended.reason, TurnEnd::Done);
    let mut open = Vec::new();
    let mut order = Vec::new();
    for event in &stage.events {
        match event {
            Event::ToolStarted { call, tool, .. } => {
                assert!(
                    tool == "read_file" || open.is_empty(),
                    "{tool} starts beside {open:?}"
                );
                assert!(
                    open.iter().all(|(_, tool)| *tool == "read_file"),
                    "{tool} beside {open:?}"
                );
                open.push((call, tool));
                order.push(tool.as_str());
            }
            Event::ToolFinished { call, .. } => open.retain(|(id, _)| *id != call),
            _ => {}
        }
    }
    assert_eq!(order, step.map(|(tool, _)| tool));
    let done = stage.done();
    assert!(done.iter().all(|done| done.outcome == Outcome::Ok), "{done:?}");
    assert!(done[5].text.ends_with("x\ny\n"), "{:?}", done[5]);
    let todo = stage
        .events
        .iter()
        .find(|event| matches!(event, Event::TodoUpdated { .. }));
    assert_eq!(
        todo,
        Some(&Event::TodoUpdated {
            items: vec![json!({"subject": "s", "status": "pending"})]
        })
    );
}

#[test]
fn prompts_queue_behind_the_running_turn() {
    let mut stage = Stage::new();
    let (slow, release) = Say::new().text("one").pause();
    stage.says([slow.done(), Say::say("two"), Say::say("three")]);
    let turns = [stage.prompt("1"), stage.prompt("2"), stage.prompt("3")];
    stage.until(|event| matches!(event, Event::TextDelta { .. }));
    assert_eq!(stage.agent.status().state, "running");
    release.go();
    let texts = turns.map(|turn| stage.finish(turn).text);
    assert_eq!(texts, ["one", "two", "three"]);
    let edges: Vec<_> = stage
        .events
        .iter()
        .filter_map(|event| match event {
            Event::TurnStarted { turn, text } => Some((true, *turn, text.clone())),
            Event::TurnFinished { turn, .. } => Some((false, *turn, String::new())),
            _ => None,
        })
        .collect();
    let expected = turns
        .iter()
        .zip(["1", "2", "3"])
        .flat_map(|(turn, text)| [(true, *turn, text.to_owned()), (false, *turn, String::new())]);
    assert_eq!(edges, expected.collect::<Vec<_>>());
    assert_eq!(stage.agent.status().state, "idle");
}

#[test]
fn an_interrupt_drops_the_queue() {
    let mut stage = Stage::new();
    let (slow, _release) = Say::new().text("one").pause();
    stage.says([slow]);
    let turns = [stage.prompt("1"), stage.prompt("2"), stage.prompt("3")];
    stage.until(|event| matches!(event, Event::TextDelta { .. }));
    stage.submit(Op::Interrupt);
    let mut left: Vec<_> = turns.to_vec();
    while !left.is_empty() {
        if let Event::TurnFinished { turn, reason, .. } = stage.next() {
            assert_eq!(reason, TurnEnd::Interrupted);
            left.retain(|waits| *waits != turn);
        }
    }
    assert_eq!(stage.backdrop.model.requests().len(), 1);
    // What was said until then stays in the conversation, and the agent goes on.
    assert_eq!(stage.turn("4", [Say::say("four")]).text, "four");
    let request = stage.backdrop.model.requests().pop().unwrap();
    let said: Vec<_> = request.messages()[1..]
        .iter()
        .map(|m| m["content"].as_str().unwrap())
        .collect();
    assert_eq!(said, ["1", "one", "4"]);
}

#[test]
fn an_idle_interrupt_does_nothing() {
    let mut stage = Stage::new();
    stage.submit(Op::Interrupt);
    assert_eq!(stage.turn("hi", [Say::say("ho")]).reason, TurnEnd::Done);
}

#[test]
fn steps_have_a_limit() {
    let mut stage = Backdrop::new()
        .with(&json!({"max_steps": 2}))
        .file("a", "1\n")
        .start();
    let ended = stage.turn(
        "work",
        [call("ls", json!({})), calls(&[read("a")]), Say::say("never")],
    );
    assert_eq!(ended.reason, TurnEnd::StepLimit);
    assert_eq!(
        ended.message.as_deref(),
        Some("Stopped after 2 steps. Say `go on` to let it work further.")
    );
    stage.backdrop.model.clear();
    assert_eq!(stage.turn("go on", [Say::say("done")]).reason, TurnEnd::Done);
}

#[test]
fn the_same_call_again_and_again_is_warned_and_then_ends_the_turn() {
    let mut stage = Backdrop::new().file("a", "1\n").start();
    let ended = stage.turn("work", (0..5).map(|_| calls(&[read("a"), ("ls", json!({}))])));
    assert_eq!(ended.reason, TurnEnd::Loop);
    assert!(ended.message.unwrap().contains("the same call again and again"));
    let requests = stage.backdrop.model.requests();
    assert_eq!(requests.len(), 4);
    let last = requests[3].messages().last().unwrap();
    assert!(
        last["content"]
            .as_str()
            .unwrap()
            .starts_with("Not run: the same call"),
        "{last}"
    );
    assert_eq!(stage.done().len(), 4, "the third time nothing ran");
    stage.backdrop.model.clear();
    assert_eq!(stage.turn("else", [Say::say("yes")]).text, "yes");
}

#[test]
fn two_successive_requests_share_every_byte_up_to_the_new_messages() {
    let once = json!({"retries": 0});
    let mut stage = Backdrop::new().with(&once).file("a", "1\n").start();
    let question = json!({"questions": [{"question": "Which?", "options": [{"label": "é"}]}]});
    stage.turn(
        "first",
        [
            Say::new()
                .reasoning("hm")
                .text("I look.")
                .tool_call("c", "read_file", &json!({"path": "a"}))
                .done(),
            calls(&[write("x"), ("bash", json!({"command": "exit 3"}))]),
            calls(&[("nonsense", json!({})), ("question", question)]),
            Say::say("done"),
        ],
    );
    stage.submit(Op::SetMode { mode: "yolo".into() });
    stage.call("ls", json!({}));
    stage.restore(Op::undo(None));
    stage.turn(
        "second",
        [
            calls(&[("read_file", json!("{broken"))]),
            Say::new().text("half").cut(),
        ],
    );
    let turn = stage.agent.next_turn();
    let context = PromptContext {
        path: Some(stage.path("a")),
        line: Some(1),
        selection: None,
    };
    stage.says([Say::say("fine")]);
    stage.submit(Op::Prompt {
        turn,
        text: "third".into(),
        context,
    });
    stage.finish(turn);

    let requests = stage.backdrop.model.requests();
    assert!(requests.len() >= 7, "{}", requests.len());
    for (one, next) in requests.iter().zip(&requests[1..]) {
        // The list of messages must stand last, or nothing after it could be shared.
        let messages = one.text.rfind("}]").unwrap();
        let start = &one.text[..=messages];
        assert!(one.text.ends_with("}]}"), "{}", one.text);
        assert!(next.text.starts_with(start), "{}\n{}", one.text, next.text);
        assert!(next.text.len() >= one.text.len());
    }
    let last = requests.last().unwrap().messages().last().unwrap()["content"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(last, "[The cursor is in a, line 1.]\n\nthird");
}
