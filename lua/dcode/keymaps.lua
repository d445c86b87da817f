--- Every key: what the <Plug> maps do, the default maps while hunks wait, the maps of our own
--- windows.
local M = {}

local log = require('dcode.log')

--- The selected lines in Visual mode, else the hunk under the cursor.
---@param verb 'accept'|'reject'
---@return fun()
local function on_cursor(verb)
  return function()
    local mode = vim.api.nvim_get_mode().mode
    if mode:match('^[vV\22]') then
      local a, b = vim.fn.line('v'), vim.fn.line('.')
      vim.api.nvim_feedkeys(vim.keycode('<Esc>'), 'nx', false)
      return require('dcode')[verb]({ buf = 0, range = { math.min(a, b), math.max(a, b) } })
    end
    return require('dcode.review.actions').at_cursor(verb)
  end
end

local ACTIONS = {
  accept = on_cursor('accept'),
  reject = on_cursor('reject'),
  ['accept-file'] = function()
    return require('dcode').accept({ buf = 0, all = true })
  end,
  ['reject-file'] = function()
    return require('dcode').reject({ buf = 0, all = true })
  end,
  ['accept-all'] = function()
    return require('dcode').accept({ all = true })
  end,
  ['reject-all'] = function()
    return require('dcode').reject({ all = true })
  end,
  next = function()
    return require('dcode.review.navigate').next()
  end,
  prev = function()
    return require('dcode.review.navigate').prev()
  end,
  hunk = function()
    require('dcode.review.operator').select()
    return true
  end,
  compare = function()
    return require('dcode.review.compare').toggle()
  end,
  comment = function()
    return require('dcode.review.comment').on()
  end,
  review = function()
    return require('dcode.review.list').open()
  end,
  unreject = function()
    return require('dcode.review.back').bring_back(0)
  end,
  timeline = function()
    return require('dcode.ui.timeline').open()
  end,
  mode = function()
    return require('dcode.commands').next_mode()
  end,
  answer = function()
    return require('dcode.commands').answer()
  end,
  chat = function()
    require('dcode.ui.chat').toggle()
    return true
  end,
}

--- Does what `<Plug>(dcode-NAME)` means.
---@param name string
function M.press(name)
  local ok, value, why = pcall(ACTIONS[name])
  if not ok then
    log.fault('<Plug>(dcode-' .. name .. ')', value)
  elseif value == nil and why then
    log.notify('warn', why)
  end
end

--- What a `<Plug>` map that decides is replaced by, so that `.` repeats it.
---@type table<string, fun(): string>
M.OPERATORS = {
  accept = function()
    return require('dcode.review.operator').start('hunk', 'accept')
  end,
  reject = function()
    return require('dcode.review.operator').start('hunk', 'reject')
  end,
  ['accept-operator'] = function()
    return require('dcode.review.operator').start('lines', 'accept')
  end,
  ['reject-operator'] = function()
    return require('dcode.review.operator').start('lines', 'reject')
  end,
}

--- Option name of a default map -> <Plug> name and modes. `shy` ones give way to a global map too.
---@type table<string, { plug: string, modes: string[], shy?: boolean }>
M.REVIEW = {
  accept = { plug = 'accept', modes = { 'n', 'x' } },
  reject = { plug = 'reject', modes = { 'n', 'x' } },
  accept_file = { plug = 'accept-file', modes = { 'n' } },
  reject_file = { plug = 'reject-file', modes = { 'n' } },
  accept_all = { plug = 'accept-all', modes = { 'n' } },
  reject_all = { plug = 'reject-all', modes = { 'n' } },
  next = { plug = 'next', modes = { 'n' } },
  prev = { plug = 'prev', modes = { 'n' } },
  hunk = { plug = 'hunk', modes = { 'o', 'x' }, shy = true },
  compare = { plug = 'compare', modes = { 'n' }, shy = true },
  comment = { plug = 'comment', modes = { 'n' }, shy = true },
  accept_operator = { plug = 'accept-operator', modes = { 'n' }, shy = true },
  reject_operator = { plug = 'reject-operator', modes = { 'n' }, shy = true },
}

---@class dcode.Mapped
---@field name string a key of the option `keys`
---@field mode string
---@field lhs string as one types it, whatever the leader is meanwhile
---@field rhs string

---@type table<integer, dcode.Mapped[]>
local mapped = {}

