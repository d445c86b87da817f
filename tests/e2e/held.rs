//! Edits that come while the editor cannot be edited: they wait, and nothing is lost.

use serde_json::{Value, json};

use crate::driver::Nvim;
use crate::model_server::{ModelServer, Release, Reply};
use crate::neovims::{Neovim, on_each_neovim};
use crate::setup::Setup;

/// A turn whose edit comes when it is let go, and a Neovim with the file open.
async fn about_to_edit(neovim: &Neovim) -> (Nvim, ModelServer, Release) {
    let model = ModelServer::start();
    let (reply, release) = Reply::new().text("Now.").pause();
    let edit = json!({ "path": "a.txt", "old_string": "two", "new_string": "TWO" });
    model
        .push(reply.tool_call("c1", "edit_file", &edit).done())
        .push(Reply::say("Done."));
    let setup = Setup::new()
        .model(&model, "")
        .file("a.txt", "one\ntwo\nthree\n")
        .open("a.txt");
    let nvim = setup.start(neovim).await;
    nvim.prompt("go").await;
    model.request(0).await;
    (nvim, model, release)
}

/// Waits until the batch has come to the editor and waits there.
async fn batch_waits(nvim: &Nvim) {
    nvim.wait_for_lua("require('dcode.review.queue').count() > 0")
        .await;
}

/// The edit was made, whatever held it, and the turn ended in order.
async fn made(nvim: &Nvim, model: &ModelServer) {
    assert_eq!(nvim.turn_ended().await, "done");
    let request = model.request(1).await;
    let result = request.result_of("c1").unwrap();
    assert!(result.starts_with("Edited"), "{result}");
    assert_eq!(nvim.hunks().await.len(), 1);
}

#[tokio::test]
async fn in_operator_pending_mode_an_edit_waits() {
    on_each_neovim(async |neovim| {
        let (nvim, model, release) = about_to_edit(neovim).await;
        nvim.input("Gd").await;
        release.go();
        batch_waits(&nvim).await;
        nvim.input("d").await;
        made(&nvim, &model).await;
        assert_eq!(nvim.lines().await, ["one", "TWO"]);
    })
    .await;
}

#[tokio::test]
async fn while_a_macro_is_recorded_an_edit_waits() {
    on_each_neovim(async |neovim| {
        let (nvim, model, release) = about_to_edit(neovim).await;
        nvim.input("qqGoa").await;
        nvim.wait_for("recording @q").await;
        release.go();
        batch_waits(&nvim).await;
        nvim.input("b<Esc>q").await;
        made(&nvim, &model).await;
        assert_eq!(nvim.lines().await, ["one", "TWO", "three", "ab"]);
        assert_eq!(
            nvim.lua::<String>("return vim.fn.getreg('q')").await,
            "Goab\u{1b}"
        );
        nvim.input("2@q").await;
        nvim.wait_for_lua("vim.api.nvim_buf_line_count(0) == 6").await;
    })
    .await;
}

#[tokio::test]
async fn while_a_macro_is_played_an_edit_waits_and_is_a_block_of_its_own() {
    on_each_neovim(async |neovim| {
        let (nvim, model, release) = about_to_edit(neovim).await;
        // The macro types, waits until the edit has come, and types on.
        nvim.lua::<()>(
            "waited = function() return require('dcode.review.queue').count() > 0 end
             vim.fn.setreg('q', 'Goa\\27:lua saw = vim.wait(8000, waited, 5)\\rob\\27')",
        )
        .await;
        nvim.input("@q").await;
        release.go();
        made(&nvim, &model).await;
        assert!(
            nvim.lua::<bool>("return saw").await,
            "the edit came while the macro was played"
        );
        assert_eq!(nvim.lines().await, ["one", "TWO", "three", "a", "b"]);
        nvim.input("u").await;
        nvim.wait_for_lua("vim.fn.getline(2) == 'two'").await;
        assert_eq!(nvim.lines().await, ["one", "two", "three", "a", "b"]);
    })
    .await;
}

#[tokio::test]
async fn on_the_command_line_an_edit_waits() {
    on_each_neovim(async |neovim| {
        let (nvim, model, release) = about_to_edit(neovim).await;
        nvim.input(":%s/three/3").await;
        release.go();
        batch_waits(&nvim).await;
        nvim.input("<CR>").await;
        made(&nvim, &model).await;
        assert_eq!(nvim.lines().await, ["one", "TWO", "3"]);
    })
    .await;
}

