//! Panics: in a tool, in a turn, in the agent itself.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dcode::agent::core::Core;
use dcode::agent::queue::{EventQueue, Waker};
use dcode::agent::setup::Blueprint;
use dcode::agent::step;
use dcode::permission::access::Access;
use dcode::protocol::ids::{CallId, StepIx, TurnId};
use dcode::protocol::message::ToolCall;
use dcode::protocol::op::Op;
use dcode::protocol::tool::ToolClass;
use dcode::tools::dispatch::Place;
use dcode::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::stage::Backdrop;
use super::*;

struct Silent;

impl Waker for Silent {
    fn wake(&self) {}
}

/// A session's core without a session, so that a test can put tools in.
pub fn core(backdrop: &Backdrop) -> Arc<Core> {
    let events = Arc::new(EventQueue::new(Box::new(Silent)));
    Blueprint::new(backdrop.start_info(), events).build(None, &CancellationToken::new(), None)
}

/// Panics where its argument says.
struct Mine;

#[derive(Deserialize, JsonSchema)]
struct Where {
    at: String,
}

impl Where {
    fn step_on(&self, place: &str) {
        assert_ne!(self.at, place, "the test wants a panic here");
    }
}

#[async_trait]
impl Tool for Mine {
    type Args = Where;

    fn name(&self) -> &'static str {
        "mine"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn description(&self) -> &'static str {
        "Panics."
    }

    fn title(&self, args: &Where) -> String {
        args.step_on("title");
        args.at.clone()
    }

    fn access(&self, args: &Where, _cwd: &Path) -> Result<Vec<Access>, ToolError> {
        args.step_on("access");
        Ok(Vec::new())
    }

    async fn run(&self, args: Where, ctx: &ToolCtx) -> Result<ToolOutput, ToolError> {
        args.step_on("run");
        if args.at == "deaf" {
            // Neither looks at its token nor ends.
            ctx.cancel.cancelled().await;
            std::future::pending::<()>().await;
        }
        Ok(ToolOutput::default())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_panics_fails_alone() {
    let mut core = core(&Backdrop::new());
    assert!(Arc::get_mut(&mut core).unwrap().registry.add(Mine));
    let place = Place {
        step: StepIx(1),
        turn: TurnId(1),
        limit: None,
    };
    let call = |at: &str, number: usize| ToolCall {
        id: CallId(format!("c{number}")),
        name: "mine".into(),
        arguments: json!({ "at": at }).to_string(),
    };
    for (number, at) in ["title", "access", "run"].into_iter().enumerate() {
        let scope = core.scope(CancellationToken::new());
        let finished = step::run_call(&core, &call(at, number), place, scope).await;
        assert_eq!(finished.outcome, Outcome::Failed, "{at}");
        assert!(
            finished.text.contains("a fault of its own"),
            "{at}: {}",
            finished.text
        );
    }
    let scope = core.scope(CancellationToken::new());
    let finished = step::run_call(&core, &call("nowhere", 4), place, scope).await;
    assert_eq!(finished.outcome, Outcome::Ok);
    let (events, _) = core.events.drain(usize::MAX);
    let kinds: Vec<_> = events
        .iter()
        .map(|event| matches!(event, Event::ToolStarted { .. }))
        .collect();
    assert_eq!(
        kinds,
        [true, false].repeat(4),
        "each call starts and finishes: {events:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_does_not_listen_is_left_behind() {
    let mut core = core(&Backdrop::new());
    assert!(Arc::get_mut(&mut core).unwrap().registry.add(Mine));
    let limit = Some(Duration::from_millis(1));
    let place = Place {
        step: StepIx(1),
        turn: TurnId(1),
        limit,
    };
    let call = ToolCall {
        id: CallId("c".into()),
        name: "mine".into(),
        arguments: r#"{"at":"deaf"}"#.into(),
    };
    let finished = step::run_call(&core, &call, place, core.scope(CancellationToken::new())).await;
    assert_eq!(finished.text, "Stopped: it took longer than 1 ms (timeout_ms).");
}

#[test]
fn a_fault_in_a_turn_ends_that_turn_only() {
    let mut stage = Backdrop::new().file("a", "1\n").start();
    let (reply, release) = Say::new().text("hm").pause();
    stage.says([reply.text("more").done()]);
    let turn = stage.prompt("work");
    stage.until(|event| matches!(event, Event::TextDelta { .. }));
    // The turn is the next to wake us: with the rest of the text.
    stage.bell.panic_next();
    release.go();
    let ended = stage.finish(turn);
    assert_eq!(ended.reason, TurnEnd::Error);
    assert!(ended.message.unwrap().contains(":Dcode log"));
    assert_eq!(stage.turn("again", [Say::say("fine")]).text, "fine");
    assert_eq!(stage.agent.status().state, "idle");
}

#[test]
fn a_fault_around_a_call_is_a_failed_call() {
    let mut stage = Backdrop::new().file("a", "1\n").start();
    stage.on_request(|request| match request {
        Request::ReadBuffer { .. } => Answer::Hold,
        _ => Answer::Usual,
    });
    stage.says([call("read_file", json!({"path": "a"})), Say::say("fine")]);
    let turn = stage.prompt("work");
    while stage.held() == 0 {
        stage.next();
    }
    // The request is closed in the tool's own run.
    stage.bell.panic_next();
    stage.answer_held();
    assert_eq!(stage.finish(turn).text, "fine");
    assert_eq!(stage.last_done().outcome, Outcome::Failed);
}

#[test]
fn a_fault_of_the_agent_itself_is_told_as_its_end() {
    let mut stage = Stage::new();
    stage.faulty = true;
    stage.until(|event| matches!(event, Event::SessionStarted { .. }));
    stage.bell.panic_next();
    stage.submit(Op::SetMode { mode: "yolo".into() });
    let Event::Stopped { reason } = stage.until(|event| matches!(event, Event::Stopped { .. })) else {
        unreachable!()
    };
    assert!(
        reason.contains("fault") && reason.contains(":Dcode log"),
        "{reason}"
    );
    assert!(!stage.agent.submit(Op::Interrupt));
    assert!(
        stage.shutdown(Duration::from_secs(10)) < Duration::from_secs(10),
        "nothing is waited for"
    );
}
