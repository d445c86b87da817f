--- Puts the marks of hunks into a buffer, for the lines near a window and no others.
---
--- Before Neovim draws, a decoration provider looks whether every window's lines have their marks;
--- they are made from one answer of the library. Syntax colours come a moment later.
local M = {}

local colours = require('dcode.review.colours')
local log = require('dcode.log')
local marks = require('dcode.review.marks')
local panes = require('dcode.review.panes')
local spans = require('dcode.review.spans')

M.ns = vim.api.nvim_create_namespace('dcode.review')

---@class dcode.Drawn
---@field key string what was drawn
---@field ids integer[]

---@class dcode.Canvas
---@field spans dcode.Span[]
---@field drawn table<integer, dcode.Drawn>
---@field covered integer[][] runs of lines that have their marks
---@field shape string the windows they were made for
---@field textoff table<integer, integer> by window, as of then
---@field above integer virtual lines above the first line
---@field pale dcode.SeenHunk[] hunks whose colours are still to be found

---@type table<integer, dcode.Canvas>
local canvases = {}

---@param hunk dcode.SeenHunk
---@param shape string
---@param coloured boolean
---@return string
local function key(hunk, shape, coloured)
  return table.concat({
    hunk.count,
    hunk.gone,
    tostring(hunk.at_end),
    shape,
    tostring(coloured),
    table.concat(hunk.removed, '\n'),
    table.concat(hunk.added, '\n'),
  }, '\0')
end

--- Whether what was drawn for a hunk still stands where the hunk is.
---@param buf integer
---@param old dcode.Drawn?
---@param hunk dcode.SeenHunk
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

--- The hunks that show on some lines.
---@param buf integer
---@param ranges integer[][]
---@param list dcode.Span[]
---@return dcode.SeenHunk[]
local function seen(buf, ranges, list)
  local native = require('dcode.session').state.native
  local out = {}
  for _, range in ipairs(native and ranges or {}) do
    if spans.any(list, range[1], range[2]) then
      local ask = { buf = buf, first = range[1], last = range[2], most = marks.MAX_REMOVED }
      local hunks, why = assert(native).seen(ask)
      if not hunks then
        log.fault('seen', why)
      end
      vim.list_extend(out, hunks or {})
    end
  end
  return out
end

--- Makes the marks near the windows, keeps those that are right, takes away the others.
---@param buf integer
---@param canvas dcode.Canvas
---@param shown dcode.Pane[]
local function place(buf, canvas, shown)
  local before, now = canvas.drawn, {}
  canvas.pale, canvas.covered, canvas.shape = {}, panes.ranges(shown), panes.shape(shown)
  canvas.textoff = {}
  for _, pane in ipairs(shown) do
    canvas.textoff[pane.win] = pane.textoff
  end
  local ctx = #shown > 0 and panes.context(buf, shown) or nil
  -- Changing a mark redraws: the ones that are right stay.
  local shape = ctx and canvas.shape .. ctx.tabstop .. ctx.emphasis or ''
  for _, hunk in ipairs(seen(buf, canvas.covered, canvas.spans)) do
    local syntax = colours.known(buf, hunk)
    local wanted, old = key(hunk, shape, syntax ~= nil), before[hunk.id]
    if not now[hunk.id] then
      before[hunk.id] = nil
      if stands(buf, old, hunk, wanted) then
        now[hunk.id] = old
      else
        erase(buf, old)
        local specs, above = marks.for_hunk(hunk, assert(ctx), syntax)
        now[hunk.id] = { key = wanted, ids = put(buf, specs) }
        if hunk.start == 1 then
          canvas.above = above
        end
      end
      if colours.wanted(buf, hunk) then
        table.insert(canvas.pale, hunk)
      end
    end
  end
  for _, old in pairs(before) do
    erase(buf, old)
  end
  canvas.drawn = now
end

--- Time for syntax colours in one go, in nanoseconds.
local COLOUR_NS = 4e6

