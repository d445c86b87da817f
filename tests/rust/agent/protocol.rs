//! Ops and events as JSON: what Lua writes and reads.

use dcode::protocol::change::{BufferEdits, BufferText, EditBatch, LineEdit, Origin};
use dcode::protocol::event::{CompactionState, Level, Notice, RequestEnd, Usage, Waiting};
use dcode::protocol::ids::{CallId, HunkId, RequestId, SessionId, StepIx, TicketId, TurnId, WaitingId};
use dcode::protocol::op::{Op, PromptContext, Report, Selection};
use dcode::protocol::request::{Approval, CommandVerdict, Question, QuestionOption, UnsavedBuffer};
use dcode::protocol::tool::CallResult;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::*;

/// Each value survives JSON, and together they are of all `kinds` (the values of `tag`).
fn survive<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
    values: &[T],
    tag: &str,
    kinds: &[&str],
) {
    let mut seen: Vec<String> = Vec::new();
    for value in values {
        let json = serde_json::to_value(value).unwrap();
        seen.push(json[tag].as_str().unwrap().to_owned());
        let back: T = serde_json::from_str(&json.to_string()).unwrap();
        assert_eq!(&back, value, "{json}");
    }
    seen.dedup();
    assert_eq!(seen, kinds);
}

/// Counts the arms of a match over all variants, so that a new variant must be given an example here.
macro_rules! variants {
    ($type:ident { $($variant:ident),* $(,)? }) => {{
        fn all_are_listed(value: &$type) {
            match value { $($type::$variant { .. } => {})* }
        }
        let _ = all_are_listed;
        [$(snake(stringify!($variant))),*]
    }};
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

fn names(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

fn ops_of_the_conversation() -> [Op; 3] {
    [
        Op::Steer {
            text: "also".into(),
            context: PromptContext::default(),
        },
        Op::Unqueue { id: WaitingId(1) },
        Op::Compact { undo: true },
    ]
}

#[test]
fn ops() {
    let kinds = variants!(Op {
        Prompt,
        Interrupt,
        Call,
        CancelCall,
        Explain,
        Report,
        Reply,
        Undo,
        Redo,
        Reviewed,
        Reject,
        SetMode,
        SetModel,
        NewSession,
        Shutdown,
        Steer,
        Unqueue,
        Compact,
    });
    let (ticket, path) = (TicketId(2), "/p/é \"a\".rs");
    let context = PromptContext {
        path: Some(path.into()),
        line: Some(3),
        selection: Some(Selection {
            first: 3,
            last: 4,
            text: "x\ny".into(),
        }),
    };
    let args = json!({"path": "a", "n": [1, null]});
    let ops = [
        Op::Prompt {
            turn: TurnId(1),
            text: "hi\u{0}".into(),
            context,
        },
        Op::Prompt {
            turn: TurnId(2),
            text: String::new(),
            context: PromptContext::default(),
        },
        Op::Interrupt,
        Op::Call {
            ticket,
            tool: "ls".into(),
            args: args.clone(),
            timeout_ms: u64::MAX,
            human: true,
        },
        Op::CancelCall { ticket },
        Op::Explain {
            ticket,
            tool: "ls".into(),
            args,
        },
        Op::Report {
            ticket,
            what: Report::Usage,
        },
        Op::Reply {
            request: RequestId(1),
            reply: choice(Choice::Once),
        },
        Op::Undo { steps: Some(2) },
        Op::Undo { steps: None },
        Op::Redo,
        Op::Reviewed {
            path: path.into(),
            accepted: 1,
            rejected: 0,
        },
        Op::Reject {
            path: path.into(),
            hunk: Some(HunkId(3)),
        },
        Op::Reject {
            path: path.into(),
            hunk: None,
        },
        Op::SetMode { mode: "yolo".into() },
        Op::SetModel { model: "a:b".into() },
        Op::NewSession,
        Op::Shutdown,
    ];
    let ops = [ops.as_slice(), &ops_of_the_conversation()].concat();
    survive(&ops, "type", &names(&kinds));
    let short: Op = serde_json::from_value(json!({"type": "prompt", "turn": 1, "text": "hi"})).unwrap();
    let context = PromptContext::default();
    assert_eq!(
        short,
        Op::Prompt {
            turn: TurnId(1),
            text: "hi".into(),
            context
        }
    );
}

#[test]
fn replies() {
    let kinds = variants!(Reply {
        Approval,
        Question,
        Buffer,
        Unsaved,
        Applied,
        Refused
    });
    let buffer = BufferText {
        buf: 1,
        tick: 2,
        text: "a\n".into(),
        modified: true,
    };
    let replies = [
        choice(Choice::Session),
        Reply::Approval {
            decision: Choice::Deny,
            feedback: Some("no".into()),
            args: Some(json!({"command": "ls"})),
        },
        Reply::Question {
            answers: Some(vec![vec![], vec!["a".into()]]),
        },
        Reply::Question { answers: None },
        Reply::Buffer { buffer: Some(buffer) },
        Reply::Buffer { buffer: None },
        Reply::Unsaved {
            buffers: vec![UnsavedBuffer {
                path: "/a".into(),
                text: "b".into(),
            }],
        },
        Reply::Applied { files: vec![] },
        Reply::Refused {
            stale: true,
            message: "m".into(),
        },
    ];
    survive(&replies, "kind", &names(&kinds));
}

fn requests() -> [Request; 5] {
    let command = CommandVerdict {
        text: "ls".into(),
        class: "read".into(),
        decision: "allow".into(),
    };
    let edits = BufferEdits {
        path: "/a".into(),
        buf: 1,
        tick: 2,
        edits: vec![LineEdit {
            start: 0,
            end: 1,
            lines: vec!["x".into()],
        }],
        eol: Some(false),
        save: true,
        deleted: false,
    };
    let options = vec![QuestionOption {
        label: "l".into(),
        description: None,
    }];
    let question = Question {
        question: "q".into(),
        header: Some("h".into()),
        options,
        multiple: true,
    };
    [
        Request::Approval(Approval {
            tool: "bash".into(),
            title: "ls".into(),
            reason: "r".into(),
            rule: "u".into(),
            commands: Some(vec![command]),
            paths: Some(vec!["/a".into()]),
            diff: Some("d".into()),
            choices: vec![Choice::Once, Choice::Session, Choice::Always, Choice::Deny],
            pattern: Some("ls *".into()),
        }),
        Request::Question {
            questions: vec![question],
        },
        Request::ReadBuffer { path: "/a".into() },
        Request::Unsaved,
        Request::ApplyEdits(EditBatch {
            origin: Origin::Agent,
            label: "l".into(),
            files: vec![edits],
            unloaded: vec!["/b".into()],
        }),
    ]
}

fn of_turns() -> Vec<Event> {
    let turn = TurnId(1);
    let mut events = vec![
        Event::SessionStarted {
            session: SessionId("s".into()),
            model: None,
            mode: "manual".into(),
            cwd: "/p".into(),
            tools: vec!["ls".into()],
        },
        Event::TurnStarted {
            turn,
            text: "hi".into(),
        },
    ];
    let ends = [
        TurnEnd::Done,
        TurnEnd::Interrupted,
        TurnEnd::Error,
        TurnEnd::StepLimit,
        TurnEnd::Loop,
    ];
    events.extend(ends.map(|reason| Event::TurnFinished {
        turn,
        reason,
        text: "t".into(),
        message: (reason != TurnEnd::Done).then(|| "m".into()),
    }));
    events
}

fn of_calls() -> Vec<Event> {
    let turn = TurnId(1);
    let call = CallId("c".into());
    let mut events = Vec::from([
        Event::TextDelta {
            turn,
            text: "a".into(),
        },
        Event::ReasoningDelta {
            turn,
            text: "b".into(),
        },
        Event::Waiting {
            turn,
            ms: 1500,
            number: 1,
            of: 3,
            why: "w".into(),
        },
        Event::ToolStarted {
            call: call.clone(),
            step: StepIx(1),
            tool: "ls".into(),
            title: ".".into(),
        },
        Event::ToolProgress {
            call: call.clone(),
            tail: "t".into(),
        },
    ]);
    let outcomes = [Outcome::Ok, Outcome::Failed, Outcome::Denied, Outcome::Cancelled];
    events.extend(outcomes.map(|outcome| Event::ToolFinished {
        call: call.clone(),
        tool: "ls".into(),
        outcome,
        summary: "s".into(),
        text: "t".into(),
        elapsed_ms: 1,
    }));
    events
}

fn of_requests() -> Vec<Event> {
    let mut events = Vec::from([
        Event::FilesChanged {
            paths: vec!["/a".into()],
        },
        Event::TodoUpdated {
            items: vec![json!({"subject": "s"})],
        },
    ]);
    events.extend(requests().map(|request| Event::Request {
        id: RequestId(1),
        ticket: Some(TicketId(3)),
        request,
    }));
    let closed = [RequestEnd::Answered, RequestEnd::Cancelled];
    events.extend(closed.map(|outcome| Event::RequestClosed {
        id: RequestId(1),
        outcome,
    }));
    events
}

fn of_the_rest() -> Vec<Event> {
    let ticket = TicketId(3);
    let result = CallResult {
        ok: true,
        text: "t".into(),
        blocks: Some(vec![json!({})]),
        decision: "ask".into(),
    };
    let notice = Notice {
        level: Level::Warn,
        message: "m".into(),
        hint: Some("h".into()),
    };
    vec![
        Event::HunksChanged {
            paths: vec!["/a".into()],
        },
        Event::WaitingChanged {
            items: vec![Waiting {
                id: WaitingId(1),
                text: "t".into(),
                turn: Some(TurnId(2)),
            }],
        },
        Event::WordsTaken {
            turn: TurnId(1),
            text: "t".into(),
        },
        Event::Compaction {
            state: CompactionState::Done,
            message: "m".into(),
            summary: Some("s".into()),
        },
        Event::Usage(Usage {
            input_tokens: 1,
            ..Usage::default()
        }),
        Event::ModeChanged { mode: "yolo".into() },
        Event::ModelChanged { model: "a:b".into() },
        Event::Notice(notice),
        Event::CallFinished { ticket, result },
        Event::Explained {
            ticket,
            explanation: json!({"decision": "ask"}),
        },
        Event::Reported {
            ticket,
            report: json!({"models": []}),
        },
        Event::Restored {
            ok: true,
            message: "m".into(),
            paths: vec!["/a".into()],
        },
        Event::Stopped {
            reason: "shutdown".into(),
        },
    ]
}

#[test]
fn events() {
    let kinds = variants!(Event {
        SessionStarted,
        TurnStarted,
        TurnFinished,
        TextDelta,
        ReasoningDelta,
        Waiting,
        ToolStarted,
        ToolProgress,
        ToolFinished,
        FilesChanged,
        TodoUpdated,
        Request,
        RequestClosed,
        HunksChanged,
        WaitingChanged,
        WordsTaken,
        Compaction,
        Usage,
        ModeChanged,
        ModelChanged,
        Notice,
        CallFinished,
        Explained,
        Reported,
        Restored,
        Stopped,
    });
    let events = [of_turns(), of_calls(), of_requests(), of_the_rest()].concat();
    survive(&events, "type", &names(&kinds));
}
