--- What a person decides on hunks, and going from one to the next.
local M = {}

local edits = require('dcode.review.edits')
local hint = require('dcode.review.hint')
local review = require('dcode.review')
local save = require('dcode.review.save')

---@return dcode.Native?
local function native()
  return require('dcode.session').state.native
end

---@param message string
local function say(message)
  if #vim.api.nvim_list_uis() > 0 then
    vim.api.nvim_echo({ { message } }, false, {})
  end
end

---@param buf integer?
---@return integer?
local function number(buf)
  return buf == 0 and vim.api.nvim_get_current_buf() or buf
end

--- The target as the library takes it.
---@param what dcode.ReviewTarget
---@return table? target, string? message
local function target(what)
  if type(what) ~= 'table' then
    return nil, 'Say which hunks: {buf=0, hunk=ID}, {buf=0, range={first, last}} or {all=true}.'
  end
  local t = { buf = number(what.buf), path = what.path, hunk = what.hunk }
  if what.range then
    local first = what.range[1] or what.range.first
    local last = what.range[2] or what.range.last
    if type(first) ~= 'number' or type(last) ~= 'number' then
      return nil, 'range is {first, last}, lines counted from 1.'
    end
    t.range = { math.min(first, last), math.max(first, last) }
    t.buf = t.buf or vim.api.nvim_get_current_buf()
  elseif not t.hunk and not what.all then
    return nil, 'Say which hunks: hunk=ID, range={first, last} or all=true.'
  end
  if t.hunk then
    -- An id says it all.
    t.buf, t.path = nil, nil
  elseif t.buf and not review.get(t.buf) then
    return nil, 'No hunk waits in this buffer.'
  end
  return t
end

