--- What the review has to hear of files and windows, beside the buffers that are under review.
local M = {}

local buffers = require('dcode.buffers')
local edges = require('dcode.review.edges')
local log = require('dcode.log')
local review = require('dcode.review')

---@return dcode.Native?
local function native()
  return require('dcode.session').state.native
end

--- A file was opened: what waits in it is shown.
---@param buf integer
local function opened(buf)
  local path = not review.get(buf) and native() and buffers.path(buf)
  if path then
    review.changed({ path })
  end
end

--- A window was scrolled to the first or the last line: what was removed beyond is shown as well.
local function scrolled()
  for win, moved in pairs(vim.v.event) do
    win = tonumber(win)
    local buf = win and vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win)
    if buf and review.get(buf) then
      if moved.topline < 0 and vim.fn.line('w0', win) == 1 then
        edges.top(buf)
      elseif moved.topline > 0 then
        edges.bottom(win)
      end
    end
  end
end

---@param buf integer
local function written(buf)
  local lib, path = native(), buffers.path(buf)
  if lib and path then
    lib.review({ action = 'written', path = path })
  end
end

local started = false

--- Begins. Called when a session starts; once is enough.
function M.start()
  if started then
    return
  end
  started = true
  ---@param events string[]
  ---@param pattern string
  ---@param desc string
  ---@param fn fun(buf: integer)
  local function on(events, pattern, desc, fn)
    vim.api.nvim_create_autocmd(events, {
      group = vim.api.nvim_create_augroup('dcode', { clear = false }),
      pattern = pattern,
      desc = 'dcode: ' .. desc,
      callback = function(ev)
        log.guard('review', fn, ev.buf)
      end,
    })
  end
  on({ 'BufReadPost', 'BufNewFile' }, '*', 'what waits in a file that is opened', opened)
  on({ 'BufWritePost' }, '*', 'what the editor writes is no command of the agent', written)
  on({ 'WinScrolled' }, '*', 'what was removed beyond the first and the last line', scrolled)
  on({ 'OptionSet' }, 'endofline', 'the final newline belongs to the text', function()
    review.eol_changed(vim.api.nvim_get_current_buf())
  end)
end

return M
