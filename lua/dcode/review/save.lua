--- Writing a buffer after an edit: `:write` with its autocommands, never a question.
local M = {}

local policy

--- The option `save`: `on_edit`, `on_accept` or `never`.
---@return string
function M.policy()
  if policy then
    return policy
  end
  local native = require('dcode.session').state.native
  local rows = native and native.config and native.config({}) or {}
  for _, row in ipairs(rows) do
    if row.key == 'save' then
      policy = row.value
      return policy
    end
  end
  return 'on_edit'
end

--- The first line of an error, without the places it went through.
---@param err any
---@return string
local function short(err)
  local line = tostring(err):match('[^\n]*')
  return (line:gsub('^.-(E%d+:)', '%1'))
end

--- Runs `fn` with options that keep `:write` from asking.
---@param fn fun()
---@return boolean ok, any err
local function without_questions(fn)
  local confirm = vim.o.confirm
  vim.o.confirm = false
  local ok, err = pcall(fn)
  vim.o.confirm = confirm
  return ok, err
end

--- Writes a buffer.
---@param buf integer
---@return boolean saved, string? note why not
function M.write(buf)
  local name = vim.fs.basename(vim.api.nvim_buf_get_name(buf))
  if vim.bo[buf].readonly then
    return false, ('%s is read-only; the change is in the buffer. :w! writes it.'):format(name)
  end
  local ok, err = without_questions(function()
    vim.api.nvim_buf_call(buf, function()
      vim.cmd('silent keepalt lockmarks write')
    end)
  end)
  if not vim.api.nvim_buf_is_valid(buf) then
    return false, ('%s was closed while it was written.'):format(name)
  elseif vim.bo[buf].modified then
    local why = ok and 'an autocommand kept it from being written' or short(err)
    return false, ('%s was not written: %s. :w tries again.'):format(name, why)
  end
  return true, not ok and ('%s was written, but: %s'):format(name, short(err)) or nil
end

return M
