--- Whether Neovim lets nobody change text just now (`:help textlock`). There is no way to ask; a
--- change is tried on a buffer of our own.
local M = {}

---@type integer?
local probe

---@return boolean
function M.locked()
  if not probe or not vim.api.nvim_buf_is_valid(probe) then
    local ok, buf = pcall(vim.api.nvim_create_buf, false, true)
    if not ok then
      return true
    end
    probe = buf
    vim.bo[probe].undolevels = -1
    -- `:set nomodifiable` is for new buffers too.
    vim.bo[probe].modifiable = true
  end
  return not pcall(vim.api.nvim_buf_set_lines, probe, 0, -1, false, {})
end

return M
