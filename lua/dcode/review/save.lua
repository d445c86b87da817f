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

--- Writes with options that keep `:write` from asking, and from ending a last line that had no end.
---@param buf integer
---@return boolean ok, any err
local function write(buf)
  local confirm, fix = vim.o.confirm, vim.bo[buf].fixendofline
  vim.o.confirm = false
  vim.bo[buf].fixendofline = fix and vim.bo[buf].endofline
  local ok, err = pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd('silent keepalt lockmarks write')
  end)
  vim.o.confirm = confirm
  if vim.api.nvim_buf_is_valid(buf) then
    vim.bo[buf].fixendofline = fix
  end
  return ok, err
end

--- Writes a buffer.
---@param buf integer
---@return boolean saved, string? reason why not, as the end of a sentence; or what failed on the way
function M.write(buf)
  if vim.bo[buf].readonly then
    return false, 'it is read-only, :w! writes it'
  end
  local ok, err = write(buf)
  if not vim.api.nvim_buf_is_valid(buf) then
    return false, 'its buffer was closed while it was written'
  elseif vim.bo[buf].modified then
    return false, ok and 'an autocommand kept it from being written' or short(err)
  end
  return true, not ok and short(err) or nil
end

--- Writes a buffer and tells the person when that fails.
---@param buf integer
function M.write_or_tell(buf)
  local name = vim.fs.basename(vim.api.nvim_buf_get_name(buf))
  local saved, reason = M.write(buf)
  if not saved then
    require('dcode.log').notify('warn', ('%s is not saved: %s.'):format(name, reason))
  end
end

return M
