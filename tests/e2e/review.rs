//! From a streamed edit to what the person decides: text, marks, undo, and the file's bytes.

use serde_json::{Value, json};

use crate::driver::Nvim;
use crate::model_server::{ModelServer, Reply};
use crate::neovims::{Neovim, on_each_neovim};
use crate::setup::Setup;

const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";
/// What the edit makes of it.
const AFTER: &str = "one\nTWO\nthree\nfour\nFIVE\nfive and a half\nsix\nseven\neight\nten\n";
/// The first of its hunks rejected.
const FIRST_REJECTED: &str = "one\ntwo\nthree\nfour\nFIVE\nfive and a half\nsix\nseven\neight\nten\n";

/// One call whose edits are three hunks: a changed line, a line that becomes two, a deleted line.
fn edit() -> Value {
    json!({ "path": "a.txt", "edits": [
        { "old_string": "two\n", "new_string": "TWO\n" },
        { "old_string": "five\n", "new_string": "FIVE\nfive and a half\n" },
        { "old_string": "nine\n", "new_string": "" },
    ]})
}

fn model() -> ModelServer {
    let model = ModelServer::start();
    model.push(
        Reply::new()
            .words("I edit it.")
            .tool_call("c1", "edit_file", &edit())
            .done(),
    );
    model.push(Reply::say("Three hunks wait for you."));
    model
}

/// Neovim with `a.txt` open, a mark on `six` and an extmark on `eight`.
async fn open(neovim: &Neovim, model: &ModelServer) -> Nvim {
    let nvim = Setup::new()
        .size(120, 30)
        .model(model, "")
        .file("a.txt", BEFORE)
        .open("a.txt")
        .start(neovim)
        .await;
    nvim.command("6mark a").await;
    nvim.lua::<()>(
        "mark_ns = vim.api.nvim_create_namespace('of the test')
         mark_id = vim.api.nvim_buf_set_extmark(0, mark_ns, 7, 2, {})
         written = 0
         vim.api.nvim_create_autocmd('BufWritePost', { callback = function() written = written + 1 end })",
    )
    .await;
    nvim
}

/// Has the agent make the edit, as a person asks for it.
async fn edited(nvim: &Nvim) {
    nvim.input(":Dcode edit it<CR>").await;
    nvim.wait_for("Three hunks wait for you.").await;
    nvim.wait_for_hunks(3).await;
    nvim.wait_for_lua("require('dcode').status().state == 'idle'")
        .await;
}

