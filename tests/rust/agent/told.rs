//! What the model is told beside the person's words: the system prompt, instruction files, images.

use dcode::protocol::op::{Op, Report};

use super::stage::{Backdrop, write};
use super::*;

fn system(stage: &mut Stage) -> String {
    stage.turn("hi", [Say::say("hello")]);
    let request = stage.backdrop.model.requests().pop().unwrap();
    request.messages()[0]["content"].as_str().unwrap().to_owned()
}

#[test]
fn without_files_the_prompt_is_short() {
    let mut stage = Backdrop::new().file("Cargo.toml", "").start();
    let prompt = system(&mut stage);
    // A token of English prose has more than four bytes; three and a half is on the safe side.
    assert!(prompt.len() < 1_500 * 7 / 2, "{} bytes", prompt.len());
    assert!(
        prompt.contains("- languages: Rust\n- tests probably run with: cargo test\n"),
        "{prompt}"
    );
    assert!(
        !prompt.contains('{') && !prompt.contains("<instructions"),
        "{prompt}"
    );
}

#[test]
fn guidance_names_only_tools_that_are_there() {
    let mut stage = Backdrop::new()
        .with(&json!({"allow_fs_tools": ["read_file"]}))
        .start();
    let prompt = system(&mut stage);
    for tool in ["edit_file", "apply_patch", "grep"] {
        assert!(!prompt.contains(tool), "{tool}");
    }
    assert!(prompt.contains("- Read the part of a long file"));
}

#[test]
fn instruction_files_have_their_order_and_their_bounds() {
    let backdrop = Backdrop::new()
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .file("AGENTS.md", "Use tabs.<!-- hidden -->\u{200b}")
        .file("CLAUDE.md", "not read: AGENTS.md is there")
        .file(
            ".deepagents/AGENTS.md",
            &format!("{}\nzebra", "long line\n".repeat(3_000)),
        )
        .file(".env", "KEY=secret");
    write(
        &backdrop.home.join(".deepagents/agent/AGENTS.md"),
        "Answer in French.",
    );
    let mut stage = backdrop.start();
    let prompt = system(&mut stage);
    let at = |text: &str| {
        prompt
            .find(text)
            .unwrap_or_else(|| panic!("no {text} in {prompt}"))
    };
    assert!(at("Use tabs.\n</instructions>") < at("from=\"person\" file=\".deepagents/agent/AGENTS.md\""));
    assert!(at("Answer in French.") < at("At the start of this session:"));
    assert!(prompt.contains("[Cut: the file has 30006 bytes."), "{prompt}");
    for absent in ["hidden", "not read", "zebra", "KEY="] {
        assert!(!prompt.contains(absent), "{absent}");
    }
    let notices: Vec<_> = stage.notices().into_iter().map(|notice| notice.message).collect();
    assert_eq!(
        notices,
        ["AGENTS.md holds 1 invisible characters; they are not sent to the model. Look at it."]
    );
}

#[test]
fn an_instruction_file_that_leads_to_a_secret_or_outside_is_not_sent() {
    let backdrop = Backdrop::new()
        .file(".env", "KEY=secret")
        .file(".git/HEAD", "ref: refs/heads/main\n");
    write(&backdrop.home.join("diary.md"), "private");
    std::os::unix::fs::symlink(".env", backdrop.root.join("AGENTS.md")).unwrap();
    std::os::unix::fs::symlink(backdrop.home.join("diary.md"), backdrop.root.join("CLAUDE.md")).unwrap();
    let mut stage = backdrop.start();
    let prompt = system(&mut stage);
    assert!(
        !prompt.contains("secret") && !prompt.contains("private"),
        "{prompt}"
    );
    let notices: Vec<_> = stage.notices().into_iter().map(|notice| notice.message).collect();
    assert_eq!(
        notices,
        ["AGENTS.md is not sent to the model: it leads to a file that it may not read."]
    );
}

#[test]
fn the_context_is_shown_as_it_is_sent() {
    let mut stage = Backdrop::new().file("AGENTS.md", "Use tabs.").start();
    stage.turn("look", [call("ls", json!({})), Say::say("done")]);
    stage.turn("again", [Say::say("done")]);
    let ticket = stage.agent.next_ticket();
    stage.submit(Op::Report {
        ticket,
        what: Report::Context,
    });
    let Event::Reported { report, .. } = stage.until(|event| matches!(event, Event::Reported { .. })) else {
        unreachable!()
    };
    let sent = stage.backdrop.model.requests().pop().unwrap();
    let body = report["body"].as_str().unwrap();
    assert!(
        body.starts_with(sent.text.strip_suffix("]}").unwrap()),
        "it goes on from what was sent last"
    );
    assert_eq!(report["system"], sent.messages()[0]["content"]);
    assert_eq!(report["messages"].as_array().unwrap().len(), 6);
    assert_eq!(report["tools"].as_array().unwrap().len(), sent.tools().len());
}

