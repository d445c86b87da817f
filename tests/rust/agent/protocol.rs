//! Ops and events as JSON: what Lua writes and reads.

use dcode::protocol::change::{BufferEdits, BufferText, EditBatch, LineEdit, Origin};
use dcode::protocol::event::{
    BackgroundCommand, CompactionState, Conflict, FileFate, Judgement, Level, Notice, QueuedWords,
    RequestEnd, TimelineFile, TimelineStep, Usage,
};
use dcode::protocol::grant::{Grant, GrantKind};
use dcode::protocol::ids::{CallId, HunkId, RequestId, SessionId, StepIx, TicketId, TurnId, WaitingId};
use dcode::protocol::op::{HunkOutcome, OnConflict, Op, PromptContext, Report, Restore, Selection, Undo};
use dcode::protocol::request::{
    Approval, CommandVerdict, Diagnostic, NotSaved, Office, Opinion, OpinionWord, Question, QuestionOption,
    Side, UnsavedBuffer, Waiting,
};
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

fn outcome() -> HunkOutcome {
    HunkOutcome {
        line: 3,
        text: "x".into(),
        accepted: true,
    }
}

fn going_back() -> Vec<Op> {
    vec![
        Op::undo(Some(2)),
        Op::undo(None),
        Op::Undo(Undo {
            steps: None,
            from: Some(StepIx(4)),
            what: Restore::Both,
            conflicts: OnConflict::Mark,
        }),
        Op::Timeline,
        Op::StepDiff { step: StepIx(4) },
        Op::Resume { session: None },
    ]
}

fn place(path: &str) -> PromptContext {
    PromptContext {
        path: Some(path.into()),
        line: Some(3),
        selection: Some(Selection {
            first: 3,
            last: 4,
            text: "x\ny".into(),
        }),
    }
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
        Permissions,
        LookAtGit,
        Blame,
        Report,
        Reply,
        Undo,
        Timeline,
        StepDiff,
        Resume,
        Redo,
        Reviewed,
        Reject,
        BringBack,
        SetMode,
        SetModel,
        NewSession,
        Shutdown,
        Steer,
        Unqueue,
        Compact,
    });
    let (ticket, path) = (TicketId(2), "/p/é \"a\".rs");
    let context = place(path);
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
        Op::Permissions { ticket, revoke: None },
        Op::Permissions {
            ticket,
            revoke: Some(grant()),
        },
        Op::LookAtGit { ticket },
        Op::Blame {
            ticket,
            path: path.into(),
            text: Some("x\n".into()),
        },
        Op::Report {
            ticket,
            what: Report::Usage,
        },
        Op::Reply {
            request: RequestId(1),
            reply: choice(Choice::Once),
        },
        Op::Redo,
        Op::Reviewed {
            path: path.into(),
            hunks: vec![outcome()],
        },
        Op::Reject {
            path: path.into(),
            hunk: Some(HunkId(3)),
        },
        Op::Reject {
            path: path.into(),
            hunk: None,
        },
        Op::BringBack { path: path.into() },
        Op::SetMode { mode: "yolo".into() },
        Op::SetModel { model: "a:b".into() },
        Op::NewSession,
        Op::Shutdown,
    ];
    let at = ops.iter().position(|op| *op == Op::Redo).unwrap();
    let mut ops = ops.to_vec();
    ops.splice(at..at, going_back());
    ops.extend(ops_of_the_conversation());
    survive(&ops, "type", &names(&kinds));
}

#[test]
fn a_prompt_may_leave_its_context_out() {
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
        Diagnostics,
        Saved,
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
            save: true,
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
        Reply::Diagnostics {
            found: vec![Diagnostic {
                path: "/a".into(),
                line: 1,
                severity: "error".into(),
                source: None,
                message: "m".into(),
            }],
        },
        Reply::Saved {
            failed: vec![NotSaved {
                path: "/a".into(),
                reason: "r".into(),
            }],
        },
        Reply::Refused {
            stale: true,
            message: "m".into(),
        },
    ];
    survive(&replies, "kind", &names(&kinds));
}

