--- Lines of standard input, read without stopping the event loop.
local M = {}

---@type string
local buffer = ''
local ended, started = false, false
---@type (fun(line: string?))[]
local waiting = {}

local function serve()
  while #waiting > 0 do
    local at = buffer:find('\n', 1, true)
    if at then
      local line = buffer:sub(1, at - 1):gsub('\r$', '')
      buffer = buffer:sub(at + 1)
      table.remove(waiting, 1)(line)
    elseif ended then
      local line = buffer ~= '' and buffer or nil
      buffer = ''
      table.remove(waiting, 1)(line)
    else
      return
    end
  end
end

local function take(err, data)
  if err or not data then
    ended = true
  else
    buffer = buffer .. data
  end
  vim.schedule(serve)
end

local function read_file()
  local at = 0
  while true do
    local data = vim.uv.fs_read(0, 65536, -1)
    if not data or data == '' then
      break
    end
    at = at + #data
    buffer = buffer .. data
  end
  ended = true
end

local function start()
  if started then
    return
  end
  started = true
  local kind = vim.uv.guess_handle(0)
  local handle
  if kind == 'tty' then
    handle = vim.uv.new_tty(0, true)
  elseif kind == 'pipe' then
    handle = vim.uv.new_pipe(false)
    if handle and not handle:open(0) then
      handle = nil
    end
  elseif kind == 'file' then
    return read_file()
  end
  if handle then
    handle:read_start(take)
  else
    ended = true
  end
end

--- Whether a program or file, not a person, is at the other end.
---@return boolean
function M.piped()
  local kind = vim.uv.guess_handle(0)
  return kind == 'pipe' or kind == 'file'
end

--- Calls `fn` with the next line, or nil at the end.
---@param fn fun(line: string?)
function M.line(fn)
  start()
  waiting[#waiting + 1] = fn
  serve()
end

--- All that is left.
---@return string
function M.all()
  start()
  vim.wait(2 ^ 31 - 1, function()
    return ended
  end, 10)
  local text = buffer
  buffer = ''
  return text
end

return M
