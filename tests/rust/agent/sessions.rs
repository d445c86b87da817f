//! New sessions, and what stays over them.

use dcode::journal::{self, Record};
use dcode::protocol::ids::SessionId;
use dcode::protocol::op::Op;

use super::stage::Backdrop;
use super::*;

fn sessions(stage: &Stage) -> Vec<SessionId> {
    let sessions = stage.events.iter().filter_map(|event| match event {
        Event::SessionStarted { session, .. } => Some(session.clone()),
        _ => None,
    });
    sessions.collect()
}

fn records(stage: &Stage, session: &SessionId) -> Vec<Record> {
    let path = journal::journal_path(&stage.backdrop.state, session);
    journal::read(&path).map(|read| read.records).unwrap_or_default()
}

#[test]
fn a_session_says_what_it_offers() {
    let mut stage = Stage::new();
    let root = stage.backdrop.root.clone();
    let started = stage.until(|event| matches!(event, Event::SessionStarted { .. }));
    let Event::SessionStarted {
        session,
        model,
        mode,
        cwd,
        tools,
    } = started
    else {
        unreachable!()
    };
    assert_eq!(
        (model.as_deref(), mode.as_str(), cwd),
        (Some("mock:m"), "manual", root)
    );
    assert_eq!(stage.agent.status().session, session.0);
    stage.turn("hi", [Say::say("ho")]);
    assert_eq!(stage.backdrop.model.requests()[0].tools(), tools);
}

#[test]
fn a_new_session_forgets_the_conversation_and_keeps_mode_and_model() {
    let backdrop = Backdrop::new().file("a", "1\n");
    let url = backdrop.model.base_url();
    let providers = json!({"mock": {"base_url": url}, "other": {"base_url": url}});
    let mut stage = backdrop.with(&json!({"providers": providers})).start();
    stage.turn(
        "one",
        [
            call("read_file", json!({"path": "a"})),
            Say::new().usage(10, 0, 1).text("x").done(),
        ],
    );
    stage.submit(Op::SetMode { mode: "yolo".into() });
    stage.submit(Op::SetModel {
        model: "other:n".into(),
    });
    stage.until(|event| {
        *event
            == Event::ModelChanged {
                model: "other:n".into(),
            }
    });
    stage.submit(Op::NewSession);
    stage.turn("two", [Say::say("fine")]);
    let [first, second] = sessions(&stage).try_into().unwrap();
    let request = stage.backdrop.model.requests().pop().unwrap();
    assert_eq!(request.body["model"], "n");
    let said: Vec<_> = request.messages()[1..]
        .iter()
        .map(|m| m["content"].as_str().unwrap())
        .collect();
    assert_eq!(said, ["two"]);
    let status = stage.agent.status();
    assert_eq!(
        (status.mode.as_str(), status.model.as_deref()),
        ("yolo", Some("other:n"))
    );
    assert_eq!((status.session, status.usage.input_tokens), (second.0.clone(), 0));
    let first = records(&stage, &first);
    assert_eq!(first.len(), 11, "{first:?}");
    let [began, mode, .., finished] = &records(&stage, &second)[..] else {
        panic!()
    };
    let model = match began {
        Record::SessionStarted { model, .. } => model.as_deref(),
        _ => None,
    };
    assert_eq!(model, Some("other:n"));
    assert_eq!(*mode, Record::ModeChanged { mode: "yolo".into() });
    assert!(matches!(finished, Record::TurnFinished { .. }));
    let (ok, message, _) = stage.restore(Op::undo(None));
    assert!(!ok, "{message}");
}

#[test]
fn a_new_session_waits_for_the_old_one_to_end_whole() {
    let mut stage = Stage::new();
    stage.on_request(|request| match request {
        Request::Approval(_) => Answer::Hold,
        _ => Answer::Usual,
    });
    stage.says([call("bash", json!({"command": "touch made"})), Say::say("fresh")]);
    let old = stage.prompt("old");
    while stage.held() == 0 {
        stage.next();
    }
    let asked = stage.events.iter().find_map(|event| match event {
        Event::Request {
            id,
            request: Request::Approval(_),
            ..
        } => Some(*id),
        _ => None,
    });
    stage.submit(Op::NewSession);
    let new = stage.prompt("new");
    assert_eq!(stage.finish(old).reason, TurnEnd::Interrupted);
    assert_eq!(stage.finish(new).text, "fresh");
    let [first, second] = sessions(&stage).try_into().unwrap();
    let order = |wanted: &dyn Fn(&Event) -> bool| stage.events.iter().rposition(wanted).unwrap();
    let ended = order(&|event| matches!(event, Event::TurnFinished { turn, .. } if *turn == old));
    let began = order(&|event| matches!(event, Event::SessionStarted { .. }));
    assert!(ended < began);
    let finished = |records: Vec<Record>| -> Vec<_> {
        let turns = records.into_iter().filter_map(|record| match record {
            Record::TurnFinished { turn, reason } => Some((turn, reason)),
            _ => None,
        });
        turns.collect()
    };
    assert_eq!(finished(records(&stage, &first)), [(old, TurnEnd::Interrupted)]);
    assert_eq!(finished(records(&stage, &second)), [(new, TurnEnd::Done)]);

    // The answer to the old session's request must not meet one of the new session.
    stage.says([call("bash", json!({"command": "touch made"})), Say::say("done")]);
    let turn = stage.prompt("again");
    while stage.held() == 0 {
        stage.next();
    }
    stage.reply(asked.unwrap(), choice(Choice::Once));
    assert!(stage.call("ls", json!({})).ok);
    assert_eq!((stage.held(), stage.path("made").exists()), (1, false));
    stage.answer_held();
    stage.finish(turn);
    assert!(stage.path("made").exists());
}

#[test]
fn long_results_lie_beside_the_session_and_end_with_it() {
    let mut stage = Stage::new();
    let result = stage.call("bash", json!({"command": "seq 1 5000"}));
    let path = result
        .text
        .split(" is in ")
        .nth(1)
        .unwrap()
        .split(": read")
        .next()
        .unwrap()
        .to_owned();
    assert!(
        stage
            .call("read_file", json!({"path": path, "start_line": 5000}))
            .ok
    );
    stage.submit(Op::NewSession);
    stage.until(|event| matches!(event, Event::SessionStarted { .. }));
    assert!(!std::path::Path::new(&path).exists());
}
