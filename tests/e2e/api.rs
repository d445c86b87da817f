//! `require('dcode')` as other plugins and scripts use it.

use serde_json::{Value, json};

use crate::driver::Nvim;
use crate::model_server::{ModelServer, Reply};
use crate::neovims::{Neovim, on_each_neovim};
use crate::setup::Setup;

async fn start(neovim: &Neovim, options: &str) -> Nvim {
    let setup = Setup::new()
        .size(100, 30)
        .file("a.txt", "one\ntwo\nthree\nfour\nfive\n")
        .file(".env", "KEY=secret\n");
    setup
        .model(&ModelServer::start(), options)
        .open("a.txt")
        .start(neovim)
        .await
}

/// Runs a call whose requests `answer`, the body of a Lua function of `req`, answers; gives the result and
/// the last request.
async fn call(nvim: &Nvim, tool: &str, arguments: &Value, answer: &str) -> (Value, Value) {
    let code = format!(
        "local tool, args = ...
         local asked
         local result, why = require('dcode').call(tool, args, {{ on_request = function(req)
           asked = req
           {answer}
         end }})
         return {{ result or why, asked or vim.NIL }}"
    );
    nvim.lua_with(&code, &(tool, arguments)).await
}

fn touch(name: &str) -> Value {
    json!({ "command": format!("touch {name}") })
}

