--- A scrollable float that `q` closes.
local M = {}

---@param title string
---@param lines string[]
---@param marks? dcode.Mark[]
---@return boolean
function M.show(title, lines, marks)
  local width = 40
  for _, line in ipairs(lines) do
    width = math.max(width, vim.api.nvim_strwidth(line) + 2)
  end
  local f = require('dcode.ui.float').open({
    title = title,
    footer = 'q closes',
    enter = true,
    place = 'center',
    width = width,
    filetype = 'dcode-page',
  })
  if f then
    f:set(lines, marks or {})
    for _, lhs in ipairs({ 'q', '<Esc>' }) do
      vim.keymap.set('n', lhs, function()
        f:close()
      end, { buffer = f.buf, nowait = true })
    end
  end
  return true
end

return M
