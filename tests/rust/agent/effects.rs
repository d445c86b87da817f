//! What commands do to files: seen, reviewed, undone with their step; and what is not theirs.

use std::process::Command;

use dcode::protocol::op::Op;

use super::stage::{self, Backdrop};
use super::*;

/// Runs programs of the system unasked.
fn backdrop() -> Backdrop {
    Backdrop::new().with(&json!({"mode": "yolo"}))
}

fn bash(stage: &mut Stage, command: &str) {
    stage.turn(
        "run it",
        [call("bash", json!({"command": command})), Say::say("done")],
    );
    let done = stage.last_done();
    assert_eq!(done.outcome, Outcome::Ok, "{done:?}");
}

fn waiting(stage: &Stage) -> Vec<String> {
    let book = stage.agent.review().lock().unwrap();
    let all = book.all();
    let rows = all.iter().flat_map(|(path, hunks)| {
        hunks.iter().map(move |hunk| {
            let name = path.file_name().unwrap().to_str().unwrap();
            format!("{name} -{} +{}", hunk.removed.join("|"), hunk.added.join("|"))
        })
    });
    rows.collect()
}

fn undo(stage: &mut Stage) -> String {
    let (ok, message, _) = stage.restore(Op::undo(Some(1)));
    assert!(ok, "{message}");
    message
}

#[test]
fn created_changed_and_deleted_files_wait_and_are_undone_with_the_step() {
    let mut stage = backdrop()
        .file("changed", "1\n2\n3\n")
        .file("gone", "bye\n")
        .file("same", "s\n")
        .start();
    bash(
        &mut stage,
        "sed -i s/2/two/ changed; rm gone; mkdir -p new/dir; echo hi > new/dir/made; touch same",
    );
    assert_eq!(waiting(&stage), ["changed -2 +two", "gone -bye +", "made - +hi"]);
    let changed = stage.files_changed().concat();
    assert_eq!(
        changed,
        ["changed", "gone", "new/dir/made"].map(|name| stage.path(name))
    );
    undo(&mut stage);
    assert_eq!(stage.disk("changed").unwrap(), "1\n2\n3\n");
    assert_eq!(stage.disk("gone").unwrap(), "bye\n");
    assert!(!stage.path("new").exists(), "the folders were not there before");
    assert_eq!(waiting(&stage), Vec::<String>::new());
    assert!(stage.restore(Op::Redo).0);
    assert_eq!(stage.disk("new/dir/made").unwrap(), "hi\n");
    assert_eq!(stage.disk("gone"), None);
}

#[test]
fn links_come_back_as_links_and_are_never_followed() {
    let mut stage = backdrop().file("../outside/keep", "keep\n").start();
    std::os::unix::fs::symlink("../outside", stage.path("link")).unwrap();
    bash(&mut stage, "rm link; mkdir link; echo x > link/keep");
    undo(&mut stage);
    let target = std::fs::read_link(stage.path("link")).unwrap();
    assert_eq!(target.to_str(), Some("../outside"));
    assert_eq!(stage.disk("../outside/keep").unwrap(), "keep\n");
}

#[test]
fn a_file_changed_twice_in_one_tick_is_seen() {
    let mut stage = backdrop().file("a", "1\n").start();
    // Same size, same inode, and as young as it gets: only the content tells.
    for round in ["2", "3", "4", "5"] {
        let name = stage.path("a");
        let file = std::fs::OpenOptions::new().write(true).open(&name).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, b"x", 0).unwrap();
        bash(
            &mut stage,
            &format!("printf {round} | dd of=a conv=notrunc status=none"),
        );
        assert_eq!(stage.disk("a").unwrap(), format!("{round}\n"));
        undo(&mut stage);
        assert_eq!(stage.disk("a").unwrap(), "x\n");
    }
}

#[test]
fn what_git_holds_comes_back_from_git_and_its_files_stay_untouched() {
    let stage = backdrop().file("tracked", "old\n").file("dirty", "1\n");
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t"])
            .args(arguments)
            .current_dir(&stage.root)
            .env("HOME", &stage.home)
            .output();
        done.is_ok_and(|done| done.status.success())
    };
    if !(git(&["init", "-q"]) && git(&["add", "."]) && git(&["commit", "-qm", "x"])) {
        return println!("skipped: git is not there");
    }
    stage::write(&stage.root.join("dirty"), "2\n");
    let mut stage = stage.start();
    let index = std::fs::read(stage.path(".git/index")).unwrap();
    bash(
        &mut stage,
        "echo new > tracked; echo 3 > dirty; chmod 755 tracked",
    );
    let all = ["dirty -2 +3", "tracked -old +new", "tracked - +"];
    assert_eq!(waiting(&stage), all, "the last are its permission bits");
    undo(&mut stage);
    assert_eq!(stage.disk("tracked").unwrap(), "old\n");
    assert_eq!(stage.disk("dirty").unwrap(), "2\n");
    let mode = std::fs::metadata(stage.path("tracked")).unwrap().permissions();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o644);
    assert_eq!(std::fs::read(stage.path(".git/index")).unwrap(), index);
}

