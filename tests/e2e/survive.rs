//! Neovim is killed or left in the middle of a review; the next one offers it again.

use serde_json::{Value, json};

use crate::driver::{Nvim, eventually};
use crate::model_server::{ModelServer, Reply};
use crate::neovims::{Neovim, on_each_neovim};
use crate::setup::Setup;

const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
const AFTER: &str = "one\nTWO\nthree\nfour\nfive\nsix\nSEVEN\neight\n";

fn model() -> ModelServer {
    let model = ModelServer::start();
    let edits: Value = json!({ "path": "a.txt", "edits": [
        { "old_string": "two\n", "new_string": "TWO\n" },
        { "old_string": "seven\n", "new_string": "SEVEN\n" },
    ]});
    let made = json!({ "path": "b.txt", "content": "new\n" });
    model.push(Reply::call("c1", "edit_file", &edits));
    model.push(Reply::call("c2", "write_file", &made));
    model.push(Reply::say("Look at it."));
    model
}

fn setup(model: &ModelServer) -> Setup {
    Setup::new().size(120, 30).model(model, "").open("a.txt")
}

/// Neovim after the edits, with three hunks in two files.
async fn edited(neovim: &Neovim, model: &ModelServer) -> Nvim {
    let nvim = setup(model).file("a.txt", BEFORE).start(neovim).await;
    nvim.input(":Dcode edit it<CR>").await;
    nvim.wait_for("Look at it.").await;
    nvim.wait_for_hunks(2).await;
    nvim
}

/// All journals of the project, as text.
fn journals(nvim: &Nvim) -> String {
    let sessions = nvim.home().join("state/nvim/dcode/sessions");
    let folders = std::fs::read_dir(sessions).into_iter().flatten().flatten();
    let texts =
        folders.filter_map(|folder| std::fs::read_to_string(folder.path().join("journal.jsonl")).ok());
    texts.collect()
}

async fn all_hunks(nvim: &Nvim) -> usize {
    nvim.lua("return #require('dcode').hunks()").await
}

#[tokio::test]
async fn after_kill_9_review_and_undo_go_on() {
    on_each_neovim(async |neovim| {
        let model = model();
        let mut nvim = edited(neovim, &model).await;
        eventually("the end of the turn in the journal", || {
            journals(&nvim).contains("turn_finished")
        })
        .await;
        nvim.kill().await;
        // Somebody goes on working without Neovim.
        let a = nvim.project().join("a.txt");
        tokio::fs::write(&a, AFTER.replace("four\n", "four\nmine\n"))
            .await
            .unwrap();

        let folder = nvim.take_folder();
        let nvim = setup(&model).start_in(folder, neovim).await;
        nvim.wait_for("3 hunks in 2 files wait from an earlier session.")
            .await;
        assert_eq!(all_hunks(&nvim).await, 0, "an offer changes nothing");
        nvim.input(":Dcode review<CR>").await;
        nvim.wait_for_lua("#require('dcode').hunks() == 3").await;
        nvim.wait_for_lua("vim.fn.getqflist({ size = 0 }).size == 3")
            .await;
        nvim.wait_for("review: 2 files, 3 hunks").await;
        nvim.input("q").await;
        nvim.wait_for_hunks(2).await;
        // A decision by keys, native undo of it, and the steps from before the kill.
        nvim.input("gg]h\\r").await;
        nvim.wait_for_hunks(1).await;
        let rejected = AFTER.replace("four\n", "four\nmine\n").replace("TWO", "two");
        assert_eq!(nvim.on_disk("a.txt"), rejected);
        nvim.input("u").await;
        nvim.wait_for_hunks(2).await;
        nvim.input(":DcodeUndo 2<CR>").await;
        nvim.wait_for("Took back 2 steps").await;
        // `u` left the buffer unsaved, and so does the undo.
        let text = nvim.lines().await.join("\n") + "\n";
        assert_eq!(text, BEFORE.replace("four\n", "four\nmine\n"));
        assert!(!nvim.project().join("b.txt").exists());
        assert_eq!(all_hunks(&nvim).await, 0);
    })
    .await;
}

#[tokio::test]
async fn after_leaving_what_was_decided_stays_decided() {
    on_each_neovim(async |neovim| {
        let model = model();
        let mut nvim = edited(neovim, &model).await;
        nvim.input("gg]h\\a").await;
        nvim.wait_for_hunks(1).await;
        nvim.input(":qa!<CR>").await;
        nvim.exit().await;
        let folder = nvim.take_folder();
        let mut nvim = setup(&model).start_in(folder, neovim).await;
        nvim.wait_for("2 hunks in 2 files wait from an earlier session.")
            .await;
        nvim.input(":Dcode resume<CR>").await;
        nvim.wait_for_hunks(1).await;
        assert_eq!(nvim.hunks().await[0].removed, ["seven".to_owned()]);
        nvim.lua::<Value>("return require('dcode').accept({ all = true })")
            .await;
        nvim.input(":qa<CR>").await;
        nvim.exit().await;
        // Nothing waits: nothing is said, and the library is not even loaded.
        let folder = nvim.take_folder();
        let nvim = setup(&model).start_in(folder, neovim).await;
        nvim.wait_for("SEVEN").await;
        assert!(
            !nvim
                .lua::<bool>("return require('dcode.session').started()")
                .await
        );
    })
    .await;
}
