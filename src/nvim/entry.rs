//! Where Neovim enters: `package.loadlib(path, 'luaopen_dcode')`.

#![allow(unsafe_code)]

use std::ffi::c_int;

use crate::nvim::exports;

/// Makes the table that `require('dcode.native')` hands out.
///
/// # Safety
/// Called by Neovim's Lua on the main thread with a live state.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn luaopen_dcode(state: *mut mlua::lua_State) -> c_int {
    // SAFETY: the state is live and this is the main thread, as both entry points ask. nvim-oxi only
    // keeps the state and the event loop for later; mlua then makes the table and catches its errors.
    unsafe {
        nvim_oxi::entrypoint::entrypoint(state.cast(), || ());
        mlua::Lua::entrypoint1(state, exports::table)
    }
}
