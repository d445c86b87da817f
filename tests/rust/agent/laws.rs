//! The laws of the protocol: a check for the events of any run, and runs that are stopped everywhere.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::path::Path;

use dcode::journal::{self, Record};
use dcode::protocol::message::{Block, Message, Role};
use dcode::protocol::op::Op;

use super::stage::Backdrop;
use super::*;
use crate::model_server;

/// Checks the laws over all events of an agent that has ended.
pub fn hold(events: &[Event]) {
    once("turn", events, |event| match event {
        Event::TurnStarted { turn, .. } => Some((true, turn)),
        Event::TurnFinished { turn, .. } => Some((false, turn)),
        _ => None,
    });
    once("request", events, |event| match event {
        Event::Request { id, .. } => Some((true, id)),
        Event::RequestClosed { id, .. } => Some((false, id)),
        _ => None,
    });
    let session = events.split(|event| matches!(event, Event::SessionStarted { .. }));
    for events in session {
        once("call", events, |event| match event {
            Event::ToolStarted { call, .. } => Some((true, call)),
            Event::ToolFinished { call, .. } => Some((false, call)),
            _ => None,
        });
    }
    let stopped = events
        .iter()
        .filter(|event| matches!(event, Event::Stopped { .. }));
    assert_eq!(stopped.count(), 1);
    assert!(
        matches!(events.last(), Some(Event::Stopped { .. })),
        "nothing follows the end"
    );
}

/// Everything that begins ends exactly once, and begins once.
fn once<'a, K: Eq + Hash + Debug>(
    what: &str,
    events: &'a [Event],
    edge: impl Fn(&'a Event) -> Option<(bool, K)>,
) {
    let (mut begun, mut ended) = (HashSet::new(), HashSet::new());
    for (begins, key) in events.iter().filter_map(edge) {
        if begins {
            assert!(!begun.contains(&key), "{what} {key:?} begins twice");
            begun.insert(key);
        } else {
            assert!(begun.contains(&key), "{what} {key:?} ends before it begins");
            assert!(!ended.contains(&key), "{what} {key:?} ends twice");
            ended.insert(key);
        }
    }
    let open: Vec<_> = begun.difference(&ended).collect();
    assert!(open.is_empty(), "{what} {open:?} never ends");
}

/// Checks the histories in all journals below `state`.
pub fn histories_are_whole(state: &Path, events: &[Event]) {
    for event in events {
        let Event::SessionStarted { session, .. } = event else {
            continue;
        };
        if let Ok(read) = journal::read(&journal::journal_path(state, session)) {
            let messages = read.records.into_iter().filter_map(|record| match record {
                Record::MessageAppended { message } => Some(message),
                _ => None,
            });
            calls_are_answered(&messages.collect::<Vec<_>>());
        }
    }
}

/// Every call is followed by its result, in the order of the calls, before anything else is said.
fn calls_are_answered(messages: &[Message]) {
    for (at, message) in messages.iter().enumerate() {
        let calls: Vec<_> = message.calls().map(|call| &call.id).collect();
        let next = messages.get(at + 1);
        let results: Vec<_> = next.into_iter().flat_map(|next| &next.blocks).collect();
        let results: Vec<_> = results
            .into_iter()
            .filter_map(|block| match block {
                Block::ToolResult(result) => Some(&result.id),
                _ => None,
            })
            .collect();
        if message.role == Role::Assistant {
            assert_eq!(calls, results, "the results of message {at}");
        }
    }
}

/// The same for a request as the server got it; and that the person and the model take turns, without which
/// some servers refuse a conversation.
pub fn request_is_whole(request: &model_server::Request) {
    let mut open: Vec<&Value> = Vec::new();
    let roles: Vec<&str> = request
        .messages()
        .iter()
        .filter_map(|message| message["role"].as_str())
        .collect();
    for pair in roles.windows(2) {
        assert!(
            !matches!(pair, ["user", "user"] | ["assistant", "assistant"]),
            "{roles:?}"
        );
    }
    for message in request.messages() {
        if message["role"] == "tool" {
            assert_eq!(
                open.remove(0),
                &message["tool_call_id"],
                "results keep the order of calls"
            );
            let text = message["content"].as_str().unwrap();
            assert!(
                !text.starts_with(dcode::provider::INTERRUPTED),
                "mended by the provider"
            );
        } else {
            assert!(open.is_empty(), "{open:?} have no result");
            let calls = message["tool_calls"].as_array();
            open = calls.into_iter().flatten().map(|call| &call["id"]).collect();
        }
    }
    assert!(open.is_empty());
}

