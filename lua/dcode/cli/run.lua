--- One task without a person: the same engine, answers on stdout, everything else on stderr.
local M = {}

local EXIT = { ok = 0, error = 1, usage = 2, limit = 124, interrupted = 130 }
M.EXIT = EXIT

---@class dcode.CliIo
---@field out fun(text: string)
---@field err fun(text: string)
---@field line fun(fn: fun(line: string?))

---@param args dcode.CliArgs
---@param io dcode.CliIo
local function watch(args, io)
  local text = require('dcode.ui.text')
  local titles = {}
  require('dcode.events').listen(function(ev)
    if args.json then
      io.out(vim.json.encode(ev) .. '\n')
    end
    if ev.type == 'tool_started' then
      titles[ev.call] = ev.title
    elseif ev.type == 'tool_finished' and not args.quiet then
      local line = ('%s %s  %s'):format(ev.tool, titles[ev.call] or '', ev.summary)
      io.err(text.line(vim.trim(line)) .. '\n')
    end
  end)
end

---@param io dcode.CliIo
local function answer_on_stdin(io)
  local requests = require('dcode.requests')
  requests.push(function(id, request)
    if request.kind == 'question' then
      require('dcode.cli.ask').all(request.questions, io.line, io.err, function(answers)
        requests.reply(id, { kind = 'question', answers = answers })
      end)
    else
      requests.reply(id, requests.nobody(request))
    end
    return true
  end)
end

--- Runs the event loop until `done`, the limit, or Ctrl-C.
---@param done fun(): boolean
---@param seconds? number
---@param interrupted fun(): boolean
---@return 'done'|'limit'|'interrupted'
local function loop(done, seconds, interrupted)
  local ends = seconds and vim.uv.hrtime() / 1e9 + seconds
  while true do
    local ok, code = vim.wait(100, function()
      return done() or interrupted()
    end, 10)
    if interrupted() or code == -2 then
      return 'interrupted'
    elseif ok then
      return 'done'
    elseif ends and vim.uv.hrtime() / 1e9 >= ends then
      return 'limit'
    end
  end
end

--- Neovim 0.12 ends itself on SIGINT; it still runs VimLeavePre.
local function exit_as_interrupted()
  vim.api.nvim_create_autocmd('VimLeavePre', {
    group = require('dcode.exit').augroup(),
    desc = 'dcode: an interrupted command line says so by its exit code',
    callback = function()
      if vim.v.dying > 0 then
        require('dcode.session').stop(200)
        os.exit(EXIT.interrupted)
      end
    end,
  })
end

---@return fun(): boolean
local function on_sigint()
  local hit = false
  exit_as_interrupted()
  local signal = vim.uv.new_signal()
  if signal then
    signal:start('sigint', function()
      if hit then
        os.exit(EXIT.interrupted)
      end
      hit = true
    end)
  end
  return function()
    return hit
  end
end

--- Starts the engine with the flags.
---@param args dcode.CliArgs
---@param io dcode.CliIo
---@return boolean
local function start(args, io)
  local session, log = require('dcode.session'), require('dcode.log')
  log.sink = function(level, message, hint)
    if level ~= 'info' or not args.quiet then
      io.err(('dcode: %s%s\n'):format(message, hint and hint ~= '' and ' ' .. hint or ''))
    end
  end
  for _, notice in ipairs(args.notices) do
    log.sink('warn', notice)
  end
  session.flags = args.flags
  answer_on_stdin(io)
  local native, why = session.ensure()
  if not native then
    io.err('dcode: ' .. tostring(why) .. '\n')
    return false
  end
  return true
end

---@param args dcode.CliArgs
---@param io dcode.CliIo
---@return integer
local function list_tools(args, io)
  local session = require('dcode.session')
  loop(function()
    return #session.state.tools > 0
  end, 5, on_sigint())
  local tools = session.state.tools
  if #tools == 0 then
    io.err('dcode: The engine named no tools.\n')
    return EXIT.error
  end
  io.out(
    args.json and vim.json.encode({ tools = tools }) .. '\n' or table.concat(tools, '\n') .. '\n'
  )
  return EXIT.ok
end

---@param result dcode.TurnFinished?
---@param how string
---@return integer
local function exit_code(result, how)
  if how == 'interrupted' then
    return EXIT.interrupted
  elseif how == 'limit' or (result and result.reason == 'step_limit') then
    return EXIT.limit
  end
  return result and result.reason == 'done' and EXIT.ok or EXIT.error
end

---@param args dcode.CliArgs
---@param io dcode.CliIo
---@param task string
---@return integer
local function run_task(args, io, task)
  local session = require('dcode.session')
  local interrupted = on_sigint()
  watch(args, io)
  local turn, why = session.prompt(task)
  if not turn then
    io.err('dcode: ' .. tostring(why) .. '\n')
    return EXIT.error
  end
  local function done()
    return session.state.turns[turn].state == 'done' or session.state.stopped ~= nil
  end
  local how = loop(done, args.timeout, interrupted)
  if how ~= 'done' then
    session.submit({ type = 'interrupt' })
    vim.wait(2000, done, 10)
  end
  local result = session.state.turns[turn].result
  local code = exit_code(result, how)
  if args.json then
    io.out(vim.json.encode({
      type = 'result',
      ok = code == EXIT.ok,
      exit_code = code,
      reason = how ~= 'done' and how or (result and result.reason or 'stopped'),
      text = result and result.text or '',
    }) .. '\n')
  elseif result and result.text ~= '' then
    io.out(result.text:gsub('\n*$', '') .. '\n')
  end
  if how == 'limit' then
    io.err(('dcode: The task was not done within %s seconds.\n'):format(args.timeout))
  elseif code ~= EXIT.ok then
    local words = result and result.message or session.state.stopped
    io.err('dcode: ' .. (words or 'The task was not finished.') .. '\n')
  end
  return code
end

--- Runs a command line.
---@param argv string[]
---@param io dcode.CliIo
---@return integer exit code
function M.main(argv, io)
  local parser = require('dcode.cli.args')
  local args, err = parser.parse(argv)
  if not args then
    io.err('dcode: ' .. err .. '\nType dcode --help for all options.\n')
    return EXIT.usage
  elseif args.command == 'help' then
    io.out(parser.USAGE .. '\n')
    return EXIT.ok
  end
  local task = args.task
  if args.command == 'run' and not task then
    local stdin = require('dcode.cli.stdin')
    task = stdin.piped() and vim.trim(stdin.all()) or ''
    if task == '' then
      io.err(
        'dcode: There is no task. Give one with -n "…" or on stdin; --help shows all options.\n'
      )
      return EXIT.usage
    end
  end
  if not start(args, io) then
    return EXIT.error
  end
  local code = args.command == 'tools' and list_tools(args, io) or nil
  code = code or run_task(args, io, task)
  require('dcode.session').stop(200)
  return code
end

return M
