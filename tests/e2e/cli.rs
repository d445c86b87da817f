//! The command line: `nvim -l lua/dcode/cli.lua …`.

use serde_json::{Value, json};

use crate::model_server::{ModelServer, Reply};
use crate::neovims::{Neovim, on_each_neovim};
use crate::setup::{Finished, Setup};

const CLI: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/lua/dcode/cli.lua");

/// Runs `dcode` with `arguments` and `input`, and with `model` in the person's configuration.
async fn dcode(neovim: &Neovim, model: &ModelServer, arguments: &[&str], input: &str) -> Finished {
    let config = format!(
        "model = 'mock:any'\n[providers.mock]\nwire = 'openai'\nbase_url = '{}'\napi_key_env = 'MOCK_KEY'\n",
        model.base_url()
    );
    let setup = Setup::new()
        .home_file(".deepseek/config.toml", &config)
        .env("MOCK_KEY", "a key for tests")
        .file("a.txt", "one\ntwo\n");
    let arguments: Vec<&str> = ["-l", CLI].iter().chain(arguments).copied().collect();
    setup.run(neovim, &arguments, input).await
}

fn reads() -> ModelServer {
    let model = ModelServer::start();
    model.push(
        Reply::new()
            .text("I look. ")
            .tool_call("c1", "read_file", &json!({ "path": "a.txt" }))
            .done(),
    );
    model.push(Reply::say("It has **two** lines."));
    model
}

#[tokio::test]
async fn stdout_holds_the_answer_and_stderr_the_work() {
    on_each_neovim(async |neovim| {
        let model = reads();
        let done = dcode(neovim, &model, &["-n", "count"], "").await;
        assert_eq!(
            (done.code, done.stdout.as_str()),
            (Some(0), "It has **two** lines.\n"),
            "{}",
            done.stderr
        );
        assert!(done.stderr.contains("read_file a.txt"), "{}", done.stderr);
        let result = model.request(1).await;
        assert!(result.result_of("c1").unwrap().contains("two"));
        assert!(
            !result.tools().contains(&"bash"),
            "nobody allowed a command: {:?}",
            result.tools()
        );

        let quiet = dcode(neovim, &reads(), &["-q"], "count\n").await;
        assert_eq!(
            (quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()),
            (Some(0), "It has **two** lines.\n", "")
        );
    })
    .await;
}

#[tokio::test]
async fn json_is_one_object_a_line() {
    on_each_neovim(async |neovim| {
        let done = dcode(neovim, &reads(), &["--json", "-n", "count"], "").await;
        let parse = |line: &str| {
            serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"))
        };
        let lines: Vec<Value> = done.stdout.lines().map(parse).collect();
        let types: Vec<&str> = lines.iter().filter_map(|line| line["type"].as_str()).collect();
        assert_eq!(types.len(), lines.len(), "{}", done.stdout);
        for wanted in [
            "turn_started",
            "text_delta",
            "tool_started",
            "tool_finished",
            "turn_finished",
        ] {
            assert!(types.contains(&wanted), "{wanted}: {types:?}");
        }
        let last = lines.last().unwrap();
        assert_eq!(
            (&last["type"], &last["ok"], &last["exit_code"]),
            (&json!("result"), &json!(true), &json!(0))
        );
        assert_eq!(last["text"], "It has **two** lines.");
    })
    .await;
}

#[tokio::test]
async fn the_exit_code_says_how_it_ended() {
    on_each_neovim(async |neovim| {
        let refused = ModelServer::start();
        refused.push(Reply::error(401, &json!({ "error": { "message": "no" } })));
        let failed = dcode(neovim, &refused, &["-n", "go"], "").await;
        assert_eq!(
            (failed.code, failed.stdout.as_str()),
            (Some(1), ""),
            "{}",
            failed.stderr
        );
        assert!(failed.stderr.contains("MOCK_KEY"), "{}", failed.stderr);

        for (arguments, word) in [
            (&["--nmo"][..], "--nmo"),
            (&["-n"], "-n"),
            (&["--timeout", "0", "-n", "x"], "--timeout"),
            (&["tools"], "tools list"),
            (&[], "no task"),
        ] {
            let wrong = dcode(neovim, &reads(), arguments, "").await;
            assert_eq!(
                (wrong.code, wrong.stdout.as_str()),
                (Some(2), ""),
                "{arguments:?}"
            );
            assert!(wrong.stderr.contains(word), "{arguments:?}: {}", wrong.stderr);
        }

        let hangs = ModelServer::start();
        let (reply, _never) = Reply::new().text("I begin").pause();
        hangs.push(reply.done());
        let late = dcode(neovim, &hangs, &["--timeout", "0.5", "-n", "go"], "").await;
        assert_eq!(late.code, Some(124), "{}", late.stderr);
        let steps = dcode(neovim, &reads(), &["--max-turns", "1", "-n", "go"], "").await;
        assert_eq!(steps.code, Some(124), "{}", steps.stderr);
    })
    .await;
}

#[tokio::test]
async fn commands_run_only_where_they_were_allowed() {
    on_each_neovim(async |neovim| {
        let model = ModelServer::start();
        for command in ["touch made", "mkdir no"] {
            model.push(Reply::call("c1", "bash", &json!({ "command": command })));
        }
        model.push(Reply::say("Done."));
        let done = dcode(neovim, &model, &["-S", "touch", "-n", "go"], "").await;
        assert_eq!(
            (done.code, done.stdout.as_str()),
            (Some(0), "Done.\n"),
            "{}",
            done.stderr
        );
        assert!(done.project().join("made").exists() && !done.project().join("no").exists());
    })
    .await;
}

#[tokio::test]
async fn questions_are_answered_on_stdin() {
    on_each_neovim(async |neovim| {
        let model = ModelServer::start();
        let options = json!([{ "label": "pg" }, { "label": "my" }]);
        model.push(Reply::call(
            "c1",
            "question",
            &json!({ "questions": [{ "question": "Which one?", "options": options }] }),
        ));
        model.push(Reply::say("Done."));
        let done = dcode(neovim, &model, &["-q", "-n", "go"], "2\n").await;
        assert_eq!(
            (done.code, done.stdout.as_str()),
            (Some(0), "Done.\n"),
            "{}",
            done.stderr
        );
        assert!(
            done.stderr.contains("Which one?") && done.stderr.contains("2. my"),
            "{}",
            done.stderr
        );
        let request = model.request(1).await;
        let answer = request.result_of("c1").unwrap();
        assert!(answer.contains("my") && !answer.contains("pg"), "{answer}");
    })
    .await;
}

#[tokio::test]
async fn the_tools_are_listed() {
    on_each_neovim(async |neovim| {
        let listed = dcode(neovim, &reads(), &["tools", "list"], "").await;
        let tools: Vec<&str> = listed.stdout.lines().collect();
        assert_eq!(listed.code, Some(0), "{}", listed.stderr);
        for tool in [
            "read_file",
            "edit_file",
            "write_file",
            "ls",
            "grep",
            "question",
            "todo_write",
        ] {
            assert!(tools.contains(&tool), "{tool}: {tools:?}");
        }
        let few = dcode(
            neovim,
            &reads(),
            &["tools", "list", "--allow-fs-tools", "ls,read_file"],
            "",
        )
        .await;
        assert!(
            few.stdout.contains("ls\n") && !few.stdout.contains("edit_file"),
            "{}",
            few.stdout
        );
    })
    .await;
}
