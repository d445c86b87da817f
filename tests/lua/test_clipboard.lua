-- Images from the clipboard, with programs of our own in the place of the real ones.
local clipboard = require('dcode.ui.clipboard')

local M = {}

---@param script string
---@return string? said, string input
local function paste(script)
  local own, notify, said = clipboard.TOOLS, vim.notify, nil
  clipboard.TOOLS = { { cmd = { 'sh', '-c', script } } }
  vim.notify = function(words)
    said = words
  end
  local input = require('dcode.ui.input')
  require('dcode.ui.chat').open()
  input.set('see')
  local ok, err = pcall(function()
    assert(clipboard.paste())
    vim.wait(5000, function()
      return said ~= nil or input.text() ~= 'see'
    end)
  end)
  clipboard.TOOLS, vim.notify = own, notify
  local text = input.text()
  require('dcode.ui.chat').close()
  assert(ok, err)
  return said, text
end

function M.an_image_becomes_a_path_in_the_input(t)
  local said, text = paste([[printf '\211PNG\r\n\032\nrest']])
  t.eq(nil, said)
  local path = text:match('^see @(%S+%.png) $')
  assert(path, text)
  local file = assert(io.open(path, 'rb'))
  t.eq('\137PNG\r\n\26\nrest', file:read('*a'))
  file:close()
end

function M.anything_else_is_said(t)
  local said, text = paste('echo text')
  t.eq({ 'dcode: The clipboard holds no image.', 'see' }, { said, text })
  t.eq('dcode: The clipboard holds no image.', (paste('exit 1')))
end

function M.without_a_program_it_says_what_to_install(t)
  local own = clipboard.TOOLS
  clipboard.TOOLS = { { cmd = { 'no-such-program-for-dcode' } } }
  local value, why = clipboard.paste()
  clipboard.TOOLS = own
  t.eq(nil, value)
  assert(why:find('wl-clipboard', 1, true), why)
end

return M
