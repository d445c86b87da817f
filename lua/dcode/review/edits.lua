--- Line edits made in a buffer so that nothing else in the editor moves: marks, folds, extmarks,
--- cursors and what each window shows.
local M = {}

---@class dcode.LineEdit
---@field first integer first line replaced, 0-based
---@field last integer line after the last one replaced
---@field lines string[]

--- Above this many lines a block is replaced as a whole.
local LINE_BY_LINE = 64

--- Edits as the library writes them.
---@param list { start: integer, end_?: integer, lines: string[] }[]
---@return dcode.LineEdit[]
function M.read(list)
  local edits = {}
  for i, edit in ipairs(list) do
    edits[i] = { first = edit.start, last = edit['end'] or edit.end_, lines = edit.lines }
  end
  return edits
end

--- Whether `at` (bytes, 0-based) lies between two characters of a UTF-8 text.
---@param text string
---@param at integer
---@return boolean
local function between_chars(text, at)
  local byte = text:byte(at + 1)
  return byte == nil or byte < 0x80 or byte >= 0xC0
end

--- The bytes in which two lines differ: `first` and the ends, exclusive, in the old and the new
--- line.
---@param old string
---@param new string
---@return integer first, integer old_last, integer new_last
function M.changed_bytes(old, new)
  local limit = math.min(#old, #new)
  local first = 0
  while first < limit and old:byte(first + 1) == new:byte(first + 1) do
    first = first + 1
  end
  while not (between_chars(old, first) and between_chars(new, first)) do
    first = first - 1
  end
  local tail = 0
  while tail < limit - first and old:byte(#old - tail) == new:byte(#new - tail) do
    tail = tail + 1
  end
  while not (between_chars(old, #old - tail) and between_chars(new, #new - tail)) do
    tail = tail - 1
  end
  return first, #old - tail, #new - tail
end

---@param buf integer
---@param row integer
---@param old string
---@param new string
local function replace_line(buf, row, old, new)
  if old ~= new then
    local first, old_last, new_last = M.changed_bytes(old, new)
    local put = { new:sub(first + 1, new_last) }
    vim.api.nvim_buf_set_text(buf, row, first, row, old_last, put)
  end
end

--- Makes one edit. Lines that stay a line keep their marks.
---@param buf integer
---@param edit dcode.LineEdit
---@param old string[] the lines that are there
local function make(buf, edit, old)
  if #old == #edit.lines and #old <= LINE_BY_LINE then
    for i = #old, 1, -1 do
      replace_line(buf, edit.first + i - 1, old[i], edit.lines[i])
    end
  else
    vim.api.nvim_buf_set_lines(buf, edit.first, edit.last, false, edit.lines)
  end
end

--- Where a line (1-based) of the text before stands after the edits.
---@param edits dcode.LineEdit[] ascending, in the numbers before
---@param line integer
---@return integer
function M.moved(edits, line)
  local by = 0
  for _, edit in ipairs(edits) do
    if edit.first >= line then
      break
    elseif edit.last < line then
      by = by + #edit.lines - (edit.last - edit.first)
    else
      local inside = math.min(line - edit.first, math.max(#edit.lines, 1))
      return math.max(edit.first + by + inside, 1)
    end
  end
  return line + by
end

---@param buf integer
---@return table<integer, vim.fn.winsaveview.ret>
local function views(buf)
  local out = {}
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    out[win] = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  end
  return out
end

--- Shows in every window what it showed before.
---@param before table<integer, vim.fn.winsaveview.ret>
---@param edits dcode.LineEdit[]
local function restore_views(before, edits)
  for win, view in pairs(before) do
    if vim.api.nvim_win_is_valid(win) then
      vim.api.nvim_win_call(win, function()
        local now = vim.fn.winsaveview()
        local lnum, topline = M.moved(edits, view.lnum), M.moved(edits, view.topline)
        if now.lnum ~= lnum or now.topline ~= topline then
          -- The column is left to Neovim, which has moved it along with the text.
          local col = now.lnum == lnum and now.col or view.col
          vim.fn.winrestview({ lnum = lnum, col = col, topline = topline, leftcol = view.leftcol })
        end
      end)
    end
  end
end

---@class dcode.Undoing what takes one edit back
---@field first integer
---@field old string[]
---@field new string[]

--- Takes edits back that were made, newest first.
---@param buf integer
---@param made dcode.Undoing[]
local function take_back(buf, made)
  for i = #made, 1, -1 do
    local step = made[i]
    local there = vim.api.nvim_buf_get_lines(buf, step.first, step.first + #step.new, false)
    -- An edit that failed may have changed the text or not.
    if vim.deep_equal(there, step.new) then
      local edit = { first = step.first, last = step.first + #step.new, lines = step.old }
      pcall(make, buf, edit, there)
    end
  end
end

--- Ends the open undo block, so that what comes next is a block of its own. Assigning 'undolevels'
--- does it; somebody who is inserting goes on in a new block.
---@param buf integer
function M.end_block(buf)
  if not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
  local inserting = vim.api.nvim_get_mode().mode:sub(1, 1) == 'i'
  if inserting and buf == vim.api.nvim_get_current_buf() then
    vim.api.nvim_feedkeys(vim.keycode('<C-g>u'), 'ni', false)
  end
end

--- Makes edits in a buffer as one native undo block, from the bottom up: all of them or none.
---@param buf integer
---@param edits dcode.LineEdit[] ascending and disjoint
---@return boolean ok, string|fun() result why not, or a function that takes all of it back
function M.apply(buf, edits)
  local before, made = views(buf), {}
  local readonly, modified = vim.bo[buf].readonly, vim.bo[buf].modified
  -- A change of a read-only buffer makes Neovim warn and sleep for a second.
  vim.bo[buf].readonly = false
  -- One `u` takes back this batch and no typing before it.
  M.end_block(buf)
  local function back()
    take_back(buf, made)
    if not modified then
      vim.bo[buf].modified = false
    end
    restore_views(before, {})
  end
  local ok, why = true, nil
  require('dcode.review').batch(buf, function()
    for i = #edits, 1, -1 do
      local edit = edits[i]
      local old = vim.api.nvim_buf_get_lines(buf, edit.first, edit.last, false)
      made[#made + 1] = { first = edit.first, old = old, new = edit.lines }
      ok, why = pcall(make, buf, edit, old)
      if not ok then
        break
      end
    end
  end)
  vim.bo[buf].readonly = readonly
  if not ok then
    back()
    return false, tostring(why)
  end
  restore_views(before, edits)
  return true, back
end

return M
