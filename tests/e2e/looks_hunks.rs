//! Golden screens of every kind of hunk: 80 and 200 columns, dark and light. The groups are the same in both;
//! `looks::colours_stand_out_dark_and_light` looks at what they make of them.

use serde_json::{Value, json};

use crate::driver::Nvim;
use crate::model_server::ModelServer;
use crate::neovims::{Neovim, on_each_neovim};
use crate::screen::as_it_is;
use crate::setup::Setup;

const SIZES: [(i64, i64); 2] = [(80, 40), (200, 40)];

/// What Neovims do not draw alike is left out.
const ALIKE: &str = "set number noruler laststatus=2 statusline=%f notermguicolors noshowcmd shortmess+=FIW";

/// Runs `look` on each Neovim, in each size, dark and light; both are to look like `NAME-SIZE`.
async fn everywhere(name: &str, look: impl AsyncFn(&Neovim, (i64, i64), &str, String)) {
    on_each_neovim(async |neovim| {
        for size in SIZES {
            for background in ["dark", "light"] {
                look(neovim, size, background, format!("hunk-{name}-{}", size.0)).await;
            }
        }
    })
    .await;
}

fn setup(size: (i64, i64), background: &str, syntax: &str) -> Setup {
    Setup::new()
        .size(size.0, size.1)
        .background(background)
        .model(&ModelServer::start(), "mode = 'yolo'")
        .before(&format!("syntax {syntax} | {ALIKE}"))
}

async fn call(nvim: &Nvim, tool: &str, arguments: &Value) {
    let result = nvim.api("call", &json!([tool, arguments])).await.unwrap();
    assert_eq!(result["ok"], json!(true), "{result}");
}

const LONG: &str = "one long line that somebody wrote without thinking of those who read it in a terminal of eighty columns, with 宽字符 in it, which are two cells wide each, and which must not be torn apart at the edge of the window, however wide that is; so it goes on and on";

#[tokio::test]
async fn every_kind_of_change_in_one_file() {
    let text = format!(
        "removed at the top\nfirst\n\ttab one\tend\nwide 宽字符 here\nsame\ngone\n\nsame again\n{LONG}\nlast but one\nlast\nremoved at the end\n"
    );
    let edits = json!({ "path": "kinds.txt", "edits": [
        { "old_string": "removed at the top\n", "new_string": "" },
        { "old_string": "\ttab one\tend", "new_string": "\ttab two\tend" },
        { "old_string": "宽字符 here", "new_string": "宽字母 here" },
        { "old_string": "gone\n\n", "new_string": "" },
        { "old_string": format!("{LONG}\n"), "new_string": "short\nand new\n" },
        { "old_string": "last but one\n", "new_string": "last but one\nadded\n" },
        { "old_string": "removed at the end\n", "new_string": "" },
    ]});
    everywhere("kinds", async |neovim, size, background, name| {
        let setup = setup(size, background, "off").file("kinds.txt", &text);
        let nvim = setup.open("kinds.txt").start(neovim).await;
        call(&nvim, "edit_file", &edits).await;
        nvim.input("6G").await;
        nvim.wait_for("hunk 4/6").await;
        nvim.expect_screen(&name, as_it_is).await;
    })
    .await;
}

#[tokio::test]
async fn removed_lines_have_their_syntax() {
    let lua = "local M = {}\n\n-- The sum.\nfunction M.sum(items)\n  local sum = 0\n  for _, item in ipairs(items) do\n    sum = sum + item.price\n  end\n  return sum\nend\n\nreturn M\n";
    let c = "#include <stdio.h>\n\nint main(void)\n{\n\tint sum = 0; /* all */\n\tprintf(\"%d\\n\", sum);\n\treturn 0;\n}\n";
    everywhere("syntax", async |neovim, size, background, name| {
        // The letters of removed lines keep their colour where the background says nothing.
        let plain = "hi DiffDelete ctermbg=1 | filetype plugin on";
        let setup = setup(size, background, "on").before(plain);
        let setup = setup.file("sum.lua", lua).file("main.c", c).open("sum.lua");
        let nvim = setup.start(neovim).await;
        nvim.command("lua vim.treesitter.start()").await;
        nvim.command("botright split main.c").await;
        nvim.command("syntax on").await;
        let edit = json!({ "path": "sum.lua", "edits": [
            { "old_string": "  local sum = 0\n  for _, item in ipairs(items) do\n", "new_string": "  local sum = 1\n  for i, item in ipairs(items) do\n" },
        ]});
        call(&nvim, "edit_file", &edit).await;
        let edit = json!({ "path": "main.c", "old_string": "\tint sum = 0; /* all */\n\tprintf(\"%d\\n\", sum);\n", "new_string": "" });
        call(&nvim, "edit_file", &edit).await;
        nvim.input("5G").await;
        nvim.expect_screen(&name, as_it_is).await;
    })
    .await;
}