fn grant() -> Grant {
    Grant {
        kind: GrantKind::Command,
        mode: "allow".into(),
        text: "git push *".into(),
        source: "s".into(),
        file: Some("/c".into()),
        line: Some(3),
        revocable: true,
    }
}

fn requests() -> [Request; 7] {
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
        Request::Approval(Box::new(Approval {
            tool: "bash".into(),
            title: "ls".into(),
            reason: "r".into(),
            rule: "u".into(),
            commands: Some(vec![command]),
            paths: Some(vec!["/a".into()]),
            diff: Some("d".into()),
            sandbox: Some(Side::Inside),
            choices: vec![Choice::Once, Choice::Session, Choice::Always, Choice::Deny],
            pattern: Some("ls *".into()),
            unsaved: vec!["/b".into()],
            opinions: vec![Opinion {
                by: Office::Validator,
                model: "a:b".into(),
                word: OpinionWord::Block,
                reason: "r".into(),
            }],
            more: vec![Waiting {
                tool: "ls".into(),
                title: "t".into(),
                reason: "r".into(),
                commands: None,
                diff: None,
            }],
            args: Some(json!({"command": "ls"})),
        })),
        Request::Question {
            questions: vec![question],
        },
        Request::ReadBuffer { path: "/a".into() },
        Request::Unsaved,
        Request::Diagnostics { paths: None },
        Request::SaveBuffers {
            paths: vec!["/a".into()],
        },
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
        Event::BackgroundChanged {
            commands: vec![BackgroundCommand {
                handle: "job-1".into(),
                command: "make watch".into(),
            }],
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
            items: vec![QueuedWords {
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
        Event::Judging {
            by: Office::Auto,
            model: "a:b".into(),
            calls: 2,
        },
        Event::Judged {
            by: Office::Auto,
            model: "a:b".into(),
            words: vec![Judgement {
                tool: "bash".into(),
                title: "ls".into(),
                word: OpinionWord::None,
                reason: "r".into(),
            }],
            elapsed_ms: 3,
        },
        Event::Notice(notice),
    ]
}

/// The same for answers, and what an undo or another session tells.
fn of_answers() -> Vec<Event> {
    let ticket = TicketId(3);
    let result = CallResult {
        ok: true,
        text: "t".into(),
        blocks: Some(vec![json!({})]),
        decision: "ask".into(),
    };
    vec![
        Event::CallFinished { ticket, result },
        Event::Explained {
            ticket,
            explanation: json!({"decision": "ask"}),
        },
        Event::Permissions {
            ticket,
            grants: vec![grant()],
            problem: Some("p".into()),
        },
        Event::GitAnswered {
            ticket,
            answer: json!({"branch": "main"}),
        },
        Event::Reported {
            ticket,
            report: json!({"models": []}),
        },
        Event::Restored {
            ok: true,
            message: "m".into(),
            paths: vec!["/a".into()],
            conflicts: vec![Conflict {
                path: "/b".into(),
                lines: 2,
            }],
        },
        Event::Timeline {
            steps: vec![TimelineStep {
                step: StepIx(1),
                turn: TurnId(1),
                prompt: "p".into(),
                undone: false,
                files: vec![TimelineFile {
                    path: "/a".into(),
                    change: FileFate::Created,
                    added: 1,
                    removed: 0,
                    undoable: true,
                }],
            }],
        },
        Event::StepDiff {
            step: StepIx(1),
            diff: "+a".into(),
        },
        Event::SessionOffered {
            session: SessionId("s".into()),
            hunks: 3,
            files: 2,
            others: 0,
        },
        Event::SessionResumed {
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
        BackgroundChanged,
        Request,
        RequestClosed,
        HunksChanged,
        WaitingChanged,
        WordsTaken,
        Compaction,
        Usage,
        ModeChanged,
        ModelChanged,
        Judging,
        Judged,
        Notice,
        CallFinished,
        Explained,
        Permissions,
        GitAnswered,
        Reported,
        Restored,
        Timeline,
        StepDiff,
        SessionOffered,
        SessionResumed,
        Stopped,
    });
    let events = [of_turns(), of_calls(), of_requests(), of_the_rest(), of_answers()].concat();
    survive(&events, "type", &names(&kinds));
}
