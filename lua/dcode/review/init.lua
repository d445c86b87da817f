--- Buffers under review: what changes in them goes to the library, what waits in them is drawn.
local M = {}

local buffers = require('dcode.buffers')
local draw = require('dcode.review.draw')
local hint = require('dcode.review.hint')
local log = require('dcode.log')
local spans = require('dcode.review.spans')

---@class dcode.Reviewed
---@field path string
---@field origin 'agent'|'person' whose the changes are that come in now
---@field seq integer undo sequence number at the last rest
---@field marked table<integer, true> sequence numbers that the library remembers
---@field hunks dcode.Span[]
---@field revision integer? grows when hunks change in more than their line numbers
---@field planned boolean a redraw is planned
---@field restoring boolean? the changes that come in now put back what was there
---@field batch integer[]? what a batch has changed so far, told as one
---@field own_edits boolean whether the person has unsaved changes in it

---@type table<integer, dcode.Reviewed>
local reviewed = {}

--- How long a redraw waits for more typing.
local TYPING_MS = 30

---@return dcode.Native?
local function native()
  return require('dcode.session').state.native
end

---@param opts table
---@return any? answer, string? message
local function review(opts)
  local lib = native()
  if not lib then
    return nil, 'dcode does not run.'
  end
  return lib.review(opts)
end

---@param buf integer
---@return integer
local function undo_seq(buf)
  return vim.fn.undotree(buf).seq_cur
end

--- Remembers what waits in a buffer for its present undo state.
---@param buf integer
function M.mark(buf)
  local r = reviewed[buf]
  if r then
    r.seq = undo_seq(buf)
    r.marked[r.seq] = true
    review({ action = 'mark', buf = buf, seq = r.seq })
  end
end

--- The text has come to rest. After undo or redo what waited there waits again.
---@param buf integer
local function settle(buf)
  local r = reviewed[buf]
  if not r then
    return
  end
  local seq = undo_seq(buf)
  if seq ~= r.seq and r.marked[seq] then
    local answer = review({ action = 'arrive', buf = buf, seq = seq })
    if answer and answer.restored then
      r.seq = seq
      return M.plan(buf)
    end
  end
  M.mark(buf)
end

--- Draws anew and maps or unmaps the keys.
---@param buf integer
function M.refresh(buf)
  local r, lib = reviewed[buf], native()
  if not r or not lib then
    return
  elseif not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  local numbers, why = lib.spans({ buf = buf })
  if not numbers then
    return log.fault('spans', why)
  end
  local hunks = spans.read(numbers)
  local news = not spans.same(r.hunks, hunks)
  r.hunks = hunks
  draw.update(buf, hunks)
  if #hunks > 0 then
    require('dcode.keymaps').attach(buf)
  else
    require('dcode.keymaps').detach(buf)
  end
  if vim.api.nvim_get_current_buf() == buf then
    hint.update(buf, hunks)
  end
  if news then
    require('dcode.status').update()
    require('dcode.events').fire('HunksChanged', { paths = { r.path } })
  end
end

--- Where the hunks of a buffer stand, in the order of their lines.
---@param buf integer
---@return dcode.Span[]
function M.hunks(buf)
  local r = reviewed[buf]
  if r and r.planned then
    M.refresh(buf)
  end
  return r and r.hunks or {}
end

--- Plans a redraw; many changes make one.
---@param buf integer
---@param wait_ms? integer
function M.plan(buf, wait_ms)
  local r = reviewed[buf]
  if r and not r.planned then
    r.planned = true
    vim.defer_fn(function()
      r.planned = false
      log.guard('review', M.refresh, buf)
    end, wait_ms or 0)
  end
end

---@param buf integer
local function forget(buf)
  local r = reviewed[buf]
  if not r then
    return
  end
  reviewed[buf] = nil
  draw.clear(buf)
  hint.clear()
  require('dcode.keymaps').detach(buf)
  review({ action = 'detach', buf = buf })
end

---@param buf integer
---@param first integer
---@param last integer
---@param new_last integer
---@return boolean? detach
local function on_lines(buf, first, last, new_last)
  local r = reviewed[buf]
  if not r or not native() then
    return true
  end
  if r.batch then
    vim.list_extend(r.batch, { first, last, new_last })
    return
  end
  local answer, why = review({
    action = 'lines',
    buf = buf,
    first = first,
    last = last,
    new_last = new_last,
    origin = r.origin,
  })
  if not answer then
    log.fault('review', why)
    return
  end
  r.own_edits = r.own_edits or (r.origin == 'person' and not r.restoring)
  local same = answer.revision and answer.revision == r.revision and not r.planned
  if same and spans.shift(r.hunks, first, last, new_last - last) then
    return
  end
  r.revision = answer.revision
  M.plan(buf, r.origin == 'person' and TYPING_MS or 0)
end

---@param buf integer
local function watch(buf)
  local group = vim.api.nvim_create_augroup('dcode.review.' .. buf, { clear = true })
  local function on(events, desc, fn)
    vim.api.nvim_create_autocmd(events, {
      group = group,
      buffer = buf,
      desc = 'dcode: ' .. desc,
      callback = function()
        if not reviewed[buf] then
          return true
        end
        log.guard('review', fn)
      end,
    })
  end
  on({ 'TextChanged', 'InsertLeave' }, 'keep review and undo in step', function()
    settle(buf)
  end)
  on({ 'BufWritePost' }, 'nothing of the person is unsaved', function()
    reviewed[buf].own_edits = false
  end)
  on({ 'BufFilePost' }, 'a buffer with another name holds another file', function()
    forget(buf)
  end)
  on({ 'CursorMoved', 'BufEnter', 'InsertLeave', 'WinResized' }, 'hint of the hunk', function()
    hint.update(buf, reviewed[buf].hunks)
  end)
  on({ 'InsertEnter', 'BufLeave' }, 'no hint while typing', function()
    hint.clear()
  end)
  on({ 'BufWinEnter' }, 'lines removed above the first', function()
    require('dcode.review.edges').top(buf)
  end)
