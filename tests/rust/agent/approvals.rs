//! Who may do what: the person's answers, the modes, nobody there.

use dcode::protocol::grant::{Grant, GrantKind};
use dcode::protocol::op::Op;
use dcode::protocol::request::{Approval, Side};
use dcode::shell::sandbox::{Places, Sandbox};

use super::stage::Backdrop;
use super::*;

fn touch(name: &str) -> Say {
    call("bash", json!({"command": format!("touch {name}")}))
}

/// Runs one call in a turn of its own.
fn run(stage: &mut Stage, reply: Say) -> stage::Done {
    stage.turn("work", [reply, Say::say("done")]);
    stage.last_done()
}

fn asked(stage: &Stage) -> Vec<Approval> {
    let asked = stage.events.iter().filter_map(|event| match event {
        Event::Request {
            request: Request::Approval(approval),
            ..
        } => Some((**approval).clone()),
        _ => None,
    });
    asked.collect()
}

#[test]
fn once_is_for_one_call() {
    let mut stage = Stage::new();
    for name in ["one", "two"] {
        assert_eq!(run(&mut stage, touch(name)).outcome, Outcome::Ok);
        assert!(stage.path(name).exists());
    }
    let [approval, _] = asked(&stage).try_into().unwrap();
    assert_eq!(
        (approval.tool.as_str(), approval.title.as_str()),
        ("bash", "touch one")
    );
    assert_eq!(
        approval.choices,
        [Choice::Once, Choice::Session, Choice::Always, Choice::Deny]
    );
    assert_eq!(approval.commands.unwrap()[0].text, "touch one");
    assert!(approval.pattern.is_some() && !approval.reason.is_empty() && !approval.rule.is_empty());
}

#[test]
fn it_says_on_which_side_of_the_sandbox_a_command_would_run() {
    let sides = |sandbox: &str| {
        let backdrop = Backdrop::new().with(&json!({"sandbox": sandbox, "mode": "ask-all"}));
        let mut stage = backdrop.start();
        stage.on_approval(choice(Choice::Deny));
        for args in [
            json!({"command": "touch a"}),
            json!({"command": "touch a", "unsandboxed": true}),
        ] {
            run(&mut stage, call("bash", args));
        }
        run(&mut stage, call("read_file", json!({"path": "a"})));
        asked(&stage)
            .iter()
            .map(|approval| approval.sandbox)
            .collect::<Vec<_>>()
    };
    assert_eq!(sides("off"), [None, None, None]);
    if sandbox_works() {
        assert_eq!(sides("auto"), [Some(Side::Inside), Some(Side::Outside), None]);
    }
}

/// Without a working bubblewrap there is nothing to see, which in CI is a failure.
fn sandbox_works() -> bool {
    let found = Sandbox::find(Places::default());
    assert!(found.is_ok() || std::env::var_os("CI").is_none(), "{found:?}");
    found.is_ok()
}

#[test]
fn session_holds_until_a_new_session() {
    let mut stage = Stage::new();
    stage.on_approval(choice(Choice::Session));
    for name in ["one", "two"] {
        assert_eq!(run(&mut stage, touch(name)).outcome, Outcome::Ok);
    }
    assert_eq!(stage.approvals(), 1);
    stage.submit(Op::NewSession);
    run(&mut stage, touch("three"));
    assert_eq!(stage.approvals(), 2);
    assert!(!stage.backdrop.home.join(".deepseek/config.toml").exists());
}

#[test]
fn always_is_written_to_the_persons_file_and_holds_in_every_later_session() {
    let backdrop = Backdrop::new();
    let file = backdrop.home.join(".deepseek/config.toml");
    stage::write(&file, "# mine\n[permissions.bash]\nask = [\"git push *\"]\n");
    let mut stage = backdrop.start();
    stage.on_approval(choice(Choice::Always));
    for name in ["one", "two"] {
        assert_eq!(run(&mut stage, touch(name)).outcome, Outcome::Ok);
    }
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with("# mine\n") && text.contains("git push *"),
        "{text}"
    );
    assert!(text.contains("allow = [\"touch"), "{text}");
    stage.submit(Op::NewSession);
    assert_eq!(run(&mut stage, touch("three")).outcome, Outcome::Ok);
    assert_eq!(stage.approvals(), 1);
}

#[test]
fn an_answer_that_cannot_be_kept_is_told_and_the_call_runs() {
    let mut stage = Stage::new();
    // A folder in the place of the file: also root cannot write it.
    std::fs::create_dir_all(stage.backdrop.home.join(".deepseek/config.toml")).unwrap();
    stage.on_approval(choice(Choice::Always));
    assert_eq!(run(&mut stage, touch("one")).outcome, Outcome::Ok);
    let told = stage.notices();
    assert!(
        told.iter().any(|notice| notice.message.contains("not for good")),
        "{told:?}"
    );
    run(&mut stage, touch("two"));
    assert_eq!(stage.approvals(), 1, "it holds for the session");
}

