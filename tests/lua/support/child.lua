--- A second Neovim in a terminal of its own, driven by typed keys.
local M = {}

local here = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2))

---@class dcode.Child
---@field job integer
---@field channel integer
local Child = {}
Child.__index = Child

--- Starts one; `support.editor` is the global `ed` in it.
---@return dcode.Child
function M.start()
  local socket = vim.fn.tempname()
  local command = { vim.v.progpath, '--clean', '-n', '--listen', socket }
  local options = { pty = true, width = 80, height = 24, env = { TERM = 'xterm-256color' } }
  local job = vim.fn.jobstart(command, options)
  local channel = 0
  vim.wait(5000, function()
    local ok, id = pcall(vim.fn.sockconnect, 'pipe', socket, { rpc = true })
    channel = ok and id or 0
    return channel > 0
  end, 10)
  local child = setmetatable({ job = job, channel = channel }, Child)
  child:wait('#vim.api.nvim_list_uis() == 1 and vim.v.vim_did_enter == 1')
  child:lua(
    [[
      local tests, root = ...
      vim.opt.runtimepath:prepend(root)
      vim.cmd.runtime('plugin/dcode.lua')
      package.path = tests .. '/?.lua;' .. package.path
      ed = require('support.editor')
    ]],
    vim.fs.dirname(here),
    vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(here)))
  )
  return child
end

---@param code string
---@param ... any
---@return any
function Child:lua(code, ...)
  return vim.rpcrequest(self.channel, 'nvim_exec_lua', code, { ... })
end

--- Types keys and waits until they are used up.
---@param keys string
---@param mode? string the mode that they lead to, as `nvim_get_mode` names it; normal when nil
function Child:type(keys, mode)
  vim.rpcrequest(self.channel, 'nvim_input', keys)
  local ok = vim.wait(3000, function()
    return vim.rpcrequest(self.channel, 'nvim_get_mode').mode == (mode or 'n')
  end, 5)
  if not ok then
    error(('%s never led to mode %s'):format(keys, mode or 'n'), 2)
  end
  -- One more round through the main loop, for what the last key set off.
  vim.rpcrequest(self.channel, 'nvim_exec_lua', 'return 0', {})
end

--- Waits until an expression of Lua holds in the child.
---@param expression string
function Child:wait(expression)
  local last
  local ok = vim.wait(3000, function()
    last = self:lua('return ' .. expression)
    return last == true
  end, 10)
  if not ok then
    error(('never true: %s\n%s'):format(expression, table.concat(self:screen(), '\n')), 2)
  end
end

---@return string[]
function Child:lines()
  return self:lua('return vim.api.nvim_buf_get_lines(0, 0, -1, false)')
end

---@return string[]
function Child:screen()
  return self:lua([[
    vim.cmd.redraw()
    local rows = {}
    for row = 1, vim.o.lines do
      local cells = {}
      for col = 1, vim.o.columns do
        cells[col] = vim.fn.screenstring(row, col)
      end
      rows[row] = (table.concat(cells):gsub('%s+$', ''))
    end
    return rows
  ]])
end

function Child:stop()
  vim.fn.chanclose(self.channel)
  vim.fn.jobstop(self.job)
  vim.fn.jobwait({ self.job }, 2000)
end

return M
