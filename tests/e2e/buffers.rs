//! What is written in a buffer and its file when the agent edits: encodings, line ends, special buffers,
//! other editors; and what in the editor has to stay where it is. Real failures of other agents among them.

use serde_json::{Value, json};

use crate::driver::Nvim;
use crate::model_server::ModelServer;
use crate::neovims::{Neovim, on_each_neovim};
use crate::setup::Setup;

async fn start(neovim: &Neovim) -> Nvim {
    let setup = Setup::new().model(&ModelServer::start(), "mode = 'yolo'");
    setup.start(neovim).await
}

async fn call(nvim: &Nvim, tool: &str, arguments: Value) -> Value {
    let result = nvim.api("call", &json!([tool, arguments])).await.unwrap();
    assert_eq!(result["ok"], json!(true), "{result}");
    result
}

async fn edit(nvim: &Nvim, path: &str, old: &str, new: &str) -> Value {
    let arguments = json!({ "path": path, "old_string": old, "new_string": new });
    call(nvim, "edit_file", arguments).await
}

async fn put(nvim: &Nvim, path: &str, bytes: &[u8]) {
    let done = tokio::fs::write(nvim.project().join(path), bytes).await;
    done.expect("a file of the project");
}

fn bytes(nvim: &Nvim, path: &str) -> Vec<u8> {
    std::fs::read(nvim.project().join(path)).expect("a file of the project")
}

#[tokio::test]
async fn the_bytes_of_a_file_are_kept_but_for_the_edit() {
    let cases: [(&str, &[u8], &[u8]); 7] = [
        ("dos.txt", b"foo\r\nbar\r\n", b"FOO\r\nbar\r\n"),
        ("dos-noeol.txt", b"foo\r\nbar", b"FOO\r\nbar"),
        ("noeol.txt", b"foo\nbar", b"FOO\nbar"),
        ("bom.txt", b"\xef\xbb\xbffoo\nbar\n", b"\xef\xbb\xbfFOO\nbar\n"),
        ("latin1.txt", b"foo\ncaf\xe9\n", b"FOO\ncaf\xe9\n"),
        ("empty-lines.txt", b"foo\n\n\n", b"FOO\n\n\n"),
        ("mixed.txt", b"foo\nbar\r\nlast\n", b"FOO\nbar\r\nlast\n"),
    ];
    on_each_neovim(async |neovim| {
        let nvim = start(neovim).await;
        for (path, before, after) in cases {
            put(&nvim, path, before).await;
            nvim.command(&format!("silent edit {path}")).await;
            edit(&nvim, path, "foo", "FOO").await;
            let hunks = nvim.hunks().await;
            assert_eq!(hunks.len(), 1, "{path}: {hunks:?}");
            assert_eq!(
                (hunks[0].removed.as_slice(), hunks[0].added.as_slice()),
                (&["foo".to_owned()][..], &["FOO".to_owned()][..]),
                "{path}"
            );
            assert_eq!(bytes(&nvim, path), after, "{path}");
            nvim.api("reject", &json!([{ "buf": 0, "all": true }]))
                .await
                .unwrap();
            assert_eq!(bytes(&nvim, path), before, "{path} after the rejection");
            assert!(!nvim.modified().await, "{path}");
        }
        assert_eq!(nvim.lua::<String>("return vim.v.errmsg").await, "");
    })
    .await;
}

#[tokio::test]
async fn an_unsaved_buffer_is_what_is_read_and_edited() {
    on_each_neovim(async |neovim| {
        let nvim = start(neovim).await;
        put(&nvim, "a.txt", b"one\n").await;
        nvim.command("edit a.txt").await;
        nvim.input("ccTwo<Esc>").await;
        nvim.wait_for_lua("vim.bo.modified").await;
        let read = call(&nvim, "read_file", json!({ "path": "a.txt" })).await;
        assert!(read["text"].as_str().unwrap().contains("Two"), "{read}");
        edit(&nvim, "a.txt", "Two", "three").await;
        assert_eq!(nvim.lines().await, ["three"]);
        assert_eq!(
            (nvim.modified().await, bytes(&nvim, "a.txt")),
            (true, b"one\n".to_vec())
        );
        nvim.input("u").await;
        nvim.wait_for_hunks(0).await;
        assert_eq!(nvim.lines().await, ["Two"]);
    })
    .await;
}

