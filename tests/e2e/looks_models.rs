//! Golden screens of what a person sees of models: thoughts, a line that breaks, words that wait, costs. 80 and 200
//! columns, dark and light.

use serde_json::json;

use crate::driver::Nvim;
use crate::model_server::{ModelServer, Reply};
use crate::neovims::{Neovim, on_each_neovim};
use crate::screen::as_it_is;
use crate::setup::Setup;

const SIZES: [(i64, i64); 2] = [(80, 30), (200, 40)];

/// What Neovims do not draw alike is left out.
const ALIKE: &str =
    "syntax off | set noruler laststatus=2 statusline=%f notermguicolors noshowcmd shortmess+=FIW";

/// Runs `look` on each Neovim, in each size, dark and light; both are to look like `models-NAME-SIZE`.
async fn everywhere(name: &str, look: impl AsyncFn(Nvim, ModelServer, String)) {
    on_each_neovim(async |neovim| {
        for size in SIZES {
            for background in ["dark", "light"] {
                let model = ModelServer::start();
                let nvim = start(neovim, size, background, &model).await;
                look(nvim, model, format!("models-{name}-{}", size.0)).await;
            }
        }
    })
    .await;
}

async fn start(neovim: &Neovim, size: (i64, i64), background: &str, model: &ModelServer) -> Nvim {
    let setup = Setup::new()
        .size(size.0, size.1)
        .background(background)
        .model(model, "")
        .file("total.rs", "fn total() {}\n")
        .open("total.rs")
        .before(ALIKE);
    let nvim = setup.start(neovim).await;
    // No time that differs from run to run: it stands still, and so does the countdown.
    nvim.lua::<()>(
        "require('dcode.ui.text').duration = function() return '12 ms' end
         require('dcode.ui.text').clock = function() return '0:04' end
         local now = vim.uv.now()
         vim.uv.now = function() return now end",
    )
    .await;
    nvim
}

fn counted(reply: Reply, input: u64, cached: u64, reasoning: u64) -> Reply {
    reply.event(
        &json!({ "choices": [], "usage": { "prompt_tokens": input, "completion_tokens": 60,
        "prompt_tokens_details": { "cached_tokens": cached },
        "completion_tokens_details": { "reasoning_tokens": reasoning } } }),
    )
}

#[tokio::test]
async fn a_thought_a_countdown_and_words_that_wait() {
    everywhere("waiting", async |nvim, model, name| {
        let thought = "The count is missing in the sum. ".repeat(8);
        let look = Reply::new()
            .reasoning(&thought)
            .text("I look.")
            .tool_call("c", "ls", &json!({}));
        model.push(counted(look, 5_000, 4_000, 41).done());
        model.push(Reply::error(429, &json!({})).header("retry-after", "40"));
        nvim.input(":Dcode fix the sum<CR>").await;
        nvim.wait_for("asks again in").await;
        nvim.input(":Dcode and with a test<CR>").await;
        nvim.wait_for("next step: and with a test").await;
        // The pause is spread a little.
        let same_pause = |row: &str| {
            let mut row = row.to_owned();
            for seconds in 40..=45 {
                row = row.replace(&format!("in {seconds} s"), "in 4x s");
            }
            row
        };
        nvim.expect_screen(&name, same_pause).await;
        nvim.input(":Dcode stop<CR>").await;
        nvim.wait_for("idle").await;
        assert_eq!(model.requests().len(), 2, "a stop ends the pause");
    })
    .await;
}

#[tokio::test]
async fn what_it_cost() {
    everywhere("usage", async |nvim, model, name| {
        model.push(counted(Reply::new().text("One."), 5_000, 4_000, 41).done());
        model.push(counted(Reply::new().text("Two."), 6_000, 0, 0).done());
        nvim.input(":Dcode first<CR>").await;
        nvim.wait_for("One.").await;
        nvim.wait_for("idle").await;
        nvim.input(":Dcode model mock:another<CR>").await;
        nvim.wait_for("The model is mock:another now.").await;
        nvim.input(":Dcode second<CR>").await;
        nvim.wait_for("Two.").await;
        nvim.wait_for("idle").await;
        nvim.input(":Dcode usage<CR>").await;
        nvim.wait_for("paid in full again").await;
        nvim.expect_screen(&name, as_it_is).await;
    })
    .await;
}
