//! Approvals and questions in their floats: how they are answered, put off and closed.

use serde_json::{Value, json};

use crate::driver::{Nvim, eventually};
use crate::model_server::{ModelServer, Reply, Request};
use crate::neovims::{Neovim, on_each_neovim};
use crate::setup::Setup;

fn setup(model: &ModelServer) -> Setup {
    Setup::new()
        .size(130, 30)
        .model(model, "")
        .file("a.txt", "one\ntwo\n")
        .open("a.txt")
}

/// A model that makes one call and then says `Goodbye.`
fn model(tool: &str, arguments: &Value) -> ModelServer {
    let model = ModelServer::start();
    model
        .push(Reply::call("c1", tool, arguments))
        .push(Reply::say("Goodbye."));
    model
}

fn touch(name: &str) -> Value {
    json!({ "command": format!("touch {name}") })
}

/// Asks and goes to the float that comes.
async fn asked(nvim: &Nvim) {
    nvim.input(":Dcode go<CR>").await;
    nvim.wait_for("dcode asks").await;
    nvim.input(":Dcode answer<CR>").await;
    nvim.wait_for_lua("vim.bo.filetype == 'dcode-prompt'").await;
}

/// Asks for `tool`, answers with `keys`, and gives what the model reads.
async fn answered(neovim: &Neovim, tool: &str, arguments: &Value, keys: &str) -> (Nvim, String) {
    let model = model(tool, arguments);
    let nvim = setup(&model).start(neovim).await;
    asked(&nvim).await;
    nvim.input(keys).await;
    nvim.wait_for("Goodbye.").await;
    nvim.wait_gone("dcode asks").await;
    let result = result(&model.request(1).await);
    (nvim, result)
}

fn result(request: &Request) -> String {
    request.result_of("c1").expect("a result").to_owned()
}

