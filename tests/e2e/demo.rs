//! `make demo`, played by a person in a hurry.

use std::path::Path;

use serde_json::json;

use crate::neovims::on_each_neovim;
use crate::setup::Setup;

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/demo");

fn fixture(path: &str) -> String {
    std::fs::read_to_string(Path::new(DEMO).join(path)).expect("a file of the demo")
}

#[tokio::test]
async fn the_demo_ends_with_passing_tests_and_can_be_taken_back() {
    // As it is, but without the pauses that let a person read.
    let script = fixture("script.toml").replace("delay_ms = 30", "delay_ms = 0");
    let launcher = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/demo.sh")).unwrap();
    let prompt = launcher
        .split("'Dcode ")
        .nth(1)
        .and_then(|rest| rest.split('\'').next())
        .expect("the demo's prompt");
    let files = ["README.md", "test.lua", "shop/receipt.lua", "shop/total.lua"];
    on_each_neovim(async |neovim| {
        let mut setup = Setup::new()
            .size(160, 45)
            .home_file("script.toml", &script)
            .env("DCODE_SCRIPT", "../home/script.toml")
            // Else the Neovim in the sandbox logs into the project, which would be a change to review.
            .env("NVIM_LOG_FILE", "/dev/null");
        for file in files {
            setup = setup.file(file, &fixture(&format!("project/{file}")));
        }
        // The agent runs the tests with `nvim`.
        let path = std::env::var("PATH").unwrap_or_default();
        let setup = setup.env(
            "PATH",
            &format!("{}:{path}", neovim.path.parent().unwrap().display()),
        );
        let nvim = setup
            .before("set number termguicolors")
            .open("shop/total.lua")
            .start(neovim)
            .await;

        nvim.input(&format!(":Dcode {prompt}<CR>")).await;
        let screen = nvim.wait_for("dcode asks").await;
        for seen in [
            "(scripted)",
            "▸ grep",
            "▸ read_file shop/total.lua",
            "▸ edit_file shop/receipt.lua",
            "nvim -l test.lua",
        ] {
            assert!(screen.find(seen).is_some(), "{seen}\n{}", nvim.framed_screen());
        }
        nvim.input(":Dcode answer<CR>1").await;
        nvim.wait_for("takes back the").await;
        let screen = nvim.wait_for("idle").await;
        assert!(
            screen.find("exit 0").is_some(),
            "the tests pass\n{}",
            nvim.framed_screen()
        );

        // One hunk is accepted, one rejected, and the turn taken back.
        assert_eq!(nvim.hunks().await.len(), 2);
        nvim.input("gg]h\\a]h\\r").await;
        nvim.wait_for_hunks(0).await;
        nvim.input(":DcodeUndo!<CR>").await;
        nvim.wait_for("Took back 2 steps").await;
        for file in files {
            assert_eq!(nvim.on_disk(file), fixture(&format!("project/{file}")), "{file}");
        }
        assert_eq!(nvim.api("hunks", &json!([])).await, Ok(json!([])));
    })
    .await;
}