/// Marks, folds, jumps, and what two windows show, when a word far above is changed.
#[tokio::test]
async fn a_small_edit_moves_nothing_else() {
    on_each_neovim(async |neovim| {
        let nvim = start(neovim).await;
        let text: String = (1..=1000).map(|n| format!("line {n} here\n")).collect();
        put(&nvim, "a.txt", text.as_bytes()).await;
        nvim.command("edit a.txt").await;
        nvim.lua::<()>(
            "vim.cmd('900mark a')
             ns = vim.api.nvim_create_namespace('test')
             id = vim.api.nvim_buf_set_extmark(0, ns, 899, 3, {})
             vim.cmd('set foldmethod=manual | 800,850fold | split')
             vim.cmd('normal! 300G500G950G10|')
             look = function()
               local out = {}
               for _, win in ipairs(vim.api.nvim_list_wins()) do
                 local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
                 out[#out + 1] = { view.lnum, view.col, view.topline }
               end
               return { out, vim.api.nvim_buf_get_mark(0, 'a'), vim.api.nvim_buf_get_extmark_by_id(0, ns, id, {}),
                 vim.fn.foldclosed(820), vim.fn.getjumplist(), vim.fn.getreg('/') }
             end",
        )
        .await;
        let before: Value = nvim.lua("return look()").await;
        edit(&nvim, "a.txt", "line 10 here", "line ten here").await;
        assert_eq!(nvim.lua::<Value>("return look()").await, before);
        // Lines that come and go above take everything along with its text.
        edit(&nvim, "a.txt", "line 20 here\n", "").await;
        let after: Value = nvim.lua("return look()").await;
        assert_eq!(after[1][0], json!(899));
        assert_eq!(after[2][0], json!(898));
        assert_eq!(after[3], json!(799), "the fold stays closed");
        assert_eq!(nvim.lua::<String>("return vim.fn.getline(\"'a\")").await, "line 900 here");
    })
    .await;
}

#[tokio::test]
async fn special_buffers_with_a_file_s_name_are_not_its_buffer() {
    on_each_neovim(async |neovim| {
        let nvim = start(neovim).await;
        put(&nvim, "a.txt", b"one\n").await;
        nvim.command("enew | setlocal buftype=nofile noswapfile | file a.txt")
            .await;
        nvim.input("iof another plugin<Esc>").await;
        nvim.wait_for_lua("vim.fn.getline(1) ~= ''").await;
        edit(&nvim, "a.txt", "one", "ONE").await;
        assert_eq!(bytes(&nvim, "a.txt"), b"ONE\n");
        assert_eq!(nvim.lines().await, ["of another plugin"]);
    })
    .await;
}

/// Another Neovim holds the file, with a swap file: no dialog, no waiting for ever.
#[tokio::test]
async fn a_swap_file_of_another_editor_asks_nobody() {
    on_each_neovim(async |neovim| {
        let nvim = start(neovim).await;
        put(&nvim, "a.txt", b"x\nsecond\n").await;
        nvim.lua_with::<()>(
            "local nvim = ...
             other = vim.fn.jobstart({ nvim, '--clean', '--headless', '--cmd', 'set directory=.', 'a.txt',
               '+normal! Goheld', '+preserve' })",
            &[neovim.path.to_str().unwrap()],
        )
        .await;
        nvim.wait_for_lua("vim.uv.fs_stat('.a.txt.swp')").await;
        edit(&nvim, "a.txt", "x\n", "y\n").await;
        assert_eq!(bytes(&nvim, "a.txt"), b"y\nsecond\n");
        assert_eq!(nvim.mode().await, "n");
        nvim.lua::<()>("vim.fn.jobstop(other)").await;
    })
    .await;
}

/// Many hunks in a long buffer: all wait, and only those near the window are drawn.
#[tokio::test]
async fn two_thousand_hunks_are_drawn_where_they_are_seen() {
    on_each_neovim(async |neovim| {
        let nvim = start(neovim).await;
        let text: String = (1..=20_000).map(|n| format!("line {n}\n")).collect();
        put(&nvim, "big.txt", text.as_bytes()).await;
        nvim.command("edit big.txt").await;
        nvim.lua::<()>(
            "assert(require('dcode.session').ensure())
             local edits, buf = {}, vim.api.nvim_get_current_buf()
             for n = 10, 20000, 10 do
               edits[#edits + 1] = { start = n - 1, ['end'] = n, lines = { 'LINE ' .. n } }
             end
             local file = { path = require('dcode.buffers').path(buf), buf = buf, edits = edits, save = true,
               tick = vim.api.nvim_buf_get_changedtick(buf), deleted = false }
             local reply = require('dcode.review.apply').run({ origin = 'agent', label = 'edit', files = { file } })
             assert(reply.kind == 'applied', vim.inspect(reply))",
        )
        .await;
        nvim.wait_for_hunks(2000).await;
        let marks = "#vim.api.nvim_buf_get_extmarks(0, require('dcode.review.draw').ns, 0, -1, {})";
        let drawn: usize = nvim.lua(&format!("vim.cmd.redraw() return {marks}")).await;
        assert!((4..100).contains(&drawn), "{drawn} marks");
        nvim.input("10000G").await;
        nvim.wait_for("hunk 1000/2000").await;
        nvim.input("\\a").await;
        nvim.wait_for_hunks(1999).await;
        nvim.input("]h\\r").await;
        nvim.wait_for_hunks(1998).await;
        assert_eq!(
            nvim.lua::<Vec<String>>("return vim.fn.getline(9999, 10010)").await[1..].join(","),
            "LINE 10000,line 10001,line 10002,line 10003,line 10004,line 10005,line 10006,line 10007,line 10008,line 10009,line 10010"
        );
    })
    .await;
}

#[tokio::test]
async fn a_file_deleted_and_made_again_is_put_back_as_it_was() {
    on_each_neovim(async |neovim| {
        let nvim = start(neovim).await;
        put(&nvim, "f.txt", b"orig\n").await;
        call(&nvim, "delete", json!({ "path": "f.txt" })).await;
        call(
            &nvim,
            "write_file",
            json!({ "path": "f.txt", "content": "new\n" }),
        )
        .await;
        nvim.api("reject", &json!([{ "all": true }])).await.unwrap();
        nvim.wait_for_lua("#require('dcode').hunks() == 0").await;
        assert_eq!(bytes(&nvim, "f.txt"), b"orig\n");
    })
    .await;
}

/// The review list closed by any means leaves what waits, and no buffer behind.
#[tokio::test]
async fn closing_the_review_decides_nothing() {
    on_each_neovim(async |neovim| {
        let nvim = start(neovim).await;
        put(&nvim, "a.txt", b"one\n").await;
        nvim.command("edit a.txt").await;
        edit(&nvim, "a.txt", "one", "ONE").await;
        let buffers = "#vim.api.nvim_list_bufs()";
        let before: usize = nvim.lua(&format!("return {buffers}")).await;
        for close in [
            "q",
            ":q<CR>",
            "ZQ",
            ":bdelete<CR>",
            ":close<CR>",
            "<C-w>w:only<CR>",
        ] {
            nvim.input(":Dcode review<CR>").await;
            nvim.wait_for("review: 1 file").await;
            nvim.input(close).await;
            nvim.wait_gone("review: 1 file").await;
            nvim.wait_for_lua(&format!("{buffers} == {before}")).await;
            assert_eq!(nvim.hunks().await.len(), 1, "{close}");
        }
        nvim.command("silent bwipeout! a.txt").await;
        assert_eq!(
            nvim.api("hunks", &json!([]))
                .await
                .unwrap()
                .as_array()
                .unwrap()
                .len(),
            1
        );
        // From any window, where only one waits.
        nvim.command("Dcode accept").await;
        assert_eq!(nvim.api("hunks", &json!([])).await, Ok(json!([])));
        assert_eq!(bytes(&nvim, "a.txt"), b"ONE\n");
    })
    .await;
}