#[tokio::test]
async fn an_approval_is_answered_by_number_or_letter() {
    on_each_neovim(async |neovim| {
        for (keys, runs) in [("1", true), ("o", true), ("4", false), ("d", false)] {
            let (nvim, result) = answered(neovim, "bash", &touch("made"), keys).await;
            assert_eq!(nvim.project().join("made").exists(), runs, "{keys}: {result}");
            assert_eq!(
                nvim.lua::<String>("return vim.fn.bufname()").await,
                "a.txt",
                "the cursor is back"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn a_denial_with_words_reaches_the_model() {
    on_each_neovim(async |neovim| {
        for key in ["5", "w"] {
            let keys = format!("{key}take mktemp<CR>");
            let (nvim, result) = answered(neovim, "bash", &touch("made"), &keys).await;
            assert!(result.contains("take mktemp"), "{result}");
            assert!(!nvim.project().join("made").exists());
        }
    })
    .await;
}

#[tokio::test]
async fn an_answer_for_the_session_or_for_ever_is_remembered() {
    on_each_neovim(async |neovim| {
        for (key, written) in [("2", false), ("a", true)] {
            let model = model("bash", &touch("first"));
            model
                .push(Reply::call("c2", "bash", &touch("second")))
                .push(Reply::say("Again."));
            let nvim = setup(&model).start(neovim).await;
            asked(&nvim).await;
            nvim.input(key).await;
            nvim.wait_for("Goodbye.").await;
            nvim.turn("once more").await;
            assert!(nvim.project().join("second").exists(), "nobody was asked again");
            let config =
                std::fs::read_to_string(nvim.home().join(".deepseek/config.toml")).unwrap_or_default();
            assert_eq!(config.contains("touch"), written, "{config}");
        }
    })
    .await;
}

#[tokio::test]
async fn several_wait_in_a_queue() {
    on_each_neovim(async |neovim| {
        let nvim = setup(&ModelServer::start()).start(neovim).await;
        nvim.lua_with::<()>(
            "for _, args in ipairs({ ... }) do
               require('dcode.session').submit({
                 type = 'call', tool = 'bash', args = args, timeout_ms = 10000, human = true,
               })
             end",
            &(touch("first"), touch("second")),
        )
        .await;
        nvim.wait_for("1 of 2").await;
        nvim.input(":Dcode answer<CR>1").await;
        nvim.wait_gone("1 of 2").await;
        nvim.wait_for("dcode asks").await;
        nvim.input("1").await;
        nvim.wait_gone("dcode asks").await;
        let made = |name: &str| nvim.project().join(name).exists();
        eventually("both run", || made("first") && made("second")).await;
    })
    .await;
}

#[tokio::test]
async fn stopping_the_turn_closes_what_it_asks() {
    on_each_neovim(async |neovim| {
        let model = model("bash", &touch("made"));
        model.push(Reply::say("Goodbye."));
        let nvim = setup(&model).start(neovim).await;
        nvim.prompt("go").await;
        nvim.wait_for("dcode asks").await;
        nvim.input(":Dcode stop<CR>").await;
        nvim.wait_gone("dcode asks").await;
        assert_eq!(nvim.turn_ended().await, "interrupted");
        assert!(!nvim.project().join("made").exists());
        // The call has a result all the same: the next request is in order.
        nvim.turn("go on").await;
        let result = result(&model.request(1).await);
        assert!(result.contains("nterrupted"), "{result}");
    })
    .await;
}

#[tokio::test]
async fn somebody_who_types_is_not_disturbed() {
    on_each_neovim(async |neovim| {
        let model = ModelServer::start();
        let (reply, release) = Reply::new().text("Wait.").pause();
        model
            .push(reply.tool_call("c1", "bash", &touch("made")).done())
            .push(Reply::say("Goodbye."));
        let nvim = setup(&model).start(neovim).await;
        nvim.input(":Dcode go<CR>").await;
        nvim.wait_for("Wait.").await;
        nvim.input("Go1 or 2,").await;
        release.go();
        nvim.wait_for("dcode asks").await;
        nvim.input(" deny or o").await;
        nvim.wait_for("1 or 2, deny or o").await;
        assert_eq!(
            (nvim.mode().await.as_str(), nvim.lines().await[2].as_str()),
            ("i", "1 or 2, deny or o")
        );

        // At rest in Normal mode the float takes the cursor, and a key answers it.
        nvim.input("<Esc>").await;
        nvim.wait_for_lua("vim.bo.filetype == 'dcode-prompt'").await;
        assert!(!nvim.project().join("made").exists());
        nvim.input(":Dcode answer<CR>1").await;
        nvim.wait_for("Goodbye.").await;
        assert!(nvim.project().join("made").exists());
        assert_eq!(nvim.lines().await, ["one", "two", "1 or 2, deny or o"]);
    })
    .await;
}

#[tokio::test]
async fn what_is_put_off_waits() {
    on_each_neovim(async |neovim| {
        for leave in ["<Esc>", "q", ":q<CR>"] {
            let model = model("bash", &touch("made"));
            let nvim = setup(&model).start(neovim).await;
            asked(&nvim).await;
            nvim.input(leave).await;
            nvim.wait_gone("dcode asks").await;
            assert_eq!(
                nvim.lua::<String>("return require('dcode').status().state").await,
                "waiting",
                "{leave}"
            );
            nvim.wait_for("touch made").await;
            nvim.input(":Dcode answer<CR>").await;
            nvim.wait_for("dcode asks").await;
            nvim.input("1").await;
            nvim.wait_for("Goodbye.").await;
            assert!(nvim.project().join("made").exists());
        }
    })
    .await;
}

#[tokio::test]
async fn a_question_takes_one_several_own_words_or_none() {
    let options =
        json!([{ "label": "pg", "description": "PostgreSQL" }, { "label": "my", "description": "MySQL" }]);
    let one =
        json!({ "questions": [{ "question": "Which one?", "header": "Database", "options": options }] });
    let several =
        json!({ "questions": [{ "question": "Which ones?", "options": options, "multiple": true }] });
    let two = json!({ "questions": [one["questions"][0], several["questions"][0]] });
    on_each_neovim(async |neovim| {
        for (question, keys, wanted, unwanted) in [
            (&one, "2", "my", "pg"),
            (&one, "j<CR>", "my", "pg"),
            (&one, "3sqlite<CR>", "sqlite", "pg"),
            (&several, "<Space>j<Space><CR>", "pg, my", "nothing"),
            (&several, "2<CR>", "my", "pg"),
            (&one, "<Esc>", "no answer", "pg"),
            (&two, "12<CR>", "my", "nothing"),
        ] {
            let (_nvim, result) = answered(neovim, "question", question, keys).await;
            assert!(
                result.contains(wanted) && !result.contains(unwanted),
                "{keys}: {result}"
            );
        }
    })
    .await;
}
