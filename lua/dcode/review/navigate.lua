--- Going from hunk to hunk, through the buffer and on to other files, round the end.
local M = {}

local actions = require('dcode.review.actions')
local review = require('dcode.review')
local spans = require('dcode.review.spans')

---@return dcode.ReviewFile[]
local function files()
  local native = require('dcode.session').state.native
  return native and native.review_files({}) or {}
end

--- Shows a file in the current window, with what waits in it.
---@param path string
---@return boolean? ok, string? message
function M.open(path)
  local buf = require('dcode.buffers').find(path)
  if buf == vim.api.nvim_get_current_buf() then
    return true
  end
  local command = buf and { cmd = 'buffer', args = { tostring(buf) } }
    or { cmd = 'edit', args = { vim.fn.fnameescape(vim.fn.fnamemodify(path, ':.')) } }
  command.mods = { hide = true }
  local ok, err = pcall(vim.cmd, command)
  if not ok then
    return nil, ('%s cannot be opened: %s'):format(path, tostring(err):match('E%d+:.*') or err)
  end
  local now = vim.api.nvim_get_current_buf()
  review.changed({ path })
  review.refresh(now)
  return true
end

--- Shows as much of a hunk as the window has room for.
---@param span dcode.Span
local function reveal(span)
  local edges = require('dcode.review.edges')
  local win = vim.api.nvim_get_current_win()
  local last = math.min(spans.last(span), vim.api.nvim_buf_line_count(0))
  local hidden = span.at_end or last > vim.fn.line('w$')
  local above = span.gone > 0 and span.start <= vim.fn.line('w0')
  if hidden or above then
    local size = span.gone + span.count
    vim.cmd.normal({ size < vim.api.nvim_win_get_height(win) / 2 and 'zz' or 'zt', bang = true })
  end
  edges.top(vim.api.nvim_get_current_buf())
  edges.bottom(win)
end

--- Puts the cursor on a hunk of the current buffer; folds over it open.
---@param span dcode.Span
function M.to(span)
  vim.cmd("normal! m'")
  local last = vim.api.nvim_buf_line_count(0)
  vim.api.nvim_win_set_cursor(0, { math.min(span.start, last), 0 })
  vim.cmd('normal! zv')
  reveal(span)
end

--- Opens a file and goes to one of its hunks.
---@param path string
---@param id integer
---@return boolean? ok, string? message
function M.to_hunk(path, id)
  local ok, why = M.open(path)
  if not ok then
    return nil, why
  end
  for _, span in ipairs(review.hunks(vim.api.nvim_get_current_buf())) do
    if span.id == id then
      M.to(span)
      return true
    end
  end
  return nil, 'That hunk is not waiting any more.'
end

---@param index integer
---@param list dcode.Span[]
---@param other_file boolean
local function told(index, list, other_file)
  local minus = require('dcode.ui.signs').get().minus
  local span = list[index]
  local words = ('hunk %d of %d  +%d %s%d'):format(index, #list, span.count, minus, span.gone)
  if other_file then
    words = words .. '  ' .. vim.fn.fnamemodify(vim.api.nvim_buf_get_name(0), ':.')
  end
  actions.say(words)
end

--- Where `count` steps lead from a place in one file: which file, and its how manieth hunk.
---@param counts integer[] hunks of each file
---@param file integer the file one is in; 0 = none of them
---@param at integer the hunk that the first step leads to, within that file or just beyond it
---@param step 1|-1
---@param count integer
---@return integer file, integer index
function M.walk(counts, file, at, step, count)
  local total = 0
  for _, n in ipairs(counts) do
    total = total + n
  end
  local position = at + step * ((count - 1) % total)
  for i = 1, file - 1 do
    position = position + counts[i]
  end
  position = (position - 1) % total + 1
  for i, n in ipairs(counts) do
    if position <= n then
      return i, position
    end
    position = position - n
  end
  return #counts, counts[#counts]
end

---@param step 1|-1
---@param count integer
---@return boolean? ok, string? message
local function go(step, count)
  local buf = vim.api.nvim_get_current_buf()
  local here, line = review.hunks(buf), vim.api.nvim_win_get_cursor(0)[1]
  if #here > 0 then
    local index, wraps = spans.step(here, line, step, count)
    if not wraps then
      M.to(here[index])
      told(index, here, false)
      return true
    end
  end
  local all = files()
  if #all == 0 then
    return nil, 'Nothing waits for review.'
  end
  local counts, file, path = {}, 0, review.get(buf) and assert(review.get(buf)).path
  for i, row in ipairs(all) do
    counts[i] = row.hunks
    file = #here > 0 and row.path == path and i or file
  end
  local at = step > 0 and 1 or 0
  if file > 0 then
    local first = spans.step(here, line, step, 1)
    local turns = select(2, spans.step(here, line, step, 1))
    at = turns and (step > 0 and #here + 1 or 0) or first
  end
  local to_file, index = M.walk(counts, file, at, step, count)
  local ok, why = M.open(all[to_file].path)
  if not ok then
    return nil, why
  end
  local list = review.hunks(vim.api.nvim_get_current_buf())
  index = math.min(index, #list)
  if not list[index] then
    return nil, 'That hunk is not waiting any more.'
  end
  M.to(list[index])
  told(index, list, to_file ~= file)
  return true
end

--- Goes to the next hunk, in this file or the next one.
---@return boolean? ok, string? message
function M.next()
  return go(1, vim.v.count1)
end

--- Goes to the hunk before.
---@return boolean? ok, string? message
function M.prev()
  return go(-1, vim.v.count1)
end

return M
