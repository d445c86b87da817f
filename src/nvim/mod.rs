//! The glue to Neovim: the only module that may name mlua or nvim-oxi.
//!
//! The rules that keep one library right for Neovim 0.10, 0.11 and 0.12:
//!
//! - Text is *written* by Lua, and all windows, marks, keys and commands are Lua's.
//! - nvim-oxi binds C functions of Neovim by their layout. Used are `AsyncHandle`, `schedule`,
//!   `get_lines`, `is_valid`, `is_loaded`, `line_count`, `get_changedtick`, and nothing else;
//!   `tests/abi.sh` compares the library's undefined symbols with that list.
//! - `get_lines` leaks every line it returns; [`buffers`] is the one place that calls it, and frees.
//! - A panic in a callback that Neovim calls would end the process; each runs under
//!   [`guard`](crate::host::guard).
//! - Exported functions never throw: they return a value, or nil and a message.

mod app;
mod bridge;
mod buffers;
mod entry;
mod exports;
mod reply;
mod review;
