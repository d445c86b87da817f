//! A line that breaks in the middle of a reply: the turn goes on, and no call is lost or made twice.

use std::sync::Arc;
use std::time::Duration;

use dcode::agent::turn::{self, Ended, Prompt};
use dcode::protocol::ids::TurnId;
use dcode::protocol::message::{Block, Role};
use dcode::protocol::op::PromptContext;
use dcode::provider::{Dial, HttpModel, RetryPolicy, Timeouts, Wire};
use tokio_util::sync::CancellationToken;

use super::faults::core;
use super::stage::Backdrop;
use super::*;
use crate::provider::faults::reply;
use crate::provider::server::{Answer, Ending, Server};

/// Runs one turn against a server, and gives its end, the calls that ran and the waits that were told.
async fn turn_with(backdrop: &Backdrop, server: &Server, wire: Wire) -> (Ended, usize, usize) {
    let core = core(backdrop);
    let model = HttpModel::new(Dial {
        wire,
        timeouts: Some(Timeouts {
            stall: Duration::from_millis(200),
            ..Timeouts::default()
        }),
        retry: RetryPolicy {
            retries: 3,
            base: Duration::from_millis(1),
            ..RetryPolicy::default()
        },
        ..server.dial()
    });
    core.set_model(Ok(Arc::new(model.unwrap()))).unwrap();
    let prompt = Prompt {
        turn: TurnId(1),
        text: "hi".into(),
        context: PromptContext::default(),
    };
    let ended = turn::run_turn(&core, prompt, &CancellationToken::new()).await;
    let history = core.history.lock().unwrap().messages().to_vec();
    let calls: usize = history.iter().map(|message| message.calls().count()).sum();
    let results = history.iter().filter(|message| message.role == Role::Tool);
    let results: usize = results.map(|message| message.blocks.len()).sum();
    let (events, _) = core.events.drain(usize::MAX);
    let count = |fits: &dyn Fn(&Event) -> bool| events.iter().filter(|event| fits(event)).count();
    let runs = count(&|event| matches!(event, Event::ToolStarted { .. }));
    assert_eq!((calls, results), (runs, runs), "{history:?}");
    let texts = history.iter().flat_map(|message| &message.blocks);
    let texts: Vec<&Block> = texts
        .filter(|block| matches!(block, Block::Text { .. }))
        .collect();
    assert!(
        texts.len() <= 4,
        "what broke off is not kept beside what came later: {texts:?}"
    );
    (
        ended,
        runs,
        count(&|event| matches!(event, Event::Waiting { .. })),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_cut_after_any_byte_is_asked_for_again() {
    let backdrop = Backdrop::new();
    for (wire, step) in [(Wire::Chat, 1), (Wire::Responses, 5), (Wire::Messages, 5)] {
        let whole = reply(wire, "ls");
        let says = Answer::stream(&[reply(wire, "")]);
        for length in (0..whole.len()).step_by(step) {
            let cut = Answer::stream(&[&whole[..length]]).ending(Ending::Cut);
            let mut server = Server::start(vec![cut, Answer::stream(&[&whole]), says.clone()]).await;
            let (ended, runs, waits) = turn_with(&backdrop, &server, wire).await;
            let what = format!("{wire:?} cut after {length}: {runs} runs, {waits} waits");
            assert_eq!(ended.reason, TurnEnd::Done, "{what} {:?}", ended.message);
            // A cut behind the end is none: the model made two calls then.
            assert_eq!((runs, waits), if waits == 0 { (2, 0) } else { (1, 1) }, "{what}");
            assert_eq!(server.count(), 3, "{what}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_falls_silent_or_fails_or_is_garbled_is_asked_for_again() {
    let backdrop = Backdrop::new();
    let begun = "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n";
    let fault = "data: {\"error\":{\"message\":\"boom\"}}\n\n";
    for broken in [
        Answer::stream(&[begun]).ending(Ending::Silence),
        Answer::stream(&[begun, fault]),
        Answer::stream(&[begun, "data: {\"choices\": nonsense}\n\n"]),
    ] {
        let server = Server::start(vec![broken, Answer::says("whole")]).await;
        let (ended, _, waits) = turn_with(&backdrop, &server, Wire::Chat).await;
        assert_eq!(
            (ended.reason, ended.text.as_str(), waits),
            (TurnEnd::Done, "whole", 1)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_always_breaks_ends_the_turn_and_keeps_the_words() {
    let backdrop = Backdrop::new();
    let begun = "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n";
    let mut server = Server::start(vec![Answer::stream(&[begun]).ending(Ending::Cut)]).await;
    let (ended, _, waits) = turn_with(&backdrop, &server, Wire::Chat).await;
    assert_eq!(
        (ended.reason, ended.text.as_str(), waits),
        (TurnEnd::Error, "half", 3)
    );
    assert_eq!(server.count(), 4);
    assert!(
        ended
            .message
            .unwrap()
            .contains("broke in the middle of the reply")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_the_pause() {
    let backdrop = Backdrop::new();
    let server = Server::start(vec![Answer::error(429, "").with("retry-after", "50")]).await;
    let core = core(&backdrop);
    let model = HttpModel::new(Dial {
        retry: RetryPolicy::default(),
        ..server.dial()
    });
    core.set_model(Ok(Arc::new(model.unwrap()))).unwrap();
    let cancel = CancellationToken::new();
    let turn = {
        let (core, cancel) = (Arc::clone(&core), cancel.clone());
        let prompt = Prompt {
            turn: TurnId(1),
            text: "hi".into(),
            context: PromptContext::default(),
        };
        tokio::spawn(async move { turn::run_turn(&core, prompt, &cancel).await })
    };
    let told = || {
        let (events, _) = core.events.drain(100);
        events
            .iter()
            .any(|event| matches!(event, Event::Waiting { ms, .. } if *ms >= 50_000))
    };
    while !told() {
        tokio::task::yield_now().await;
    }
    cancel.cancel();
    assert_eq!(turn.await.unwrap().reason, TurnEnd::Interrupted);
}
