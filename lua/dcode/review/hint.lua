--- The one line that says which hunk the cursor is on and which keys decide on it.
---
--- It stands at the right of the hunk's first line, as much of it as the text there leaves room for;
--- in a narrow window in the window bar, if that is free. It is gone while somebody types.
local M = {}

local spans = require('dcode.review.spans')

M.ns = vim.api.nvim_create_namespace('dcode.review.hint')

--- Below this many columns the hint goes to the window bar.
local NARROW = 60

---@type { buf: integer, key: string }? what is shown in the text now
local shown
---@type table<integer, string> windows whose bar is ours, and what stands in it
local bars = {}

---@param hunk dcode.Span
---@param index integer
---@param total integer
---@param keys { accept: string?, reject: string?, next: string? }
---@param ascii boolean
---@return string
function M.text(hunk, index, total, keys, ascii)
  local sep, minus = ascii and ' - ' or ' · ', ascii and '-' or '−'
  local parts = { ('hunk %d/%d  +%d %s%d'):format(index, total, hunk.count, minus, hunk.gone) }
  if hunk.file then
    parts[1] = parts[1] .. (hunk.file == 'created' and '  new file' or '  file deleted')
  end
  if hunk.final_newline ~= nil then
    parts[1] = parts[1] .. (hunk.final_newline and '  final newline' or '  no final newline')
  end
  for _, name in ipairs({ 'accept', 'reject', 'next' }) do
    if keys[name] then
      parts[#parts + 1] = keys[name] .. ' ' .. name
    end
  end
  return table.concat(parts, sep)
end

--- The hint in full and in shorter forms, the longest first: without the way to the next hunk, then
--- without any key.
---@param hunk dcode.Span
---@param index integer
---@param total integer
---@param keys { accept: string?, reject: string?, next: string? }
---@param ascii boolean
---@return string[]
function M.texts(hunk, index, total, keys, ascii)
  local deciding = { accept = keys.accept, reject = keys.reject }
  local texts = {}
  for _, some in ipairs({ keys, deciding, {} }) do
    texts[#texts + 1] = M.text(hunk, index, total, some, ascii)
  end
  return texts
end

local function clear_text()
  if shown and vim.api.nvim_buf_is_valid(shown.buf) then
    vim.api.nvim_buf_clear_namespace(shown.buf, M.ns, 0, -1)
  end
  shown = nil
end

---@param win integer
local function clear_bar(win)
  local ours = bars[win]
  bars[win] = nil
  if ours and vim.api.nvim_win_is_valid(win) and vim.wo[win].winbar == ours then
    vim.wo[win].winbar = ''
  end
end

--- Takes the hint away.
function M.clear()
  clear_text()
  for win in pairs(bars) do
    clear_bar(win)
  end
end

--- The longest of the texts that fits.
---@param texts string[] the longest first
---@param room integer
---@return string?
local function fitting(texts, room)
  for _, text in ipairs(texts) do
    if vim.api.nvim_strwidth(text) <= room then
      return text
    end
  end
end

---@param win integer
---@param text string
local function put_bar(win, text)
  local bar = '%=%#DcodeHint#' .. text:gsub('%%', '%%%%')
  local present = vim.wo[win].winbar
  if present == '' or present == bars[win] then
    bars[win] = bar
    vim.wo[win].winbar = bar
  end
end

---@param buf integer
---@param win integer
---@param hunk dcode.Span
---@param texts string[] the longest that fits is shown; none when none fits
local function put_text(buf, win, hunk, texts)
  local row = hunk.start - 1
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
  local info = vim.fn.getwininfo(win)[1]
  local room = info.width - info.textoff
  local used = vim.api.nvim_win_call(win, function()
    return vim.fn.strdisplaywidth(line)
  end)
  local text = fitting(texts, room - used - 3)
  if not text then
    return
  end
  vim.api.nvim_buf_set_extmark(buf, M.ns, row, 0, {
    virt_text = { { text .. ' ', 'DcodeHint' } },
    virt_text_pos = 'right_align',
    hl_mode = 'combine',
    strict = false,
  })
end

---@param mode string
---@return boolean
local function typing(mode)
  return mode:find('^[iRtc]') ~= nil
end

--- Shows the hint for the cursor of the current window.
---@param buf integer a buffer under review
---@param hunks dcode.Span[]
function M.update(buf, hunks)
  local win = vim.api.nvim_get_current_win()
  if vim.api.nvim_win_get_buf(win) ~= buf then
    -- Another window was resized: the hint that stands is none of this buffer's.
    return
  end
  if typing(vim.api.nvim_get_mode().mode) then
    return M.clear()
  end
  local line = vim.api.nvim_win_get_cursor(win)[1]
  local hunk, index = spans.at(hunks, line)
  if not hunk then
    return M.clear()
  end
  local keymaps = require('dcode.keymaps')
  local keys = {}
  for _, name in ipairs({ 'accept', 'reject', 'next' }) do
    keys[name] = keymaps.shown(name, buf)
  end
  local texts = M.texts(hunk, index, #hunks, keys, require('dcode.config').get().ascii)
  local width = vim.api.nvim_win_get_width(win)
  local key = table.concat({ win, hunk.id, hunk.start, width, texts[1] }, ':')
  if shown and shown.buf == buf and shown.key == key then
    return
  end
  M.clear()
  if width < NARROW then
    put_bar(win, fitting(texts, width) or texts[#texts])
  else
    put_text(buf, win, hunk, texts)
  end
  shown = { buf = buf, key = key }
end

return M
