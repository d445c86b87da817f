-- What `:Dcode …` and the lines of the input mean.
local commands = require('dcode.commands')

local M = {}

local function parsed(line)
  local p = commands.parse(line)
  if p.kind == 'command' then
    return 'command ' .. p.name .. (p.rest ~= '' and ' ' .. p.rest or '')
  end
  return p.kind .. (p.text and ' ' .. p.text or '')
end

function M.a_subcommand_only_when_all_that_follows_fits(t)
  local cases = {
    [''] = 'open',
    ['--'] = 'open',
    ['fix the bug'] = 'prompt fix the bug',
    ['stop'] = 'command stop',
    ['stop the server in main.rs'] = 'prompt stop the server in main.rs',
    ['-- stop'] = 'prompt stop',
    ['review'] = 'command review',
    ['review this file'] = 'prompt review this file',
    ['undo'] = 'command undo',
    ['undo 2'] = 'command undo 2',
    ['undo the last change'] = 'prompt undo the last change',
    ['config'] = 'command config',
    ['blame'] = 'command blame',
    ['blame the compiler'] = 'prompt blame the compiler',
    ['explain bash git push --force'] = 'command explain bash git push --force',
    ['explain execute ls'] = 'command explain execute ls',
    ['explain this function'] = 'prompt explain this function',
    ['explain'] = 'prompt explain',
    ['mode yolo'] = 'command mode yolo',
    ['mode'] = 'command mode',
    ['mode switch is broken'] = 'prompt mode switch is broken',
    ['model deepseek:deepseek-v4'] = 'command model deepseek:deepseek-v4',
    ['model the data'] = 'prompt model the data',
    ['model railway'] = 'prompt model railway',
    ['accept all'] = 'command accept all',
    ['accept the terms'] = 'prompt accept the terms',
    ['new'] = 'command new',
    ['new file for tests'] = 'prompt new file for tests',
    ['help undo'] = 'command help undo',
    ['help me'] = 'prompt help me',
  }
  for line, expected in pairs(cases) do
    t.eq({ line, expected }, { line, parsed(line) })
  end
end

function M.slash_lines(t)
  t.eq({ kind = 'prompt', text = '/etc is full' }, commands.parse_line('//etc is full'))
  t.eq({ kind = 'prompt', text = 'fix it' }, commands.parse_line('fix it'))
  local p = commands.parse_line('/undo 2')
  t.eq({ 'command', 'undo', '2' }, { p.kind, p.name, p.rest })
  p = commands.parse_line('/udno')
  t.eq('error', p.kind)
  assert(p.hint:find('/undo', 1, true), p.hint)
  p = commands.parse_line('/stop now please')
  t.eq({ 'error', 'Type /stop.' }, { p.kind, p.hint })
  t.eq('Type /undo [N].', commands.parse_line('/undo it all').hint)
end

function M.a_complaint_is_the_sentence_and_nothing_else(t)
  local said, own = {}, vim.notify
  vim.notify = function(words)
    said[#said + 1] = words
  end
  local ok, err = pcall(function()
    commands.undo('no number', false)
    commands.undo('2', true)
  end)
  vim.notify = own
  assert(ok, err)
  t.eq({
    'dcode: A count of steps is a whole number from 1. :DcodeUndo 2 takes back two steps.',
    'dcode: :DcodeUndo! takes back the whole last turn and no count.',
  }, said)
end

function M.completion(t)
  t.eq({ 'redo', 'reject', 'resume', 'review' }, commands.complete('re', 'Dcode re', 8))
  t.eq({ 'all' }, commands.complete('a', 'Dcode accept a', 14))
  t.eq({}, commands.complete('x', 'Dcode fix x', 11))
  t.eq({ 'read-only' }, commands.complete('r', "'<,'>Dcode! mode r", 18))
end

function M.a_bare_model_asks_for_the_list_also_as_the_first_command(t)
  package.path = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)) .. '/?.lua;' .. package.path
  local fake = require('support.fake_native').start()
  commands.line('/model')
  t.eq({ type = 'report', what = 'models' }, fake.ops[#fake.ops])
end

function M.every_subcommand_has_help(t)
  local doc =
    table.concat(vim.fn.readfile(require('dcode.native').root() .. '/doc/dcode.txt'), '\n')
  for _, name in ipairs(require('dcode.subcommands').names()) do
    t.eq({ name, true }, { name, doc:find('*dcode-command-' .. name .. '*', 1, true) ~= nil })
  end
end

return M
