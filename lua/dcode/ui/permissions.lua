--- `:Dcode permissions`: what the person has said beforehand, where it stands, and how to take it
--- back.
local M = {}

local text = require('dcode.ui.text')

local HL = { allow = 'DcodeOk', ask = 'DcodeAsk', deny = 'DcodeRisk' }

--- The place of a grant, short: `~/.deepseek/config.toml:12`.
---@param grant table
---@return string
local function place(grant)
  if not grant.file then
    return text.line(grant.source)
  end
  local file = vim.fn.fnamemodify(grant.file, ':~')
  return grant.line and ('%s:%d'):format(file, grant.line) or file
end

--- Lines and marks of the list; the line of a grant is its number.
---@param grants table[]
---@param width integer
---@return string[] lines, dcode.Mark[] marks
function M.render(grants, width)
  if #grants == 0 then
    return { ' Nothing was allowed, asked for or denied beforehand.' }, {}
  end
  local cells, where_cells = 10, 0
  for _, grant in ipairs(grants) do
    cells = math.max(cells, vim.api.nvim_strwidth(text.line(grant.text)))
    where_cells = math.max(where_cells, vim.api.nvim_strwidth(place(grant)))
  end
  local room = math.max(math.min(cells, width - where_cells - 11), 16)
  local lines, marks = {}, {}
  for i, grant in ipairs(grants) do
    local where = place(grant)
    local words = text.pad(text.cut(text.line(grant.text), room), room)
    local head = (' %-5s  %s  '):format(grant.mode, words)
    lines[i] = head .. where
    marks[#marks + 1] = { row = i - 1, col = 1, end_col = 1 + #grant.mode, hl = HL[grant.mode] }
    marks[#marks + 1] = { row = i - 1, col = #head, end_col = #lines[i], hl = 'DcodeHint' }
  end
  return lines, marks
end

---@param revoke? table
---@param done fun(ev: table)
---@return boolean? ok, string? message
local function ask(revoke, done)
  local session = require('dcode.session')
  local ticket, why = session.submit({ type = 'permissions', revoke = revoke })
  if not ticket then
    return nil, why
  end
  session.tickets[ticket] = done
  return true
end

---@class dcode.PermissionList
---@field float dcode.Float
---@field grants table[]
local List = {}
List.__index = List

function List:draw()
  local lines, marks = M.render(self.grants, self.float.opts.width)
  self.float:set(lines, marks)
end

---@return table?
function List:current()
  return self.grants[vim.api.nvim_win_get_cursor(self.float.win)[1]]
end

function List:revoke()
  local grant = self:current()
  if not grant then
    return
  end
  if not grant.revocable then
    local how = grant.file and ' Enter goes there.' or ''
    local message = ('`%s` stands in %s.%s'):format(grant.text, place(grant), how)
    return require('dcode.log').notify('info', message)
  end
  ask(grant, function(ev)
    if ev.problem then
      require('dcode.log').notify('warn', ev.problem)
    end
    self.grants = ev.grants
    if self.float:valid() then
      self:draw()
    end
  end)
end

--- Opens the file of a grant at its line.
function List:visit()
  local grant = self:current()
  if grant and grant.file then
    self.float:close()
    vim.cmd.edit(vim.fn.fnameescape(grant.file))
    pcall(vim.api.nvim_win_set_cursor, 0, { grant.line or 1, 0 })
  end
end

---@param grants table[]
local function show(grants)
  local width = 50
  for _, grant in ipairs(grants) do
    local row = text.line(grant.text) .. place(grant)
    width = math.max(width, vim.api.nvim_strwidth(row) + 11)
  end
  local float = require('dcode.ui.float').open({
    title = 'permissions',
    footer = 'd takes back · Enter goes there · q closes',
    enter = true,
    place = 'center',
    width = math.min(width, vim.o.columns - 4),
    filetype = 'dcode-page',
  })
  if not float then
    return
  end
  local list = setmetatable({ float = float, grants = grants }, List)
  list:draw()
  vim.wo[float.win].cursorline = #grants > 0
  local function map(lhs, fn)
    vim.keymap.set('n', lhs, fn, { buffer = float.buf, nowait = true, desc = 'dcode: permissions' })
  end
  map('d', function()
    list:revoke()
  end)
  map('<CR>', function()
    list:visit()
  end)
  for _, lhs in ipairs({ 'q', '<Esc>' }) do
    map(lhs, function()
      float:close()
    end)
  end
end

--- Opens the list.
---@return boolean? ok, string? message
function M.open()
  return ask(nil, function(ev)
    show(ev.grants)
  end)
end

return M
