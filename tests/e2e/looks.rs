//! What the person sees, as golden screens: 80 and 200 columns, dark and light.

use serde_json::{Value, json};

use crate::driver::Nvim;
use crate::model_server::{ModelServer, Reply};
use crate::neovims::{Neovim, on_each_neovim};
use crate::setup::Setup;

const SIZES: [(i64, i64); 2] = [(80, 30), (200, 40)];

const FILE: &str = "use std::fmt;

pub struct Item {
    price: u64,
    count: u64,
}

/// The sum of all items.
pub fn total(items: &[Item]) -> u64 {
    let mut sum = 0;
    for i in items { sum += i.price }
    sum
}

// the end
";

/// A changed line, a deletion on line 1 and one at the end, an addition.
fn four_hunks() -> Value {
    json!({ "path": "total.rs", "edits": [
        { "old_string": "use std::fmt;\n\n", "new_string": "" },
        { "old_string": "    count: u64,\n", "new_string": "    count: u64,\n    name: String,\n" },
        { "old_string": "sum += i.price }", "new_string": "sum += i.price * i.count }" },
        { "old_string": "\n// the end\n", "new_string": "" },
    ]})
}

/// On each Neovim and in each size; golden screens are named `NAME-80` and so on.
async fn in_each_size(name: &str, look: impl AsyncFn(&Neovim, (i64, i64), String)) {
    on_each_neovim(async |neovim| {
        for size in SIZES {
            look(neovim, size, format!("{name}-{}", size.0)).await;
        }
    })
    .await;
}

/// The temporary folder has another name in each run, of the same length.
fn same_folder(row: &str) -> String {
    let Some((before, rest)) = row.split_once("/.tmp") else {
        return row.to_owned();
    };
    let rest: String = rest.chars().skip(6).collect();
    format!("{before}/.tmpXXXXXX{rest}")
}

async fn start(neovim: &Neovim, size: (i64, i64), model: &ModelServer, options: &str) -> Nvim {
    let setup = Setup::new()
        .size(size.0, size.1)
        .model(model, options)
        .file("total.rs", FILE)
        .open("total.rs");
    // Drawn alike by every Neovim: none of what they do not share, and no time that differs from run to run.
    let setup = setup.before(
        "syntax off | set number noruler laststatus=2 statusline=%f notermguicolors noshowcmd shortmess+=FI",
    );
    let nvim = setup.start(neovim).await;
    nvim.lua::<()>(
        "require('dcode.ui.text').duration = function() return '12 ms' end
         require('dcode.ui.text').clock = function() return '0:04' end",
    )
    .await;
    nvim
}

#[tokio::test]
async fn hunks_in_a_buffer() {
    in_each_size("hunks", async |neovim, size, name| {
        let nvim = start(neovim, size, &ModelServer::start(), "").await;
        nvim.api("call", &json!(["edit_file", four_hunks()]))
            .await
            .unwrap();
        nvim.wait_for_hunks(4).await;
        nvim.input("10G").await;
        nvim.wait_for("hunk 3/4").await;
        nvim.expect_screen(&name, same_folder).await;
    })
    .await;
}

#[tokio::test]
async fn the_chat_after_a_turn() {
    in_each_size("chat", async |neovim, size, name| {
        let model = ModelServer::start();
        let look = Reply::new().text("I'll look at the file **first**.").tool_call("c1", "read_file", &json!({ "path": "total.rs" }));
        model.push(look.tool_call("c2", "read_file", &json!({ "path": "none.rs" })).usage(1000, 900, 50).done());
        model.push(Reply::new().reasoning("The count is missing.").tool_call("c3", "edit_file", &four_hunks()).done());
        model.push(Reply::new().text("The sum ignored the count:\n\n```rust\nsum += i.price * i.count\n```\n\n- one `struct`\n- one loop\n").usage(2000, 1000, 50).done());
        let nvim = start(neovim, size, &model, "").await;
        nvim.input(":Dcode fix the sum in total.rs<CR>").await;
        nvim.wait_for("one loop").await;
        nvim.wait_for("4 hunks wait").await;
        nvim.wait_for("idle").await;
        nvim.expect_screen(&name, same_folder).await;
    })
    .await;
}

/// A turn that asks for `tool`, and the float that comes.
async fn asked(
    neovim: &Neovim,
    size: (i64, i64),
    options: &str,
    tool: &str,
    arguments: &Value,
) -> (Nvim, ModelServer) {
    let model = ModelServer::start();
    model.push(
        Reply::new()
            .text("I do it.")
            .tool_call("c1", tool, arguments)
            .done(),
    );
    let nvim = start(neovim, size, &model, options).await;
    nvim.input(":Dcode do it<CR>").await;
    nvim.wait_for("dcode asks").await;
    nvim.input(":Dcode answer<CR>").await;
    nvim.wait_for_lua("vim.bo.filetype == 'dcode-prompt'").await;
    (nvim, model)
}

