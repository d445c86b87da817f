--- Puts the marks of hunks into a buffer, and takes away what is out of date.
local M = {}

local marks = require('dcode.review.marks')

M.ns = vim.api.nvim_create_namespace('dcode.review')

---@class dcode.Drawn
---@field key string what was drawn
---@field ids integer[]

---@type table<integer, table<integer|string, dcode.Drawn>>
local drawn = {}

---@param buf integer
---@return dcode.MarkContext
local function context(buf)
  return {
    line_count = vim.api.nvim_buf_line_count(buf),
    tabstop = vim.bo[buf].tabstop,
    width = vim.o.columns,
  }
end

---@param hunk dcode.Hunk
---@param ctx dcode.MarkContext
---@return string
local function key(hunk, ctx)
  return table.concat({
    hunk.count,
    tostring(hunk.at_end or false),
    ctx.width,
    ctx.tabstop,
    table.concat(hunk.removed, '\n'),
    table.concat(hunk.added, '\n'),
  }, '\0')
end

--- Whether what was drawn for a hunk still stands where the hunk is.
---@param buf integer
---@param old dcode.Drawn?
---@param hunk dcode.Hunk
---@param wanted string
---@return boolean
local function stands(buf, old, hunk, wanted)
  if not old or old.key ~= wanted then
    return false
  end
  local mark = vim.api.nvim_buf_get_extmark_by_id(buf, M.ns, old.ids[1], { details = true })
  if mark[1] ~= hunk.start - 1 then
    return false
  end
  return hunk.count == 0 or mark[3].end_row == hunk.start - 1 + hunk.count - 1
end

---@param buf integer
---@param old dcode.Drawn?
local function erase(buf, old)
  for _, id in ipairs(old and old.ids or {}) do
    vim.api.nvim_buf_del_extmark(buf, M.ns, id)
  end
end

---@param buf integer
---@param specs dcode.MarkSpec[]
---@return integer[]
local function put(buf, specs)
  local ids = {}
  for i, spec in ipairs(specs) do
    -- A mark of the word in a line that has just been cut must not be an error.
    spec.opts.strict = false
    ids[i] = vim.api.nvim_buf_set_extmark(buf, M.ns, spec.row, spec.col, spec.opts)
  end
  return ids
end

--- Virtual lines above line 1 are shown only in a window that is scrolled up to them.
---@param buf integer
---@param hunks dcode.Hunk[]
local function show_top(buf, hunks)
  local above = marks.lines_above_top(hunks)
  if above == 0 then
    return
  end
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_call(win, function()
      local view = vim.fn.winsaveview()
      local room = math.max(vim.api.nvim_win_get_height(win) - view.lnum, 0)
      if view.topline == 1 and view.topfill == 0 and room > 0 then
        vim.fn.winrestview({ topline = 1, topfill = math.min(above, room) })
      end
    end)
  end
end

--- Draws the hunks of a buffer; what is drawn already and still right stays.
---@param buf integer
---@param hunks dcode.Hunk[]
function M.update(buf, hunks)
  local ctx, before, now = context(buf), drawn[buf] or {}, {}
  local top_changed = false
  for i, hunk in ipairs(hunks) do
    local wanted, old = key(hunk, ctx), before[hunk.id]
    before[hunk.id] = nil
    if stands(buf, old, hunk, wanted) then
      now[hunk.id] = old
    else
      erase(buf, old)
      now[hunk.id] = { key = wanted, ids = put(buf, marks.for_hunk(hunk, ctx)) }
      top_changed = top_changed or i == 1
    end
  end
  for _, old in pairs(before) do
    erase(buf, old)
  end
  drawn[buf] = next(now) and now or nil
  if top_changed then
    show_top(buf, hunks)
  end
end

--- Takes every mark away.
---@param buf integer
function M.clear(buf)
  drawn[buf] = nil
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, M.ns, 0, -1)
  end
end

return M
