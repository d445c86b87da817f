--- The line below the transcript where the person writes.
local M = {}

local history = require('dcode.ui.history')

local MAX_LINES = 8
local ns = vim.api.nvim_create_namespace('dcode-input')
local waiting_ns = vim.api.nvim_create_namespace('dcode-input-waiting')

---@type integer?
local buf
---@type integer?
local win

---@return integer?
function M.window()
  if win and vim.api.nvim_win_is_valid(win) and buf and vim.api.nvim_win_get_buf(win) == buf then
    return win
  end
end

---@return boolean
local function alive()
  return buf ~= nil and vim.api.nvim_buf_is_valid(buf)
end

--- What stands in the input.
---@return string
function M.text()
  return alive() and table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n') or ''
end

local function placeholder()
  if not alive() then
    return
  end
  vim.api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  if M.text() == '' then
    vim.api.nvim_buf_set_extmark(buf, ns, 0, 0, {
      virt_text = { { 'ask, or / for commands', 'DcodeHint' } },
      virt_text_pos = 'overlay',
    })
  end
end

--- Grows and shrinks the window with its text.
function M.fit()
  local w = M.window()
  if not w then
    return
  end
  local rows = vim.api.nvim_win_text_height(w, {}).all
  -- The state line (winbar) is part of the window's height.
  local height = math.min(math.max(rows, 1), MAX_LINES) + 1
  if vim.api.nvim_win_get_height(w) ~= height then
    vim.api.nvim_win_set_height(w, height)
  end
end

--- Shows what waits below the text.
function M.show_waiting()
  if not alive() then
    return
  end
  vim.api.nvim_buf_clear_namespace(buf, waiting_ns, 0, -1)
  local waiting = require('dcode.ui.waiting')
  local w = M.window()
  local cells = w and vim.api.nvim_win_get_width(w) or 60
  local lines = waiting.lines(waiting.items(), cells, require('dcode.ui.signs').get())
  if #lines > 0 then
    local last = vim.api.nvim_buf_line_count(buf) - 1
    vim.api.nvim_buf_set_extmark(buf, waiting_ns, last, 0, { virt_lines = lines })
  end
  M.fit()
end

--- Replaces what stands in the input; the cursor goes behind it.
---@param text string
function M.set(text)
  if not alive() then
    return
  end
  local lines = vim.split(text, '\n', { plain = true })
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  local w = M.window()
  if w then
    vim.api.nvim_win_set_cursor(w, { #lines, #lines[#lines] })
  end
  placeholder()
  M.show_waiting()
end

--- Sends what stands in the input.
function M.send()
  local text = vim.trim(M.text())
  if text == '' then
    return
  end
  if require('dcode.commands').line(text) then
    history.add(text)
    M.set('')
  end
end

---@param step -1|1
function M.browse(step)
  local row, count = vim.api.nvim_win_get_cursor(0)[1], vim.api.nvim_buf_line_count(0)
  if (step < 0 and row > 1) or (step > 0 and row < count) then
    vim.cmd.normal({ step < 0 and 'gk' or 'gj', bang = true })
    return
  end
  if step < 0 and M.text() == '' then
    local words = require('dcode.ui.waiting').take_last()
    if words then
      return M.set(words)
    end
  end
  local text = history.move(step, M.text())
  if text then
    M.set(text)
  end
end

local function make()
  buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].modifiable = true
  vim.bo[buf].buftype = 'nofile'
  vim.bo[buf].bufhidden = 'hide'
  vim.bo[buf].swapfile = false
  vim.bo[buf].filetype = 'dcode-input'
  vim.bo[buf].textwidth = 0
  pcall(vim.api.nvim_buf_set_name, buf, 'dcode://input')
  require('dcode.keymaps').input(buf)
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI' }, {
    group = require('dcode.exit').augroup(),
    buffer = buf,
    desc = 'dcode: fit the input to its text',
    callback = function()
      placeholder()
      M.show_waiting()
    end,
  })
end

--- Opens the input below the transcript's window.
---@param chat integer
function M.open(chat)
  if not alive() then
    make()
  end
  if M.window() then
    return
  end
  win = vim.api.nvim_open_win(buf, false, { split = 'below', win = chat, height = 2 })
  local sign = require('dcode.ui.signs').get().prompt
  require('dcode.ui.chat').dress(win, {
    winfixheight = true,
    statuscolumn = '%#DcodeTitle#%{v:lnum == 1 && v:virtnum == 0 ? " ' .. sign .. ' " : "   "}',
  })
  if vim.o.laststatus ~= 3 then
    local hint = ' <CR> send · <C-j> new line · <Up> earlier · g? keys'
    vim.wo[win].statusline = '%#DcodeHint#'
      .. require('dcode.ui.state_line').escape(hint:gsub('·', require('dcode.ui.signs').get().sep))
      .. '%<'
  end
  placeholder()
  M.show_waiting()
end

--- Puts the cursor into the input, ready to type.
function M.focus()
  local w = M.window()
  if w then
    vim.api.nvim_set_current_win(w)
    vim.cmd.startinsert({ bang = true })
  end
end

function M.close()
  local w = M.window()
  win = nil
  if w then
    pcall(vim.api.nvim_win_close, w, true)
  end
end

return M
