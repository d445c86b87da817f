--- The windows of the chat: the transcript and the input below it.
local M = {}

local view = require('dcode.ui.chat_view')
local state_line = require('dcode.ui.state_line')

---@type integer?
local win
---@type uv.uv_timer_t?
local clock

--- The transcript's window in this tab page.
---@return integer?
function M.window()
  if win and vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win) == view.current() then
    if vim.api.nvim_win_get_tabpage(win) == vim.api.nvim_get_current_tabpage() then
      return win
    end
  end
end

---@return boolean
function M.visible()
  return M.window() ~= nil
end

---@param value number
---@param whole integer
---@return integer
local function part(value, whole)
  return math.floor(value < 1 and value * whole or value)
end

local MIN_WIDTH = 60

--- Where the chat opens and how big.
---@return { split: 'right'|'left'|'below', width?: integer, height?: integer }
local function layout()
  local chat = require('dcode.config').get().chat
  local width = math.max(part(chat.width, vim.o.columns), MIN_WIDTH)
  local side = chat.side
  if side == 'auto' then
    side = vim.o.columns - width >= MIN_WIDTH and 'right' or 'bottom'
  end
  if side == 'bottom' or vim.o.columns - width < 20 then
    return { split = 'below', height = math.max(part(chat.height, vim.o.lines), 8) }
  end
  return { split = side, width = width }
end

--- Options of our windows; none of them is left behind in a window of the person.
---@param w integer
---@param extra table<string, any>
function M.dress(w, extra)
  local base = {
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    foldcolumn = '0',
    foldenable = false,
    list = false,
    spell = false,
    wrap = true,
    linebreak = true,
    breakindent = true,
    cursorline = false,
    colorcolumn = '',
    statuscolumn = ' ',
    fillchars = vim.go.fillchars .. (vim.go.fillchars == '' and '' or ',') .. 'eob: ',
    winfixbuf = true,
  }
  for name, value in pairs(vim.tbl_extend('force', base, extra)) do
    vim.api.nvim_set_option_value(name, value, { win = w, scope = 'local' })
  end
end

--- A thin rule instead of a status line, where every window has its own.
---@param w integer
local function rule(w)
  if vim.o.laststatus ~= 3 then
    local sign = require('dcode.ui.signs').get().rule
    vim.wo[w].statusline = '%#WinSeparator#%{repeat("' .. sign .. '", winwidth(0))}'
  end
end

local function open_window()
  local at = layout()
  local buf = view.buffer()
  win = vim.api.nvim_open_win(buf, false, {
    split = at.split,
    win = -1,
    width = at.width,
    height = at.height,
  })
  M.dress(win, { winfixwidth = at.width ~= nil, winfixheight = at.height ~= nil })
  rule(win)
  view.resize(vim.api.nvim_win_get_width(win) - 1)
  vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
end

local watching = false

local function watch()
  if watching then
    return
  end
  watching = true
  local group = require('dcode.exit').augroup()
  vim.api.nvim_create_autocmd({ 'WinResized', 'VimResized' }, {
    group = group,
    desc = 'dcode: fit the chat to its window',
    callback = function()
      require('dcode.log').guard('resize', M.refit)
    end,
  })
  vim.api.nvim_create_autocmd('WinClosed', {
    group = group,
    desc = 'dcode: the input goes with the transcript',
    callback = function(ev)
      if tonumber(ev.match) == win then
        win = nil
        vim.schedule(function()
          require('dcode.ui.input').close()
        end)
      end
    end,
  })
end

--- Fits texts to the sizes of their windows.
function M.refit()
  local w = M.window()
  if w then
    view.resize(vim.api.nvim_win_get_width(w) - 1)
    M.refresh_state()
    require('dcode.ui.input').fit()
  end
  require('dcode.ui.prompts').refit()
end

--- Opens the chat where it is not open.
---@param opts? { enter?: boolean } whether the cursor goes to the input
function M.open(opts)
  watch()
  require('dcode.highlights').setup()
  if not M.window() then
    open_window()
    require('dcode.ui.input').open(win)
  end
  if opts and opts.enter then
    require('dcode.ui.input').focus()
  end
  M.refresh_state()
end

--- A buffer to show where the chat was: the alternate one, else any that is listed, else a new one.
---@return integer
local function other_buffer()
  local listed = vim.tbl_filter(function(buf)
    return vim.bo[buf].buflisted
  end, vim.api.nvim_list_bufs())
  local alternate = vim.fn.bufnr('#')
  if vim.tbl_contains(listed, alternate) then
    return alternate
  end
  return listed[1] or vim.api.nvim_create_buf(true, false)
end

--- Makes our window one like any other. Most options come with the buffer that it shows, these do
--- not.
---@param w integer
local function give_back(w)
  for _, name in ipairs({ 'winfixbuf', 'winfixwidth', 'winfixheight' }) do
    vim.api.nvim_set_option_value(name, false, { win = w, scope = 'local' })
  end
  vim.api.nvim_win_set_buf(w, other_buffer())
end

function M.close()
  require('dcode.ui.input').close()
  local w = M.window()
  win = nil
  -- The last window cannot be closed.
  if w and not pcall(vim.api.nvim_win_close, w, true) then
    give_back(w)
  end
end

--- Opens the chat with the cursor in the input, or closes it.
function M.toggle()
  if M.visible() then
    M.close()
  else
    M.open({ enter = true })
  end
end

--- Runs the clock of the state line while something runs and somebody sees it.
---@param running boolean
local function tick(running)
  if running and not clock then
    clock = assert(vim.uv.new_timer())
    clock:start(1000, 1000, vim.schedule_wrap(M.refresh_state))
  elseif not running and clock then
    clock:close()
    clock = nil
  end
end

---@param w integer
---@param value string
local function set_winbar(w, value)
  if vim.wo[w].winbar ~= value then
    vim.api.nvim_set_option_value('winbar', value, { win = w, scope = 'local' })
  end
end

--- Redraws head and state line, if they are seen.
function M.refresh_state()
  local w = M.window()
  local words = require('dcode.status').words()
  tick(w ~= nil and (words.since or words.till) ~= nil)
  if not w then
    return
  end
  local signs = require('dcode.ui.signs').get()
  local session = require('dcode.session').state
  set_winbar(w, state_line.head(session, vim.api.nvim_win_get_width(w), signs))
  local input = require('dcode.ui.input').window()
  if input then
    local cells = vim.api.nvim_win_get_width(input)
    set_winbar(input, state_line.state(words, cells, signs, vim.uv.now()))
  end
end

return M
