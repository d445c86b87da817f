--- Everything that waits for review, as a quickfix list.
local M = {}

---@param hunk dcode.Hunk
---@return string
local function words(hunk)
  if hunk.whole and hunk.whole.kind == 'mode' then
    return ('mode %s, was %s'):format(hunk.whole.to, hunk.whole.from)
  elseif hunk.whole then
    return ('%s, not text'):format(hunk.file or 'changed')
  end
  local first = hunk.added[1] or hunk.removed[1] or ''
  local kind = hunk.file == 'created' and 'new file '
    or hunk.file == 'deleted' and 'file deleted '
    or ''
  return ('%s+%d -%d  %s'):format(kind, hunk.count, #hunk.removed, vim.trim(first))
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

--- Opens the list.
---@return boolean? ok, string? message
function M.open()
  local native = require('dcode.session').state.native
  local hunks = native and native.hunks({}) or {}
  if #hunks == 0 then
    return nil, 'Nothing waits for review.'
  end
  vim.fn.setqflist({}, ' ', { title = 'dcode review', items = M.rows(hunks) })
  vim.cmd('botright copen')
  local rows = vim.api.nvim_win_text_height(0, {}).all
  vim.api.nvim_win_set_height(0, math.min(math.max(rows, 3), 10))
  return true
end

return M