#[tokio::test]
async fn an_approval_with_a_diff() {
    in_each_size("approval-edit", async |neovim, size, name| {
        let (nvim, _model) = asked(neovim, size, "mode = 'ask-all'", "edit_file", &four_hunks()).await;
        nvim.expect_screen(&name, same_folder).await;
    })
    .await;
}

#[tokio::test]
async fn an_approval_of_a_command() {
    in_each_size("approval-bash", async |neovim, size, name| {
        let command = json!({ "command": "cd build && rm -rf cache &&\n  cmake .. && ls" });
        let (nvim, _model) = asked(neovim, size, "sandbox = 'off'", "bash", &command).await;
        nvim.expect_screen(&name, same_folder).await;
        nvim.input("e").await;
        nvim.wait_for("e less").await;
        nvim.expect_screen(&format!("{name}-explained"), same_folder)
            .await;
    })
    .await;
}

/// A second model said no: what it said stands above the choices.
#[tokio::test]
async fn a_command_that_the_validator_blocked() {
    in_each_size("approval-blocked", async |neovim, size, name| {
        let model = ModelServer::start();
        let command = json!({ "command": "rm -rf build/cache && ls build" });
        model.push(
            Reply::new()
                .text("I clean up.")
                .tool_call("c1", "bash", &command)
                .done(),
        );
        let why = "Nobody asked for the cache to go, and building it again takes hours. \
                   The task only speaks of the sum in total.rs.";
        let verdict = json!({ "approve": false, "reasoning": why });
        model.push(Reply::new().tool_call("v1", "verdict", &verdict).done());
        let nvim = start(
            neovim,
            size,
            &model,
            "mode = 'yolo', sandbox = 'off', validator = { model = 'mock:m' }",
        )
        .await;
        nvim.input(":Dcode do it<CR>").await;
        nvim.wait_for("dcode asks").await;
        nvim.input(":Dcode answer<CR>").await;
        nvim.wait_for_lua("vim.bo.filetype == 'dcode-prompt'").await;
        nvim.expect_screen(&name, same_folder).await;
    })
    .await;
}

#[tokio::test]
async fn a_question() {
    in_each_size("question", async |neovim, size, name| {
        let options = json!([
            { "label": "pg", "description": "PostgreSQL: one server more to run, but everything that we may need later" },
            { "label": "mysql", "description": "MySQL" },
        ]);
        let questions = json!({ "questions": [
            { "question": "Which database should the example use?", "header": "Database", "options": options },
            { "question": "Which ones should the tests use?", "options": options, "multiple": true },
        ]});
        let (nvim, _model) = asked(neovim, size, "", "question", &questions).await;
        nvim.input("j").await;
        nvim.expect_screen(&name, same_folder).await;
        nvim.input("1<Space>").await;
        nvim.wait_for("2/2").await;
        nvim.expect_screen(&format!("{name}-several"), same_folder).await;
    })
    .await;
}

/// The colours are those of the colour scheme, and can be told from the text around, dark and light.
#[tokio::test]
async fn colours_stand_out_dark_and_light() {
    on_each_neovim(async |neovim| {
        for background in ["dark", "light"] {
            let setup = Setup::new()
                .background(background)
                .model(&ModelServer::start(), "")
                .file("total.rs", FILE)
                .open("total.rs");
            let nvim = setup.before("set termguicolors").start(neovim).await;
            nvim.api("call", &json!(["edit_file", four_hunks()]))
                .await
                .unwrap();
            let screen = nvim.wait_for("use std::fmt;").await;
            let plain = colours(&screen, "pub struct");
            for (text, group) in [
                ("use std::fmt;", "DcodeDelete"),
                ("name: String", "DcodeAdd"),
                ("* i.count", "DcodeWord"),
            ] {
                let groups = screen.groups_of(text).unwrap();
                let link = nvim
                    .lua_with::<Option<String>>(
                        "return vim.api.nvim_get_hl(0, { name = ... }).link",
                        &[group],
                    )
                    .await;
                let shown = link.unwrap_or_else(|| group.to_owned());
                assert!(
                    groups.contains(&shown),
                    "{background} {text}: {groups} has no {shown}"
                );
                let seen = colours(&screen, text);
                assert!(
                    contrast(seen.0, seen.1) > 2.0,
                    "{background}: {text} cannot be read: {seen:x?}"
                );
                assert_ne!(seen, plain, "{background}: {text} looks like plain text");
            }
        }
    })
    .await;
}

fn colours(screen: &crate::grid::Screen, text: &str) -> (u32, u32) {
    let (row, column) = screen
        .find(text)
        .unwrap_or_else(|| panic!("{text} on the screen"));
    screen.colours(row, column)
}

/// The contrast of two colours as the web's accessibility rules count it, from 1 to 21.
fn contrast(a: u32, b: u32) -> f64 {
    let luminance = |colour: u32| {
        let part = |shift: u32| {
            let value = f64::from((colour >> shift) & 0xff) / 255.0;
            if value <= 0.04045 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0)
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}
