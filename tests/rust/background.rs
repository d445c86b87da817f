//! Commands in the background, as the model sees them: started, looked at, stopped, ended with the session.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dcode::protocol::ids::CallId;
use dcode::shell::background::{Background, Running};
use dcode::shell::env::Shell;
use dcode::shell::watchdog::Watchdog;
use dcode::tools::bash::{Args, Bash};
use dcode::tools::tool::{Tool, ToolCtx, ToolError, ToolOutput};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A tool with a session that can be ended, and what the person saw run.
struct Place {
    dir: TempDir,
    bash: Bash,
    session: CancellationToken,
    seen: Arc<Mutex<Vec<Vec<Running>>>>,
}

impl Place {
    fn new() -> Self {
        let watchdog = Arc::new(Watchdog::new());
        let session = CancellationToken::new();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&seen);
        let background = Background::new(
            Arc::clone(&watchdog),
            &session,
            Arc::new(move |running| heard.lock().unwrap().push(running)),
        );
        let minute = Duration::from_secs(60);
        Self {
            dir: TempDir::new().unwrap(),
            bash: Bash::new(Shell::new("/bin/bash"), watchdog, Vec::new(), minute)
                .with_background(background),
            session,
            seen,
        }
    }

    async fn call(&self, args: Value) -> Result<ToolOutput, ToolError> {
        let args: Args = serde_json::from_value(args).unwrap();
        self.bash.access(&args, self.dir.path())?;
        self.bash.run(args, &ctx(self.dir.path())).await
    }

    /// Polls until the output holds `text`.
    async fn until(&self, handle: &str, text: &str) -> String {
        let mut all = String::new();
        loop {
            let poll = json!({"handle": handle, "action": "poll", "timeout_ms": 20});
            all += &self.call(poll).await.unwrap().text;
            if all.contains(text) {
                return all;
            }
        }
    }

    /// What follows `pid ` in the output.
    async fn pid(&self, handle: &str) -> String {
        let text = self.until(handle, "pid ").await;
        let (_, pid) = text.split_once("pid ").unwrap();
        pid.split_whitespace().next().unwrap().to_owned()
    }

    fn running(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        let last = seen.last().into_iter().flatten();
        last.map(|running| running.handle.clone()).collect()
    }
}

fn ctx(cwd: &Path) -> ToolCtx {
    ToolCtx {
        call: CallId("c".into()),
        cwd: PathBuf::from(cwd),
        cancel: CancellationToken::new(),
        progress: Arc::new(|_| {}),
    }
}

fn alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[tokio::test(flavor = "multi_thread")]
async fn it_returns_at_once_and_is_looked_at_by_its_handle() {
    let place = Place::new();
    let line = "echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; exit 3";
    let out = place
        .call(json!({"command": line, "background": true}))
        .await
        .unwrap();
    assert!(out.text.contains("job-1") && !out.failed, "{}", out.text);
    assert_eq!(place.running(), ["job-1"]);
    let text = place.until("job-1", "one\n").await;
    assert!(text.starts_with("job-1 has run for "), "{text}");
    std::fs::File::create(place.dir.path().join("go")).unwrap();
    let out = place
        .call(json!({"handle": "job-1", "timeout_ms": 30000}))
        .await
        .unwrap();
    // Only what is new.
    assert!(
        out.text.contains("exit 3. New output:\ntwo\n") && !out.text.contains("one"),
        "{}",
        out.text
    );
    assert!(out.failed);
    while !place.running().is_empty() {
        tokio::task::yield_now().await;
    }
    let out = place.call(json!({"handle": "job-1"})).await.unwrap();
    assert!(out.text.ends_with("(no output)\n"), "{}", out.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_ends_all_that_it_started() {
    let place = Place::new();
    let line = "trap '' TERM; (setsid sh -c 'trap \"\" TERM; echo pid $$; sleep 300; sleep 300' &) ; sleep 300; sleep 300";
    place
        .call(json!({"command": line, "background": true}))
        .await
        .unwrap();
    let pid = place.pid("job-1").await;
    assert!(alive(&pid));
    let out = place
        .call(json!({"handle": "job-1", "action": "stop"}))
        .await
        .unwrap();
    assert!(out.text.contains("stopped") && !out.failed, "{}", out.text);
    assert!(!alive(&pid));
    // Again is no error.
    let out = place
        .call(json!({"handle": "job-1", "action": "stop"}))
        .await
        .unwrap();
    assert!(out.text.contains("stopped"), "{}", out.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_session_ends_them() {
    let place = Place::new();
    place
        .call(json!({"command": "echo pid $$; exec sleep 300", "background": true}))
        .await
        .unwrap();
    let pid = place.pid("job-1").await;
    place.session.cancel();
    place
        .call(json!({"handle": "job-1", "timeout_ms": 30000}))
        .await
        .unwrap();
    assert!(!alive(&pid));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_looked_at_is_bounded_and_keeps_both_ends() {
    let place = Place::new();
    place
        .call(json!({"command": "seq 1 400000", "background": true}))
        .await
        .unwrap();
    let out = place
        .call(json!({"handle": "job-1", "timeout_ms": 60000}))
        .await
        .unwrap();
    assert!(out.text.len() < 600 << 10, "{}", out.text.len());
    assert!(out.text.contains("New output:\n1\n2\n") && out.text.ends_with("399999\n400000\n"));
    assert!(out.text.contains("left out"));
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_calls_say_what_to_do() {
    let place = Place::new();
    let error = place
        .call(json!({"handle": "job-7"}))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("no command with the handle `job-7`") && error.contains("nothing"),
        "{error}"
    );
    let error = place
        .call(json!({"handle": "job-1", "command": "ls"}))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("not both"), "{error}");
    for _ in 0..16 {
        place
            .call(json!({"command": "sleep 300", "background": true}))
            .await
            .unwrap();
    }
    let error = place
        .call(json!({"command": "sleep 300", "background": true}))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("Stop one first"), "{error}");
    place.session.cancel();
}