/// The lines that the mark and the extmark stand on.
async fn marked(nvim: &Nvim) -> (String, String) {
    nvim.lua(
        "local row = vim.api.nvim_buf_get_extmark_by_id(0, mark_ns, mark_id, {})[1] + 1
         return { vim.fn.getline(\"'a\"), vim.fn.getline(row) }",
    )
    .await
}

async fn text(nvim: &Nvim) -> String {
    nvim.lines().await.join("\n") + "\n"
}

/// Accepts the second hunk and rejects the first, with keys.
async fn decide(nvim: &Nvim) {
    nvim.input("gg]h]h\\a").await;
    nvim.wait_for_hunks(2).await;
    nvim.input("gg]h\\r").await;
    nvim.wait_for_hunks(1).await;
}

fn six_and_eight() -> (String, String) {
    ("six".to_owned(), "eight".to_owned())
}

#[tokio::test]
async fn an_unsaved_buffer_is_edited_and_its_file_is_left_alone() {
    on_each_neovim(async |neovim| {
        let model = model();
        let nvim = open(neovim, &model).await;
        nvim.input("Gounsaved<Esc>").await;
        edited(&nvim).await;
        let unsaved = |text: &str| format!("{text}unsaved\n");
        assert_eq!(text(&nvim).await, unsaved(AFTER));
        assert_eq!(marked(&nvim).await, six_and_eight());
        assert_eq!(nvim.on_disk("a.txt"), BEFORE);
        let result = model.request(1).await;
        let result = result.result_of("c1").unwrap();
        assert!(result.contains("unsaved"), "the model is told: {result}");

        decide(&nvim).await;
        assert_eq!(text(&nvim).await, unsaved(FIRST_REJECTED));
        nvim.input("/half<CR>otyped between<Esc>").await;
        let typed = unsaved(FIRST_REJECTED).replace("half\n", "half\ntyped between\n");
        nvim.wait_for_lua("vim.fn.search('typed between', 'n') > 0").await;
        assert_eq!(text(&nvim).await, typed);
        assert_eq!(marked(&nvim).await, six_and_eight());
        let left = nvim.hunks().await;
        assert_eq!(
            (left.len(), left[0].removed.as_slice()),
            (1, &["nine".to_owned()][..])
        );

        // What was typed would be lost: nothing is put back.
        nvim.input(":DcodeUndo<CR>").await;
        nvim.wait_for("undo would lose 1 line of yours").await;
        assert_eq!(text(&nvim).await, typed);

        // `u` takes back the typing, then the rejection; redo brings both again.
        nvim.input("u").await;
        nvim.wait_for_hunks(1).await;
        assert_eq!(text(&nvim).await, unsaved(FIRST_REJECTED));
        nvim.input("u").await;
        nvim.wait_for_hunks(2).await;
        assert_eq!(text(&nvim).await, unsaved(AFTER));
        nvim.input("<C-r>").await;
        nvim.wait_for_hunks(1).await;
        nvim.input("<C-r>").await;
        nvim.wait_for_lua("vim.fn.search('typed between', 'n') > 0").await;
        assert_eq!((text(&nvim).await, nvim.hunks().await.len()), (typed, 1));

        // Without the typed line, the step can be taken back, although a hunk of it was rejected.
        nvim.input("u").await;
        nvim.wait_for_lua("vim.fn.search('typed between', 'n') == 0")
            .await;
        nvim.input(":DcodeUndo<CR>").await;
        nvim.wait_for("Took back 1 step").await;
        assert_eq!(text(&nvim).await, unsaved(BEFORE));
        assert_eq!(nvim.hunks().await, []);
        assert_eq!(marked(&nvim).await, six_and_eight());
        assert!(nvim.modified().await);
        assert_eq!(nvim.on_disk("a.txt"), BEFORE);
        nvim.input(":write<CR>").await;
        nvim.wait_for_lua("not vim.bo.modified").await;
        assert_eq!(nvim.on_disk("a.txt"), unsaved(BEFORE));
    })
    .await;
}

#[tokio::test]
async fn a_saved_buffer_is_edited_and_written() {
    on_each_neovim(async |neovim| {
        let model = model();
        let nvim = open(neovim, &model).await;
        edited(&nvim).await;
        assert_eq!(
            (text(&nvim).await.as_str(), nvim.modified().await),
            (AFTER, false)
        );
        assert_eq!(nvim.on_disk("a.txt"), AFTER);
        assert_eq!(nvim.lua::<u32>("return written").await, 1, "autocommands run");
        nvim.command("checktime").await;
        assert_eq!(
            nvim.lua::<String>("return vim.v.warningmsg .. vim.v.errmsg")
                .await,
            ""
        );

        decide(&nvim).await;
        assert_eq!(
            (text(&nvim).await.as_str(), nvim.modified().await),
            (FIRST_REJECTED, false)
        );
        assert_eq!(nvim.on_disk("a.txt"), FIRST_REJECTED);
        nvim.input(":DcodeUndo!<CR>").await;
        nvim.wait_for("Took back 1 step").await;
        assert_eq!(
            (text(&nvim).await.as_str(), nvim.modified().await),
            (BEFORE, false)
        );
        assert_eq!(nvim.on_disk("a.txt"), BEFORE);
        assert_eq!(nvim.hunks().await, []);
        nvim.input(":DcodeRedo<CR>").await;
        nvim.wait_for("Did 1 step again").await;
        assert_eq!(text(&nvim).await, FIRST_REJECTED);
        assert_eq!(nvim.on_disk("a.txt"), FIRST_REJECTED);
        nvim.command("checktime").await;
        assert_eq!(
            nvim.lua::<String>("return vim.v.warningmsg .. vim.v.errmsg")
                .await,
            ""
        );
        assert_eq!(marked(&nvim).await, six_and_eight());
    })
    .await;
}

#[tokio::test]
async fn a_file_that_no_buffer_holds_is_edited_and_reviewed_when_it_is_opened() {
    on_each_neovim(async |neovim| {
        let model = model();
        let nvim = Setup::new()
            .size(120, 30)
            .model(&model, "")
            .file("a.txt", BEFORE)
            .start(neovim)
            .await;
        nvim.turn("edit it").await;
        assert_eq!(nvim.on_disk("a.txt"), AFTER);
        assert_eq!(
            nvim.lua::<u32>("return #vim.fn.getbufinfo('a.txt')").await,
            0,
            "no buffer is made for it"
        );

        // One of its hunks is rejected before anybody opens it.
        let all: Vec<u64> = nvim
            .lua("return vim.tbl_map(function(h) return h.id end, require('dcode').hunks())")
            .await;
        assert_eq!(all.len(), 3);
        assert_eq!(
            nvim.api("reject", &json!([{ "hunk": all[0] }])).await,
            Ok(json!(1))
        );
        nvim.wait_for_lua("#require('dcode').hunks() == 2").await;
        assert_eq!(nvim.on_disk("a.txt"), FIRST_REJECTED);

        nvim.input(":edit a.txt<CR>").await;
        nvim.wait_for_hunks(2).await;
        nvim.wait_for("+ FIVE").await;
        nvim.input("]h\\a").await;
        nvim.wait_for_hunks(1).await;
        assert_eq!(
            (text(&nvim).await.as_str(), nvim.modified().await),
            (FIRST_REJECTED, false)
        );
        nvim.input(":DcodeUndo<CR>").await;
        nvim.wait_for("Took back 1 step").await;
        assert_eq!(
            (text(&nvim).await.as_str(), nvim.on_disk("a.txt").as_str()),
            (BEFORE, BEFORE)
        );
        assert_eq!(nvim.hunks().await, []);
    })
    .await;
}

#[tokio::test]
async fn a_file_that_the_agent_made_goes_away_when_it_is_rejected_or_undone() {
    on_each_neovim(async |neovim| {
        let model = ModelServer::start();
        for (id, path) in [("c1", "new/b.txt"), ("c2", "new/c.txt")] {
            model.push(Reply::call(
                id,
                "write_file",
                &json!({ "path": path, "content": "made\n" }),
            ));
            model.push(Reply::say("Made."));
        }
        let nvim = Setup::new().size(120, 30).model(&model, "").start(neovim).await;
        nvim.turn("make it").await;
        nvim.command("edit new/b.txt").await;
        nvim.wait_for_hunks(1).await;
        assert_eq!(
            nvim.api("reject", &json!([{ "buf": 0, "all": true }])).await,
            Ok(json!(1))
        );
        assert!(!nvim.project().join("new/b.txt").exists());
        assert_eq!(nvim.hunks().await, []);
        nvim.turn("make it").await;
        assert!(nvim.project().join("new/c.txt").exists());
        nvim.api("undo", &json!([])).await.unwrap();
        assert!(!nvim.project().join("new/c.txt").exists());
    })
    .await;
}
