--- Changing a call before it runs: its command, or its arguments as JSON, in a float.
local M = {}

--- What is edited: the command of a shell line, else all arguments.
---@param request table
---@return string text, string filetype
local function source(request)
  if request.tool == 'bash' and type(request.args.command) == 'string' then
    return request.args.command, 'sh'
  end
  return vim.json.encode(request.args), 'json'
end

--- The arguments that the edited text stands for.
---@param request table
---@param body string
---@return table? args, string? message
function M.args(request, body)
  local _, filetype = source(request)
  if filetype == 'sh' then
    return vim.tbl_extend('force', request.args, { command = body })
  end
  local ok, args = pcall(vim.json.decode, body)
  if ok and type(args) == 'table' and not vim.islist(args) then
    return args
  end
  return nil, 'These arguments are no JSON object. Mend them, or leave with :q.'
end

---@param request table
---@param done fun(args: table)
local function in_line(request, done)
  local body = source(request)
  if body:find('\n') then
    require('dcode.log').notify('warn', 'It has several lines and cannot be edited here.')
    return
  end
  local typed = vim.fn.input({ prompt = 'Run instead: ', default = body, cancelreturn = '' })
  if vim.trim(typed) ~= '' then
    local args, why = M.args(request, typed)
    if args then
      return done(args)
    end
    require('dcode.log').notify('warn', why or '')
  end
end

--- Lets the person change the call. `:w` gives the new arguments; any other way out gives nothing.
---@param request table
---@param modal boolean whether the person cannot be asked asynchronously
---@param done fun(args: table)
function M.open(request, modal, done)
  if modal then
    return in_line(request, done)
  end
  local body, filetype = source(request)
  local lines = vim.split(body, '\n', { plain = true })
  local width = 60
  for _, line in ipairs(lines) do
    width = math.max(width, math.min(vim.api.nvim_strwidth(line) + 2, 100))
  end
  local float = require('dcode.ui.float').open({
    title = 'edit the call',
    footer = ':w runs it · :q leaves it',
    enter = true,
    place = 'center',
    width = width,
    max_height = 20,
    filetype = filetype,
    wrap = true,
  })
  if not float then
    return
  end
  float:set(lines, {})
  vim.bo[float.buf].modifiable = true
  vim.bo[float.buf].buftype = 'acwrite'
  vim.api.nvim_buf_set_name(float.buf, 'dcode://call')
  vim.bo[float.buf].modified = false
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    buffer = float.buf,
    desc = 'dcode: the call is edited',
    callback = function()
      local text = table.concat(vim.api.nvim_buf_get_lines(float.buf, 0, -1, false), '\n')
      local args, why = M.args(request, text)
      if not args then
        return require('dcode.log').notify('warn', why or '')
      end
      vim.bo[float.buf].modified = false
      vim.schedule(function()
        float:close()
        done(args)
      end)
    end,
  })
end

return M
