--- A list on the left, what its row stands for on the right: two floats that open and close as one.
local M = {}

local log = require('dcode.log')

local ns = vim.api.nvim_create_namespace('dcode-two-panes')

local MIN_COLUMNS, MIN_LINES = 40, 10
--- From here on there is room for the right one.
local PREVIEW_COLUMNS = 76

---@class dcode.TwoPanesOpts
---@field title string
---@field footer string[] the keys, the most telling words first; the first that fits is shown
---@field rows integer lines of the list, to begin with
---@field filetype string
---@field on_row fun() the cursor has come to another row
---@field on_close fun()
---@field keys table<string, { [1]: string, [2]: fun() }> what it does, and how

---@class dcode.TwoPanes
---@field list dcode.Float
---@field side dcode.Float?
---@field back integer the window that the person came from
---@field opts dcode.TwoPanesOpts
---@field width integer cells of the list
local TwoPanes = {}
TwoPanes.__index = TwoPanes

--- Whether the screen has room for it.
---@return boolean
function M.fits()
  return vim.o.columns >= MIN_COLUMNS and vim.o.lines >= MIN_LINES
end

---@param title string
---@param filetype string
---@param width integer
---@param place { row: integer, col: integer, height: integer }
---@return dcode.Float?
local function pane(title, filetype, width, place)
  local opts = { title = title, place = place, width = width, filetype = filetype }
  return require('dcode.ui.float').open(opts)
end

---@param self dcode.TwoPanes
local function map_keys(self)
  for lhs, map in pairs(self.opts.keys) do
    vim.keymap.set('n', lhs, function()
      log.guard('key ' .. lhs, map[2])
    end, { buffer = self.list.buf, nowait = true, desc = 'dcode: ' .. map[1] })
  end
end

--- Opens it and goes there.
---@param opts dcode.TwoPanesOpts
---@return dcode.TwoPanes?
function M.open(opts)
  local columns, room = vim.o.columns, math.max(math.floor(vim.o.lines * 0.6), 6)
  local height = math.max(math.min(opts.rows + 1, room), math.min(12, room))
  local row = math.max(math.floor((vim.o.lines - height) / 2) - 2, 0)
  local two = columns >= PREVIEW_COLUMNS
  local total = math.min(columns - 4, 140)
  local left = two and math.floor(total * 0.45) or total
  local col = math.max(math.floor((columns - total) / 2) - 2, 0)
  local place = { row = row, col = col, height = height }
  local back = vim.api.nvim_get_current_win()
  local list = pane(opts.title, opts.filetype, left, place)
  if not list then
    return nil
  end
  local self = setmetatable({ list = list, back = back, opts = opts, width = left }, TwoPanes)
  if two then
    place = { row = row, col = col + left + 2, height = height }
    self.side = pane('', opts.filetype .. '-preview', total - left - 2, place)
  end
  for _, keys in ipairs(opts.footer) do
    if not list.opts.footer and vim.api.nvim_strwidth(keys) + 3 <= left then
      list.opts.footer = keys
    end
  end
  list.opts.on_close = function()
    self:close()
  end
  vim.wo[list.win].cursorline = true
  map_keys(self)
  vim.api.nvim_create_autocmd('CursorMoved', {
    buffer = list.buf,
    desc = 'dcode: show what the row stands for',
    callback = function()
      log.guard(opts.filetype, opts.on_row)
    end,
  })
  vim.api.nvim_set_current_win(list.win)
  return self
end

---@return boolean
function TwoPanes:valid()
  return self.list:valid()
end

--- The row of the cursor, from 1.
---@return integer
function TwoPanes:row()
  return vim.api.nvim_win_get_cursor(self.list.win)[1]
end

---@param row integer
function TwoPanes:go(row)
  local last = vim.api.nvim_buf_line_count(self.list.buf)
  vim.api.nvim_win_set_cursor(self.list.win, { math.max(math.min(row, last), 1), 0 })
end

--- Fills the list; the cursor stays on its row.
---@param lines string[]
---@param marks dcode.Mark[]
---@param title string
function TwoPanes:fill(lines, marks, title)
  local row = self:row()
  self.list:set(lines, marks, { title = title })
  self:go(row)
end

--- Fills the right side: lines with the group of each.
---@param lines string[]
---@param groups table<integer, string> by row, from 1
---@param title string
function TwoPanes:show(lines, groups, title)
  if not self.side or not self.side:valid() then
    return
  end
  local clean = vim.tbl_map(function(line)
    return (line:gsub('[%z\1-\8\10-\31]', '?'))
  end, lines)
  self.side:set(clean, {}, { title = title })
  local buf = self.side.buf
  vim.api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  for row, group in pairs(groups) do
    vim.api.nvim_buf_set_extmark(buf, ns, row - 1, 0, {
      end_row = row,
      end_col = 0,
      hl_group = group,
      hl_eol = true,
      strict = false,
    })
  end
end

--- Lines that the right side has room for.
---@return integer
function TwoPanes:room()
  return self.side and self.side:valid() and vim.api.nvim_win_get_height(self.side.win) or 0
end

--- Closes both and goes back.
function TwoPanes:close()
  if self.closed then
    return
  end
  self.closed = true
  local inside = self.list:focused()
  self.list:close()
  if self.side then
    self.side:close()
  end
  if inside and vim.api.nvim_win_is_valid(self.back) then
    vim.api.nvim_set_current_win(self.back)
  end
  self.opts.on_close()
end

return M
