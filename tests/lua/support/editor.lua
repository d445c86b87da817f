--- A file in a buffer, and batches as the engine sends them.
local M = {}

local fake = require('support.fake_review')

--- Puts a fresh library in place; every module of the plugin is loaded anew.
---@return table native
function M.start()
  for name in pairs(package.loaded) do
    if vim.startswith(name, 'dcode.') then
      package.loaded[name] = nil
    end
  end
  vim.cmd('silent! %bwipeout!')
  local native = fake.new()
  require('dcode.session').state.native = native
  return native
end

--- Makes a file and opens it.
---@param name string
---@param text string
---@return integer buf, string path
function M.open(name, text)
  local dir = vim.uv.fs_realpath(vim.fn.fnamemodify(vim.fn.tempname(), ':h'))
  local path = dir .. '/' .. name
  M.write(path, text)
  vim.cmd.edit(vim.fn.fnameescape(path))
  return vim.api.nvim_get_current_buf(), path
end

---@param path string
---@param text string
function M.write(path, text)
  local file = assert(io.open(path, 'wb'))
  file:write(text)
  file:close()
end

---@param path string
---@return string
function M.read(path)
  local file = assert(io.open(path, 'rb'))
  local text = file:read('*a')
  file:close()
  return text
end

---@param buf integer
---@return string[]
function M.lines(buf)
  return vim.api.nvim_buf_get_lines(buf, 0, -1, false)
end

--- One file of a batch; `edits` are `{first, last, lines}` with 0-based lines, `last` exclusive.
---@param buf integer
---@param edits { [1]: integer, [2]: integer, [3]: string[] }[]
---@param more? table
---@return table
function M.file(buf, edits, more)
  local list = {}
  for i, e in ipairs(edits) do
    list[i] = { start = e[1], ['end'] = e[2], lines = e[3] }
  end
  return vim.tbl_extend('force', {
    path = require('dcode.buffers').path(buf),
    buf = buf,
    tick = vim.api.nvim_buf_get_changedtick(buf),
    edits = list,
    save = true,
    deleted = false,
  }, more or {})
end

--- Has the agent edit one buffer.
---@param buf integer
---@param edits table[]
---@param more? table
---@return table reply
function M.agent(buf, edits, more)
  local batch = { origin = 'agent', label = 'edit', files = { M.file(buf, edits, more) } }
  return require('dcode.review.apply').run(batch)
end

--- Lets everything run that is due.
function M.flush()
  vim.wait(60, function()
    return false
  end, 5)
end

return M