#[test]
fn a_long_paste_lies_in_a_file_that_the_model_reads_from() {
    let mut stage = Stage::new();
    let paste = format!("what is wrong?\n{}the end", "a line of a log\n".repeat(5_000));
    stage.turn(&paste, [Say::say("nothing")]);
    let request = stage.backdrop.model.requests().pop().unwrap();
    let content = request.messages()[1]["content"].as_str().unwrap();
    assert!(content.starts_with("what is wrong?\na line of a log\n"));
    assert!(content.len() < 16_000, "{} bytes", content.len());
    let (_, file) = content.split_once("The whole is in ").unwrap();
    let file = file.split_once(": read").unwrap().0;
    assert!(
        content.contains("[What the person sent has 5002 lines"),
        "{content}"
    );
    assert_eq!(std::fs::read_to_string(file).unwrap(), paste);
    let read = call("read_file", json!({"path": file, "start_line": 5_001}));
    stage.turn("look", [read, Say::say("fine")]);
    assert!(
        stage.last_done().text.contains("the end"),
        "{}",
        stage.last_done().text
    );
}

/// Where nothing else is said, it is the system's folder for temporary files, and nothing stays in it.
#[test]
fn what_was_put_aside_lies_outside_the_project_and_goes_with_the_session() {
    let mut backdrop = Backdrop::new().with(&json!({"permissions": {"bash": {"allow": ["seq *"]}}}));
    backdrop.setup.as_object_mut().unwrap().remove("artifacts_dir");
    let mut stage = backdrop.start();
    let long = stage.call("bash", json!({"command": "seq 5000"}));
    let (_, file) = long.text.split_once("The whole is in ").unwrap();
    let file = std::path::PathBuf::from(file.split_once(": read").unwrap().0);
    let tmp = std::fs::canonicalize(std::env::temp_dir()).unwrap();
    let uid = rustix::process::getuid().as_raw();
    let folder = tmp
        .join(format!("dcode-{uid}"))
        .join(stage.agent.status().session);
    assert_eq!(file.parent(), Some(folder.as_path()));
    assert!(file.is_file());
    assert_eq!(
        std::fs::read_dir(&stage.backdrop.root).unwrap().count(),
        0,
        "nothing lies in the project"
    );
    stage.shutdown(std::time::Duration::from_secs(60));
    assert!(!folder.exists(), "gone with the session");
}

/// Whatever may be read outside the project, and whatever walls stand around commands.
#[test]
fn what_was_put_aside_can_always_be_read() {
    for sandbox in ["off", "auto"] {
        let permissions = json!({"read_outside": "deny", "bash": {"allow": ["seq *", "tail *"]}});
        let mut stage = Backdrop::new()
            .with(&json!({"permissions": permissions, "sandbox": sandbox}))
            .start();
        let long = stage.call("bash", json!({"command": "seq 5000"}));
        let (_, file) = long.text.split_once("The whole is in ").unwrap();
        let file = file.split_once(": read").unwrap().0;
        let beside = stage.backdrop.home.join("x");
        write(&beside, "x\n");
        assert_eq!(
            stage.call("read_file", json!({"path": beside})).decision,
            "deny",
            "outside is closed"
        );
        let read = stage.call("read_file", json!({"path": file, "start_line": 5_001}));
        assert!(read.text.starts_with("  5001\t5000\n"), "{}", read.text);
        let found = stage.call("grep", json!({"path": file, "pattern": "^4999$"}));
        assert!(found.text.contains(":5000:4999\n"), "{}", found.text);
        let tail = stage.call("bash", json!({"command": format!("tail -n 1 {file}")}));
        assert!(tail.ok && tail.text.contains("5000"), "{sandbox}: {}", tail.text);
    }
}

#[test]
fn an_image_that_a_prompt_names_goes_with_it_and_a_blind_model_is_told_of() {
    let mut stage = Stage::new();
    stage.file("shot.png", "\u{89}PNG");
    stage.turn("what is in @shot.png?", [Say::say("nothing")]);
    let request = stage.backdrop.model.requests().pop().unwrap();
    let content = request.messages()[1]["content"].as_str().unwrap();
    assert!(
        content.starts_with("what is in @shot.png?\n\n[image, image/png, "),
        "{content}"
    );
    assert!(!request.text.contains("base64"), "no bytes are sent");
    let notices: Vec<_> = stage.notices().into_iter().map(|notice| notice.message).collect();
    assert_eq!(
        notices,
        ["This model is given text only: it reads a notice in the place of an image."]
    );
}