/// A mapping of type `expr` locks the text; here one that waits for the agent.
#[tokio::test]
async fn in_an_expression_mapping_an_edit_waits_and_waiting_is_refused() {
    on_each_neovim(async |neovim| {
        let (nvim, model, release) = about_to_edit(neovim).await;
        nvim.lua::<()>(
            "vim.keymap.set('n', 'X', function()
               refused = select(2, require('dcode').call('ls', {}))
               vim.wait(10000, function() return require('dcode.review.queue').count() > 0 end)
               locked = { require('dcode.review.queue').held(), vim.fn.getline(2) }
               return 'yyp'
             end, { expr = true })",
        )
        .await;
        release.go();
        nvim.input("X").await;
        made(&nvim, &model).await;
        nvim.wait_for_lua("vim.api.nvim_buf_line_count(0) == 4").await;
        assert_eq!(nvim.lines().await, ["one", "one", "TWO", "three"]);
        let (refused, locked): (String, Vec<String>) = nvim.lua("return { refused, locked }").await;
        assert!(refused.contains("locked"), "{refused}");
        assert_eq!(locked, ["text is locked", "two"]);
    })
    .await;
}

/// Somebody is typing in the very line; the edit waits until they are done, and their letters stay.
#[tokio::test]
async fn in_the_line_that_is_typed_in_an_edit_waits() {
    on_each_neovim(async |neovim| {
        let (nvim, model, release) = about_to_edit(neovim).await;
        nvim.input("jA and").await;
        nvim.wait_for("two and").await;
        release.go();
        batch_waits(&nvim).await;
        nvim.input(" a half<Esc>").await;
        // The line is another one now: the agent edits it as it is.
        made(&nvim, &model).await;
        assert_eq!(nvim.lines().await, ["one", "TWO and a half", "three"]);
    })
    .await;
}

#[tokio::test]
async fn a_buffer_that_may_not_be_changed_is_left_alone_with_a_sentence() {
    on_each_neovim(async |neovim| {
        let (nvim, model, release) = about_to_edit(neovim).await;
        nvim.command("set nomodifiable").await;
        release.go();
        let request = model.request(1).await;
        let result = request.result_of("c1").unwrap();
        assert!(result.contains(":set modifiable"), "{result}");
        assert_eq!(nvim.lines().await, ["one", "two", "three"]);
        assert_eq!(nvim.on_disk("a.txt"), "one\ntwo\nthree\n");

        // A rejection is refused likewise, and the hunk goes on waiting.
        nvim.command("set modifiable").await;
        nvim.api(
            "call",
            &json!(["edit_file", { "path": "a.txt", "old_string": "two", "new_string": "2" }]),
        )
        .await
        .unwrap();
        nvim.command("set nomodifiable").await;
        let why = nvim.api("reject", &json!([{ "all": true }])).await.unwrap_err();
        assert!(why.contains(":set modifiable"), "{why}");
        assert_eq!(nvim.hunks().await.len(), 1);
    })
    .await;
}

/// What somebody does to windows and buffers while the agent works costs no error and no text.
#[tokio::test]
async fn closing_everything_while_the_agent_works_loses_nothing() {
    on_each_neovim(async |neovim| {
        let model = ModelServer::start();
        let (reply, release) = Reply::new().text("I look").pause();
        let edit = json!({ "path": "a.txt", "old_string": "two", "new_string": "TWO" });
        model
            .push(reply.text(" around.").tool_call("c1", "edit_file", &edit).done())
            .push(Reply::say("Done."));
        let setup = Setup::new()
            .size(130, 30)
            .model(&model, "")
            .file("a.txt", "one\ntwo\nthree\n")
            .open("a.txt");
        let nvim = setup.start(neovim).await;
        nvim.input(":Dcode go<CR>").await;
        nvim.wait_for("I look").await;
        nvim.lua::<()>(
            "for _, buf in ipairs(vim.api.nvim_list_bufs()) do
               vim.cmd('silent! bwipeout! ' .. buf)
             end
             vim.cmd.only()",
        )
        .await;
        release.go();
        nvim.wait_for_lua("require('dcode').status().state == 'idle' and #require('dcode').hunks() == 1")
            .await;
        assert_eq!(nvim.on_disk("a.txt"), "one\nTWO\nthree\n");
        nvim.input(":Dcode chat<CR>").await;
        nvim.wait_for("I look around.").await;
        let faults: Value = nvim
            .lua("return { vim.v.errmsg, vim.fn.filereadable(require('dcode.log').path()) }")
            .await;
        assert_eq!(faults, json!(["", 0]));
    })
    .await;
}
