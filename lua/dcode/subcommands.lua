--- The table of subcommands: what may follow each, what it does, how it is completed.
local M = {}

---@class dcode.CommandContext
---@field words string[]
---@field rest string
---@field bang boolean
---@field range? { first: integer, last: integer }

---@class dcode.Subcommand
---@field usage string
---@field fits fun(words: string[], rest: string): boolean whether all that follows is for it
---@field run fun(ctx: dcode.CommandContext): any?, string? value, or nil and a sentence
---@field complete? fun(words: string[], lead: string): string[]

local MODES = { 'manual', 'ask-all', 'read-only', 'plan', 'auto', 'yolo' }
local SCOPES = { 'hunk', 'file', 'all' }

local TOOLS = {
  'read_file',
  'write_file',
  'edit_file',
  'apply_patch',
  'delete',
  'ls',
  'glob',
  'grep',
  'bash',
  'git_diff',
  'git_show',
  'git_blame',
  'git_log',
  'todo_write',
  'question',
  'task',
  'web_search',
  'web_fetch',
}

---@return string[]
local function tools()
  local live = require('dcode.session').state.tools
  return #live > 0 and live or TOOLS
end

---@param words string[]
---@return boolean
local function none(words)
  return #words == 0
end

---@param list string[]
---@return fun(words: string[]): boolean
local function optional_word(list)
  return function(words)
    return #words == 0 or (#words == 1 and vim.tbl_contains(list, words[1]))
  end
end

---@param list string[]|fun(): string[]
---@return fun(words: string[]): string[]
local function first_of(list)
  return function(words)
    if #words > 1 then
      return {}
    end
    return type(list) == 'function' and list() or list --[[@as string[] ]]
  end
end

---@param level 'info'|'warn'|'error'
---@param message string
local function say(level, message)
  require('dcode.log').notify(level, message)
  return true
end

--- The argument that a tool's words stand for.
---@param tool string canonical
---@param rest string
---@return table? args, string? message
local function explain_args(tool, rest)
  if rest:sub(1, 1) == '{' then
    local ok, args = pcall(vim.json.decode, rest)
    if ok and type(args) == 'table' then
      return args
    end
    return nil, 'That is not JSON. :Dcode explain edit_file {"path": "src/a.rs"}'
  end
  local key = ({ bash = 'command', grep = 'pattern', glob = 'pattern', web_fetch = 'url' })[tool]
  return rest == '' and vim.empty_dict() or { [key or 'path'] = rest }
end

