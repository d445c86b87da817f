--- Ends the engine with the editor.
local M = {}

--- How long quitting waits for what runs to wind up. What is still there then is killed by the
--- watchdog.
local LIMIT_MS = 150

local watching = false

--- The one augroup of the plugin.
---@return integer
function M.augroup()
  return vim.api.nvim_create_augroup('dcode', { clear = false })
end

--- Stops the engine at VimLeavePre; children are gone within the limit.
function M.watch()
  if watching then
    return
  end
  watching = true
  vim.api.nvim_create_autocmd('VimLeavePre', {
    group = M.augroup(),
    desc = 'dcode: end the agent and what it started',
    callback = function()
      require('dcode.session').stop(LIMIT_MS)
    end,
  })
end

return M