--- Maps the review keys in a buffer while hunks wait there. A key that the person has mapped in the
--- buffer keeps its meaning.
---@param buf integer
function M.attach(buf)
  if mapped[buf] then
    return
  end
  local mine = {}
  local keys = require('dcode.config').get().keys
  vim.api.nvim_buf_call(buf, function()
    for name, action in pairs(M.REVIEW) do
      local lhs = keys[name]
      for _, mode in ipairs(lhs and action.modes or {}) do
        local taken = vim.fn.maparg(lhs, mode, false, true)
        if taken.buffer ~= 1 and not (action.shy and next(taken)) then
          local rhs = '<Plug>(dcode-' .. action.plug .. ')'
          vim.keymap.set(mode, lhs, rhs, { buffer = buf, desc = 'dcode: ' .. action.plug })
          local typed = vim.fn.keytrans(vim.fn.maparg(lhs, mode, false, true).lhsraw)
          mine[#mine + 1] = { name = name, mode = mode, lhs = typed, rhs = rhs }
        end
      end
    end
  end)
  mapped[buf] = mine
end

--- Whether a key means what `attach` gave it: the person may have mapped it since.
---@param buf integer
---@param map dcode.Mapped
---@return boolean
local function is_ours(buf, map)
  local now = vim.api.nvim_buf_call(buf, function()
    return vim.fn.maparg(map.lhs, map.mode, false, true)
  end)
  return now.buffer == 1 and now.rhs == map.rhs
end

--- Removes the review keys; mappings of the person stay, older and newer ones.
---@param buf integer
function M.detach(buf)
  local mine = mapped[buf]
  mapped[buf] = nil
  if mine and vim.api.nvim_buf_is_valid(buf) then
    for _, map in ipairs(mine) do
      if is_ours(buf, map) then
        vim.keymap.del(map.mode, map.lhs, { buffer = buf })
      end
    end
  end
end

--- The key of an action as the person would type it, for hints.
---@param name string a key of the option `keys`
---@param buf integer a buffer where hunks wait
---@return string? nil when it is not mapped there
function M.shown(name, buf)
  for _, map in ipairs(mapped[buf] or {}) do
    if map.name == name and map.mode == 'n' and is_ours(buf, map) then
      return map.lhs
    end
  end
end

---@param buf integer
---@param mode string|string[]
---@param lhs string
---@param desc string
---@param fn fun()
local function own(buf, mode, lhs, desc, fn)
  vim.keymap.set(mode, lhs, function()
    log.guard('key ' .. lhs, fn)
  end, { buffer = buf, nowait = true, silent = true, desc = 'dcode: ' .. desc })
end

local function stop()
  require('dcode.commands').stop()
end

---@param step -1|1
local function jump_prompt(step)
  local rows = require('dcode.ui.chat_view').prompt_rows()
  local at = vim.api.nvim_win_get_cursor(0)[1]
  local from, to = step > 0 and 1 or #rows, step > 0 and #rows or 1
  for i = from, to, step do
    if (step > 0 and rows[i] > at) or (step < 0 and rows[i] < at) then
      vim.api.nvim_win_set_cursor(0, { rows[i], 0 })
      return
    end
  end
end

---@param buf integer
local function help(buf)
  own(buf, 'n', 'g?', 'keys of the chat', function()
    vim.cmd.help('dcode-chat-keys')
  end)
end

--- Keys of the transcript.
---@param buf integer
function M.chat(buf)
  own(buf, 'n', '<CR>', 'open or close the row', require('dcode.ui.chat_view').toggle)
  own(buf, 'n', '<C-c>', 'stop', stop)
  own(buf, 'n', 'q', 'close the chat', require('dcode.ui.chat').close)
  own(buf, 'n', 'i', 'write', require('dcode.ui.input').focus)
  own(buf, 'n', ']]', 'next prompt', function()
    jump_prompt(1)
  end)
  own(buf, 'n', '[[', 'previous prompt', function()
    jump_prompt(-1)
  end)
  own(buf, 'n', '<S-Tab>', 'next mode', function()
    M.press('mode')
  end)
  help(buf)
end

--- Keys of the input.
---@param buf integer
function M.input(buf)
  local input = require('dcode.ui.input')
  local function newline()
    vim.api.nvim_feedkeys(vim.keycode('<CR>'), 'n', false)
  end
  own(buf, { 'n', 'i' }, '<CR>', 'send', function()
    if vim.fn.pumvisible() == 1 then
      vim.api.nvim_feedkeys(vim.keycode('<C-y>'), 'n', false)
    else
      input.send()
    end
  end)
  own(buf, 'i', '<S-CR>', 'new line', newline)
  own(buf, 'i', '<C-j>', 'new line', newline)
  own(buf, { 'n', 'i' }, '<C-c>', 'stop', stop)
  for lhs, step in pairs({ ['<Up>'] = -1, ['<Down>'] = 1 }) do
    own(buf, { 'n', 'i' }, lhs, step < 0 and 'earlier prompt' or 'later prompt', function()
      if vim.fn.pumvisible() == 1 then
        vim.api.nvim_feedkeys(vim.keycode(step < 0 and '<C-p>' or '<C-n>'), 'n', false)
      else
        input.browse(step)
      end
    end)
  end
  own(buf, 'i', '<Tab>', 'complete a command', function()
    if vim.fn.pumvisible() == 1 then
      vim.api.nvim_feedkeys(vim.keycode('<C-n>'), 'n', false)
    elseif not require('dcode.commands').complete_slash() then
      vim.api.nvim_feedkeys(vim.keycode('<Tab>'), 'n', false)
    end
  end)
  own(buf, { 'n', 'i' }, '<S-Tab>', 'next mode', function()
    M.press('mode')
  end)
  own(buf, { 'n', 'i' }, '<M-v>', 'image from the clipboard', function()
    local value, why = require('dcode.ui.clipboard').paste()
    if not value then
      log.notify('warn', why)
    end
  end)
  own(buf, 'n', 'q', 'close the chat', require('dcode.ui.chat').close)
  help(buf)
end

return M
