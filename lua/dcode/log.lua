--- The log file of the Lua side, and sentences for the person.
local M = {}

local LEVELS = {
  info = vim.log.levels.INFO,
  warn = vim.log.levels.WARN,
  error = vim.log.levels.ERROR,
}

local HIGHLIGHTS = { warn = 'WarningMsg', error = 'ErrorMsg' }

--- Where state lies: logs, sessions.
---@return string
function M.state_dir()
  return vim.fn.stdpath('state') .. '/dcode'
end

---@return string
function M.path()
  return M.state_dir() .. '/editor.log'
end

--- Makes the folder for state where there is none.
---@return string? dir, string? message
function M.make_state_dir()
  local dir = M.state_dir()
  pcall(vim.fn.mkdir, dir, 'p', tonumber('700', 8))
  if vim.fn.filewritable(dir) ~= 2 then
    return nil, dir .. ' cannot be written. Change its owner, or set XDG_STATE_HOME.'
  end
  return dir
end

--- Appends one entry. Never fails loudly: a full disk must not break the editor.
---@param message string
function M.write(message)
  if not M.make_state_dir() then
    return
  end
  -- Entries may quote what somebody typed; nobody else reads them.
  local file = vim.uv.fs_open(M.path(), 'a', tonumber('600', 8))
  if file then
    vim.uv.fs_write(file, os.date('%Y-%m-%dT%H:%M:%S ') .. message .. '\n')
    vim.uv.fs_close(file)
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

--- When the built-in message line last showed something of ours.
local shown_at = -math.huge

--- Puts a text into the history of `:messages`. What it leaves on the screen is drawn over.
---@param text string
local function remember(text)
  local more = vim.o.more
  vim.o.more = false
  vim.cmd.echomsg(vim.fn.string(text))
  vim.o.more = more
  vim.cmd.redraw()
end

--- Shows a text in one line of the screen; `:messages` has it whole.
---@param level 'info'|'warn'|'error'
---@param text string
local function show(level, text)
  local now = vim.uv.now()
  if now - shown_at < 500 then
    -- A second message below the first would ask for <CR>.
    vim.cmd.redraw()
  end
  shown_at = now
  text = text:gsub('%s*\n%s*', ' ')
  local room = math.max(vim.o.columns - 14, 20)
  if vim.fn.strdisplaywidth(text) <= room then
    return vim.notify(text, LEVELS[level] or LEVELS.info)
  end
  remember(text)
  local short = require('dcode.ui.text').cut(text, room)
  vim.api.nvim_echo({ { short, HIGHLIGHTS[level] } }, false, {})
end

--- Says one sentence, in one line where Neovim's own message line shows it.
---@param level 'info'|'warn'|'error'
---@param message string
---@param hint? string what to type
function M.notify(level, message, hint)
  if M.sink then
    return M.sink(level, message, hint)
  end
  local text = 'dcode: ' .. message .. (hint and hint ~= '' and (' ' .. hint) or '')
  if builtin_notify() and #vim.api.nvim_list_uis() > 0 then
    show(level, text)
  else
    vim.notify(text, LEVELS[level] or LEVELS.info)
  end
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
