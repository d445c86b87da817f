//! The process is killed in the middle of a system call that writes, renames, removes or syncs a file, at
//! any of them; the next process finds every file old or new, what waits for review, and all steps to undo.
//!
//! `strace` kills it. A first run lists the calls; each kill then draws one of them. 12 kills by default,
//! `DCODE_KILLS=200` by hand.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use dcode::protocol::op::Op;

use super::stage::{self, Backdrop};
use super::*;
use crate::other_process;

/// The system calls by which something on disk changes.
const CALLS: &str = "write,pwrite64,rename,renameat,renameat2,unlink,unlinkat,linkat,fsync,fdatasync";

/// What each file holds in turn; the first is what was there before.
fn versions() -> BTreeMap<&'static str, Vec<Option<&'static str>>> {
    BTreeMap::from([
        (
            "a",
            vec![
                Some("1\n2\n3\n4\n5\n"),
                Some("1\ntwo\n3\n4\n5\n"),
                Some("1\ntwo\n3\n4\nfive\n"),
            ],
        ),
        ("b", vec![Some("x\ny\n"), Some("x\nY\n")]),
        ("c", vec![Some("gone\n"), None]),
        ("made", vec![None, Some("new\n"), Some("new\nmore\n")]),
    ])
}

/// The work that is killed: three kinds of edits in two turns.
fn work(stage: &mut Stage) {
    let edit = |path: &str, old: &str, new: &str| {
        (
            "edit_file",
            json!({"path": path, "old_string": old, "new_string": new}),
        )
    };
    let patch = "*** Begin Patch\n*** Update File: b\n@@\n x\n-y\n+Y\n*** Delete File: c\n*** End Patch";
    stage.turn(
        "first",
        [
            calls(&[
                edit("a", "2\n", "two\n"),
                ("write_file", json!({"path": "made", "content": "new\n"})),
            ]),
            call("apply_patch", json!({"patch": patch})),
            Say::say("done"),
        ],
    );
    stage.turn(
        "second",
        [
            calls(&[edit("a", "5\n", "five\n"), edit("made", "new\n", "new\nmore\n")]),
            Say::say("done"),
        ],
    );
}

/// The part of the process that is killed.
#[test]
#[ignore = "started by the tests below"]
fn child_works_until_killed() {
    let Some(folder) = other_process::folder() else {
        return;
    };
    let mut stage = Backdrop::at(&folder).with(&json!({"mode": "yolo"})).start();
    work(&mut stage);
}

fn prepared() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let backdrop = Backdrop::at(folder.path());
    for (name, held) in versions() {
        if let Some(text) = held[0] {
            stage::write(&backdrop.root.join(name), text);
        }
    }
    folder
}

/// Runs the child below strace; gives the trace.
fn traced(folder: &Path, inject: &str) -> (Output, String) {
    let trace = folder.join("trace");
    let child = other_process::command("agent::kills::child_works_until_killed", folder, "");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-s", "0", "-o"]).arg(&trace);
    strace.args(["-e", &format!("trace={CALLS}"), "-e", "signal=none"]);
    if !inject.is_empty() {
        strace.args(["-e", &format!("inject={inject}")]);
    }
    strace.arg(child.get_program()).args(child.get_args());
    let variables = child.get_envs().filter_map(|(name, value)| Some((name, value?)));
    strace.envs(variables);
    let output = strace.output().unwrap();
    (output, std::fs::read_to_string(trace).unwrap_or_default())
}

/// A call of the trace: the thread's calls of this name before it and itself, and what it is about.
struct Called {
    name: String,
    count: usize,
    phase: &'static str,
}

fn phase(line: &str) -> Option<&'static str> {
    let about = |part: &str| line.contains(part);
    if !about("/project") && !about("/state") {
        return None;
    }
    Some(match () {
        () if about("journal.jsonl") => "journal: records",
        () if about("/review") || about("/waiting") => "journal: review texts",
        () if about("/intents") => "apply: what is about to change",
        () if about("/snapshots") => "apply: what was there before",
        () if about("/project") => "apply: files",
        () => "other state",
    })
}

/// The calls on files of ours, in order.
fn called(trace: &str) -> Vec<Called> {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut found = Vec::new();
    for line in trace.lines() {
        let Some((thread, rest)) = line.split_once(' ') else {
            continue;
        };
        let Some((name, _)) = rest.trim_start().split_once('(') else {
            continue;
        };
        if name.starts_with('<') || name.contains(' ') {
            continue;
        }
        let count = counts.entry((thread.to_owned(), name.to_owned())).or_default();
        *count += 1;
        if let Some(phase) = phase(line) {
            found.push(Called {
                name: name.to_owned(),
                count: *count,
                phase,
            });
        }
    }
    found
}

