//! Commands that do their worst; after each nothing is left running.

use std::path::Path;
use std::time::Duration;

use dcode::shell::env::Shell;
use dcode::shell::run::{Exit, RunOutput, RunSpec, run};
use dcode::shell::watchdog::Watchdog;
use tokio_util::sync::CancellationToken;

/// The environment of each process that a test starts, to find what is left of it.
const TRACE: &str = "DCODE_REAL_RUN";

fn spec(line: &str, cwd: &Path, timeout_ms: u64) -> RunSpec {
    RunSpec {
        line: line.into(),
        cwd: cwd.into(),
        timeout: Duration::from_millis(timeout_ms),
        ..RunSpec::new(Shell::new("/bin/bash"))
    }
}

/// Runs a line that is marked by `trace`.
async fn go(trace: &str, line: &str, timeout_ms: u64) -> RunOutput {
    let line = format!("export {TRACE}={trace}; {line}");
    let cancel = CancellationToken::new();
    run(
        spec(&line, Path::new("/"), timeout_ms),
        &cancel,
        &|_| {},
        &Watchdog::new(),
    )
    .await
    .unwrap()
}

/// The processes that still run with a mark.
#[cfg(target_os = "linux")]
fn left(trace: &str) -> Vec<String> {
    let wanted = format!("{TRACE}={trace}\0");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|entry| entry.file_name().to_string_lossy().parse::<i32>().is_ok())
        .filter(|entry| {
            let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            // A zombie has no environment any more.
            String::from_utf8_lossy(&environ).contains(&wanted)
        })
        .map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default())
        .collect()
}

#[cfg(not(target_os = "linux"))]
fn left(_trace: &str) -> Vec<String> {
    Vec::new()
}

#[tokio::test(flavor = "multi_thread")]
async fn grandchildren_that_ignore_term_and_left_the_session_end_at_the_timeout() {
    let stubborn = "bash -c \"trap '' TERM HUP INT; while :; do sleep 1; done\"";
    let line =
        format!("{stubborn} & setsid {stubborn} & (setsid nohup {stubborn} >/dev/null 2>&1 &); {stubborn}");
    let out = go("stubborn", &line, 600).await;
    assert_eq!(out.exit, Exit::TimedOut);
    assert_eq!(left("stubborn"), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_left_the_session_does_not_outlive_a_command_that_ended_well() {
    let out = go(
        "daemon",
        "(setsid sleep 300 &); (setsid sleep 300 >/dev/null 2>&1 &); echo started",
        20_000,
    )
    .await;
    assert_eq!((out.exit, out.output.as_str()), (Exit::Code(0), "started\n"));
    assert!(out.ended_background || cfg!(not(target_os = "linux")));
    assert_eq!(left("daemon"), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_at_once_all_end_with_their_own_output() {
    let watchdog = Watchdog::new();
    let cancel = CancellationToken::new();
    let runs = (0..100).map(|number| {
        let line = format!(
            "export {TRACE}=hundred; echo {number}; sleep 60 & (sleep 0.01; echo {number} >&2); exit 3"
        );
        let (cancel, watchdog) = (&cancel, &watchdog);
        async move {
            let out = run(spec(&line, Path::new("/"), 60_000), cancel, &|_| {}, watchdog)
                .await
                .unwrap();
            assert_eq!(
                (out.exit, out.output),
                (Exit::Code(3), format!("{number}\n{number}\n"))
            );
        }
    });
    futures_util::future::join_all(runs).await;
    assert_eq!(left("hundred"), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_no_text_are_shown_as_far_as_they_are() {
    let out = go(
        "bytes",
        r"printf 'a\xff\xfeb\x80\n\x00\x01z\n'; head -c 3000 /dev/urandom; printf '\nend\n'",
        20_000,
    )
    .await;
    assert_eq!(out.exit, Exit::Code(0));
    assert!(
        out.output.starts_with("a\u{fffd}"),
        "{:?}",
        out.output.chars().take(20).collect::<String>()
    );
    assert!(out.output.ends_with("\nend\n"));
    assert!(
        !out.output
            .contains(|char: char| char.is_control() && !matches!(char, '\n' | '\t'))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_asks_on_the_terminal_fails_at_once() {
    // What sudo, ssh and passwd do: they open the terminal, whatever their input is.
    let out = go(
        "terminal",
        "read -r x < /dev/tty; echo \"$?\"; tty; stty -a < /dev/tty; ps -o tty= -p $$",
        20_000,
    )
    .await;
    assert!(
        out.output.contains("/dev/tty: No such device or address"),
        "{}",
        out.output
    );
    assert!(out.output.contains("not a tty"), "{}", out.output);
    for program in [
        "sudo -k ls",
        "ssh -o ConnectTimeout=2 -o BatchMode=no nobody@127.0.0.1 ls",
        "su nobody -s /bin/cat",
    ] {
        let out = go("terminal", program, 30_000).await;
        assert_ne!(out.exit, Exit::TimedOut, "{program}: {}", out.output);
    }
    assert_eq!(left("terminal"), Vec::<String>::new());
}

/// Not a test: the process whose memory is looked at.
#[tokio::test]
#[ignore = "run by the test below, in a process of its own"]
async fn two_gigabytes() {
    if std::env::var_os("DCODE_TWO_GIGABYTES").is_none() {
        return;
    }
    let before = peak();
    let out = go(
        "flood",
        "yes 'a line of thirty bytes, or so' | head -c 2147483648; echo; echo end",
        900_000,
    )
    .await;
    assert_eq!(out.exit, Exit::Code(0));
    assert!(out.output.ends_with("\nend\n") && out.dropped_bytes > 2_100_000_000);
    let kept = out.output.len() as u64 + out.dropped_bytes;
    assert!(kept.abs_diff(2_147_483_648) < 200, "{kept}");
    println!("grown by {} KiB", peak().saturating_sub(before));
}

/// The most memory that this process has held, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap_or_default();
    line.split_whitespace()
        .nth(1)
        .and_then(|count| count.parse().ok())
        .unwrap_or(0)
}

#[test]
#[cfg(target_os = "linux")]
fn two_gigabytes_of_output_need_less_than_64_mebibytes() {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "real_runs::two_gigabytes", "--ignored", "--nocapture"])
        .env("DCODE_TWO_GIGABYTES", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let grown = text
        .split("grown by ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok());
    assert!(
        grown.is_some_and(|grown| grown < 64 << 10),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(left("flood"), Vec::<String>::new());
}
