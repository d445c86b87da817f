--- Batches of edits wait here while the editor cannot be edited: in the middle of a command, a
--- macro, a completion. They are made as soon as it can, in the order they came.
local M = {}

local log = require('dcode.log')

---@class dcode.QueuedBatch
---@field id integer request
---@field batch dcode.EditBatch

---@type dcode.QueuedBatch[]
local waiting = {}
local busy = false

--- Why no text can be edited just now, or nil.
---@return string?
function M.held()
  local mode = vim.api.nvim_get_mode()
  local kind = mode.mode:sub(1, 1)
  if vim.in_fast_event() or mode.blocking then
    return 'Neovim waits for a key'
  elseif mode.mode:sub(1, 2) == 'no' then
    return 'an operator waits for its motion'
  elseif kind == 'c' or kind == 'r' or kind == '!' then
    return 'a command is being typed'
  elseif vim.fn.getcmdwintype() ~= '' then
    return 'the command-line window is open'
  elseif vim.fn.pumvisible() == 1 then
    return 'a completion is open'
  elseif vim.fn.reg_recording() ~= '' or vim.fn.reg_executing() ~= '' then
    return 'a macro is recorded or played'
  elseif require('dcode.textlock').locked() then
    return 'text is locked'
  end
end

--- Whether a batch would change the very lines that somebody is typing in.
---@param batch dcode.EditBatch
---@return boolean
local function meets_typing(batch)
  local kind = vim.api.nvim_get_mode().mode:sub(1, 1)
  if kind ~= 'i' and kind ~= 'R' then
    return false
  end
  local buf, row = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
  for _, file in ipairs(batch.files) do
    for _, edit in ipairs(file.buf == buf and file.edits or {}) do
      if kind == 'R' or (edit.start <= row and row <= edit['end']) then
        return true
      end
    end
  end
  return false
end

local EVENTS = {
  'SafeState',
  'InsertLeave',
  'ModeChanged',
  'CmdlineLeave',
  'CmdwinLeave',
  'CompleteDone',
  'RecordingLeave',
  'CursorMovedI',
}

---@return integer
local function augroup()
  return vim.api.nvim_create_augroup('dcode.review.queue', { clear = true })
end

local planned = false

--- Looks again as soon as the editor is back in its main loop.
local function plan()
  if not planned then
    planned = true
    vim.schedule(function()
      planned = false
      M.drain()
    end)
  end
end

local watching = false

local function watch()
  if #waiting > 0 and not watching then
    watching = true
    vim.api.nvim_create_autocmd(EVENTS, {
      group = augroup(),
      desc = 'dcode: make the edits that wait',
      callback = plan,
    })
  elseif #waiting == 0 and watching then
    watching = false
    augroup()
  end
end

---@param id integer
---@param reply table
local function answer(id, reply)
  require('dcode.requests').reply(id, reply)
end

--- Makes the first batch that waits.
---@return boolean made
local function step()
  local first = waiting[1]
  if not first or M.held() or meets_typing(first.batch) then
    return false
  end
  local ok, reply = log.guard('apply', require('dcode.review.apply').run, first.batch)
  if ok and reply == nil then
    return false
  end
  -- The batch may have been cancelled by what an autocommand did.
  if waiting[1] == first then
    table.remove(waiting, 1)
  end
  reply = reply
    or { kind = 'refused', stale = false, message = 'dcode failed to make the change. :Dcode log' }
  answer(first.id, reply)
  return true
end

--- Makes what can be made now. Cheap when nothing waits.
function M.drain()
  if busy or #waiting == 0 then
    return
  end
  busy = true
  while step() do
  end
  busy = false
  watch()
end

--- A batch from the engine: made now, or as soon as the editor can be edited.
---@param id integer
---@param batch dcode.EditBatch
function M.push(id, batch)
  waiting[#waiting + 1] = { id = id, batch = batch }
  M.drain()
  watch()
end

--- The person stops everything: no batch that waits is made any more. Answered before the engine hears
--- of the stop, so that no batch is made between the two.
function M.drop()
  local dropped = waiting
  waiting = {}
  for _, one in ipairs(dropped) do
    answer(one.id, { kind = 'refused', stale = false, message = 'The turn was stopped.' })
  end
  watch()
end

--- A request is void: its batch is not made any more.
---@param id integer
function M.closed(id)
  for i, item in ipairs(waiting) do
    if item.id == id then
      table.remove(waiting, i)
      break
    end
  end
  watch()
end

--- How many batches wait.
---@return integer
function M.count()
  return #waiting
end

return M
