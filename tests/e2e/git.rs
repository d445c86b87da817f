//! What a person sees of the repository: the blame beside a file, and the facts in the status line.

use std::path::Path;

use tokio::process::Command;

use crate::neovims::on_each_neovim;
use crate::setup::Setup;

async fn git(project: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .current_dir(project)
        .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.invalid"])
        .args(arguments)
        .status()
        .await
        .expect("git runs");
    assert!(status.success(), "git {arguments:?}");
}

#[tokio::test]
async fn blame_and_facts() {
    on_each_neovim(async |neovim| {
        let nvim = Setup::new()
            .size(100, 14)
            .file("a.txt", "one\ntwo\nthree\n")
            .open("a.txt")
            .start(neovim)
            .await;
        git(&nvim.project(), &["init", "-q", "-b", "trunk"]).await;
        git(&nvim.project(), &["add", "."]).await;
        git(&nvim.project(), &["commit", "-q", "-m", "the first words"]).await;
        nvim.input("2Gcctyped<Esc>").await;
        nvim.input(":Dcode blame<CR>").await;
        let screen = nvim.wait_for("not committed").await;
        let (typed, _) = screen.find("typed").expect("the file is there");
        assert_eq!(screen.find("not committed").map(|(row, _)| row), Some(typed));
        assert!(screen.find("Ann").is_some_and(|(row, _)| row < typed));
        nvim.wait_for_lua("vim.bo.filetype == 'dcode-blame'").await;
        nvim.input("gg<CR>").await;
        nvim.wait_for("the first words").await;
        nvim.input("q").await;
        nvim.wait_gone("the first words").await;
        nvim.input("q").await;
        nvim.wait_gone("not committed").await;
        nvim.wait_for_lua("vim.wo.scrollbind == false").await;
        nvim.wait_for_lua("require('dcode.status').get() == 'dcode: idle, trunk'")
            .await;
        nvim.command("write").await;
        nvim.wait_for_lua("require('dcode.status').get() == 'dcode: idle, trunk ~1'")
            .await;
        git(&nvim.project(), &["commit", "-qam", "second"]).await;
        nvim.wait_for_lua("require('dcode.status').get() == 'dcode: idle, trunk'")
            .await;
    })
    .await;
}
