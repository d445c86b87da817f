--- Images from the clipboard: kept in a file of this Neovim and named in the input as `@path`.
local M = {}

---@class dcode.ClipboardTool
---@field needs? string an environment variable without which the program cannot work
---@field cmd string[] writes a PNG to its output

---@type dcode.ClipboardTool[]
M.TOOLS = {
  { needs = 'WAYLAND_DISPLAY', cmd = { 'wl-paste', '--no-newline', '--type', 'image/png' } },
  { needs = 'DISPLAY', cmd = { 'xclip', '-selection', 'clipboard', '-t', 'image/png', '-o' } },
  { cmd = { 'pngpaste', '-' } },
}

local LIMIT = 10 * 1024 * 1024

---@return string[]?
local function command()
  for _, tool in ipairs(M.TOOLS) do
    local there = not tool.needs or (vim.env[tool.needs] or '') ~= ''
    if there and vim.fn.executable(tool.cmd[1]) == 1 then
      return tool.cmd
    end
  end
end

--- Puts `@path` where the cursor of the input is.
---@param path string
local function insert(path)
  local input = require('dcode.ui.input')
  require('dcode.ui.chat').open({ enter = true })
  local text = input.text()
  local gap = (text == '' or text:match('%s$')) and '' or ' '
  input.set(text .. gap .. '@' .. path .. ' ')
end

---@param out { code: integer, stdout?: string }
local function got(out)
  local bytes = out.stdout or ''
  local log = require('dcode.log')
  if out.code ~= 0 or bytes:sub(1, 8) ~= '\137PNG\r\n\26\n' then
    return log.notify('info', 'The clipboard holds no image.')
  elseif #bytes > LIMIT then
    return log.notify('warn', 'The image in the clipboard is too big; 10 MiB are the most.')
  end
  local path = vim.fn.tempname() .. '.png'
  local file = io.open(path, 'wb')
  if not file or not file:write(bytes) or not file:close() then
    return log.notify('error', 'The image cannot be kept in ' .. path .. '.')
  end
  insert(path)
end

--- `:Dcode paste`.
---@return any? value, string? message
function M.paste()
  local cmd = command()
  if not cmd then
    return nil,
      'There is no program that reads images from the clipboard. '
        .. 'Install wl-clipboard or xclip (pngpaste on a Mac), or name a file as @path.'
  end
  vim.system(cmd, { timeout = 5000 }, function(out)
    vim.schedule(function()
      require('dcode.log').guard('paste', got, out)
    end)
  end)
  return true
end

return M
