--- What a person decides on hunks.
local M = {}

local edits = require('dcode.review.edits')
local review = require('dcode.review')
local save = require('dcode.review.save')
local spans = require('dcode.review.spans')

---@return dcode.Native?
local function native()
  return require('dcode.session').state.native
end

--- Says something in the message line, where somebody reads it.
---@param message string
function M.say(message)
  if #vim.api.nvim_list_uis() > 0 then
    vim.api.nvim_echo({ { message } }, false, {})
  end
end

--- The target as the library takes it.
---@param what dcode.ReviewTarget
---@return table? target, string? message
local function target(what)
  if type(what) ~= 'table' then
    return nil, 'Say which hunks: {buf=0, hunk=ID}, {buf=0, range={first, last}} or {all=true}.'
  end
  local buf = what.buf == 0 and vim.api.nvim_get_current_buf() or what.buf
  local t = { buf = buf, path = what.path, hunk = what.hunk }
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

--- Where a hunk stands among the others, for the message after it is gone, and in which buffer.
---@param id integer?
---@return string? words, integer? buf
local function place(id)
  for _, buf in ipairs(id and review.list() or {}) do
    local r = assert(review.get(buf))
    local hunks = review.hunks(buf)
    for i, hunk in ipairs(hunks) do
      if hunk.id == id then
        return ('hunk %d of %d in %s'):format(i, #hunks, vim.fs.basename(r.path)), buf
      end
    end
  end
end

--- `hunk 2 of 5 in total.rs` for one hunk, else a count.
---@param before string? what `place` said
---@param count integer
---@param files string[]
---@return string
local function described(before, count, files)
  local where = #files == 1 and (' in ' .. vim.fs.basename(files[1]))
    or (' in %d files'):format(#files)
  return before or require('dcode.ui.text').count(count, 'hunk') .. where
end

---@class dcode.Decision
---@field target table
---@field native dcode.Native
---@field place string?
---@field bufs integer[] the buffers that it may touch

--- What every decision begins with.
---@param action 'accept'|'reject'
---@param what dcode.ReviewTarget
---@return dcode.Decision? decision, string? message
local function begin(action, what)
  local lib = native()
  if not lib then
    return nil, 'Nothing waits for review.'
  end
  local t, why = target(what)
  if not t then
    return nil, why
  end
  t.action = action
  local words, buf = place(t.hunk)
  buf = buf or t.buf
  local bufs = buf and { buf } or (t.hunk or t.path) and {} or review.list()
  if t.path then
    bufs = vim.tbl_filter(function(one)
      return assert(review.get(one)).path == t.path
    end, review.list())
  end
  return { target = t, native = lib, place = words, bufs = bufs }
end

--- What every decision ends with.
---@param d dcode.Decision
---@param verb string
---@param count integer
---@param paths string[]
---@param more? string
---@return integer count, string? message
local function finish(d, verb, count, paths, more)
  if count == 0 then
    return 0, 'No hunk stands there.'
  end
  local words = verb .. ' ' .. described(d.place, count, paths)
  local sep = ' ' .. require('dcode.ui.signs').get().sep .. ' '
  M.say(more and words .. sep .. more or words)
  return count
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
  local d, why = begin('accept', what)
  if not d then
    return nil, why
  end
  local bufs = d.bufs
  vim.tbl_map(review.mark, bufs)
  local answer, err = d.native.review(d.target)
  if not answer then
    return nil, err
  end
  for _, buf in ipairs(bufs) do
    review.mark(buf)
    review.refresh(buf)
    write_accepted(buf)
  end
  return finish(d, 'accepted', answer.count, answer.paths or {})
end

--- Why a buffer cannot be edited, or nil.
---@param bufs integer[]
---@return string?
local function locked(bufs)
  local held = require('dcode.review.queue').held()
  if held then
    return ('The text cannot change now: %s.'):format(held)
  end
  for _, buf in ipairs(bufs) do
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
    review.set_eol(buf, file.eol, 'restore')
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
  local d, why = begin('reject', what)
  if not d then
    return nil, why
  end
  why = locked(d.bufs)
  if why then
    return nil, why
  end
  local answer, err = d.native.review(d.target)
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
      -- Only now: the agent hears of what is done.
      d.native.review({ action = 'rejected', path = file.path, hunks = file.told })
    end
  end
  return finish(d, 'rejected', answer.count, paths, 'u brings it back')
end

--- The hunk under the cursor of the current window.
---@return dcode.Span?, integer? index
function M.here()
  local hunks = review.hunks(vim.api.nvim_get_current_buf())
  return spans.at(hunks, vim.api.nvim_win_get_cursor(0)[1])
end

--- Accepts or rejects the hunk under the cursor, or the only one that waits anywhere.
---@param verb 'accept'|'reject'
---@return integer? count, string? message
function M.at_cursor(verb)
  local hunk = M.here()
  if not hunk then
    local lib = native()
    local files = lib and lib.review_files({}) or {}
    if #files == 0 then
      return nil, 'Nothing waits for review.'
    elseif #files > 1 or files[1].hunks > 1 then
      return nil, 'No hunk is under the cursor. ]h goes to the next, :Dcode review lists them.'
    end
    hunk = assert(lib).hunks({ path = files[1].path })[1]
  end
  return M[verb]({ hunk = hunk.id })
end

return M