#[test]
fn ignored_files_are_not_looked_at() {
    let mut stage = backdrop().file(".gitignore", "out/\n").start();
    bash(
        &mut stage,
        "mkdir out; echo x > out/x; mkdir node_modules; echo x > node_modules/x; echo y > y",
    );
    assert_eq!(waiting(&stage), ["y - +y"]);
}

#[test]
fn what_the_editor_wrote_meanwhile_is_not_the_commands() {
    let mut stage = backdrop().file("a", "1\n").file("b", "1\n").start();
    let (a, ready) = (stage.path("a"), stage.path("ready"));
    stage.says([
        call("bash", json!({"command": "echo > ready; while [ ! -e go ]; do sleep 0.01; done; echo 2 > b; rm ready go"})),
        Say::say("done"),
    ]);
    let turn = stage.prompt("run it");
    stage.until(|event| matches!(event, Event::ToolStarted { .. }));
    let pause = std::time::Duration::from_millis(2);
    while !ready.exists() {
        std::thread::park_timeout(pause);
    }
    stage::write(&a, "the person's\n");
    stage.agent.written(&a);
    stage::write(&stage.path("go"), "");
    stage.finish(turn);
    assert_eq!(waiting(&stage), ["b -1 +2"]);
    undo(&mut stage);
    assert_eq!(stage.disk("a").unwrap(), "the person's\n");
    assert_eq!(stage.disk("b").unwrap(), "1\n");
}

#[test]
fn undo_leaves_a_file_that_is_not_as_the_command_left_it() {
    let mut stage = backdrop().file("a", "1\n").file("b", "1\n").start();
    bash(&mut stage, "echo 2 > a; echo 2 > b");
    stage::write(&stage.path("a"), "mine\n");
    let (ok, message, _) = stage.restore(Op::undo(Some(1)));
    assert!(!ok && message.contains("a changed since"), "{message}");
    assert_eq!(
        (stage.disk("a").unwrap(), stage.disk("b").unwrap()),
        ("mine\n".into(), "2\n".into())
    );
}

#[test]
fn what_nobody_kept_is_named_and_not_undone() {
    let backdrop = backdrop().file("small", "1\n");
    let large = std::fs::File::create(backdrop.root.join("large")).unwrap();
    large.set_len(65 * 1024 * 1024).unwrap();
    let mut stage = backdrop.start();
    bash(&mut stage, "echo x >> large; echo 2 > small");
    let notices: Vec<String> = stage.notices().into_iter().map(|notice| notice.message).collect();
    assert!(
        notices.contains(&"large was changed by a command and cannot be undone.".to_owned()),
        "{notices:?}"
    );
    undo(&mut stage);
    assert_eq!(stage.disk("small").unwrap(), "1\n");
    assert_eq!(
        std::fs::metadata(stage.path("large")).unwrap().len(),
        65 * 1024 * 1024 + 2
    );
    stage.submit(Op::Timeline);
    let told = stage.until(|event| matches!(event, Event::Timeline { .. }));
    let Event::Timeline { steps } = told else {
        unreachable!()
    };
    let undoable: Vec<bool> = steps[0].files.iter().map(|file| file.undoable).collect();
    assert_eq!(undoable, [false, true], "large, small");
}

#[test]
fn unsaved_buffers_are_offered_to_be_saved_before_a_command() {
    let mut stage = Backdrop::new().file("a", "disk\n").start();
    let a = stage.path("a");
    stage.editor.load(&a, "typed\n", true);
    let saving = Reply::Approval {
        decision: Choice::Once,
        feedback: None,
        args: None,
        save: true,
    };
    stage.on_approval(saving);
    bash(&mut stage, "cp a copy");
    assert_eq!(stage.disk("copy").unwrap(), "typed\n");
    let offered =
        |request: &Request| matches!(request, Request::Approval(approval) if approval.unsaved == [a.clone()]);
    assert_eq!(stage.asked(offered), 1);

    // Without the wish the command sees the disk.
    let mut stage = Backdrop::new().file("a", "disk\n").start();
    stage.editor.load(&stage.path("a"), "typed\n", true);
    bash(&mut stage, "cp a copy");
    assert_eq!(stage.disk("copy").unwrap(), "disk\n");

    // Nobody to ask: saved.
    let mut stage = backdrop().file("a", "disk\n").without_human().start();
    stage.editor.load(&stage.path("a"), "typed\n", true);
    bash(&mut stage, "cp a copy");
    assert_eq!(stage.disk("copy").unwrap(), "typed\n");
}
