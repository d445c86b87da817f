--- Makes a batch of edits of the agent in loaded buffers: every buffer or none, then writes them.
local M = {}

local buffers = require('dcode.buffers')
local edits = require('dcode.review.edits')
local review = require('dcode.review')
local save = require('dcode.review.save')

---@class dcode.BufferEdits
---@field path string
---@field buf integer
---@field tick integer
---@field edits { start: integer, lines: string[] }[]
---@field eol? boolean
---@field save boolean
---@field deleted boolean

---@class dcode.EditBatch
---@field origin 'agent'|'restore'
---@field label string
---@field files dcode.BufferEdits[]
---@field unloaded? string[]

---@param stale boolean
---@param message string
---@return table
local function refused(stale, message)
  return { kind = 'refused', stale = stale, message = message }
end

--- Whether an error means that the editor cannot be edited just now.
---@param err string
---@return boolean
function M.is_lock(err)
  for _, code in ipairs({ 'E565', 'E5555', 'E523', 'E578', 'E11:' }) do
    if err:find(code, 1, true) then
      return true
    end
  end
  return false
end

---@param file dcode.BufferEdits
---@return table? refusal
local function check_file(file)
  local name = vim.fs.basename(file.path)
  if not vim.api.nvim_buf_is_valid(file.buf) or not vim.api.nvim_buf_is_loaded(file.buf) then
    return refused(true, ('The buffer of %s was closed. Read the file again.'):format(name))
  end
  if file.save then
    buffers.check_disk(file.buf)
  end
  if vim.api.nvim_buf_get_changedtick(file.buf) ~= file.tick then
    return refused(true, ('%s changed since it was read. Read it again.'):format(name))
  elseif buffers.path(file.buf) ~= file.path then
    return refused(true, ('The buffer of %s has another name now. Read it again.'):format(name))
  elseif not vim.bo[file.buf].modifiable then
    local words = '%s is open in a buffer that may not be changed. The person can :set modifiable.'
    return refused(false, words:format(name))
  end
end

---@param batch dcode.EditBatch
---@return table? refusal
local function check(batch)
  for _, file in ipairs(batch.files) do
    local refusal = check_file(file)
    if refusal then
      return refusal
    end
  end
  for _, path in ipairs(batch.unloaded or {}) do
    if buffers.find(path) then
      local words = '%s was opened meanwhile. Read it again.'
      return refused(true, words:format(vim.fs.basename(path)))
    end
  end
end

---@param file dcode.BufferEdits
---@param origin 'agent'|'restore'
local function set_eol(file, origin)
  if file.eol == nil then
    return
  end
  review.set_eol(file.buf, file.eol, origin)
end

--- Edits all buffers; on a failure none of them is changed.
---@param batch dcode.EditBatch
---@return boolean ok, string? err
local function edit_all(batch)
  local done = {}
  for _, file in ipairs(batch.files) do
    if batch.origin == 'agent' then
      review.attach(file.buf, file.path)
    end
    review.mark(file.buf)
    local ok, result = review.as(file.buf, batch.origin, function()
      return edits.apply(file.buf, edits.read(file.edits))
    end)
    if not ok then
      for i = #done, 1, -1 do
        review.as(batch.files[i].buf, 'restore', done[i])
      end
      return false, result --[[@as string]]
    end
    done[#done + 1] = result
  end
  return true
end

--- The file of a buffer is removed by the batch: its text is gone, and that waits for review.
---@param buf integer
---@param origin 'agent'|'restore'
local function tell_deleted(buf, origin)
  local native = require('dcode.session').state.native
  if native and review.get(buf) then
    local author = origin == 'agent' and 'agent' or 'person'
    native.review({ action = 'removed', buf = buf, origin = author })
  end
end

--- Writes the buffer where the batch wants it. What formatters change on the way is the agent's
--- too.
---@param file dcode.BufferEdits
---@param origin 'agent'|'restore'
---@param was_modified boolean
---@return { path: string, buf: integer, saved: boolean, note?: string, eol: boolean, modified: boolean }
local function finish(file, origin, was_modified)
  local saved, note = false, nil
  if file.deleted then
    tell_deleted(file.buf, origin)
  elseif was_modified then
    note = 'it held unsaved changes of the person'
  elseif file.save then
    saved, note = review.as(file.buf, origin, function()
      return save.write(file.buf)
    end)
  end
  local valid = vim.api.nvim_buf_is_valid(file.buf)
  return {
    path = file.path,
    buf = file.buf,
    saved = saved,
    note = note,
    eol = not valid or buffers.eol(file.buf),
    modified = valid and vim.bo[file.buf].modified,
  }
end

--- Makes a batch.
---@param batch dcode.EditBatch
---@return table? reply nil when the editor cannot be edited just now: try again later
function M.run(batch)
  local refusal = check(batch)
  if refusal then
    return refusal
  end
  local was_modified = {}
  for _, file in ipairs(batch.files) do
    was_modified[file.buf] = vim.bo[file.buf].modified
  end
  local ok, err = edit_all(batch)
  if not ok then
    if M.is_lock(err or '') then
      return nil
    end
    return refused(false, 'Neovim refused the change: ' .. (err or ''):match('[^\n]*'))
  end
  local rows = {}
  for i, file in ipairs(batch.files) do
    set_eol(file, batch.origin)
    rows[i] = finish(file, batch.origin, was_modified[file.buf])
    edits.end_block(file.buf)
    review.mark(file.buf)
    review.plan(file.buf)
  end
  return { kind = 'applied', files = rows }
end

return M
