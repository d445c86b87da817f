--- Where the person is when a prompt is sent: file, line, selection.
local M = {}

---@class dcode.PromptContext
---@field path? string absolute
---@field line? integer counted from 1
---@field selection? { first: integer, last: integer, text: string }

--- The window the person works in: the current one, or the last file window when a chat window is.
---@return integer
local function work_window()
  local function is_work(win)
    local buf = vim.api.nvim_win_get_buf(win)
    return vim.bo[buf].buftype == '' and vim.api.nvim_win_get_config(win).relative == ''
  end
  local current = vim.api.nvim_get_current_win()
  if is_work(current) then
    return current
  end
  local previous = vim.fn.win_getid(vim.fn.winnr('#'))
  if previous ~= 0 and is_work(previous) then
    return previous
  end
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if is_work(win) then
      return win
    end
  end
  return current
end

--- The context now.
---@param range? { first: integer, last: integer } selected lines of the current buffer
---@return dcode.PromptContext
function M.get(range)
  local win = work_window()
  local buf = vim.api.nvim_win_get_buf(win)
  local name = vim.api.nvim_buf_get_name(buf)
  if vim.bo[buf].buftype ~= '' or name == '' then
    if not range then
      return {}
    end
    name = ''
  end
  local context = { line = vim.api.nvim_win_get_cursor(win)[1] }
  if name ~= '' then
    context.path = vim.fn.fnamemodify(name, ':p')
  end
  if range then
    local lines = vim.api.nvim_buf_get_lines(buf, range.first - 1, range.last, false)
    context.selection = { first = range.first, last = range.last, text = table.concat(lines, '\n') }
  end
  return context
end

return M