/// A number below `limit`, from a fixed sequence.
fn draw(seed: &mut u64, limit: usize) -> usize {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*seed >> 33).unwrap() % limit
}

/// Waits until the last thread of the killed process is gone, and its locks with it.
fn unlocked(folder: &Path) {
    let sessions = std::fs::read_dir(folder.join("state/sessions"));
    for session in sessions.into_iter().flatten().flatten() {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while dcode::journal::is_locked(&session.path().join("journal.jsonl")) {
            assert!(
                std::time::Instant::now() < deadline,
                "the lock outlives the process"
            );
            std::thread::park_timeout(std::time::Duration::from_millis(2));
        }
    }
}

/// All that must hold after a kill.
fn check(folder: &Path, told: &str) {
    unlocked(folder);
    let mut stage = Backdrop::at(folder).with(&json!({"mode": "yolo"})).start();
    // A change set that broke off is taken back before the session begins.
    stage.until(|event| matches!(event, Event::SessionStarted { .. }));
    let at = |name: &str| std::fs::read_to_string(folder.join("project").join(name)).ok();
    let mut changed: Vec<PathBuf> = Vec::new();
    for (name, held) in versions() {
        let now = at(name);
        assert!(held.contains(&now.as_deref()), "{told}: {name} holds {now:?}");
        if now.as_deref() != held[0] {
            changed.push(stage.path(name));
        }
    }
    stage.submit(Op::Resume { session: None });
    let resumed = stage.until(|event| matches!(event, Event::SessionResumed { .. }));
    let Event::SessionResumed { ok, message, paths } = resumed else {
        unreachable!()
    };
    if changed.is_empty() {
        return;
    }
    assert!(ok, "{told}: {message}");
    assert_eq!(paths, changed, "{told}: what changed waits: {message}");
    for (name, held) in versions() {
        let path = stage.path(name);
        let texts = stage.agent.review().lock().unwrap().export(&path);
        let base = texts.map_or(at(name), |texts| texts.base);
        assert_eq!(base.as_deref(), held[0], "{told}: the base of {name}");
    }
    let (ok, message, _) = stage.restore(Op::undo(Some(99)));
    assert!(ok, "{told}: {message}");
    for (name, held) in versions() {
        assert_eq!(at(name).as_deref(), held[0], "{told}: {name} after undo");
    }
}

#[test]
fn after_a_kill_at_any_call_files_are_whole_and_review_and_undo_are_there() {
    if Command::new("strace").arg("-V").output().is_err() {
        return println!("skipped: strace is not there");
    }
    let folder = prepared();
    let (output, trace) = traced(folder.path(), "");
    let calls = called(&trace);
    if calls.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr);
        return println!("skipped: strace may not trace here: {said}");
    }
    let kills = std::env::var("DCODE_KILLS")
        .ok()
        .and_then(|kills| kills.parse().ok());
    let kills: usize = kills.unwrap_or(12);
    let mut seed = std::env::var("DCODE_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(1);
    let mut histogram: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut tries, mut done) = (0, 0);
    while done < kills {
        tries += 1;
        assert!(
            tries < 4 * kills + 40,
            "the calls of the first run do not come again: {histogram:?}"
        );
        let drawn = &calls[draw(&mut seed, calls.len())];
        let folder = prepared();
        let inject = format!("{}:signal=KILL:when={}", drawn.name, drawn.count);
        let (output, trace) = traced(folder.path(), &inject);
        // Threads share out their work differently from run to run: the call may not have come.
        if !output.status.success() {
            done += 1;
            let phase = trace.lines().rev().find_map(phase).unwrap_or("before all of it");
            *histogram.entry(phase).or_default() += 1;
        }
        check(
            folder.path(),
            &format!("kill {done} ({inject}, drawn in {})", drawn.phase),
        );
    }
    let within = histogram
        .iter()
        .filter(|(phase, _)| phase.starts_with("apply") || phase.starts_with("journal"));
    let within: usize = within.map(|(_, count)| count).sum();
    println!(
        "{kills} kills in {tries} runs over {} calls, {within} of them within an apply or a journal write: {histogram:?}",
        calls.len()
    );
}
