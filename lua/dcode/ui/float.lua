--- The one way to open a floating window.
---
--- It never takes the cursor unless asked, fits narrow screens, and follows 'winborder'.
local M = {}

local ns = vim.api.nvim_create_namespace('dcode-float')

---@class dcode.FloatOpts
---@field title string
---@field footer? string at the right of the lower edge
---@field enter? boolean take the cursor
---@field place? 'corner'|'center'|{ row: integer, col: integer, height: integer }
---@field width integer wanted cells inside
---@field max_height? integer
---@field filetype string
---@field wrap? boolean
---@field on_close? fun() called once, however it is closed

---@class dcode.Float
---@field buf integer
---@field win integer
---@field opts dcode.FloatOpts
---@field height integer
local Float = {}
Float.__index = Float

---@return any border, boolean has_edge
local function border()
  local ok, own = pcall(function()
    return vim.o.winborder
  end)
  if ok and own ~= '' then
    return nil, own ~= 'none'
  elseif require('dcode.config').get().ascii then
    return { '+', '-', '+', '|', '+', '-', '+', '|' }, true
  end
  return 'rounded', true
end

--- The window that a corner float lies over: the chat where there is one, else the whole screen.
---@return { row: integer, col: integer, width: integer, height: integer }
local function area()
  local chat = require('dcode.ui.chat').window()
  if chat and vim.api.nvim_win_get_width(chat) >= 50 then
    local pos = vim.api.nvim_win_get_position(chat)
    return {
      row = pos[1],
      col = pos[2],
      width = vim.api.nvim_win_get_width(chat),
      height = vim.api.nvim_win_get_height(chat),
    }
  end
  local bottom = vim.o.cmdheight + (vim.o.laststatus > 0 and 1 or 0)
  return { row = 0, col = 0, width = vim.o.columns, height = vim.o.lines - bottom }
end

--- Cells inside a float that wants `wanted`.
---@param wanted integer
---@param place? 'corner'|'center'|table
---@return integer
function M.width(wanted, place)
  local room = place == 'corner' and area().width or vim.o.columns
  return math.max(math.min(wanted, room - 2, vim.o.columns - 2), 20)
end

---@param opts dcode.FloatOpts
---@param height integer
---@return table
local function config(opts, height)
  local edge, has_edge = border()
  local frame = has_edge and 2 or 0
  local width = M.width(opts.width, opts.place)
  -- Without an edge the title stands in the window bar, which takes a line.
  height = height + (has_edge and 0 or 1)
  local room = vim.o.lines - vim.o.cmdheight - frame - 1
  height = math.max(math.min(height, opts.max_height or room, room), 1)
  local out = { relative = 'editor', width = width, height = height, border = edge, zindex = 60 }
  if type(opts.place) == 'table' then
    out.row, out.col = opts.place.row, opts.place.col
    out.height = math.max(math.min(opts.place.height, room), 1)
  elseif opts.place == 'center' then
    out.row = math.max(math.floor((vim.o.lines - height - frame) / 2) - 1, 0)
    out.col = math.max(math.floor((vim.o.columns - width - frame) / 2), 0)
  else
    local a = area()
    out.row = math.max(a.row + a.height - height - frame, 0)
    out.col = math.max(math.min(a.col + a.width, vim.o.columns) - width - frame, 0)
  end
  if has_edge then
    out.title = { { ' ' .. opts.title .. ' ', 'DcodeTitle' } }
    out.title_pos = 'left'
    out.footer = opts.footer and { { ' ' .. opts.footer .. ' ', 'DcodeHint' } } or ''
    out.footer_pos = opts.footer and 'right' or nil
  end
  return out
end