#[test]
fn a_denial_is_told_to_the_model_with_the_persons_words() {
    let mut stage = Stage::new();
    stage.on_approval(choice(Choice::Deny));
    let done = run(&mut stage, touch("one"));
    assert_eq!(
        (done.outcome, stage.path("one").exists()),
        (Outcome::Denied, false)
    );
    assert!(
        done.text.starts_with("The person denied this call."),
        "{}",
        done.text
    );
    let feedback = Some(" Use two. ".into());
    stage.on_approval(Reply::Approval {
        decision: Choice::Deny,
        feedback,
        args: None,
        save: false,
    });
    let done = run(&mut stage, touch("one"));
    assert_eq!(done.text, "The person denied this call and says: Use two.");
    let request = stage.backdrop.model.requests().pop().unwrap();
    assert_eq!(request.messages().last().unwrap()["content"], json!(done.text));
}

#[test]
fn edited_arguments_run_in_place_of_the_models_and_are_judged() {
    let mut stage = Stage::new();
    let edited = |command: &str| Reply::Approval {
        decision: Choice::Once,
        feedback: None,
        args: Some(json!({ "command": command })),
        save: false,
    };
    stage.on_approval(edited("touch mine"));
    assert_eq!(run(&mut stage, touch("its")).outcome, Outcome::Ok);
    assert_eq!(
        (stage.path("its").exists(), stage.path("mine").exists()),
        (false, true)
    );
    stage.on_approval(edited("rm -rf ."));
    let done = run(&mut stage, touch("its"));
    assert_eq!(
        done.outcome,
        Outcome::Denied,
        "a hard rule holds for the person's words, too: {}",
        done.text
    );
    assert!(stage.path("mine").exists());
    stage.on_approval(edited(" "));
    let done = run(&mut stage, touch("its"));
    assert_eq!(
        (done.outcome, stage.path("its").exists()),
        (Outcome::Failed, false),
        "{}",
        done.text
    );
}

#[test]
fn an_answer_that_was_not_on_offer_is_a_denial() {
    let mut stage = Stage::new();
    stage.on_approval(choice(Choice::Always));
    // What cannot be parsed is asked each time and never remembered.
    let done = run(
        &mut stage,
        call("bash", json!({"command": "touch one; echo $(("})),
    );
    assert_eq!(asked(&stage)[0].choices, [Choice::Once, Choice::Deny]);
    assert_eq!(
        (done.outcome, stage.path("one").exists()),
        (Outcome::Denied, false)
    );
    // An answer of another kind is none.
    stage.on_approval(Reply::Unsaved { buffers: vec![] });
    assert_eq!(run(&mut stage, touch("one")).outcome, Outcome::Denied);
    assert!(!stage.path("one").exists());
}

#[test]
fn where_nobody_is_there_what_would_be_asked_is_denied() {
    let mut stage = Backdrop::new().without_human().start();
    let done = run(&mut stage, touch("one"));
    assert_eq!((done.outcome, stage.approvals()), (Outcome::Denied, 0));
    assert!(!stage.path("one").exists());
    assert_eq!(
        run(&mut stage, call("bash", json!({"command": "ls"}))).outcome,
        Outcome::Ok
    );
}

#[test]
fn the_modes() {
    let mut stage = Backdrop::new().file("a", "1\n").start();
    let write = || call("write_file", json!({"path": "b", "content": "2\n"}));
    let read = || call("read_file", json!({"path": "a"}));
    let mode = |stage: &mut Stage, mode: &str| {
        stage.submit(Op::SetMode { mode: mode.into() });
        stage.until(|event| matches!(event, Event::ModeChanged { .. }))
    };
    mode(&mut stage, "ask-all");
    assert_eq!(
        (run(&mut stage, read()).outcome, stage.approvals()),
        (Outcome::Ok, 1)
    );
    assert_eq!(
        (run(&mut stage, write()).outcome, stage.approvals()),
        (Outcome::Ok, 2)
    );

    assert_eq!(
        mode(&mut stage, "plan"),
        Event::ModeChanged {
            mode: "read-only".into()
        }
    );
    assert_eq!(run(&mut stage, write()).outcome, Outcome::Denied);
    assert_eq!(
        run(&mut stage, call("bash", json!({"command": "ls"}))).outcome,
        Outcome::Denied
    );
    assert_eq!(
        (run(&mut stage, read()).outcome, stage.approvals()),
        (Outcome::Ok, 2)
    );

    mode(&mut stage, "yolo");
    assert_eq!(
        (run(&mut stage, touch("one")).outcome, stage.approvals()),
        (Outcome::Ok, 2)
    );
    let done = run(&mut stage, call("bash", json!({"command": "rm -rf ."})));
    assert_eq!(done.outcome, Outcome::Denied, "{}", done.text);
    assert_eq!(stage.agent.status().mode, "yolo");

    stage.submit(Op::SetMode { mode: "yol".into() });
    let told = stage.until(|event| matches!(event, Event::Notice(_)));
    let Event::Notice(notice) = told else {
        unreachable!()
    };
    assert!(notice.message.contains("yol"), "{notice:?}");
    assert_eq!(stage.agent.status().mode, "yolo");
}