#[tokio::test]
async fn whole_files_and_final_newlines() {
    everywhere("files", async |neovim, size, background, name| {
        let setup = setup(size, background, "off").file("gone.txt", "a\nb\n");
        let setup = setup.file("newline.txt", "a\nb").open("newline.txt");
        let nvim = setup.start(neovim).await;
        call(
            &nvim,
            "write_file",
            &json!({ "path": "new.txt", "content": "made\nby the agent\n" }),
        )
        .await;
        call(&nvim, "delete", &json!({ "path": "gone.txt" })).await;
        call(
            &nvim,
            "write_file",
            &json!({ "path": "newline.txt", "content": "a\nb\n" }),
        )
        .await;
        nvim.command("silent botright split new.txt").await;
        nvim.command("silent botright split gone.txt").await;
        nvim.wait_for_hunks(1).await;
        nvim.wait_for("file deleted").await;
        nvim.input("<C-w>k").await;
        nvim.wait_for("new file").await;
        nvim.input("<C-w>k2G").await;
        let screen = nvim.wait_for("final newline").await;
        assert_eq!(screen.groups_of("made").as_deref(), Some("DcodeAdd"), "{name}");
    })
    .await;
}

/// Two narrow windows, one that does not wrap and is scrolled aside, and a fold over a hunk.
#[tokio::test]
async fn narrow_windows() {
    on_each_neovim(async |neovim| {
        let setup = setup((80, 24), "dark", "off").file("long.txt", &format!("first\n{LONG}\nlast\n"));
        let nvim = setup.open("long.txt").start(neovim).await;
        let edit = json!({ "path": "long.txt", "old_string": format!("{LONG}\n"), "new_string": "short\n" });
        call(&nvim, "edit_file", &edit).await;
        nvim.command("vsplit").await;
        nvim.input("2G").await;
        nvim.wait_for("hunk 1/1").await;
        nvim.expect_screen("hunk-narrow", as_it_is).await;
        nvim.command("only | set nowrap sidescroll=1").await;
        nvim.input("2G10zl").await;
        nvim.expect_screen("hunk-aside", as_it_is).await;
    })
    .await;
}

#[tokio::test]
async fn the_review_list() {
    on_each_neovim(async |neovim| {
        for size in SIZES {
            let setup = setup(size, "dark", "off").file("a.txt", "one\ntwo\nthree\n").file("b/c.txt", "x\ny\n");
            let nvim = setup.open("a.txt").start(neovim).await;
            let edits = json!([{ "old_string": "one\n", "new_string": "ONE\n" }, { "old_string": "three\n", "new_string": "" }]);
            call(&nvim, "edit_file", &json!({ "path": "a.txt", "edits": edits })).await;
            call(&nvim, "edit_file", &json!({ "path": "b/c.txt", "old_string": "y\n", "new_string": "y\nz\n" })).await;
            nvim.input(":Dcode review<CR>").await;
            nvim.wait_for("review: 2 files, 3 hunks").await;
            nvim.input("j").await;
            nvim.expect_screen(&format!("review-list-{}", size.0), as_it_is).await;
            nvim.input("G<CR>").await;
            nvim.wait_for_lua("vim.fn.expand('%:t') == 'c.txt' and vim.fn.line('.') == 3").await;
            nvim.input(":Dcode review<CR>").await;
            nvim.wait_for("review: 2 files, 3 hunks").await;
            nvim.input("Gr").await;
            nvim.wait_for("review: 1 file, 2 hunks").await;
            assert_eq!(nvim.on_disk("b/c.txt"), "x\ny\n");
            nvim.input("A").await;
            nvim.wait_gone("review:").await;
            assert_eq!(nvim.on_disk("a.txt"), "ONE\ntwo\n");
        }
    })
    .await;
}
