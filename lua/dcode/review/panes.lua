--- The windows that show a buffer, as drawing has to know them: which lines are near, how wide the
--- text is, what stands left of it.
local M = {}

---@class dcode.Pane
---@field win integer
---@field first integer first line that is drawn
---@field last integer
---@field top integer first line that is seen
---@field bottom integer last line that is seen, or nearly
---@field textoff integer cells left of the text
---@field text integer cells of text
---@field wrap boolean
---@field leftcol integer cells that are scrolled aside
---@field diff boolean

---@param win integer
---@param info vim.fn.getwininfo.ret.item
---@return integer
local function leftcol(win, info)
  if vim.wo[win].wrap then
    return 0
  elseif info.leftcol then
    return info.leftcol
  end
  return vim.api.nvim_win_call(win, vim.fn.winsaveview).leftcol
end

---@param win integer
---@return dcode.Pane
local function pane(win)
  local info = vim.fn.getwininfo(win)[1]
  -- What lies one screen further is drawn beforehand, so that scrolling shows nothing bare.
  local bottom = math.max(info.botline, info.topline + info.height)
  return {
    win = win,
    top = info.topline,
    bottom = bottom,
    first = math.max(info.topline - info.height, 1),
    last = bottom + info.height,
    textoff = info.textoff,
    text = math.max(info.width - info.textoff, 1),
    wrap = vim.wo[win].wrap,
    leftcol = leftcol(win, info),
    diff = vim.wo[win].diff,
  }
end

--- The windows of this tab page that show `buf`.
---@param buf integer
---@return dcode.Pane[]
function M.of(buf)
  local out = {}
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(win) == buf then
      out[#out + 1] = pane(win)
    end
  end
  return out
end

--- What two looks at the same windows have in common when nothing has to be drawn anew; lines apart.
---@param panes dcode.Pane[]
---@return string
function M.shape(panes)
  local parts = {}
  for i, p in ipairs(panes) do
    parts[i] = ('%d:%d:%d:%s:%d:%s'):format(p.win, p.textoff, p.text, p.wrap, p.leftcol, p.diff)
  end
  return table.concat(parts, ' ')
end

--- Runs of lines near a window, ascending and disjoint.
---@param panes dcode.Pane[]
---@return integer[][]
function M.ranges(panes)
  local sorted = vim.list_slice(panes)
  table.sort(sorted, function(a, b)
    return a.first < b.first
  end)
  local out = {}
  for _, p in ipairs(sorted) do
    local before = out[#out]
    if before and p.first <= before[2] + 1 then
      before[2] = math.max(before[2], p.last)
    else
      out[#out + 1] = { p.first, p.last }
    end
  end
  return out
end

--- What stands left of removed lines, the sign in its column; nil where the windows differ.
---@param panes dcode.Pane[]
---@return dcode.Chunk[][]?
local function gutter(panes)
  local textoff = panes[1].textoff
  for _, p in ipairs(panes) do
    if p.textoff ~= textoff then
      return nil
    end
  end
  if textoff < 2 then
    return nil
  end
  local folds = math.min(tonumber(vim.wo[panes[1].win].foldcolumn:match('%d+')) or 0, textoff - 2)
  local lead = folds > 0 and { { (' '):rep(folds), 'FoldColumn' } } or {}
  local first, more = vim.list_slice(lead), vim.list_slice(lead)
  first[#first + 1] = { '- ', { 'SignColumn', 'DcodeSignDelete' } }
  more[#more + 1] = { '  ', 'SignColumn' }
  if textoff > folds + 2 then
    local rest = { (' '):rep(textoff - folds - 2), 'LineNr' }
    first[#first + 1], more[#more + 1] = rest, rest
  end
  return { first, more }
end

--- How marks are to be made for the windows.
---@param buf integer
---@param panes dcode.Pane[] at least one
---@return dcode.MarkContext
function M.context(buf, panes)
  local widest, narrowest, wraps, skip, bare = 0, math.huge, false, math.huge, true
  for _, p in ipairs(panes) do
    widest = math.max(widest, p.text)
    narrowest = math.min(narrowest, p.wrap and p.text or math.huge)
    wraps = wraps or p.wrap
    skip = math.min(skip, p.leftcol)
    bare = bare and p.diff
  end
  return {
    line_count = vim.api.nvim_buf_line_count(buf),
    tabstop = vim.bo[buf].tabstop,
    width = wraps and math.min(widest, narrowest) == narrowest and narrowest or widest,
    wrap = wraps and narrowest or nil,
    skip = skip,
    gutter = gutter(panes),
    emphasis = require('dcode.review.words').emphasis(),
    bare = bare,
  }
end

return M
