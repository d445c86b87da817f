//! Faults of the callers: odd arguments, callbacks that fail. Neovim lives, and the person reads one sentence.

use serde_json::Value;

use crate::model_server::{ModelServer, Reply};
use crate::neovims::on_each_neovim;
use crate::setup::Setup;

#[tokio::test]
async fn odd_arguments_to_the_library_are_answered_with_words() {
    on_each_neovim(async |neovim| {
        let nvim = Setup::new().model(&ModelServer::start(), "").file("a.txt", "one\n").open("a.txt").start(neovim).await;
        let answers: Vec<(String, bool, String)> = nvim
            .lua(
                "local native = assert(require('dcode.session').ensure())
                 local loop = {}
                 loop.loop = loop
                 local path = vim.api.nvim_buf_get_name(0)
                 native.review({ action = 'attach', buf = 1, path = path })
                 local calls = {
                   { 'submit', 1 }, { 'submit', {} }, { 'submit', { type = 'no such op' } }, { 'submit', loop },
                   { 'submit', { type = 'prompt', text = function() end } },
                   { 'submit', { type = 'reply', request = -1, reply = {} } },
                   { 'poll', 'x' }, { 'poll', { max = -1 } },
                   { 'hunks', { buf = 'x' } }, { 'hunks', { buf = 2 ^ 60 } },
                   { 'review', { action = 'lines', buf = 99, first = 0, last = 1, new_last = 1, origin = 'person' } },
                   { 'review', { action = 'lines', buf = 1, first = 1e9, last = 0, new_last = 5, origin = 'person' } },
                   { 'review', { action = 'lines', buf = 1, first = 0, last = 1e9, new_last = 1e9, origin = 'agent' } },
                   { 'review', { action = 'accept', hunk = 1e15 } }, { 'review', { action = 'accept', range = { 9, -9 } } },
                   { 'start', { cwd = '/' } }, { 'start', {} }, { 'config', loop }, { 'stop', { timeout_ms = 'x' } },
                 }
                 return vim.tbl_map(function(call)
                   local threw, value, why = pcall(native[call[1]], call[2])
                   return { vim.inspect(call), threw, tostring(value) .. ' ' .. tostring(why) }
                 end, calls)",
            )
            .await;
        for (call, no_error, answer) in &answers {
            assert!(no_error, "{call} throws {answer}");
            assert!(!answer.contains("fault of its own"), "{call} panics: {answer}");
        }
        assert_eq!(nvim.lines().await, ["one"]);
    })
    .await;
}

#[tokio::test]
async fn a_callback_that_fails_is_told_once_and_the_turn_goes_on() {
    on_each_neovim(async |neovim| {
        let model = ModelServer::start();
        model.push(Reply::new().words("one two three four").done());
        let nvim = Setup::new().model(&model, "").start(neovim).await;
        let ended: Value = nvim
            .lua(
                "said = {}
                 vim.notify = function(message) said[#said + 1] = message end
                 require('dcode').ask('go', { on_event = function() error('my mistake') end })
                 return require('dcode').wait()",
            )
            .await;
        assert_eq!(ended["text"], "one two three four", "{ended}");
        nvim.wait_for_lua("#said > 0").await;
        let said: Vec<String> = nvim.lua("return said").await;
        let about_listener = said.iter().filter(|said| said.contains("listener")).count();
        assert_eq!(about_listener, 1, "{said:?}");
        let log: String = nvim
            .lua("return table.concat(vim.fn.readfile(require('dcode.log').path()), '\\n')")
            .await;
        assert!(log.contains("my mistake"), "{log}");
    })
    .await;
}

#[tokio::test]
async fn what_is_wrong_with_the_model_is_one_sentence() {
    on_each_neovim(async |neovim| {
        let nvim = Setup::new().size(120, 30).start(neovim).await;
        nvim.input(":Dcode hello<CR>").await;
        nvim.wait_for("No model").await;

        let model = ModelServer::start();
        model.push(Reply::error(
            401,
            &serde_json::json!({ "error": { "message": "bad key" } }),
        ));
        let nvim = Setup::new().size(120, 30).model(&model, "").start(neovim).await;
        nvim.input(":Dcode hello<CR>").await;
        nvim.wait_for("MOCK_KEY").await;

        let gone = ModelServer::start();
        let setup = Setup::new().size(120, 30).model(&gone, "");
        drop(gone);
        let nvim = setup.start(neovim).await;
        nvim.prompt("hello").await;
        assert_eq!(nvim.turn_ended().await, "error");
        let message: String = nvim.lua("return _G.ended.message").await;
        assert!(
            message.contains("127.0.0.1") && !message.contains("os error"),
            "{message}"
        );
    })
    .await;
}
