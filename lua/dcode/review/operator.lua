--- Deciding by operator: `.` repeats it, a motion or text object says on which lines.
local M = {}

local actions = require('dcode.review.actions')
local log = require('dcode.log')

---@param value any
---@param why string?
local function complain(value, why)
  if (value == nil or value == 0) and why then
    log.notify('warn', why)
  end
end

--- What 'operatorfunc' calls: the hunk under the cursor.
---@type table<string, fun()>
M.hunk = {
  accept = function()
    log.guard('accept', function()
      complain(actions.at_cursor('accept'))
    end)
  end,
  reject = function()
    log.guard('reject', function()
      complain(actions.at_cursor('reject'))
    end)
  end,
}

---@param verb 'accept'|'reject'
local function lines(verb)
  local first, last = vim.api.nvim_buf_get_mark(0, '[')[1], vim.api.nvim_buf_get_mark(0, ']')[1]
  log.guard(verb, function()
    complain(actions[verb]({ buf = 0, range = { first, last } }))
  end)
end

--- The same for the lines of a motion.
---@type table<string, fun()>
M.lines = {
  accept = function()
    lines('accept')
  end,
  reject = function()
    lines('reject')
  end,
}

--- For an expression mapping: the keys that start it. A hunk needs no motion.
---@param kind 'hunk'|'lines'
---@param verb 'accept'|'reject'
---@return string
function M.start(kind, verb)
  vim.o.operatorfunc = ("v:lua.require'dcode.review.operator'.%s.%s"):format(kind, verb)
  return kind == 'hunk' and 'g@l' or 'g@'
end

--- The lines of the hunk under the cursor as a text object. Without a hunk there the operator is
--- called off.
function M.select()
  local span = actions.here()
  if not span or span.count == 0 then
    vim.api.nvim_feedkeys(vim.keycode('<Esc>'), 'n', false)
    return log.notify('warn', span and 'This hunk has no lines of its own.' or 'No hunk is here.')
  end
  if vim.api.nvim_get_mode().mode:match('^[vV\22]') then
    vim.cmd.normal({ vim.keycode('<Esc>'), bang = true })
  end
  local last = span.start + span.count - 1
  vim.cmd.normal({ ('%dGV%dG'):format(span.start, last), bang = true })
end

return M
