//! What the person says while a turn runs.

use dcode::protocol::event::QueuedWords;
use dcode::protocol::op::{Op, PromptContext};

use super::*;

fn steer(stage: &Stage, text: &str) {
    stage.submit(Op::Steer {
        text: text.into(),
        context: PromptContext::default(),
    });
}

/// The state of the queue that was told last, once it fits.
fn waiting(stage: &mut Stage, count: usize) -> Vec<QueuedWords> {
    let event = stage.until(|event| matches!(event, Event::WaitingChanged { items } if items.len() == count));
    let Event::WaitingChanged { items } = event else {
        unreachable!()
    };
    items
}

/// Role and text of the messages behind the system prompt.
fn said(request: &crate::model_server::Request) -> Vec<(String, String)> {
    let messages = request.messages().iter().skip(1);
    messages
        .map(|message| {
            let text = message["content"].as_str().unwrap_or_default();
            (message["role"].as_str().unwrap().to_owned(), text.to_owned())
        })
        .collect()
}

#[test]
fn words_go_in_at_the_next_step_behind_the_results() {
    let mut stage = Stage::new();
    let (reply, release) = Say::new().text("I look.").pause();
    stage.says([reply.tool_call("c0", "ls", &json!({})).done(), Say::say("done")]);
    let turn = stage.prompt("fix it");
    stage.until(|event| matches!(event, Event::TextDelta { .. }));
    steer(&stage, "with a test");
    steer(&stage, "and no new file");
    let items = waiting(&mut stage, 2);
    let texts: Vec<_> = items.iter().map(|item| (item.text.as_str(), item.turn)).collect();
    assert_eq!(texts, [("with a test", None), ("and no new file", None)]);
    release.go();
    assert_eq!(stage.finish(turn).reason, TurnEnd::Done);
    assert!(stage.events.iter().any(|event| {
        matches!(event, Event::WordsTaken { turn: t, text } if *t == turn && text == "with a test")
    }));
    let requests = stage.backdrop.model.requests();
    let now = said(&requests[1]);
    let added = "[Added while you work:]\nwith a test\n\n[Added while you work:]\nand no new file";
    assert_eq!(now[2].0, "tool");
    assert_eq!(now[3], ("user".into(), added.into()));
    super::prefix::each_goes_on(&requests);
}

#[test]
fn words_for_a_reply_that_ends_the_turn_go_on_with_it() {
    let mut stage = Stage::new();
    let (reply, release) = Say::new().text("Do").pause();
    stage.says([reply.text("ne.").done(), Say::say("also done")]);
    let turn = stage.prompt("fix it");
    stage.until(|event| matches!(event, Event::TextDelta { .. }));
    steer(&stage, "also this");
    waiting(&mut stage, 1);
    release.go();
    let ended = stage.finish(turn);
    assert_eq!((ended.reason, ended.text.as_str()), (TurnEnd::Done, "also done"));
    let now = said(&stage.backdrop.model.requests()[1]);
    assert_eq!(now[1], ("assistant".into(), "Done.".into()));
    assert_eq!(
        now[2],
        ("user".into(), "[Added while you work:]\nalso this".into())
    );
}

#[test]
fn what_waits_can_be_taken_out_and_a_stop_takes_out_all() {
    let mut stage = Stage::new();
    let (reply, release) = Say::new().text("…").pause();
    stage.says([reply.done()]);
    let turn = stage.prompt("work");
    stage.until(|event| matches!(event, Event::TextDelta { .. }));
    steer(&stage, "one");
    steer(&stage, "besides");
    let next = stage.prompt("a turn");
    let items = waiting(&mut stage, 3);
    assert_eq!(items[2].turn, Some(next));
    stage.submit(Op::Unqueue { id: items[0].id });
    // A second time it is gone.
    stage.submit(Op::Unqueue { id: items[0].id });
    assert_eq!(waiting(&mut stage, 2), items[1..]);
    stage.submit(Op::Unqueue { id: items[2].id });
    assert_eq!(stage.finish(next).reason, TurnEnd::Interrupted);
    stage.submit(Op::Interrupt);
    assert_eq!(stage.finish(turn).reason, TurnEnd::Interrupted);
    release.go();
    stage.turn("go on", [Say::say("fine")]);
    let last = stage.backdrop.model.requests().pop().unwrap();
    assert!(
        !last.text.contains("besides") && !last.text.contains("a turn"),
        "{}",
        last.text
    );
    super::laws::request_is_whole(&last);
}

#[test]
fn words_without_a_turn_begin_one() {
    let mut stage = Stage::new();
    stage.says([Say::say("hello")]);
    steer(&stage, "hi");
    let ended = stage.until(|event| matches!(event, Event::TurnFinished { .. }));
    assert!(matches!(ended, Event::TurnFinished { reason: TurnEnd::Done, text, .. } if text == "hello"));
    assert_eq!(
        said(&stage.backdrop.model.requests()[0]),
        [("user".into(), "hi".into())]
    );
}
