//! Leaving Neovim in the middle of something: it is quick, and nothing is left behind.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::driver::{Nvim, eventually};
use crate::model_server::{ModelServer, Reply};
use crate::neovims::{Neovim, on_each_neovim};
use crate::setup::Setup;

/// From the keys to the end of the process.
const QUIT: Duration = Duration::from_millis(300);
/// How long a process may stay behind.
const GONE: Duration = Duration::from_secs(1);

/// A command with a child in the background; neither ends at a TERM.
const STUBBORN: &str = "trap '' TERM; sh -c \"trap '' TERM; echo child; while :; do sleep 1; done\" & \
                        echo parent; while :; do sleep 1; done";

/// Neovim at work on a call of `tool`; `seen` is on the screen when it is under way.
async fn at_work(
    neovim: &Neovim,
    mode: &str,
    tool: &str,
    arguments: &Value,
    seen: &str,
) -> (Nvim, ModelServer) {
    let model = ModelServer::start();
    model.push(Reply::call("c1", tool, arguments));
    let setup = Setup::new()
        .size(120, 30)
        .model(&model, &format!("mode = '{mode}'"));
    let nvim = setup.start(neovim).await;
    nvim.input(":Dcode go<CR>").await;
    nvim.wait_for(seen).await;
    (nvim, model)
}

/// Quits what `at_work` starts on each Neovim. A busy machine may delay one try or two, not all.
async fn quits_at_once(what: &str, at_work: impl AsyncFn(&Neovim) -> (Nvim, ModelServer)) {
    on_each_neovim(async |neovim| {
        let mut tries = Vec::new();
        while tries.len() < 3 && tries.iter().all(|took| *took > QUIT) {
            let (mut nvim, _model) = at_work(neovim).await;
            let asked = Instant::now();
            nvim.input("<C-\\><C-n>:qa!<CR>").await;
            let status = nvim.exit().await;
            tries.push(asked.elapsed());
            assert!(status.success(), "{what}: {status}");
            nothing_is_left(&nvim, what).await;
        }
        eprintln!("{what}, Neovim {}: quit in {tries:?}", neovim.series);
        assert!(
            tries.iter().any(|took| *took < QUIT),
            "{what}: quitting took {tries:?}"
        );
    })
    .await;
}

async fn nothing_is_left(nvim: &Nvim, what: &str) {
    let ended = Instant::now();
    eventually(&format!("{what}: no process is left"), || {
        nvim.leftovers().is_empty()
    })
    .await;
    assert!(ended.elapsed() < GONE, "{what}: gone after {:?}", ended.elapsed());
}

#[tokio::test]
async fn quitting_in_the_middle_of_a_stream() {
    quits_at_once("a stream", async |neovim| {
        let model = ModelServer::start();
        let (reply, release) = Reply::new().words("I begin and do not end").pause();
        model.push(reply.done());
        let nvim = Setup::new().size(120, 30).model(&model, "").start(neovim).await;
        nvim.input(":Dcode go<CR>").await;
        nvim.wait_for("do not end").await;
        // Never let go.
        std::mem::forget(release);
        (nvim, model)
    })
    .await;
}

#[tokio::test]
async fn quitting_while_a_command_runs_that_does_not_want_to_end() {
    quits_at_once("a command", async |neovim| {
        let (nvim, model) = at_work(neovim, "yolo", "bash", &json!({ "command": STUBBORN }), "bash").await;
        eventually("both loops run", || stubborn(&nvim) == 2).await;
        (nvim, model)
    })
    .await;
}

#[tokio::test]
async fn quitting_while_an_approval_is_open() {
    let command = json!({ "command": "touch made" });
    quits_at_once("an approval", async |neovim| {
        at_work(neovim, "manual", "bash", &command, "dcode asks").await
    })
    .await;
}

#[tokio::test]
async fn quitting_during_a_search() {
    let arguments = json!({ "pattern": "(no[a-z]*such|text[0-9]+here){7}", "path": "/usr" });
    quits_at_once("a search", async |neovim| {
        let (nvim, model) = at_work(neovim, "yolo", "grep", &arguments, "grep").await;
        assert_eq!(model.requests().len(), 1, "it still searches");
        (nvim, model)
    })
    .await;
}

#[tokio::test]
async fn a_killed_neovim_leaves_no_process() {
    on_each_neovim(async |neovim| {
        let command = json!({ "command": STUBBORN });
        let (mut nvim, _model) = at_work(neovim, "yolo", "bash", &command, "bash").await;
        eventually("both loops run", || stubborn(&nvim) == 2).await;
        nvim.kill().await;
        nothing_is_left(&nvim, "kill -9").await;
    })
    .await;
}

/// How many shells of the stubborn command run.
fn stubborn(nvim: &Nvim) -> usize {
    let processes = nvim.leftovers();
    let is_shell = |process: &&String| {
        let program = process.split_whitespace().nth(1).unwrap_or_default();
        // The sandbox names the command too.
        program.ends_with("sh") && process.contains("trap '' TERM; ") && process.contains("while :")
    };
    processes.iter().filter(is_shell).count()
}