--- Opens a float of one line; fill it with `set`.
---@param opts dcode.FloatOpts
---@return dcode.Float?
function M.open(opts)
  require('dcode.highlights').setup()
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].filetype = opts.filetype
  vim.bo[buf].modifiable = false
  local enter = opts.enter == true
  local open =
    vim.tbl_extend('force', config(opts, 1), { style = 'minimal', noautocmd = not enter })
  local ok, win = pcall(vim.api.nvim_open_win, buf, enter, open)
  if not ok then
    pcall(vim.api.nvim_buf_delete, buf, { force = true })
    return nil
  end
  vim.wo[win].wrap = opts.wrap == true
  vim.wo[win].linebreak = opts.wrap == true
  vim.wo[win].winhighlight = 'NormalFloat:NormalFloat,FloatBorder:FloatBorder'
  local self = setmetatable({ buf = buf, win = win, opts = opts, height = 1 }, Float)
  vim.api.nvim_create_autocmd({ 'WinClosed' }, {
    group = require('dcode.exit').augroup(),
    pattern = tostring(win),
    once = true,
    desc = 'dcode: a float was closed',
    callback = vim.schedule_wrap(function()
      self:closed()
    end),
  })
  return self
end

function Float:closed()
  local fn = self.opts.on_close
  self.opts.on_close = nil
  if fn then
    require('dcode.log').guard('float', fn)
  end
end

---@return boolean
function Float:valid()
  return vim.api.nvim_win_is_valid(self.win) and vim.api.nvim_buf_is_valid(self.buf)
end

---@return boolean
function Float:focused()
  return vim.api.nvim_get_current_win() == self.win
end

--- Shows lines with marks and fits the window to them.
---@param lines string[]
---@param marks dcode.Mark[]
--- `keys` stand above text that is too long for the window.
---@param opts? { title?: string, footer?: string, keys?: string }
function Float:set(lines, marks, opts)
  if not self:valid() then
    return
  end
  self.opts = vim.tbl_extend('force', self.opts, opts or {})
  self.height = #lines
  vim.bo[self.buf].modifiable = true
  vim.api.nvim_buf_set_lines(self.buf, 0, -1, false, lines)
  vim.bo[self.buf].modifiable = false
  vim.api.nvim_buf_clear_namespace(self.buf, ns, 0, -1)
  for _, mark in ipairs(marks) do
    M.mark(self.buf, ns, mark, 0)
  end
  self:fit()
  self:set_bar(opts and opts.keys)
end

--- The window bar: the title where there is no edge for it, the keys where the last lines are
--- cut off.
---@param keys? string
function Float:set_bar(keys)
  local escape = require('dcode.ui.state_line').escape
  local parts = {}
  local _, has_edge = border()
  if not has_edge then
    parts[1] = '%#DcodeTitle# ' .. escape(self.opts.title) .. ' '
  end
  if keys and vim.api.nvim_win_get_height(self.win) < self.height then
    parts[#parts + 1] = '%#DcodeHint# ' .. escape(keys)
  end
  if not has_edge and self.opts.footer then
    parts[#parts + 1] = '%=%#DcodeHint#' .. escape(self.opts.footer) .. ' '
  end
  vim.wo[self.win].winbar = table.concat(parts)
end

--- Places the window anew, for example after the screen changed its size.
function Float:fit()
  if self:valid() then
    pcall(vim.api.nvim_win_set_config, self.win, config(self.opts, self.height))
  end
end

function Float:focus()
  if self:valid() then
    vim.api.nvim_set_current_win(self.win)
  end
end

function Float:close()
  self.opts.on_close = nil
  if vim.api.nvim_win_is_valid(self.win) then
    pcall(vim.api.nvim_win_close, self.win, true)
  end
end

--- Sets one mark; `offset` is the row of the item's first line.
---@param buf integer
---@param namespace integer
---@param mark dcode.Mark
---@param offset integer
function M.mark(buf, namespace, mark, offset)
  local row = offset + mark.row
  if mark.right then
    vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, {
      virt_text = mark.right,
      virt_text_pos = 'right_align',
      hl_mode = 'combine',
    })
  elseif mark.line_hl then
    vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, { line_hl_group = mark.line_hl })
  else
    vim.api.nvim_buf_set_extmark(buf, namespace, row, mark.col, {
      end_col = mark.end_col,
      hl_group = mark.hl,
      priority = 200,
    })
  end
end

return M
