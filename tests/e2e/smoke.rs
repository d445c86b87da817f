//! The harness itself, and that the plugin loads on every Neovim.

use crate::driver::eventually;
use crate::neovims::on_each_neovim;
use crate::screen::as_it_is;
use crate::setup::Setup;

#[tokio::test]
async fn keys_go_in_and_the_screen_comes_out() {
    on_each_neovim(async |neovim| {
        let nvim = Setup::new()
            .size(40, 6)
            .file("a.txt", "one\ntwo\n")
            .open("a.txt")
            .start(neovim)
            .await;
        nvim.wait_for("two").await;
        nvim.input("Goth<C-v>u2603ree<Esc>").await;
        let screen = nvim.wait_for("th☃ree").await;
        assert_eq!(screen.find("th☃ree"), Some((2, 0)));
        assert_eq!(nvim.wait_gone("INSERT").await.cursor(), (2, 5));
        nvim.wait_until("normal mode", |screen| screen.mode() == "normal")
            .await;
        assert_eq!(
            nvim.lua::<Vec<String>>("return vim.api.nvim_buf_get_lines(0, 0, -1, true)")
                .await[2],
            "th☃ree"
        );
        assert_eq!(
            nvim.lua_with::<u64>("local a, b = ... return a + b", &(1, 2))
                .await,
            3
        );
        assert_eq!(nvim.on_disk("a.txt"), "one\ntwo\n");
        nvim.command("write").await;
        assert_eq!(nvim.on_disk("a.txt"), "one\ntwo\nth☃ree\n");
        nvim.wait_for_lua("not vim.bo.modified").await;
    })
    .await;
}

#[tokio::test]
async fn a_golden_screen_has_text_and_groups() {
    on_each_neovim(async |neovim| {
        let nvim = Setup::new()
            .size(40, 6)
            .file("a.txt", "one\ntwo\n")
            .open("a.txt")
            .before("set noruler laststatus=0 shortmess+=F")
            .start(neovim)
            .await;
        nvim.wait_for("two").await;
        nvim.lua::<()>(
            "local ns = vim.api.nvim_create_namespace('test')
             vim.api.nvim_buf_set_extmark(0, ns, 0, 0, { end_col = 2, hl_group = 'DiffAdd' })
             vim.api.nvim_buf_set_extmark(0, ns, 1, 0, { virt_lines = { { { 'gone', 'DiffDelete' } } } })",
        )
        .await;
        nvim.expect_screen("harness", as_it_is).await;
        assert_eq!(nvim.screen().groups_of("gone").as_deref(), Some("DiffDelete"));
    })
    .await;
}

#[tokio::test]
async fn colours_are_seen_dark_and_light() {
    on_each_neovim(async |neovim| {
        for (background, painted) in [("dark", (0x00ff00, 0x0000ff)), ("light", (0x0000ff, 0x00ff00))] {
            let reversed = if background == "light" { "gui=reverse" } else { "" };
            let nvim = Setup::new()
                .background(background)
                .file("a.txt", "one\n")
                .open("a.txt")
                .start(neovim)
                .await;
            nvim.command(&format!("highlight Mine guifg=#00ff00 guibg=#0000ff {reversed}"))
                .await;
            nvim.command("call matchadd('Mine', 'one')").await;
            nvim.wait_until("colours", |screen| screen.colours(0, 0) == painted)
                .await;
            assert_eq!(nvim.lua::<String>("return vim.o.background").await, background);
        }
    })
    .await;
}

#[tokio::test]
async fn an_end_is_seen_and_leftovers_are_found() {
    on_each_neovim(async |neovim| {
        for end in ["by itself", "killed"] {
            let mut nvim = Setup::new().start(neovim).await;
            nvim.lua::<()>("vim.uv.spawn('sleep', { args = { '60' }, detached = true })")
                .await;
            eventually("it is seen", || nvim.leftovers().len() == 1).await;
            assert!(nvim.memory() > 1000);
            if end == "killed" {
                nvim.kill().await;
            } else {
                nvim.input(":cquit 3<CR>").await;
                assert_eq!(nvim.exit().await.code(), Some(3));
            }
            let left = nvim.leftovers();
            let [sleep] = left.as_slice() else {
                panic!("{left:?}")
            };
            assert!(sleep.ends_with("sleep 60 "), "{sleep}");
            let pid = sleep.split(' ').next().unwrap().parse().unwrap();
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
    })
    .await;
}

/// A person who does not use the agent pays for a few commands and maps, and for nothing else.
#[tokio::test]
async fn the_plugin_file_loads_and_requires_nothing() {
    on_each_neovim(async |neovim| {
        let nvim = Setup::new().start(neovim).await;
        nvim.wait_for_lua("vim.v.vim_did_enter == 1").await;
        assert_eq!(nvim.lua::<String>("return vim.v.errmsg").await, "");
        assert!(
            nvim.lua::<bool>("return vim.fn.exists(':Dcode') == 2").await,
            "the command :Dcode is there"
        );
        let loaded: Vec<String> = nvim
            .lua(
                "return vim.tbl_filter(function(name) return vim.startswith(name, 'dcode') end,
                    vim.tbl_keys(package.loaded))",
            )
            .await;
        assert_eq!(loaded, Vec::<String>::new());
    })
    .await;
}