end

--- Takes a buffer under review: from here on the library hears of every change.
---@param buf integer
---@param path? string
---@return boolean? ok, string? message
function M.attach(buf, path)
  if reviewed[buf] then
    return true
  end
  path = path or buffers.path(buf)
  if not path then
    return nil, 'Only the buffer of a file can be reviewed.'
  end
  local answer, why = review({ action = 'attach', buf = buf, path = path, eol = buffers.eol(buf) })
  if not answer then
    return nil, why
  end
  require('dcode.highlights').setup()
  reviewed[buf] = {
    path = path,
    origin = 'person',
    seq = undo_seq(buf),
    marked = {},
    hunks = {},
    planned = false,
    own_edits = vim.bo[buf].modified,
  }
  vim.api.nvim_buf_attach(buf, false, {
    on_lines = function(_, _, _, first, last, new_last)
      local ok, detach = log.guard('review', on_lines, buf, first, last, new_last)
      return ok and detach or nil
    end,
    on_reload = function()
      if reviewed[buf] then
        review({ action = 'resync', buf = buf, eol = buffers.eol(buf) })
        reviewed[buf].own_edits = false
        draw.clear(buf)
        M.plan(buf)
      end
    end,
    on_detach = function()
      vim.schedule(function()
        -- A buffer that is loaded again at once (`:edit`) stays under review.
        if reviewed[buf] and not vim.api.nvim_buf_is_loaded(buf) then
          forget(buf)
        elseif reviewed[buf] then
          local held = reviewed[buf].path
          forget(buf)
          M.attach(buf, held)
          M.plan(buf)
        end
      end)
    end,
  })
  watch(buf)
  M.mark(buf)
  return true
end

--- Lets a buffer go; what waits in its file goes on waiting.
M.detach = forget

--- What is known of a buffer under review.
---@param buf integer
---@return dcode.Reviewed?
function M.get(buf)
  return reviewed[buf]
end

--- Buffers under review, by number.
---@return integer[]
function M.list()
  local list = vim.tbl_keys(reviewed)
  table.sort(list)
  return list
end

--- Runs `fn` while the changes of a buffer count as `origin`'s. Returns what it returns.
---@param buf integer
---@param origin 'agent'|'restore'
---@param fn fun(): ...
---@return ...
function M.as(buf, origin, fn)
  local r = reviewed[buf]
  if not r then
    return fn()
  end
  local before, restoring = r.origin, r.restoring
  r.origin, r.restoring = origin == 'agent' and 'agent' or 'person', origin ~= 'agent'
  local results = vim.F.pack_len(pcall(fn))
  r.origin, r.restoring = before, restoring
  if not results[1] then
    error(results[2], 0)
  end
  return select(2, vim.F.unpack_len(results))
end

--- The final newline of a buffer comes or goes, by us.
---@param buf integer
---@param eol boolean
---@param origin 'agent'|'restore'
function M.set_eol(buf, eol, origin)
  M.as(buf, origin, function()
    vim.bo[buf].endofline = eol
    local r = reviewed[buf]
    if r then
      review({ action = 'eol', buf = buf, eol = eol, origin = r.origin })
    end
  end)
end

--- The same by somebody else: what `set_eol` does tells of itself.
---@param buf integer
function M.eol_changed(buf)
  local r = reviewed[buf]
  if r and native() and r.origin == 'person' and not r.restoring then
    review({ action = 'eol', buf = buf, eol = buffers.eol(buf), origin = 'person' })
    M.plan(buf)
  end
end

--- Runs `fn`, which changes a buffer from the bottom up; the library hears of all of it at once.
--- Returns what it returns.
---@param buf integer
---@param fn fun(): ...
---@return ...
function M.batch(buf, fn)
  local r = reviewed[buf]
  if not r or r.batch then
    return fn()
  end
  r.batch = {}
  local results = vim.F.pack_len(pcall(fn))
  local changes = r.batch
  r.batch = nil
  if #changes > 0 then
    local told = { action = 'batch', buf = buf, changes = changes, origin = r.origin }
    local answer, why = review(told)
    if answer then
      r.own_edits = r.own_edits or (r.origin == 'person' and not r.restoring)
      r.revision = answer.revision
    else
      log.fault('review', why)
    end
    M.plan(buf)
  end
  if not results[1] then
    error(results[2], 0)
  end
  return select(2, vim.F.unpack_len(results))
end

--- The library's hunks of files changed from outside the main thread.
---@param paths string[]
function M.changed(paths)
  local lib = native()
  for _, path in ipairs(paths) do
    local buf = buffers.find(path)
    if buf and not reviewed[buf] then
      local hunks = lib and lib.hunks({ path = path })
      if hunks and #hunks > 0 then
        M.attach(buf, path)
      end
    end
    if buf then
      M.plan(buf)
    end
  end
end

--- Watches what happens to files and windows. Called when a session starts.
function M.watch()
  require('dcode.review.watch').start()
end

return M
