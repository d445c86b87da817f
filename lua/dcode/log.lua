--- The log file of the Lua side, and sentences for the person.
local M = {}

local LEVELS = {
  info = vim.log.levels.INFO,
  warn = vim.log.levels.WARN,
  error = vim.log.levels.ERROR,
}

--- Where state lies: logs, sessions.
---@return string
function M.state_dir()
  return vim.fn.stdpath('state') .. '/dcode'
end

---@return string
function M.path()
  return M.state_dir() .. '/editor.log'
end

--- Appends one entry. Never fails loudly: a full disk must not break the editor.
---@param message string
function M.write(message)
  vim.fn.mkdir(M.state_dir(), 'p', tonumber('700', 8))
  local file = io.open(M.path(), 'a')
  if file then
    file:write(os.date('%Y-%m-%dT%H:%M:%S '), message, '\n')
    file:close()
  end
end

--- Whether the built-in vim.notify speaks: it can show one line only, more asks for <CR>.
---@return boolean
local function builtin_notify()
  local source = debug.getinfo(vim.notify, 'S').source
  -- Neovim 0.12 keeps no file names in what it has built in.
  return source:find('editor.lua', 1, true) ~= nil or not vim.startswith(source, '@')
end

--- Where sentences go instead of the message line (the command line sets it).
---@type fun(level: string, message: string, hint?: string)?
M.sink = nil

--- Says one sentence in the message line, cut where it would ask for <CR>.
---@param level 'info'|'warn'|'error'
---@param message string
---@param hint? string what to type
function M.notify(level, message, hint)
  if M.sink then
    return M.sink(level, message, hint)
  end
  local text = 'dcode: ' .. message .. (hint and hint ~= '' and (' ' .. hint) or '')
  if builtin_notify() and #vim.api.nvim_list_uis() > 0 then
    local room = math.max(vim.o.columns - 14, 20)
    text = text:gsub('%s*\n%s*', ' ')
    if vim.fn.strdisplaywidth(text) > room then
      text = require('dcode.ui.text').cut(text, room)
    end
  end
  vim.notify(text, LEVELS[level] or LEVELS.info)
end

local said = {}

--- Reports a fault of our own: whole in the log, one line on screen, the same one once a minute.
---@param where string
---@param err any
function M.fault(where, err)
  M.write(where .. ': ' .. tostring(err))
  local now = vim.uv.now()
  if said[where] and now - said[where] < 60000 then
    return
  end
  said[where] = now
  vim.schedule(function()
    M.notify('error', ('Something in dcode failed (%s).'):format(where), ':Dcode log shows it.')
  end)
end

--- Calls `fn`; a fault goes to the log instead of the screen.
---@generic T
---@param where string
---@param fn fun(...): T
---@return boolean ok, T?
function M.guard(where, fn, ...)
  local args, n = { ... }, select('#', ...)
  local ok, value = xpcall(function()
    return fn(unpack(args, 1, n))
  end, debug.traceback)
  if not ok then
    M.fault(where, value)
    return false, nil
  end
  return true, value
end

return M
