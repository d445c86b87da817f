//! Running shell lines: output, limits, signals, and that nothing stays behind.

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use dcode::shell::env::Shell;
use dcode::shell::run::{Exit, RunError, RunOutput, RunSpec, run};
use dcode::shell::watchdog::Watchdog;
use rustix::process::{Pid, test_kill_process};
use tokio_util::sync::CancellationToken;

fn spec(line: &str, cwd: &Path, timeout_ms: u64) -> RunSpec {
    RunSpec {
        line: line.into(),
        cwd: cwd.into(),
        timeout: Duration::from_millis(timeout_ms),
        secrets: vec!["DCODE_TEST_SECRET".into()],
        ..RunSpec::new(Shell::new("/bin/bash"))
    }
}

async fn go(spec: RunSpec) -> RunOutput {
    run(spec, &CancellationToken::new(), &|_| {}, &Watchdog::new())
        .await
        .unwrap()
}

async fn here(line: &str) -> RunOutput {
    go(spec(line, Path::new("/"), 10_000)).await
}

/// Whether the process runs; a zombie does not.
fn alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    match stat.rsplit_once(')') {
        Some((_, rest)) => !rest.trim_start().starts_with('Z'),
        None => !cfg!(target_os = "linux") && test_kill_process(Pid::from_raw(pid).unwrap()).is_ok(),
    }
}

fn pids(text: &str) -> Vec<i32> {
    text.split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect()
}

