#!/usr/bin/env bash
# The library may ask Neovim only for what is the same in 0.10, 0.11 and 0.12: ten functions of Neovim
# and libuv that take no options struct, and the C API of Lua 5.1. LuaJIT opens a library with RTLD_NOW, so
# one symbol too many means that it does not load at all.
#
#   tests/abi.sh [library]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ $(uname) == Darwin ]]; then
  library=${1:-target/release/libdcode.dylib}
  undefined() { nm -u "$library" | sed 's/^ *_//'; }
else
  library=${1:-target/release/libdcode.so}
  undefined() { nm --dynamic --undefined-only "$library" | awk '{ sub(/@.*/, "", $NF); print $NF }'; }
fi
[[ -f $library ]] || { echo "$library is not there: make build" >&2 && exit 1; }

neovim='luv_loop uv_async_init uv_async_send uv_handle_get_data uv_handle_set_data
  nvim_buf_get_lines nvim_buf_is_valid nvim_buf_is_loaded nvim_buf_line_count nvim_buf_get_changedtick'

lua='lua_newstate lua_close lua_newthread lua_atpanic lua_gettop lua_settop lua_pushvalue lua_remove lua_insert
  lua_replace lua_checkstack lua_xmove lua_isnumber lua_isstring lua_iscfunction lua_isuserdata lua_type
  lua_typename lua_equal lua_rawequal lua_lessthan lua_tonumber lua_tointeger lua_toboolean lua_tolstring
  lua_objlen lua_tocfunction lua_touserdata lua_tothread lua_topointer lua_pushnil lua_pushnumber
  lua_pushinteger lua_pushlstring lua_pushstring lua_pushvfstring lua_pushfstring lua_pushcclosure
  lua_pushboolean lua_pushlightuserdata lua_pushthread lua_gettable lua_getfield lua_rawget lua_rawgeti
  lua_createtable lua_newuserdata lua_getmetatable lua_getfenv lua_settable lua_setfield lua_rawset
  lua_rawseti lua_setmetatable lua_setfenv lua_call lua_pcall lua_cpcall lua_load lua_dump lua_yield
  lua_resume lua_status lua_gc lua_error lua_next lua_concat lua_getallocf lua_setallocf lua_getstack
  lua_getinfo lua_getlocal lua_setlocal lua_getupvalue lua_setupvalue lua_sethook lua_gethook
  lua_gethookmask lua_gethookcount luaL_openlib luaL_register luaL_getmetafield luaL_callmeta luaL_typerror
  luaL_argerror luaL_checklstring luaL_optlstring luaL_checknumber luaL_optnumber luaL_checkinteger
  luaL_optinteger luaL_checkstack luaL_checktype luaL_checkany luaL_newmetatable luaL_checkudata luaL_where
  luaL_error luaL_checkoption luaL_ref luaL_unref luaL_loadfile luaL_loadbuffer luaL_loadstring
  luaL_newstate luaL_gsub luaL_findtable luaL_openlibs luaopen_base luaopen_table luaopen_io luaopen_os
  luaopen_string luaopen_math luaopen_debug luaopen_package'

symbols=$(undefined)
asked=$(grep -E '^(nvim_|uv_|luv|lua)' <<<"$symbols" | sort -u || true)
if ! grep -q '^lua' <<<"$asked"; then
  echo "$library was built without the glue to Neovim: make build" >&2
  exit 1
fi
strange=$(comm -23 <(echo "$asked") <(printf '%s\n' $neovim $lua | sort -u))
if [[ -n $strange ]]; then
  printf '%s asks Neovim for symbols that are not on the list:\n%s\n' "$library" "$strange" >&2
  exit 1
fi
echo "abi: $(grep -cE '^(nvim_|uv_|luv)' <<<"$asked" || true) of Neovim, $(grep -c '^lua' <<<"$asked" || true) of Lua, all on the list"