---@param tool string
---@param rest string
---@param e table
local function show_explanation(tool, rest, e)
  if e.error then
    return say('warn', e.error)
  end
  local text = require('dcode.ui.text')
  local hl = { allow = 'DcodeOk', ask = 'DcodeAsk', deny = 'DcodeRisk' }
  local width = math.min(76, vim.o.columns - 6)
  local lines, marks = {}, {}
  local function put(words, group)
    for _, line in ipairs(text.wrap(words, width)) do
      lines[#lines + 1] = ' ' .. line
      if group then
        marks[#marks + 1] = { row = #lines - 1, col = 1, end_col = #line + 1, hl = group }
      end
    end
  end
  put(('%s %s'):format(tool, rest))
  put(e.decision, hl[e.decision])
  put('')
  put(('%s  (layer: %s)'):format(e.rule or '', e.layer or '?'))
  if e.validator then
    put('The validator judges it first: ' .. e.validator, 'DcodeHint')
  end
  if e.reviewed then
    put('In the mode auto a model reviews it before you are asked.', 'DcodeHint')
  end
  if e.pattern then
    put('An answer would be remembered as:  ' .. e.pattern, 'DcodeHint')
  end
  local commands, cells = e.commands or {}, 0
  for _, c in ipairs(commands) do
    cells = math.max(cells, math.min(vim.api.nvim_strwidth(text.line(c.text)), width - 26))
  end
  for i, c in ipairs(commands) do
    if i == 1 then
      put('')
    end
    local command = text.pad(text.cut(text.line(c.text), cells), cells)
    put(('  %s  %-11s  %s'):format(command, c.class, c.decision), hl[c.decision])
  end
  return require('dcode.ui.page').show('explain', lines, marks)
end

local function run_explain(ctx)
  local session, requests = require('dcode.session'), require('dcode.requests')
  local tool = requests.canonical(ctx.words[1])
  local rest = ctx.rest:match('^%S+%s*(.*)$')
  local args, why = explain_args(tool, rest)
  if not args then
    return nil, why
  end
  local ticket, err = session.submit({ type = 'explain', tool = tool, args = args })
  if not ticket then
    return nil, err
  end
  session.tickets[ticket] = function(ev)
    show_explanation(tool, rest, ev.explanation)
  end
  return true
end

local function run_config()
  local session = require('dcode.session')
  local native, why = session.ensure()
  if not native then
    return nil, why
  end
  local rows, err = native.config({})
  if not rows then
    return nil, err
  end
  local text = require('dcode.ui.text')
  local key_cells, value_cells = 3, 5
  local shown = {}
  for i, row in ipairs(rows) do
    local value = type(row.value) == 'string' and row.value or vim.inspect(row.value)
    shown[i] = text.cut(text.line(value:gsub('%s+', ' ')), 40)
    key_cells = math.max(key_cells, vim.api.nvim_strwidth(row.key))
    value_cells = math.max(value_cells, vim.api.nvim_strwidth(shown[i]))
  end
  local lines, marks = {}, {}
  for i, row in ipairs(rows) do
    local head = ' ' .. text.pad(row.key, key_cells) .. '  ' .. text.pad(shown[i], value_cells)
    lines[i] = head .. '  ' .. text.line(row.source or '')
    marks[#marks + 1] = { row = i - 1, col = #head, end_col = #lines[i], hl = 'DcodeHint' }
  end
  return require('dcode.ui.page').show('config', lines, marks)
end

local function run_review(ctx)
  local resume = require('dcode.resume')
  local native = require('dcode.session').state.native
  local here = native and native.hunks({}) or {}
  if #here == 0 and resume.on_offer() then
    return resume.resume(function(ok)
      if ok then
        require('dcode.review.list').open()
      end
    end)
  end
  local list = require('dcode.review.list')
  return ctx.words[1] == 'quickfix' and list.quickfix() or list.open()
end

---@param verb 'accept'|'reject'
local function run_hunks(verb)
  return function(ctx)
    local scope = ctx.words[1]
    local api = require('dcode')
    if scope == 'all' then
      return api[verb]({ all = true })
    elseif scope == 'file' then
      return api[verb]({ buf = 0, all = true })
    elseif ctx.range then
      return api[verb]({ buf = 0, range = { ctx.range.first, ctx.range.last } })
    end
    return require('dcode.review.actions').at_cursor(verb)
  end
end

local function run_log()
  local dir = require('dcode.log').state_dir()
  local newest, when
  for name in vim.fs.dir(dir) do
    local stat = name:match('%.log$') and vim.uv.fs_stat(dir .. '/' .. name)
    if stat and stat.size > 0 and (not when or stat.mtime.sec > when) then
      newest, when = dir .. '/' .. name, stat.mtime.sec
    end
  end
  if not newest then
    return say('info', 'The log is empty.')
  end
  vim.cmd.split({ args = { vim.fn.fnameescape(newest) } })
  vim.bo.readonly = true
  return true
end

local function run_new()
  local value, why = require('dcode.session').submit({ type = 'new_session' })
  if value then
    require('dcode.ui.transcript').clear()
  end
  return value, why
end

local function run_mode(ctx)
  if #ctx.words == 0 then
    return say('info', 'The mode is ' .. require('dcode.session').state.mode .. '.')
  end
  return require('dcode.session').submit({ type = 'set_mode', mode = ctx.words[1] })
end

local function run_model(ctx)
  if #ctx.words > 0 then
    return require('dcode.session').submit({ type = 'set_model', model = ctx.words[1] })
  end
  return require('dcode.ui.models').pick()
end

local function toggle()
  require('dcode.ui.chat').toggle()
  return true
end

---@type table<string, dcode.Subcommand>
local TABLE = {
  stop = {
    usage = 'stop',
    fits = none,
    run = function()
      require('dcode.commands').stop()
      return true
    end,
  },
  review = {
    usage = 'review [quickfix]',
    fits = optional_word({ 'quickfix' }),
    run = run_review,
    complete = first_of({ 'quickfix' }),
  },
  compare = {
    usage = 'compare',
    fits = none,
    run = function()
      return require('dcode.review.compare').toggle()
    end,
  },
  comment = {
    usage = 'comment',
    fits = none,
    run = function()
      return require('dcode.review.comment').on()
    end,
  },
  timeline = {
    usage = 'timeline',
    fits = none,
    run = function()
      return require('dcode.ui.timeline').open()
    end,
  },
  resume = {
    usage = 'resume',
    fits = none,
    run = function()
      return require('dcode.resume').resume()
    end,
  },
  undo = {
    usage = 'undo [N]',
    fits = function(words)
      return #words == 0 or (#words == 1 and words[1]:match('^%d+$') ~= nil)
    end,
    run = function(ctx)
      require('dcode.commands').undo(ctx.rest, ctx.bang)
      return true
    end,
  },
  redo = {
    usage = 'redo',
    fits = none,
    run = function()
      require('dcode.commands').redo()
      return true
    end,
  },
  blame = {
    usage = 'blame',
    fits = none,
    run = function()
      return require('dcode.ui.blame').open()
    end,
  },
  config = { usage = 'config', fits = none, run = run_config },
  explain = {
    usage = 'explain TOOL ARGUMENT',
    fits = function(words)
      local name = words[1] and require('dcode.requests').canonical(words[1])
      return name ~= nil and (vim.tbl_contains(TOOLS, name) or vim.tbl_contains(tools(), name))
    end,
    run = run_explain,
    complete = first_of(tools),
  },
  permissions = {
    usage = 'permissions',
    fits = none,
    run = function()
      return require('dcode.ui.permissions').open()
    end,
  },
  mode = {
    usage = 'mode [manual|ask-all|read-only|auto|yolo]',
    fits = optional_word(MODES),
    run = run_mode,
    complete = first_of(MODES),
  },
  model = {
    usage = 'model [PROVIDER:MODEL]',
    fits = function(words)
      return #words == 0 or (#words == 1 and words[1]:match('^[%w_.-]+:.+') ~= nil)
    end,
    run = run_model,
    complete = first_of(function()
      return require('dcode.ui.models').names()
    end),
  },
  accept = {
    usage = 'accept [hunk|file|all]',
    fits = optional_word(SCOPES),
    run = run_hunks('accept'),
    complete = first_of(SCOPES),
  },
  reject = {
    usage = 'reject [hunk|file|all]',
    fits = optional_word(SCOPES),
    run = run_hunks('reject'),
    complete = first_of(SCOPES),
  },
  unreject = {
    usage = 'unreject',
    fits = none,
    run = function()
      return require('dcode.review.back').bring_back(0)
    end,
  },
  new = { usage = 'new', fits = none, run = run_new },
  chat = { usage = 'chat', fits = none, run = toggle },
  toggle = { usage = 'toggle', fits = none, run = toggle },
  answer = {
    usage = 'answer',
    fits = none,
    run = function()
      return require('dcode.commands').answer()
    end,
  },
  log = { usage = 'log', fits = none, run = run_log },
  compact = {
    usage = 'compact [undo]',
    fits = optional_word({ 'undo' }),
    run = function(ctx)
      return require('dcode.session').submit({ type = 'compact', undo = ctx.words[1] == 'undo' })
    end,
    complete = first_of({ 'undo' }),
  },
  context = {
    usage = 'context [json]',
    fits = optional_word({ 'json' }),
    run = function(ctx)
      return require('dcode.ui.context_page').open(ctx.words[1] == 'json')
    end,
    complete = first_of({ 'json' }),
  },
  paste = {
    usage = 'paste',
    fits = none,
    run = function()
      return require('dcode.ui.clipboard').paste()
    end,
  },
  queue = {
    usage = 'queue [drop N]',
    fits = function(words)
      return #words == 0 or (#words == 2 and words[1] == 'drop' and words[2]:match('^%d+$') ~= nil)
    end,
    run = function(ctx)
      return require('dcode.ui.waiting').run(tonumber(ctx.words[2]))
    end,
    complete = first_of({ 'drop' }),
  },
  usage = {
    usage = 'usage',
    fits = none,
    run = function()
      return require('dcode.ui.usage').open()
    end,
  },
}

TABLE.help = {
  usage = 'help [SUBCOMMAND]',
  fits = function(words)
    return #words == 0 or (#words == 1 and TABLE[words[1]] ~= nil)
  end,
  run = function(ctx)
    vim.cmd.help(ctx.words[1] and 'dcode-command-' .. ctx.words[1] or 'dcode')
    return true
  end,
  complete = first_of(function()
    return M.names()
  end),
}

---@param name string
---@return dcode.Subcommand?
function M.get(name)
  return TABLE[name]
end

--- Names in alphabetical order.
---@return string[]
function M.names()
  local names = vim.tbl_keys(TABLE)
  table.sort(names)
  return names
end

return M