async fn until(limit: Duration, mut done: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    while started.elapsed() < limit {
        if done() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    done()
}

#[tokio::test]
async fn both_streams_in_order_and_the_exit_code() {
    let out = here("echo a; echo b >&2; echo c; exit 3").await;
    assert_eq!((out.exit, out.output.as_str()), (Exit::Code(3), "a\nb\nc\n"));
    let out = here("kill -s SEGV $$").await;
    assert_eq!(out.exit, Exit::Signal(11));
    let out = here("-x; echo $?").await;
    assert!(
        out.output.contains("-x") && out.output.ends_with("127\n"),
        "{}",
        out.output
    );
}

#[tokio::test]
async fn standard_input_is_empty_and_there_is_no_terminal() {
    assert_eq!(here("cat; read -r x; echo \"got:$x\"").await.output, "got:\n");
    assert_eq!(
        here("(: < /dev/tty) 2>/dev/null || echo none").await.output,
        "none\n"
    );
}

#[tokio::test]
async fn neither_pager_nor_secret_nor_the_way_back_to_neovim() {
    let out = here("echo $PAGER $GIT_PAGER $TERM [$NVIM] [$DCODE_TEST_SECRET]").await;
    assert_eq!(out.output, "cat cat dumb [] []\n");
}

#[tokio::test]
async fn a_full_pipe_of_standard_error_does_not_block() {
    let out = here("head -c 1000000 /dev/zero | tr '\\0' x 1>&2; echo; echo done").await;
    assert_eq!(out.output.len(), 1_000_000 + "\ndone\n".len());
    assert_eq!(out.exit, Exit::Code(0));
}

#[tokio::test]
async fn very_long_output_keeps_both_ends() {
    let out = here("seq 1 3000000").await;
    assert!(out.output.starts_with("1\n2\n") && out.output.ends_with("2999999\n3000000\n"));
    assert!(out.output.len() < 9 << 20);
    let kept = out.output.lines().count() as u64 - 1;
    assert_eq!(kept + out.dropped_lines, 3_000_000);
    assert!(out.output.contains(&format!(
        "[… {} lines ({} bytes) left out …]",
        out.dropped_lines, out.dropped_bytes
    )));
}

#[tokio::test]
async fn a_timeout_ends_grandchildren_that_ignore_term() {
    let dir = tempfile::tempdir().unwrap();
    let line = "echo $$ > pids; bash -c \"trap '' TERM; (trap '' TERM; echo \\$BASHPID >> pids; sleep 30; echo late > sentinel) & wait\"; true";
    let out = go(spec(line, dir.path(), 500)).await;
    assert_eq!(out.exit, Exit::TimedOut);
    assert!(out.elapsed < Duration::from_secs(20), "{:?}", out.elapsed);
    let pids = pids(&std::fs::read_to_string(dir.path().join("pids")).unwrap());
    assert_eq!(pids.len(), 2);
    assert!(pids.iter().all(|pid| !alive(*pid)), "{pids:?}");
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_timeout_finds_what_left_the_group_and_lost_its_parent() {
    let dir = tempfile::tempdir().unwrap();
    let line = "setsid bash -c 'echo $$ >> pids; sleep 30' & (setsid bash -c 'echo $$ >> pids; sleep 31' &); set -m; sleep 32 & echo $! >> pids; sleep 33";
    let out = go(spec(line, dir.path(), 700)).await;
    assert_eq!(out.exit, Exit::TimedOut);
    let pids = pids(&std::fs::read_to_string(dir.path().join("pids")).unwrap());
    assert_eq!(pids.len(), 3);
    assert!(pids.iter().all(|pid| !alive(*pid)), "{pids:?}");
}

#[tokio::test]
async fn a_background_child_that_holds_the_output_is_ended_and_not_waited_for() {
    let out = here("sleep 30 & echo $!").await;
    assert!(out.ended_background);
    assert_eq!(out.exit, Exit::Code(0));
    assert!(out.elapsed < Duration::from_secs(2), "{:?}", out.elapsed);
    assert!(!alive(pids(&out.output)[0]));
}

#[tokio::test]
async fn stopping_the_turn_ends_it_at_once() {
    let cancel = CancellationToken::new();
    let watchdog = Watchdog::new();
    let stop = |tail: String| {
        if tail.contains("ready") {
            cancel.cancel();
        }
    };
    let line = "echo $$; echo ready; timeout 20 bash -c \"trap '' TERM; sleep 1000 & sleep 1000\"";
    let out = run(spec(line, Path::new("/"), 60_000), &cancel, &stop, &watchdog)
        .await
        .unwrap();
    assert_eq!(out.exit, Exit::Cancelled);
    assert!(out.output.contains("ready"));
    assert!(out.elapsed < Duration::from_secs(20), "{:?}", out.elapsed);
}

#[tokio::test]
async fn dropping_the_future_kills_the_family() {
    let pid = std::sync::Arc::new(Mutex::new(None));
    let seen = pid.clone();
    let task = tokio::spawn(async move {
        let note = move |tail: String| *seen.lock().unwrap() = Some(pids(&tail)[0]);
        let _ = run(
            spec("sleep 60 & echo $!; wait", Path::new("/"), 60_000),
            &CancellationToken::new(),
            &note,
            &Watchdog::new(),
        )
        .await;
    });
    assert!(until(Duration::from_secs(5), || pid.lock().unwrap().is_some()).await);
    task.abort();
    let _ = task.await;
    let pid = pid.lock().unwrap().unwrap();
    assert!(until(Duration::from_secs(1), || !alive(pid)).await);
}

#[tokio::test]
async fn what_cannot_start_says_what_to_do() {
    let fail = async |spec: RunSpec| {
        run(spec, &CancellationToken::new(), &|_| {}, &Watchdog::new())
            .await
            .unwrap_err()
    };
    assert!(matches!(
        fail(spec("ls", Path::new("/nowhere"), 1000)).await,
        RunError::NoFolder(_)
    ));
    assert!(matches!(
        fail(spec("a\0b", Path::new("/"), 1000)).await,
        RunError::Nul
    ));
    assert!(matches!(
        fail(spec(&"x".repeat(200_000), Path::new("/"), 1000)).await,
        RunError::TooLong(_)
    ));
    let mut none = spec("ls", Path::new("/"), 1000);
    none.shell = Shell::new("/nowhere/bash");
    assert_eq!(
        fail(none).await.to_string(),
        "The shell /nowhere/bash did not start: it does not exist."
    );
}

/// Not a test: the process that `kill -9` is tried on. Runs a command that never ends.
#[tokio::test]
#[ignore = "run by the tests below, in a process of its own"]
async fn host() {
    let Ok(dir) = std::env::var("DCODE_TEST_DIR") else {
        return;
    };
    let line = "trap '' TERM; (setsid sh -c 'trap \"\" TERM; echo $$ >> pids; sleep 60' &); echo $$ >> pids; sleep 60 & echo $! >> pids; touch ready; wait";
    let watchdog = Watchdog::new();
    let _ = run(
        spec(line, Path::new(&dir), 60_000),
        &CancellationToken::new(),
        &|_| {},
        &watchdog,
    )
    .await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn after_kill_9_of_the_host_nothing_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "shell_run::host", "--ignored"])
        .env("DCODE_TEST_DIR", dir.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let written = || std::fs::read_to_string(dir.path().join("pids")).unwrap_or_default();
    assert!(
        until(Duration::from_secs(20), || written().lines().count() == 3).await,
        "{}",
        written()
    );
    host.kill().await.unwrap();
    let pids = pids(&written());
    assert!(
        until(Duration::from_secs(10), || pids.iter().all(|pid| !alive(*pid))).await,
        "{pids:?}"
    );
}

#[tokio::test]
async fn shutdown_of_the_watchdog_ends_what_runs() {
    let watchdog = Watchdog::new();
    let shut = Mutex::new(false);
    let stop = |tail: String| {
        if tail.contains("ready") && !std::mem::replace(&mut *shut.lock().unwrap(), true) {
            watchdog.shutdown();
        }
    };
    let cancel = CancellationToken::new();
    let out = run(
        spec("echo ready; sleep 60", Path::new("/"), 60_000),
        &cancel,
        &stop,
        &watchdog,
    )
    .await
    .unwrap();
    assert_eq!(out.exit, Exit::Signal(15));
    // It serves the next command.
    let out = run(
        spec("echo again", Path::new("/"), 10_000),
        &cancel,
        &|_| {},
        &watchdog,
    )
    .await
    .unwrap();
    assert_eq!(out.output, "again\n");
}
