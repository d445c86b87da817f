-- The command line as a process: what it prints where, and its exit codes.
local root = require('dcode.native').root()

local M = {}

---@param script string
---@param argv string[]
---@param stdin? string|false false = closed
local function run(script, argv, stdin)
  local cmd = vim.list_extend({ vim.v.progpath, '-l', root .. '/' .. script }, argv)
  local done = vim.system(cmd, { stdin = stdin or '', timeout = 20000, text = true }):wait()
  return done.code, done.stdout, done.stderr
end

local function fake(argv, stdin)
  return run('tests/lua/support/cli_with_fake.lua', argv, stdin)
end

function M.help_and_usage_need_no_library(t)
  local code, out, err = run('lua/dcode/cli.lua', { '--help' })
  t.eq({ 0, '' }, { code, err })
  assert(out:find('--allow-fs-tools', 1, true), out)
  code, out, err = run('lua/dcode/cli.lua', { '--quite', '-n', 'x' })
  t.eq({ 2, '' }, { code, out })
  assert(err:find('Did you mean --quiet?', 1, true), err)
  code, out = run('lua/dcode/cli.lua', {})
  t.eq({ 2, '' }, { code, out })
end

function M.stdout_holds_the_answer_alone(t)
  local code, out, err = fake({ '-n', 'say hello there' })
  t.eq({ 0, 'hello there\n' }, { code, out })
  assert(err:find('ls .  3 entries', 1, true), err)
  code, out, err = fake({ '-q', '-n', 'say hello' })
  t.eq({ 0, 'hello\n', '' }, { code, out, err })
end

function M.the_task_from_stdin(t)
  local code, out = fake({ '-q' }, 'say from a pipe\n')
  t.eq({ 0, 'from a pipe\n' }, { code, out })
end

function M.json_lines_and_nothing_else(t)
  local code, out = fake({ '--json', '-n', 'say hi' })
  local types = {}
  for line in vim.gsplit(out, '\n', { trimempty = true }) do
    types[#types + 1] = vim.json.decode(line).type
  end
  t.eq(0, code)
  t.eq(
    { 'turn_started', 'tool_started', 'tool_finished', 'text_delta', 'turn_finished', 'result' },
    vim.list_slice(types, #types - 5)
  )
end

function M.questions_on_stderr_answers_on_stdin(t)
  local code, out, err = fake({ '-q', '-n', 'ask' }, '2\n')
  t.eq({ 0, '[["my"]]\n' }, { code, out })
  assert(err:find('2. my', 1, true), err)
  code, out = fake({ '-q', '-n', 'ask' }, '')
  t.eq({ 0, '[[]]\n' }, { code, (out:gsub('{}', '[]')) })
end

function M.nobody_approves(t)
  local code, out = fake({ '-q', '-n', 'approve' })
  t.eq({ 0, 'deny\n' }, { code, out })
end

function M.flags_reach_the_engine(t)
  local _, out =
    fake({ '-q', '-n', 'flags', '--allow-fs-tools', 'ls,read_file', '--yolo', '--max-turns', '3' })
  t.eq(
    { { allow_fs_tools = { 'ls', 'read_file' }, mode = 'yolo', max_steps = 3 }, false },
    vim.json.decode(out)
  )
end

function M.exit_codes(t)
  t.eq(124, (fake({ '-q', '-n', 'limit' })))
  local code, out, err = fake({ '-q', '-n', 'fail' })
  t.eq({ 1, '', 'dcode: No key.\n' }, { code, out, err })
  code, out, err = fake({ '-q', '--timeout', '0.3', '-n', 'hang' })
  t.eq({ 124, '' }, { code, out })
  assert(err:find('0.3 seconds', 1, true), err)
end

function M.interrupting_exits_with_130(t)
  local script = root .. '/tests/lua/support/cli_with_fake.lua'
  local hanging = false
  local process = vim.system({ vim.v.progpath, '-l', script, '-n', 'hang' }, {
    stdin = true,
    stderr = function(_, data)
      hanging = hanging or (data ~= nil and data:find('hanging', 1, true) ~= nil)
    end,
  })
  vim.wait(10000, function()
    return hanging
  end, 5)
  process:kill('sigint')
  t.eq(130, process:wait(10000).code)
end

function M.the_tools_on_offer(t)
  local code, out = fake({ 'tools', 'list' })
  t.eq({ 0, 'read_file\nls\n' }, { code, out })
end

return M