/// Reads, a new file, an edit of an unsaved buffer, a command that is asked, a question, and a last word.
fn rich_turn() -> (Stage, Vec<Say>) {
    let stage = Backdrop::new()
        .file("a.txt", "a\n")
        .file("b.txt", "saved\n")
        .start();
    stage.editor.load(&stage.path("b.txt"), "typed\n", true);
    let question = json!({"questions": [{"question": "Which?", "options": [{"label": "this"}]}]});
    let replies = vec![
        calls(&[
            ("read_file", json!({"path": "a.txt"})),
            ("read_file", json!({"path": "b.txt"})),
            ("write_file", json!({"path": "new/c.txt", "content": "c\n"})),
            (
                "edit_file",
                json!({"path": "b.txt", "old_string": "typed", "new_string": "edited"}),
            ),
            ("bash", json!({"command": "touch made"})),
            ("question", question),
        ]),
        Say::new().reasoning("hm").text("do").text("ne").done(),
    ];
    (stage, replies)
}

/// Who answers around the interrupt.
#[derive(Clone, Copy, PartialEq)]
enum Front {
    /// Answers although the turn was stopped just before.
    Late,
    /// The editor answers before the turn is stopped; the person never does.
    Silent,
}

/// Stops a rich turn right after its event number `at`. False when it had fewer events.
fn stop_after(at: usize, front: Front) -> bool {
    let (mut stage, replies) = rich_turn();
    stage.says(replies);
    if front == Front::Silent {
        stage.on_request(|request| match request {
            Request::Question { .. } => Answer::Hold,
            _ => Answer::Usual,
        });
    }
    let turn = stage.prompt("work");
    let mut count = 0;
    loop {
        let event = stage.take();
        count += 1;
        if front == Front::Late && count == at {
            stage.submit(Op::Interrupt);
        }
        if matches!(event, Event::TurnFinished { turn: t, .. } if t == turn) {
            break;
        }
        stage.react(&event);
        if front == Front::Silent && (count == at || stage.held() > 0) {
            stage.submit(Op::Interrupt);
        }
    }
    // A request that was on its way when the turn was stopped takes a reply, too.
    stage.backdrop.model.clear();
    stage.says((0..3).map(|_| Say::say("fine")));
    let turn = stage.prompt("go on");
    assert_eq!(
        stage.finish(turn).reason,
        TurnEnd::Done,
        "after event {at}\n{}",
        stage.story()
    );
    let requests = stage.backdrop.model.requests();
    let last = requests.last().unwrap();
    assert!(last.text.contains("go on"));
    request_is_whole(last);
    // Wherever it was stopped, undo puts back what it did.
    let (_, message, _) = stage.restore(Op::undo(None));
    let left = (stage.disk("new/c.txt"), stage.editor.text(&stage.path("b.txt")));
    assert_eq!(
        left,
        (None, "typed\n".into()),
        "after event {at}: {message}\n{}",
        stage.story()
    );
    assert_eq!(stage.disk("b.txt").unwrap(), "saved\n");
    count > at
}

#[test]
fn a_turn_may_be_stopped_after_any_event() {
    let events = (1..200).find(|at| !stop_after(*at, Front::Late));
    assert!(events.unwrap() > 25, "the turn has {events:?} events");
}

#[test]
fn a_turn_may_be_stopped_while_the_person_is_silent() {
    let events = (1..200).find(|at| !stop_after(*at, Front::Silent));
    assert!(events.unwrap() > 20, "the turn has {events:?} events");
}

#[test]
fn an_untouched_turn_answers_in_the_order_of_the_calls() {
    let (mut stage, replies) = rich_turn();
    let ended = stage.turn("work", replies);
    assert_eq!((ended.reason, ended.text.as_str()), (TurnEnd::Done, "done"));
    let tools: Vec<_> = stage
        .done()
        .into_iter()
        .map(|done| (done.tool, done.outcome))
        .collect();
    let expected = [
        "read_file",
        "read_file",
        "write_file",
        "edit_file",
        "bash",
        "question",
    ];
    assert_eq!(tools, expected.map(|tool| (tool.to_owned(), Outcome::Ok)));
    let requests = stage.backdrop.model.requests();
    request_is_whole(&requests[1]);
    let results: Vec<_> = requests[1]
        .messages()
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| {
            message["content"]
                .as_str()
                .unwrap()
                .lines()
                .next()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(results[0], "     1\ta");
    assert_eq!(results[1], "     1\ttyped");
    assert!(results[2].starts_with("Created new/c.txt"), "{results:?}");
    assert!(results[4].starts_with("exit 0"), "{results:?}");
    assert_eq!(results[5], "The user answered:");
    stage.restore(Op::undo(None));
    assert!(!stage.path("new").exists(), "the folder was made by the turn");
}
