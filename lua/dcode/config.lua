--- The options that the Lua side itself uses, and the table that goes to the engine.
---
--- The engine checks every key and reports unknown ones; here only the shapes of `ascii`, `keys`,
--- `chat` and `review` are looked at.
local M = {}

---@class dcode.ChatConfig
---@field side 'auto'|'right'|'left'|'bottom' `auto`: right where 60 columns stay, else bottom
---@field width number columns, or a part of the screen below 1
---@field height number lines of a bottom chat, or a part of the screen below 1
---@field idle_ms integer a float takes the cursor only when no key was pressed for so long
---@field timeout_ms integer how long `wait()` waits at most when it is not told

---@class dcode.LuaConfig
---@field ascii boolean
---@field keys table<string, string|false>
---@field chat dcode.ChatConfig
---@field review table

---@type dcode.LuaConfig
M.defaults = {
  ascii = false,
  keys = {
    accept = '<localleader>a',
    reject = '<localleader>r',
    accept_file = '<localleader>A',
    reject_file = '<localleader>R',
    next = ']h',
    prev = '[h',
    hunk = 'ih',
    compare = '<localleader>d',
    comment = '<localleader>c',
    accept_all = false,
    reject_all = false,
    accept_operator = false,
    reject_operator = false,
  },
  chat = {
    side = 'auto',
    width = 0.4,
    height = 0.4,
    idle_ms = 800,
    timeout_ms = 600000,
  },
  review = {},
}

local SIDES = { auto = true, right = true, left = true, bottom = true }

---@type dcode.LuaConfig?
local cached
---@type string[]
local problems = {}

--- `vim.g.dcode`, called if it is a function. An error in it is a problem, not a failure.
---@return table
function M.raw()
  local value = vim.g.dcode
  if type(value) == 'function' then
    local ok, result = pcall(value)
    if not ok then
      problems[#problems + 1] = 'vim.g.dcode: ' .. tostring(result)
      return {}
    end
    value = result
  end
  return type(value) == 'table' and value or {}
end

---@param value any
---@param path string
---@return any
local function plain(value, path)
  if type(value) == 'table' then
    local out = {}
    for k, v in pairs(value) do
      out[k] = plain(v, path == '' and tostring(k) or path .. '.' .. tostring(k))
    end
    return next(out) == nil and vim.islist(value) and {} or out
  elseif type(value) == 'function' or type(value) == 'userdata' or type(value) == 'thread' then
    problems[#problems + 1] = ('%s: a %s cannot be an option here.'):format(path, type(value))
    return nil
  end
  return value
end

--- The person's table as plain data for the engine.
---@return table
function M.for_engine()
  return plain(M.raw(), '')
end

---@param value any
---@param default any
---@param path string
---@param ok boolean
---@param want string
local function pick(value, default, path, ok, want)
  if value == nil or ok then
    return value == nil and default or value
  end
  problems[#problems + 1] = ('%s: %s is not %s.'):format(path, vim.inspect(value), want)
  return default
end

---@param given any
---@param path string
---@return table
local function table_at(given, path)
  return pick(given, {}, path, type(given) == 'table', 'a table')
end

---@param given table
---@param known table
---@param path string
local function report_unknown(given, known, path)
  for key in pairs(given) do
    if known[key] == nil then
      local near = require('dcode.nearest').find(tostring(key), vim.tbl_keys(known))
      problems[#problems + 1] = ('%s.%s: no such option.%s'):format(
        path,
        tostring(key),
        near and (' Did you mean %s?'):format(near) or ''
      )
    end
  end
end

---@return dcode.LuaConfig
local function build()
  problems = {}
  local raw, d = M.raw(), M.defaults
  local keys, chat = table_at(raw.keys, 'keys'), table_at(raw.chat, 'chat')
  report_unknown(keys, d.keys, 'keys')
  report_unknown(chat, d.chat, 'chat')
  local number = function(name)
    local v = chat[name]
    return pick(v, d.chat[name], 'chat.' .. name, type(v) == 'number' and v >= 0, 'a number')
  end
  local out = {
    ascii = pick(raw.ascii, d.ascii, 'ascii', type(raw.ascii) == 'boolean', 'true or false'),
    keys = vim.deepcopy(d.keys),
    chat = {
      side = pick(
        chat.side,
        d.chat.side,
        'chat.side',
        SIDES[chat.side] ~= nil,
        'auto, right, left or bottom'
      ),
      width = number('width'),
      height = number('height'),
      idle_ms = number('idle_ms'),
      timeout_ms = number('timeout_ms'),
    },
    review = table_at(raw.review, 'review'),
  }
  for name, lhs in pairs(keys) do
    if d.keys[name] ~= nil then
      local ok = lhs == false or type(lhs) == 'string'
      out.keys[name] = pick(lhs, out.keys[name], 'keys.' .. name, ok, 'a key or false')
    end
  end
  return out
end

--- The Lua side's options, defaults filled in. Read once; `setup()` reads again.
---@return dcode.LuaConfig
function M.get()
  cached = cached or build()
  return cached
end

--- What is wrong with the options, one sentence each.
---@return string[]
function M.problems()
  M.get()
  return problems
end

--- Stores the options. Nothing is loaded or started.
---@param opts? table|fun(): table
function M.setup(opts)
  if opts ~= nil then
    vim.g.dcode = opts
  end
  cached = nil
end

return M
