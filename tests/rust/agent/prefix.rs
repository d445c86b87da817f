//! Requests that a provider's cache knows: each begins with the bytes of the one before.

use dcode::agent::reply;
use dcode::protocol::ids::CallId;
use dcode::protocol::message::{Block, ToolCall, ToolResult};
use dcode::protocol::op::{HunkOutcome, Op, Report};

use super::stage::Backdrop;
use super::*;
use crate::model_server;

/// Checks that each request is the one before without its closing brackets, and more.
pub fn each_goes_on(requests: &[model_server::Request]) {
    for (at, pair) in requests.windows(2).enumerate() {
        let [before, after] = pair else { unreachable!() };
        let before = before.text.strip_suffix("]}").expect("messages stand last");
        if after.text.starts_with(before) {
            continue;
        }
        let same = before.bytes().zip(after.text.bytes()).take_while(|(a, b)| a == b);
        let same = same.count();
        let from =
            |text: &str| String::from_utf8_lossy(&text.as_bytes()[same.saturating_sub(80)..]).into_owned();
        panic!(
            "request {} leaves the one before at byte {same} of {}:\n…{:.200}\n…{:.200}",
            at + 2,
            before.len(),
            from(before),
            from(&after.text)
        );
    }
}

/// Works on a project the way sessions go: everything that may happen in a turn happens in one of 30.
#[test]
fn thirty_turns_share_their_beginning() {
    let mut stage = Backdrop::new()
        .file("a.txt", "a\n")
        .file("b.txt", "saved\n")
        .start();
    stage.editor.load(&stage.path("b.txt"), "typed\n", true);
    let last = || {
        Say::new()
            .reasoning("hm, \"so\"")
            .text("Done.\n")
            .usage(900, 800, 10)
            .done()
    };
    let edit = |n: u32| {
        let (old, new) = (
            format!("a{}", "!".repeat(n as usize)),
            format!("a{}", "!".repeat(n as usize + 1)),
        );
        call(
            "edit_file",
            json!({"path": "a.txt", "old_string": old, "new_string": new}),
        )
    };
    for turn in 0..30_u32 {
        let text = format!("turn {turn}");
        let replies = match turn % 10 {
            0 => vec![edit(turn / 10), last()],
            1 => vec![
                calls(&[
                    ("read_file", json!({"path": "a.txt"})),
                    ("read_file", json!({"path": "b.txt"})),
                ]),
                last(),
            ],
            2 => vec![
                call("read_file", json!({"path": "nothing"})),
                call("no_such_tool", json!({})),
                last(),
            ],
            3 => vec![Say::new().raw_tool_call("c0", "ls", "{\"pa").done(), last()],
            4 => vec![Say::new().text("half").cut()],
            5 => vec![Say::error(400, &json!({"error": {"message": "no"}}))],
            6 => {
                let question = json!({"questions": [{"question": "Which?", "options": [{"label": "é"}]}]});
                vec![
                    Say::new()
                        .text("Let me ask.")
                        .tool_call("c0", "question", &question)
                        .done(),
                    last(),
                ]
            }
            7 => vec![Say::new().reasoning("only thinking").done()],
            8 => {
                let path = stage.path("a.txt");
                let hunks = [true, false].map(|accepted| HunkOutcome {
                    line: 1,
                    text: "x".into(),
                    accepted,
                });
                stage.submit(Op::Reviewed {
                    path,
                    hunks: hunks.to_vec(),
                });
                vec![
                    call("bash", json!({"command": "printf '\\033[1mbold\\377'"})),
                    last(),
                ]
            }
            _ => {
                let (reply, release) = Say::new().pause();
                stage.says([reply.done()]);
                let turn = stage.prompt(&text);
                stage.until(|event| matches!(event, Event::TurnStarted { .. }));
                stage.submit(Op::Interrupt);
                assert_eq!(stage.finish(turn).reason, TurnEnd::Interrupted);
                release.go();
                stage.backdrop.model.clear();
                stage.restore(Op::undo(Some(1)));
                continue;
            }
        };
        stage.turn(&text, replies);
        stage.submit(Op::SetMode {
            mode: ["manual", "ask-all"][turn as usize % 2].into(),
        });
    }
    let requests = stage.backdrop.model.requests();
    assert!(requests.len() >= 45, "{} requests", requests.len());
    each_goes_on(&requests);
    for request in &requests {
        super::laws::request_is_whole(request);
    }
}

#[test]
fn misses_are_named_and_money_is_counted() {
    let mut stage = Stage::new();
    stage.turn("one", [Say::new().text("1").usage(5_000, 0, 10).done()]);
    stage.turn("two", [Say::new().text("2").usage(6_000, 4_992, 20).done()]);
    stage.submit(Op::SetModel {
        model: "mock:n".into(),
    });
    stage.turn("three", [Say::new().text("3").usage(7_000, 0, 30).done()]);
    let ticket = stage.agent.next_ticket();
    stage.submit(Op::Report {
        ticket,
        what: Report::Usage,
    });
    let reported = stage.until(|event| matches!(event, Event::Reported { .. }));
    let Event::Reported { report, .. } = reported else {
        unreachable!()
    };
    assert_eq!(
        report["misses"],
        json!([{"request": 3, "tokens": 6000, "cause": "another model: mock:m before"}])
    );
    let rows: Vec<_> = report["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            json!([
                row["model"],
                row["requests"],
                row["input"],
                row["cached"],
                row["output"],
                row["unpriced"]
            ])
        })
        .collect();
    assert_eq!(
        rows,
        [
            json!(["mock:m", 2, 11_000, 4_992, 30, 2]),
            json!(["mock:n", 1, 7_000, 0, 30, 1])
        ]
    );
    assert_eq!(stage.agent.status().usage.unpriced_requests, 3);
}

/// How long the request of a long conversation takes to be made. Only an optimised build says something:
/// `cargo test --release --no-default-features --test rust request_of_200 -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement of an optimised build"]
fn request_of_200_messages() {
    let backdrop = Backdrop::new();
    let core = super::faults::core(&backdrop);
    {
        let mut history = core.history.lock().unwrap();
        let text = |words: &str| vec![Block::Text { text: words.into() }];
        for turn in 0..50 {
            history.push_user(text(&format!(
                "request {turn}: {}",
                "words of the person ".repeat(10)
            )));
            let call = ToolCall {
                id: CallId(format!("call_{turn}")),
                name: "read_file".into(),
                arguments: format!(r#"{{"path":"src/file_{turn}.rs","offset":{turn}}}"#),
            };
            history.push_assistant(vec![Block::ToolCall(call)]);
            history.push_results(vec![ToolResult {
                id: CallId(format!("call_{turn}")),
                text: "    let line = of_code(\"that\", was, read);\n".repeat(80),
                is_error: false,
                media: vec![],
            }]);
            history.push_assistant(text(&"The model explains what it found there. ".repeat(20)));
        }
        assert_eq!(history.messages().len(), 200);
    }
    let prefix = core.prefix();
    let provider = core.provider().unwrap();
    let mut times: Vec<_> = (0..201)
        .map(|_| {
            let started = std::time::Instant::now();
            let request = reply::request(&core, &prefix);
            let body = provider.body(&request).unwrap();
            (started.elapsed(), body.len())
        })
        .collect();
    times.sort();
    let (median, size) = times[100];
    println!("request of 200 messages, {size} bytes: {median:?}, of 3 ms");
}