--- `2 of 5 in total.rs` for one hunk, else a count.
---@param t table
---@param count integer
---@param files string[]
---@return string
local function described(t, count, files, before)
  if t.hunk and before then
    return before
  end
  local where = #files == 1 and (' in ' .. vim.fs.basename(files[1]))
    or (' in %d files'):format(#files)
  return (count == 1 and '1 hunk' or count .. ' hunks') .. where
end

--- Where a hunk stands among the others, for the message after it is gone.
---@param id integer?
---@return string?
local function place(id)
  if not id then
    return nil
  end
  for _, buf in ipairs(review.list()) do
    local r = assert(review.get(buf))
    local hunks = review.hunks(buf)
    for i, hunk in ipairs(hunks) do
      if hunk.id == id then
        return ('hunk %d of %d in %s'):format(i, #hunks, vim.fs.basename(r.path))
      end
    end
  end
end

---@param t table
---@return integer[]
local function touched_buffers(t)
  return t.buf and { t.buf } or review.list()
end

--- Writes what was accepted where that is wanted and nothing of the person would go along.
---@param buf integer
local function write_accepted(buf)
  local r = review.get(buf)
  local wanted = save.policy() == 'on_accept' and vim.bo[buf].modified
  if r and wanted and not r.own_edits and #r.hunks == 0 then
    save.write_or_tell(buf)
  end
end

--- The hunks' text stays as it is.
---@param what dcode.ReviewTarget
---@return integer? count, string? message
function M.accept(what)
  local lib = native()
  if not lib then
    return nil, 'Nothing waits for review.'
  end
  local t, why = target(what)
  if not t then
    return nil, why
  end
  local bufs, before = touched_buffers(t), place(t.hunk)
  vim.tbl_map(review.mark, bufs)
  t.action = 'accept'
  local answer, err = lib.review(t)
  if not answer then
    return nil, err
  end
  for _, buf in ipairs(bufs) do
    review.mark(buf)
    review.refresh(buf)
    write_accepted(buf)
  end
  if answer.count == 0 then
    return 0, 'No hunk stands there.'
  end
  say('accepted ' .. described(t, answer.count, answer.paths or {}, before))
  return answer.count
end

--- Why a buffer cannot be edited, or nil.
---@param t table
---@return string?
local function locked(t)
  local held = require('dcode.review.queue').held()
  if held then
    return ('The text cannot change now: %s.'):format(held)
  end
  for _, buf in ipairs(touched_buffers(t)) do
    if #review.hunks(buf) > 0 and not vim.bo[buf].modifiable then
      return 'This buffer may not be changed. :set modifiable allows it.'
    end
  end
end

--- A file that the agent made and nobody else touched goes away again.
---@param file { path: string, buf: integer }
local function remove_file(file)
  assert(native()).review({ action = 'removed', buf = file.buf, origin = 'person' })
  if vim.uv.fs_stat(file.path) then
    vim.uv.fs_unlink(file.path)
  end
  vim.bo[file.buf].modified = false
end

--- Puts the base back in one buffer.
---@param file { path: string, buf: integer, edits: table[], eol?: boolean, remove: boolean }
---@return boolean ok, string? message
local function put_back(file)
  local buf = file.buf
  local was_modified = vim.bo[buf].modified
  review.mark(buf)
  local ok, result = review.as(buf, 'restore', function()
    return edits.apply(buf, edits.read(file.edits))
  end)
  if not ok then
    return false, 'Neovim refused the change: ' .. tostring(result):match('[^\n]*')
  end
  if file.eol ~= nil then
    vim.bo[buf].endofline = file.eol
    local lib = assert(native())
    lib.review({ action = 'eol', buf = buf, eol = file.eol, origin = 'person' })
  end
  if file.remove then
    remove_file(file)
  elseif not was_modified and save.policy() ~= 'never' then
    review.as(buf, 'restore', function()
      save.write_or_tell(buf)
    end)
  end
  edits.end_block(buf)
  review.mark(buf)
  review.refresh(buf)
  return true
end

--- The old text comes back.
---@param what dcode.ReviewTarget
---@return integer? count, string? message
function M.reject(what)
  local lib = native()
  if not lib then
    return nil, 'Nothing waits for review.'
  end
  local t, why = target(what)
  if not t then
    return nil, why
  end
  why = locked(t)
  if why then
    return nil, why
  end
  local before = place(t.hunk)
  t.action = 'reject'
  local answer, err = lib.review(t)
  if not answer then
    return nil, err
  end
  local paths = {}
  for _, file in ipairs(answer.files or {}) do
    paths[#paths + 1] = file.path
    if file.buf then
      local ok, message = put_back(file)
      if not ok then
        return nil, message
      end
    end
  end
  if answer.count == 0 then
    return 0, 'No hunk stands there.'
  end
  local sep = require('dcode.config').get().ascii and ' - ' or ' · '
  say('rejected ' .. described(t, answer.count, paths, before) .. sep .. 'u brings it back')
  return answer.count
end

---@return dcode.Hunk[]
local function here()
  return review.hunks(vim.api.nvim_get_current_buf())
end

--- Accepts or rejects the hunk under the cursor, or the only one that waits anywhere.
---@param verb 'accept'|'reject'
---@return integer? count, string? message
function M.at_cursor(verb)
  local hunks = here()
  local hunk = require('dcode.review.spans').at(hunks, vim.api.nvim_win_get_cursor(0)[1])
  if not hunk then
    local all = native() and assert(native()).hunks({}) or {}
    if #all == 0 then
      return nil, 'Nothing waits for review.'
    elseif #all > 1 then
      return nil, 'No hunk is under the cursor. ]h goes to the next, :Dcode review lists them.'
    end
    hunk = all[1]
  end
  return M[verb]({ hunk = hunk.id })
end

---@param hunk dcode.Hunk
local function jump(hunk)
  vim.cmd("normal! m'")
  local last = vim.api.nvim_buf_line_count(0)
  vim.api.nvim_win_set_cursor(0, { math.min(hunk.start, last), 0 })
  vim.cmd('normal! zv')
  if hunk.start == 1 and hunk.gone > 0 then
    vim.fn.winrestview({ topline = 1, topfill = hunk.gone })
  end
end

---@param step 1|-1
---@param count integer
---@return boolean? ok, string? message
local function go(step, count)
  local hunks = here()
  if #hunks == 0 then
    local others = native() and #(assert(native()).hunks({}) or {}) or 0
    return nil,
      others > 0 and ('%d hunks wait in other files. :Dcode review lists them.'):format(others)
        or 'Nothing waits for review.'
  end
  local line = vim.api.nvim_win_get_cursor(0)[1]
  local at
  if step > 0 then
    at = 1
    while hunks[at] and hunks[at].start <= line do
      at = at + 1
    end
  else
    at = #hunks
    while hunks[at] and hunks[at].start >= line do
      at = at - 1
    end
  end
  at = (at - 1 + step * (count - 1)) % #hunks + 1
  jump(hunks[at])
  say(('hunk %d of %d'):format(at, #hunks))
  return true
end

--- Goes to the next hunk of the buffer, around the end.
---@return boolean? ok, string? message
function M.next()
  return go(1, vim.v.count1)
end

--- Goes to the hunk before, around the start.
---@return boolean? ok, string? message
function M.prev()
  return go(-1, vim.v.count1)
end

return M