#[test]
fn a_question_is_answered_by_the_person_in_every_mode() {
    let mut stage = Backdrop::new().with(&json!({"mode": "read-only"})).start();
    let options = json!([{"label": "this"}, {"label": "that"}]);
    let ask = || {
        call(
            "question",
            json!({"questions": [{"question": "Which?", "options": options}]}),
        )
    };
    let done = run(&mut stage, ask());
    assert_eq!(done.text, "The user answered:\n- Which?: this\n");
    stage.on_request(|request| match request {
        Request::Question { .. } => Answer::With(Reply::Question { answers: None }),
        _ => Answer::Usual,
    });
    let done = run(&mut stage, ask());
    assert!(
        done.outcome == Outcome::Ok && done.text.contains("gave no answer"),
        "{done:?}"
    );
}

/// What the person has said beforehand, after `revoke` was taken back.
fn permissions(stage: &mut Stage, revoke: Option<Grant>) -> (Vec<Grant>, Option<String>) {
    let ticket = stage.agent.next_ticket();
    stage.submit(Op::Permissions { ticket, revoke });
    let listed = stage.until(|event| matches!(event, Event::Permissions { ticket: t, .. } if *t == ticket));
    let Event::Permissions { grants, problem, .. } = listed else {
        unreachable!()
    };
    (grants, problem)
}

#[test]
fn what_was_allowed_is_listed_with_its_place_and_taken_back_at_once() {
    let backdrop = Backdrop::new();
    let file = backdrop.home.join(".deepseek/config.toml");
    stage::write(
        &file,
        "# mine\n[permissions.bash]\ndeny = [\"git push *\"] # never\n",
    );
    let outside = backdrop.home.join("out [1].txt");
    let mut stage = backdrop.start();
    stage.on_approval(choice(Choice::Always));
    run(&mut stage, touch("one"));
    let write = || call("write_file", json!({"path": outside, "content": "x\n"}));
    run(&mut stage, write());
    stage.on_approval(choice(Choice::Session));
    run(&mut stage, call("bash", json!({"command": "mkdir m"})));

    let (grants, problem) = permissions(&mut stage, None);
    assert_eq!(problem, None);
    let find = |text: &str, kind: GrantKind| {
        let found = grants
            .iter()
            .find(|grant| grant.text.contains(text) && grant.kind == kind);
        found.unwrap_or_else(|| panic!("{text}: {grants:?}")).clone()
    };
    let denied = find("git push *", GrantKind::Command);
    assert_eq!(
        (denied.mode.as_str(), denied.line, denied.revocable),
        ("deny", Some(3), false)
    );
    let touched = find("touch", GrantKind::Command);
    assert_eq!((touched.file.as_ref(), touched.revocable), (Some(&file), true));
    let line = std::fs::read_to_string(&file).unwrap();
    let line = line.lines().nth(touched.line.unwrap() - 1).unwrap().to_owned();
    assert!(line.contains("touch"), "{line}");
    let made = find("mkdir", GrantKind::Session);
    let written = find("out ", GrantKind::Rule);

    // Taken back, each is asked again.
    stage.on_approval(choice(Choice::Deny));
    for (grant, again) in [
        (touched.clone(), touch("two")),
        (written, write()),
        (made, call("bash", json!({"command": "mkdir n"}))),
    ] {
        let before = stage.approvals();
        let (rest, problem) = permissions(&mut stage, Some(grant.clone()));
        assert_eq!(problem, None, "{grant:?}");
        assert!(!rest.contains(&grant), "{rest:?}");
        assert_eq!(run(&mut stage, again).outcome, Outcome::Denied, "{grant:?}");
        assert_eq!(stage.approvals(), before + 1, "{grant:?}");
    }
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with("# mine\n[permissions.bash]\ndeny = [\"git push *\"] # never\n"),
        "{text}"
    );
    // What is gone, and what is not taken back here, is said.
    let (_, problem) = permissions(&mut stage, Some(touched));
    assert!(problem.unwrap().contains("not in it any more"));
    let (_, problem) = permissions(&mut stage, Some(denied));
    assert!(problem.unwrap().contains("change it there"));
}