--- Finds the colours of hunks that are drawn without, and draws them again.
---@param buf integer
local function colour(buf)
  local canvas = canvases[buf]
  if not canvas or #canvas.pale == 0 or not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  local began = vim.uv.hrtime()
  local hunk = table.remove(canvas.pale)
  while hunk do
    colours.find(buf, hunk)
    hunk = vim.uv.hrtime() - began < COLOUR_NS and table.remove(canvas.pale) or nil
  end
  place(buf, canvas, panes.of(buf))
  M.colour_later(buf)
end

--- Plans the colours, if any are wanted.
---@param buf integer
function M.colour_later(buf)
  if canvases[buf] and #canvases[buf].pale > 0 then
    vim.defer_fn(function()
      log.guard('review', colour, buf)
    end, 1)
  end
end

---@param covered integer[][]
---@param first integer
---@param last integer
---@return boolean
local function covers(covered, first, last)
  for _, range in ipairs(covered) do
    if range[1] <= first and last <= range[2] then
      return true
    end
  end
  return false
end

--- Whether the marks are those that the windows need.
---@param canvas dcode.Canvas
---@param shown dcode.Pane[]
---@return boolean
local function is_ready(canvas, shown)
  if canvas.shape ~= panes.shape(shown) then
    return false
  end
  for _, pane in ipairs(shown) do
    if not covers(canvas.covered, pane.top, pane.bottom) then
      return false
    end
  end
  return true
end

--- Makes the marks that the windows need now.
---@param buf integer
---@param canvas dcode.Canvas
local function ready(buf, canvas)
  local shown = panes.of(buf)
  if #shown > 0 and not is_ready(canvas, shown) then
    place(buf, canvas, shown)
    M.colour_later(buf)
  end
end

--- Makes the marks near the windows, if they are not there yet, before somebody looks how much room
--- they take.
---@param buf integer
---@return dcode.Canvas? nil when nothing is drawn there
function M.ensure(buf)
  local canvas = canvases[buf]
  if canvas then
    ready(buf, canvas)
  end
  return canvas
end

--- The screen is about to be drawn: every window on it gets its marks.
local function before_drawing()
  for buf, canvas in pairs(canvases) do
    if vim.api.nvim_buf_is_loaded(buf) then
      ready(buf, canvas)
    end
  end
end

--- The windows have found their columns. They may be others than those that the marks were made
--- for, as in a window that has just been opened, or when the first sign opened the sign column.
local function after_drawing()
  for buf, canvas in pairs(canvases) do
    for win, textoff in pairs(canvas.textoff) do
      local info = vim.fn.getwininfo(win)[1]
      if info and info.textoff ~= textoff and info.bufnr == buf then
        vim.schedule(function()
          if canvases[buf] == canvas and vim.api.nvim_buf_is_loaded(buf) then
            log.guard('review', ready, buf, canvas)
          end
        end)
        break
      end
    end
  end
end

local providing = false

--- Nothing is asked of Neovim before the first hunk.
local function provide()
  if providing then
    return
  end
  providing = true
  vim.api.nvim_set_decoration_provider(M.ns, {
    on_start = function()
      if next(canvases) then
        log.guard('review', before_drawing)
      end
      return next(canvases) ~= nil
    end,
    on_win = function()
      return false
    end,
    on_end = function()
      log.guard('review', after_drawing)
    end,
  })
end

--- The hunks of a buffer are these now: draws what a window shows of them.
---@param buf integer
---@param list dcode.Span[]
function M.update(buf, list)
  local canvas = canvases[buf]
  if #list == 0 then
    return canvas and M.clear(buf)
  end
  provide()
  if not canvas then
    canvas =
      { drawn = {}, covered = {}, shape = '', textoff = {}, above = 0, pale = {}, spans = list }
    canvases[buf] = canvas
  end
  local first = canvas.above
  canvas.spans = list
  place(buf, canvas, panes.of(buf))
  M.colour_later(buf)
  if canvas.above ~= first then
    require('dcode.review.edges').top(buf)
  end
end

--- Takes every mark away.
---@param buf integer
function M.clear(buf)
  canvases[buf] = nil
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, M.ns, 0, -1)
  end
end

return M
