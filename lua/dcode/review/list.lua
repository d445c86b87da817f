--- Everything that waits for review, as rows: for the quickfix list and for the float.
local M = {}

---@class dcode.ReviewFile
---@field path string
---@field buf? integer
---@field hunks integer
---@field added integer
---@field removed integer
---@field file? 'created'|'deleted'

---@param hunk dcode.Hunk
---@return string
function M.gist(hunk)
  if hunk.whole and hunk.whole.kind == 'mode' then
    return ('mode %s, was %s'):format(hunk.whole.to, hunk.whole.from)
  elseif hunk.whole then
    return ('%s, not text'):format(hunk.file or 'changed')
  end
  local first
  for _, line in ipairs(#hunk.added > 0 and hunk.added or hunk.removed) do
    if not first and line:find('%S') then
      first = vim.trim(line)
    end
  end
  if first then
    return first
  elseif hunk.final_newline ~= nil then
    return hunk.final_newline and 'final newline' or 'no final newline'
  end
  return '(blank lines)'
end

---@param hunk dcode.Hunk
---@return string
local function words(hunk)
  if hunk.whole then
    return M.gist(hunk)
  end
  local kind = hunk.file == 'created' and 'new file '
    or hunk.file == 'deleted' and 'file deleted '
    or ''
  return ('%s+%d -%d  %s'):format(kind, hunk.count, #hunk.removed, M.gist(hunk))
end

--- One row a hunk, in the order of paths and lines.
---@param hunks dcode.Hunk[]
---@return table[]
function M.rows(hunks)
  local rows = {}
  for i, hunk in ipairs(hunks) do
    rows[i] = {
      filename = hunk.path,
      lnum = hunk.start,
      end_lnum = hunk.start + math.max(hunk.count, 1) - 1,
      text = words(hunk),
    }
  end
  return rows
end

---@return dcode.Hunk[]
function M.all()
  local native = require('dcode.session').state.native
  return native and native.hunks({}) or {}
end

---@param hunks dcode.Hunk[]
local function fill(hunks)
  vim.fn.setqflist({}, ' ', { title = 'dcode review', items = M.rows(hunks) })
end

--- Opens the quickfix list.
---@return boolean? ok, string? message
function M.quickfix()
  local hunks = M.all()
  if #hunks == 0 then
    return nil, 'Nothing waits for review.'
  end
  fill(hunks)
  vim.cmd('botright copen')
  local rows = vim.api.nvim_win_text_height(0, {}).all
  vim.api.nvim_win_set_height(0, math.min(math.max(rows, 3), 10))
  return true
end

--- Opens the float, with the quickfix list filled behind it; where a float has no room, the list
--- itself.
---@return boolean? ok, string? message
function M.open()
  local hunks = M.all()
  if #hunks == 0 then
    return nil, 'Nothing waits for review.'
  elseif #vim.api.nvim_list_uis() == 0 or not require('dcode.review.browser').fits() then
    return M.quickfix()
  end
  fill(hunks)
  return require('dcode.review.browser').open()
end

return M