#[tokio::test]
async fn a_call_is_allowed_asked_for_or_denied() {
    on_each_neovim(async |neovim| {
        let nvim = start(neovim, "").await;
        let made = |name: &str| nvim.project().join(name).exists();

        let (read, asked) = call(&nvim, "read_file", &json!({ "path": "a.txt" }), "return 'deny'").await;
        assert_eq!(
            (&read["ok"], &read["decision"]),
            (&json!(true), &json!("allow")),
            "{read}"
        );
        assert!(
            read["text"].as_str().unwrap().contains("three") && asked.is_null(),
            "{read}"
        );

        let (secret, asked) = call(&nvim, "read_file", &json!({ "path": ".env" }), "return 'once'").await;
        assert_eq!(
            (&secret["ok"], &secret["decision"]),
            (&json!(false), &json!("deny")),
            "{secret}"
        );
        assert!(asked.is_null() && !secret.to_string().contains("KEY=secret"));

        let (done, asked) = call(&nvim, "execute", &touch("made"), "return 'once'").await;
        assert_eq!(
            (&done["ok"], &done["decision"]),
            (&json!(true), &json!("ask")),
            "{done}"
        );
        assert!(made("made"));
        assert_eq!(
            (&asked["kind"], &asked["tool"]),
            (&json!("approval"), &json!("bash")),
            "{asked}"
        );
        assert_eq!(asked["choices"], json!(["once", "session", "always", "deny"]));
        assert!(asked["id"].is_u64() && asked["title"].is_string(), "{asked}");
        assert!(!asked["reason"].as_str().unwrap().is_empty() && !asked["rule"].as_str().unwrap().is_empty());
        assert_eq!(asked["commands"][0]["text"], "touch made", "{asked}");

        let words = "return { decision = 'deny', feedback = 'use mktemp' }";
        let (denied, _) = call(&nvim, "bash", &touch("no"), words).await;
        assert_eq!(
            (&denied["ok"], &denied["decision"]),
            (&json!(false), &json!("ask")),
            "{denied}"
        );
        assert!(denied["text"].as_str().unwrap().contains("use mktemp") && !made("no"));

        let edited = "return { decision = 'once', args = { command = 'touch other' } }";
        let (done, _) = call(&nvim, "bash", &touch("no"), edited).await;
        assert_eq!(done["ok"], json!(true), "{done}");
        assert!(made("other") && !made("no"));
        let worse = "return { decision = 'once', args = { command = 'rm -rf /' } }";
        let (refused, _) = call(&nvim, "bash", &touch("no"), worse).await;
        assert_eq!(
            refused["decision"],
            json!("deny"),
            "edited arguments are judged anew: {refused}"
        );

        // Remembered for the session; then nobody is asked.
        call(&nvim, "bash", &touch("first"), "return 'session'").await;
        let (done, asked) = call(&nvim, "bash", &touch("second"), "return 'deny'").await;
        assert_eq!(
            (&done["decision"], asked.is_null()),
            (&json!("allow"), true),
            "{done}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_call_waits_with_the_loop_running_and_within_its_limit() {
    on_each_neovim(async |neovim| {
        let nvim = start(neovim, "mode = 'yolo'").await;
        let ticks: u32 = nvim
            .lua(
                "local ticks = 0
                 local timer = vim.uv.new_timer()
                 timer:start(10, 10, function() ticks = ticks + 1 end)
                 require('dcode').call('bash', { command = 'sleep 0.5' })
                 timer:close()
                 return ticks",
            )
            .await;
        assert!(ticks > 10, "{ticks}");
        let late: Value = nvim
            .lua("return require('dcode').call('bash', { command = 'sleep 60' }, { timeout_ms = 100 })")
            .await;
        assert_eq!(late["ok"], json!(false));
        assert!(late["text"].as_str().unwrap().contains("100 ms"), "{late}");
        let unknown = nvim.api("call", &json!(["no_such_tool", {}])).await.unwrap();
        assert_eq!(unknown["ok"], json!(false), "{unknown}");
        let missing = nvim.api("call", &json!(["read_file", {}])).await.unwrap();
        assert_eq!(missing["ok"], json!(false), "{missing}");
        // A mistake in on_request answers no, and is said; a call within it is refused.
        let nvim = start(neovim, "").await;
        let (denied, _) = call(&nvim, "bash", &touch("no"), "error('oh')").await;
        assert_eq!(denied["ok"], json!(false), "{denied}");
        let within = "inner = { require('dcode').call('ls', {}) } return 'deny'";
        call(&nvim, "bash", &touch("no"), within).await;
        let inner: String = nvim.lua("return inner[2]").await;
        assert!(inner.contains("on_request"), "{inner}");
    })
    .await;
}

#[tokio::test]
async fn a_question_is_answered_with_lists() {
    on_each_neovim(async |neovim| {
        let nvim = start(neovim, "").await;
        let options = json!([{ "label": "pg", "description": "PostgreSQL" }, { "label": "my" }]);
        let questions = json!({ "questions": [
            { "question": "Which database?", "header": "Database", "options": options },
            { "question": "Which ones?", "options": options, "multiple": true },
            { "question": "Any other?", "options": options },
        ]});
        let (answer, asked) = call(
            &nvim,
            "ask_user",
            &questions,
            "return { { 'my' }, { 'pg', 'my' }, {} }",
        )
        .await;
        assert_eq!(
            (&answer["ok"], &asked["kind"]),
            (&json!(true), &json!("question")),
            "{answer}"
        );
        assert_eq!(asked["questions"][0]["options"][0]["label"], "pg", "{asked}");
        assert_eq!(
            (
                &asked["questions"][0]["multiple"],
                &asked["questions"][1]["multiple"]
            ),
            (&json!(false), &json!(true))
        );
        let text = answer["text"].as_str().unwrap();
        assert!(text.contains("my") && text.contains("pg"), "{text}");
        let (none, _) = call(&nvim, "question", &questions, "return nil").await;
        assert!(none["text"].as_str().unwrap().contains("no answer"), "{none}");
    })
    .await;
}

#[tokio::test]
async fn explain_says_what_would_happen_and_does_nothing() {
    on_each_neovim(async |neovim| {
        let nvim = start(
            neovim,
            "permissions = { bash = { allow = { 'make *' }, deny = { 'git push *' } } }",
        )
        .await;
        let explain = async |tool: &str, arguments: Value| {
            nvim.api("explain", &json!([tool, arguments])).await.unwrap()
        };
        for (command, decision) in [
            ("ls -la", "allow"),
            ("touch x", "ask"),
            ("make all", "allow"),
            ("git push origin", "deny"),
            ("rm -rf /", "deny"),
        ] {
            let said = explain("bash", json!({ "command": command })).await;
            assert_eq!(said["decision"], decision, "{command}: {said}");
            assert!(said["rule"].is_string() && said["layer"].is_string(), "{said}");
            assert_eq!(said["commands"][0]["text"], command, "{said}");
        }
        let pattern = explain("bash", json!({ "command": "cargo test --all" })).await;
        assert_eq!(pattern["pattern"], "cargo test *", "{pattern}");
        assert_eq!(
            explain("read_file", json!({ "path": "a.txt" })).await["decision"],
            "allow"
        );
        assert_eq!(
            explain("write_file", json!({ "path": "/etc/hosts", "content": "" })).await["decision"],
            "ask"
        );
        assert!(!nvim.project().join("x").exists());
        let why = nvim
            .api("explain", &json!(["no_such_tool", {}]))
            .await
            .unwrap_err();
        assert!(why.contains("no_such_tool"), "{why}");
    })
    .await;
}

#[tokio::test]
async fn a_turn_is_started_followed_and_waited_for() {
    on_each_neovim(async |neovim| {
        let model = ModelServer::start();
        let edit = json!({ "path": "a.txt", "old_string": "two", "new_string": "TWO" });
        model.push(Reply::new().text("I edit.").tool_call("c1", "edit_file", &edit).usage(100, 80, 10).done());
        model.push(Reply::say("Done with it."));
        let nvim = Setup::new().file("a.txt", "one\ntwo\n").open("a.txt").model(&model, "").start(neovim).await;
        assert_eq!(nvim.api("status", &json!([])).await.unwrap()["pending_hunks"], 0);
        let seen: Value = nvim
            .lua(
                "local types = {}
                 fired = {}
                 vim.api.nvim_create_autocmd('User', { pattern = 'Dcode*', callback = function(ev)
                   fired[ev.match] = ev.data
                 end })
                 local turn = require('dcode').ask('edit it', { on_event = function(ev) types[#types + 1] = ev.type end })
                 local ended, why = require('dcode').wait()
                 return { turn = turn, ended = ended or why, types = types, status = require('dcode').status() }",
            )
            .await;
        assert_eq!((&seen["ended"]["turn"], &seen["ended"]["reason"]), (&seen["turn"], &json!("done")), "{seen}");
        assert_eq!(seen["ended"]["text"], "Done with it.");
        let types: Vec<&str> = seen["types"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!((types[0], types[types.len() - 1]), ("turn_started", "turn_finished"));
        for wanted in ["text_delta", "tool_started", "tool_finished", "files_changed", "usage"] {
            assert!(types.contains(&wanted), "{wanted}: {types:?}");
        }
        assert!(!types.contains(&"request"), "the editor's own requests are not shown: {types:?}");
        nvim.wait_for_lua("fired.DcodeHunksChanged").await;
        let fired: Value = nvim.lua("return fired").await;
        assert_eq!(fired["DcodeTurnStarted"]["text"], "edit it", "{fired}");
        assert_eq!(fired["DcodeTurnFinished"]["reason"], "done");
        let path = nvim.project().join("a.txt").canonicalize().unwrap();
        assert_eq!(fired["DcodeFilesChanged"]["paths"], json!([path]));
        assert_eq!(fired["DcodeHunksChanged"]["paths"], json!([path]));
        let status = &seen["status"];
        assert_eq!((&status["state"], &status["mode"], &status["pending_hunks"]), (&json!("idle"), &json!("manual"), &json!(1)), "{status}");
        assert_eq!((&status["usage"]["input_tokens"], &status["usage"]["cached_tokens"]), (&json!(100), &json!(80)), "{status}");
    })
    .await;
}

#[tokio::test]
async fn a_turn_is_stopped() {
    on_each_neovim(async |neovim| {
        let model = ModelServer::start();
        let (reply, _never) = Reply::new().text("I begin").pause();
        model.push(reply.done());
        let nvim = Setup::new().model(&model, "").start(neovim).await;
        nvim.prompt("go").await;
        model.request(0).await;
        nvim.lua::<()>("require('dcode').ask('and then')").await;
        nvim.api("stop", &json!([])).await.unwrap();
        assert_eq!(nvim.turn_ended().await, "interrupted");
        let queued: Value = nvim.lua("return require('dcode').wait()").await;
        assert_eq!(queued["reason"], "interrupted", "{queued}");
        let waited: (Value, String) = nvim.lua("return { require('dcode').wait({ turn = 99 }) or vim.NIL, select(2, require('dcode').wait({ turn = 99 })) }").await;
        assert!(waited.0.is_null() && waited.1.contains("turn"), "{waited:?}");
    })
    .await;
}

#[tokio::test]
async fn hunks_are_accepted_and_rejected_and_steps_undone() {
    on_each_neovim(async |neovim| {
        let nvim = start(neovim, "").await;
        let edits = json!({ "path": "a.txt", "edits": [
            { "old_string": "one\n", "new_string": "ONE\n" },
            { "old_string": "three\n", "new_string": "THREE\nand more\n" },
            { "old_string": "five\n", "new_string": "FIVE\n" },
        ]});
        let edit = async || nvim.api("call", &json!(["edit_file", edits])).await.unwrap();
        assert_eq!(edit().await["ok"], json!(true));
        let hunks = nvim.hunks().await;
        let shape: Vec<_> = hunks
            .iter()
            .map(|hunk| {
                (
                    hunk.start,
                    hunk.count,
                    hunk.removed.join(" "),
                    hunk.added.join(" "),
                )
            })
            .collect();
        let expected = [
            (1, 1, "one", "ONE"),
            (3, 2, "three", "THREE and more"),
            (6, 1, "five", "FIVE"),
        ];
        assert_eq!(
            shape,
            expected.map(|(start, count, old, new)| (start, count, old.to_owned(), new.to_owned()))
        );
        assert!(hunks[0].path.ends_with("/a.txt"));

        let decide = async |verb: &str, what: Value| nvim.api(verb, &json!([what])).await;
        assert_eq!(
            decide("accept", json!({ "buf": 0, "hunk": hunks[1].id })).await,
            Ok(json!(1))
        );
        assert_eq!(
            decide("reject", json!({ "buf": 0, "range": { "first": 6, "last": 6 } })).await,
            Ok(json!(1))
        );
        assert_eq!(
            nvim.lines().await,
            ["ONE", "two", "THREE", "and more", "four", "five"]
        );
        assert_eq!(
            decide("accept", json!({ "buf": 0, "range": { "first": 2, "last": 2 } })).await,
            Ok(json!(0))
        );
        assert_eq!(decide("reject", json!({ "all": true })).await, Ok(json!(1)));
        assert_eq!(
            nvim.lines().await,
            ["one", "two", "THREE", "and more", "four", "five"]
        );
        assert_eq!(nvim.hunks().await, []);
        let why = decide("accept", json!({ "hunk": 999 })).await.unwrap_err();
        assert!(!why.is_empty());

        let undone = nvim.api("undo", &json!([])).await.unwrap();
        assert_eq!(undone["ok"], json!(true), "{undone}");
        assert_eq!(nvim.lines().await, ["one", "two", "three", "four", "five"]);
        let redone = nvim.api("redo", &json!([])).await.unwrap();
        assert_eq!(redone["ok"], json!(true), "{redone}");
        assert_eq!(
            nvim.lines().await,
            ["one", "two", "THREE", "and more", "four", "five"]
        );
        assert!(nvim.api("undo", &json!(["x"])).await.is_err());
        nvim.api("undo", &json!([])).await.unwrap();
        let nothing = nvim.api("undo", &json!([])).await.unwrap();
        assert_eq!(nothing["ok"], json!(false), "{nothing}");
    })
    .await;
}

#[tokio::test]
async fn a_buffer_is_written_when_the_policy_says_so() {
    on_each_neovim(async |neovim| {
        let edit = json!(["edit_file", { "path": "a.txt", "old_string": "two", "new_string": "TWO" }]);
        for (policy, after_edit, after_accept) in [
            ("on_edit", true, true),
            ("on_accept", false, true),
            ("never", false, false),
        ] {
            let nvim = start(neovim, &format!("save = '{policy}'")).await;
            let result = nvim.api("call", &edit).await.unwrap();
            let written = || nvim.on_disk("a.txt").contains("TWO");
            assert_eq!(
                (written(), nvim.modified().await),
                (after_edit, !after_edit),
                "{policy}: {result}"
            );
            assert_eq!(
                result["text"].as_str().unwrap().contains("not saved"),
                !after_edit,
                "{policy}: {result}"
            );
            assert_eq!(nvim.api("accept", &json!([{ "all": true }])).await, Ok(json!(1)));
            assert_eq!(
                (written(), nvim.modified().await),
                (after_accept, !after_accept),
                "{policy}"
            );
        }
        // What the person has not saved is never written.
        let nvim = start(neovim, "save = 'on_accept'").await;
        nvim.input("Gomine<Esc>").await;
        nvim.wait_for_lua("vim.bo.modified").await;
        nvim.api("call", &edit).await.unwrap();
        nvim.api("accept", &json!([{ "all": true }])).await.unwrap();
        assert!(nvim.modified().await && !nvim.on_disk("a.txt").contains("TWO"));
    })
    .await;
}

/// A script without a person or a screen.
#[tokio::test]
async fn a_script_calls_tools_in_a_headless_neovim() {
    on_each_neovim(async |neovim| {
        let script = "
            local dcode = require('dcode')
            vim.g.dcode = { shell_allow_list = { 'touch' } }
            local out = {
              dcode.call('write_file', { path = 'b.txt', content = 'hello\\n' }),
              dcode.call('bash', { command = 'touch made' }),
              dcode.call('bash', { command = 'mkdir no' }),
              dcode.call('bash', { command = 'mkdir yes' }, { on_request = function() return 'once' end }),
              dcode.undo(),
            }
            io.stdout:write(vim.json.encode(out))";
        let done = Setup::new()
            .file("script.lua", script)
            .run(neovim, &["-l", "script.lua"], "")
            .await;
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let out: Value = serde_json::from_str(&done.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}{}", done.stdout, done.stderr));
        let decisions: Vec<_> = (0..4)
            .map(|at| (out[at]["ok"].clone(), out[at]["decision"].clone()))
            .collect();
        let expected = [(true, "allow"), (true, "allow"), (false, "deny"), (true, "ask")];
        assert_eq!(
            decisions,
            expected.map(|(ok, decision)| (json!(ok), json!(decision))),
            "{out}"
        );
        let exists = |name: &str| done.project().join(name).exists();
        // The newest step that changed a file was a command's.
        assert!(!exists("made") && !exists("no") && exists("yes"));
        assert!(out[4]["ok"] == json!(true) && exists("b.txt"), "{out}");
    })
    .await;
}

#[tokio::test]
async fn files_go_in_and_out_as_bytes() {
    on_each_neovim(async |neovim| {
        let nvim = start(neovim, "").await;
        let code = r#"
            local dcode = require('dcode')
            local bytes = {}
            for byte = 0, 255 do
              bytes[#bytes + 1] = string.char(byte)
            end
            local all = table.concat(bytes)
            local up = assert(dcode.upload_files({
              { '/retrieved/b1/every.bin', all },
              { '/retrieved/b1/0.md', '# retries\nback off\n' },
              { 'relative', 'x' },
            }))
            local down = assert(dcode.download_files({ '/retrieved/b1/every.bin', '/nowhere/at/all' }))
            local found = dcode.call('grep', { pattern = 'back off', path = '/retrieved/b1', output_mode = 'count' })
            return {
              errors = { up[1].error or '-', up[2].error or '-', up[3].error },
              same = down[1].content == all and down[1].path == '/retrieved/b1/every.bin',
              missing = { down[2].content == nil, down[2].error },
              found = found.text:match('/0%.md:1') ~= nil,
              real = vim.uv.fs_stat('/retrieved') == nil,
              wrong = { dcode.upload_files({ 'x' }) == nil, (select(2, dcode.download_files(1))) },
            }
        "#;
        let seen: Value = nvim.lua_with(code, &()).await;
        assert_eq!(
            seen,
            json!({
                "errors": ["-", "-", "invalid_path"],
                "same": true,
                "missing": [true, "file_not_found"],
                "found": true,
                "real": true,
                "wrong": [true, "download_files() takes a list."],
            })
        );
    })
    .await;
}
