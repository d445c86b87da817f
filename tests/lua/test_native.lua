-- The library is found, and one that does not fit is named with the remedy.
local M = {}

--- Loads with a `package.loadlib` that hands out `open`.
---@param open fun(): any
---@return any native, string? message
local function load_with(open)
  package.loaded['dcode.native'] = nil
  local native = require('dcode.native')
  local loadlib, stat = package.loadlib, vim.uv.fs_stat
  package.loadlib = function()
    return open
  end
  vim.uv.fs_stat = function()
    return { type = 'file' }
  end
  local ok, library, message = pcall(native.load)
  package.loadlib, vim.uv.fs_stat = loadlib, stat
  package.loaded['dcode.native'] = nil
  assert(ok, library)
  return library, message
end

function M.a_library_of_another_protocol_is_not_used(t)
  local native, message = load_with(function()
    return { protocol_version = 99 }
  end)
  t.eq(nil, native)
  assert(vim.startswith(message, 'Run cargo build --release in '), message)
  assert(message:find('the library speaks protocol 99, the Lua files speak %d+'), message)
end

function M.a_foreign_library_is_named(t)
  local native, message = load_with(function()
    return 'something else'
  end)
  t.eq(nil, native)
  assert(message:find('is a library, but not of dcode', 1, true), message)
end

function M.a_library_that_fails_to_start_says_why(t)
  local native, message = load_with(function()
    error('no memory', 0)
  end)
  t.eq(nil, native)
  assert(message:find('does not start: no memory', 1, true), message)
end

return M
