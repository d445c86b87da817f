//! Conversations that get too long.

use dcode::agent::history::History;
use dcode::journal;
use dcode::protocol::event::CompactionState;
use dcode::protocol::message::Message;
use dcode::protocol::op::{Op, Restore, Undo};

use super::stage::Backdrop;
use super::*;

/// A model of a small window.
fn small(window: u64) -> Backdrop {
    let backdrop = Backdrop::new();
    let url = backdrop.model.base_url();
    backdrop.with(&json!({"providers": {"mock": {"base_url": url, "context_window": window}}}))
}

/// The compactions that were told, as state, message and summary.
fn told(stage: &Stage) -> Vec<(CompactionState, String, Option<String>)> {
    let told = stage.events.iter().filter_map(|event| match event {
        Event::Compaction {
            state,
            message,
            summary,
        } => Some((*state, message.clone(), summary.clone())),
        _ => None,
    });
    told.collect()
}

/// Waits until a compaction is so far.
fn until(stage: &mut Stage, wanted: CompactionState) {
    stage.until(|event| matches!(event, Event::Compaction { state, .. } if *state == wanted));
}

fn texts(request: &crate::model_server::Request) -> Vec<String> {
    let messages = request.messages().iter().skip(1);
    messages
        .map(|message| message["content"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn a_full_window_is_compacted_and_the_work_goes_on() {
    let mut stage = small(100_000).start();
    for (text, used) in [("first", 20_000), ("second", 60_000), ("third", 81_000)] {
        stage.turn(
            text,
            [Say::new()
                .text(&format!("{text} done"))
                .usage(used, 0, 100)
                .done()],
        );
    }
    let summary = Say::new()
        .reasoning("hm")
        .text("Three things were done.")
        .usage(81_200, 81_000, 50)
        .done();
    let ended = stage.turn(
        "fourth",
        [summary, Say::new().text("fourth done").usage(900, 0, 10).done()],
    );
    assert_eq!(
        (ended.reason, ended.text.as_str()),
        (TurnEnd::Done, "fourth done")
    );
    let requests = stage.backdrop.model.requests();
    assert_eq!(requests.len(), 5);
    // What is asked begins as the request before did, so it costs little.
    let before = requests[2].text.strip_suffix("]}").unwrap();
    assert!(requests[3].text.starts_with(before));
    assert!(texts(&requests[3]).last().unwrap().contains("Write the summary"));
    let now = texts(&requests[4]);
    assert_eq!(now.len(), 1, "{now:?}");
    assert!(
        now[0].contains("<summary>\nThree things were done.\n</summary>"),
        "{now:?}"
    );
    assert!(now[0].ends_with("fourth"), "{now:?}");
    let (states, messages): (Vec<_>, Vec<_>) = told(&stage).into_iter().map(|(s, m, _)| (s, m)).unzip();
    assert_eq!(states, [CompactionState::Started, CompactionState::Done]);
    assert!(
        messages[1].starts_with("Compacted: 6 messages became a summary, 81.1k → "),
        "{messages:?}"
    );
    // The miss that follows has its cause.
    stage.turn("fifth", [Say::new().text("5").usage(2_000, 0, 10).done()]);
    assert_eq!(stage.agent.status().usage.context_tokens, 2_010);
}

#[test]
fn a_compaction_is_taken_back_with_what_was_said_since_and_the_journal_knows() {
    let mut stage = Stage::new();
    for text in ["one", "two", "three"] {
        stage.turn(text, [Say::say(&"word ".repeat(400))]);
    }
    stage.says([Say::say("A summary.")]);
    stage.submit(Op::Compact { undo: false });
    until(&mut stage, CompactionState::Done);
    stage.turn("four", [Say::say("4")]);
    let compacted = stage.backdrop.model.requests().pop().unwrap();
    assert!(
        compacted.text.contains("A summary.") && !compacted.text.contains("\"one\""),
        "{}",
        compacted.text
    );
    super::laws::request_is_whole(&compacted);
    stage.submit(Op::Compact { undo: true });
    until(&mut stage, CompactionState::Undone);
    stage.turn("five", [Say::say("5")]);
    let whole = texts(&stage.backdrop.model.requests().pop().unwrap());
    let own: Vec<_> = whole.iter().step_by(2).map(String::as_str).collect();
    assert_eq!(own, ["one", "two", "three", "four", "five"]);
    stage.submit(Op::Compact { undo: true });
    until(&mut stage, CompactionState::Failed);
    let Some(Event::SessionStarted { session, .. }) = stage.events.first().cloned() else {
        panic!()
    };
    stage.shutdown(std::time::Duration::from_secs(10));
    let read = journal::read(&journal::journal_path(&stage.backdrop.state, &session)).unwrap();
    let mut history = History::default();
    read.records.iter().for_each(|record| history.replay(record));
    let own: Vec<_> = history.messages().iter().step_by(2).map(Message::text).collect();
    assert_eq!(own, ["one", "two", "three", "four", "five"]);
}

#[test]
fn a_refusal_as_too_long_is_answered_once_by_compacting() {
    let too_long = || {
        let message = "maximum context length is 8192 tokens, however you requested 9000 tokens";
        Say::error(400, &json!({"error": {"message": message}}))
    };
    let mut stage = Stage::new();
    stage.turn("one", [Say::say("1")]);
    stage.turn("two", [Say::say("2")]);
    let ended = stage.turn("three", [too_long(), Say::say("Short."), Say::say("3")]);
    assert_eq!((ended.reason, ended.text.as_str()), (TurnEnd::Done, "3"));
    let now = texts(stage.backdrop.model.requests().last().unwrap());
    assert!(now[0].contains("Short.") && now[0].ends_with("three"), "{now:?}");
    // The model cannot even write the summary, and what is left is too long as well.
    let ended = stage.turn("four", [too_long(), too_long(), too_long()]);
    assert_eq!(ended.reason, TurnEnd::Error);
    assert!(
        ended
            .message
            .unwrap()
            .starts_with("The conversation is longer than m can read.")
    );
    assert_eq!(stage.backdrop.model.requests().len(), 8);
    let last = stage.backdrop.model.requests().pop().unwrap();
    assert!(last.text.contains("Written without the model"), "{}", last.text);
    stage.turn("five", [Say::say("5")]);
    super::laws::request_is_whole(&stage.backdrop.model.requests().pop().unwrap());
}

#[test]
fn old_results_are_shortened_before_anything_is_summarised() {
    let text = format!("needle\n{}", "a line of a file\n".repeat(2_000));
    let mut stage = small(40_000).file("a.txt", &text).start();
    let read = || call("read_file", json!({"path": "a.txt"}));
    for used in [10_000, 20_000, 33_000] {
        let _ = stage.turn(
            "look",
            [read(), Say::new().text("seen").usage(used, 0, 10).done()],
        );
    }
    let last = Say::new().text("done").usage(15_000, 0, 10).done();
    let (mark, marked) = (stage.events.len(), stage.turn("go on", [last]));
    assert_eq!(marked.text, "done");
    let told: Vec<_> = told(&stage);
    assert!(told[0].1.starts_with("Compacted: shortened "), "{told:?} {mark}");
    assert_eq!(told.len(), 1, "nothing was asked of the model");
    let request = stage.backdrop.model.requests().pop().unwrap();
    assert!(request.text.contains("Shortened: ") && request.text.contains("needle"));
    super::laws::request_is_whole(&request);
}

#[test]
fn compacting_can_be_stopped_and_nothing_is_nothing() {
    let mut stage = Stage::new();
    stage.submit(Op::Compact { undo: false });
    until(&mut stage, CompactionState::Failed);
    for text in ["one", "two", "three"] {
        stage.turn(text, [Say::say(&"word ".repeat(400))]);
    }
    let (reply, release) = Say::new().text("A summ").pause();
    stage.says([reply.done()]);
    stage.submit(Op::Compact { undo: false });
    until(&mut stage, CompactionState::Started);
    stage.submit(Op::Interrupt);
    until(&mut stage, CompactionState::Failed);
    release.go();
    stage.backdrop.model.clear();
    stage.turn("four", [Say::say("4")]);
    let whole = texts(&stage.backdrop.model.requests().pop().unwrap());
    assert_eq!(
        whole.iter().step_by(2).collect::<Vec<_>>(),
        ["one", "two", "three", "four"]
    );
}

#[test]
fn an_undo_has_to_wait_for_a_compaction_and_says_so() {
    let mut stage = Stage::new();
    for text in ["one", "two", "three"] {
        stage.turn(text, [Say::say(&"word ".repeat(400))]);
    }
    let (reply, release) = Say::new().text("A summ").pause();
    stage.says([reply.done()]);
    stage.submit(Op::Compact { undo: false });
    until(&mut stage, CompactionState::Started);
    stage.submit(Op::Undo(Undo::default()));
    let refused = stage.until(|event| matches!(event, Event::Restored { .. }));
    let Event::Restored { ok, message, .. } = refused else {
        unreachable!("it was waited for");
    };
    assert!(!ok && message.contains("being compacted"), "{message}");
    release.go();
    until(&mut stage, CompactionState::Done);
}

#[test]
fn the_length_is_told_after_an_undo_of_the_conversation() {
    let mut stage = Stage::new();
    stage.turn("short", [Say::say("1")]);
    let long = Say::new().text("2").usage(90_000, 0, 100).done();
    let made = call("write_file", json!({"path": "b", "content": "x\n"}));
    stage.turn("long", [made, long]);
    stage.submit(Op::Undo(Undo {
        what: Restore::Conversation,
        ..Undo::default()
    }));
    let told = stage.until(|event| matches!(event, Event::Usage(_) | Event::Restored { .. }));
    let Event::Usage(usage) = told else {
        panic!("the length is told before the end of the undo: {told:?}");
    };
    assert!(usage.context_tokens < 90_000, "{}", usage.context_tokens);
    stage.until(|event| matches!(event, Event::Restored { ok: true, .. }));
}

#[test]
fn words_said_while_a_refused_request_is_compacted_go_in_at_the_next_step() {
    let message = "maximum context length is 8192 tokens, however you requested 9000 tokens";
    let too_long = Say::error(400, &json!({"error": {"message": message}}));
    let mut stage = Stage::new();
    stage.turn("one", [Say::say("1")]);
    stage.turn("two", [Say::say("2")]);
    let (summary, release) = Say::new().text("Sho").pause();
    let summary = summary.text("rt.").done();
    stage.says([too_long, summary, call("ls", json!({})), Say::say("done")]);
    let turn = stage.prompt("three");
    until(&mut stage, CompactionState::Started);
    stage.submit(Op::Steer {
        text: "be quick".into(),
        context: dcode::protocol::op::PromptContext::default(),
    });
    stage.until(|event| matches!(event, Event::WaitingChanged { items } if items.len() == 1));
    release.go();
    assert_eq!(stage.finish(turn).reason, TurnEnd::Done);
    let requests = stage.backdrop.model.requests();
    let with = |request: &crate::model_server::Request| request.text.contains("be quick");
    assert_eq!(requests.iter().filter(|request| with(request)).count(), 1);
    assert!(with(requests.last().unwrap()));
    requests.iter().for_each(super::laws::request_is_whole);
}

#[test]
fn a_summary_without_the_model_says_why_and_one_that_is_longer_is_not_taken() {
    let mut stage = Backdrop::new().with(&json!({"retries": 0})).start();
    let ended = |event: &Event| matches!(event, Event::Compaction { state, .. } if *state != CompactionState::Started);
    for text in ["one", "two", "three"] {
        stage.turn(text, [Say::say(&"word ".repeat(400))]);
    }
    stage.says([Say::say(&"a very long summary ".repeat(2_000))]);
    stage.submit(Op::Compact { undo: false });
    stage.until(ended);
    stage.says([Say::error(500, &json!({}))]);
    stage.submit(Op::Compact { undo: false });
    stage.until(ended);
    let (state, message, _) = told(&stage).pop().unwrap();
    assert_eq!(state, CompactionState::Done);
    assert!(
        message.starts_with(
            "Compacted: 5 messages became a summary that the model could not write (mock failed (HTTP 500)), "
        ),
        "{message}"
    );
    let states: Vec<_> = told(&stage).into_iter().map(|told| told.0).collect();
    let expected = [
        CompactionState::Started,
        CompactionState::Failed,
        CompactionState::Started,
        CompactionState::Done,
    ];
    assert_eq!(states, expected);
}
