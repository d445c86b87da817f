-- The flags of the command line.
local args = require('dcode.cli.args')
local ask = require('dcode.cli.ask')

local M = {}

local function fails(t, argv, ...)
  local parsed, err = args.parse(argv)
  t.eq(nil, parsed)
  for _, word in ipairs({ ... }) do
    assert(err:find(word, 1, true), ('%q does not name %q'):format(err, word))
  end
end

function M.a_whole_line(t)
  local p = assert(args.parse({
    '-n',
    'fix it',
    '--allow-fs-tools',
    'READ_FILE, Ls,,ls',
    '-S',
    'pytest, git status',
    '--model=mock:any',
    '--timeout',
    '2.5',
    '--max-turns',
    '7',
    '-q',
    '--json',
    '--read-only',
    '--mcp-config',
    'm.json',
    '--trust-project-mcp',
  }))
  t.eq('fix it', p.task)
  t.eq({ true, true, 2.5 }, { p.quiet, p.json, p.timeout })
  t.eq({
    allow_fs_tools = { 'read_file', 'ls' },
    shell_allow_list = { 'pytest', 'git status' },
    model = 'mock:any',
    max_steps = 7,
    mode = 'read-only',
    mcp = { config = 'm.json', trust_project = true },
  }, p.flags)
end

function M.read_file_is_added_with_a_notice(t)
  local p = assert(args.parse({ '-n', 'x', '--allow-fs-tools', 'execute' }))
  t.eq({ 'execute', 'read_file' }, p.flags.allow_fs_tools)
  t.eq(1, #p.notices)
  p = assert(args.parse({ '-n', 'x', '--allow-fs-tools', 'all' }))
  t.eq(nil, p.flags.allow_fs_tools)
end

function M.what_has_no_effect_yet_is_said_once(t)
  local p = assert(args.parse({ '-n', 'x', '--mcp-config', 'm.json', '--trust-project-mcp' }))
  t.eq(
    { 'There are no MCP servers yet: --mcp-config and --trust-project-mcp have no effect.' },
    p.notices
  )
end

function M.usage_errors(t)
  fails(
    t,
    { '-n', 'x', '--allow-fs-tools', 'ls,bogus,read_file' },
    'bogus',
    'delete, edit_file, execute'
  )
  fails(t, { '-n', 'x', '--allow-fs-tools', '' }, 'at least one')
  fails(t, { '-n', 'x', '--allow-fs-tools', ' , ' }, 'at least one')
  fails(t, { '-n', 'x', '--allow-fs-tools', 'all,ls' }, 'all')
  fails(t, { '-n', 'x', '-S', 'all,ls' }, 'all')
  fails(t, { '--modle', 'x' }, '--modle', '--model')
  fails(t, { '-n' }, '-n', 'value')
  fails(t, { '-n', ' ' }, 'empty')
  fails(t, { '-n', 'x', '--timeout', '0' }, '--timeout')
  fails(t, { '-n', 'x', '--timeout', 'soon' }, 'soon')
  fails(t, { '-n', 'x', '--max-turns', '1.5' }, 'whole number')
  fails(t, { '-n', 'x', '--yolo', '--ask-all' }, 'only one')
  fails(t, { '-n', 'x', '--json=yes' }, 'no value')
  fails(t, { 'fix', 'it' }, '-n')
  fails(t, { 'tools' }, 'tools list')
end

function M.commands(t)
  t.eq('tools', assert(args.parse({ 'tools', 'list' })).command)
  t.eq('help', assert(args.parse({ '-h' })).command)
  t.eq('run', assert(args.parse({})).command)
  for _, flag in ipairs(args.FLAGS) do
    assert(args.USAGE:find(flag.long, 1, true), flag.long .. ' is not in --help')
  end
end

local Q = {
  question = 'Which?',
  header = 'DB',
  options = { { label = 'pg', description = 'PostgreSQL' }, { label = 'my' } },
}

function M.numbers_answer_questions(t)
  t.eq({ 'pg' }, ask.read(Q, '1'))
  t.eq({}, ask.read(Q, '  '))
  t.eq({ 'sqlite please' }, ask.read(Q, 'sqlite please'))
  t.eq({ nil, 'There is no option 3.' }, { ask.read(Q, '3') })
  t.eq({ nil, 'Only one of them can be chosen.' }, { ask.read(Q, '1,2') })
  t.eq({ 'my', 'pg' }, ask.read(vim.tbl_extend('force', Q, { multiple = true }), '2, 1 2'))
end

function M.the_end_of_input_gives_empty_answers(t)
  local lines, written, got = { '7', '2' }, {}, nil
  ask.all({ Q, Q, Q }, function(fn)
    fn(table.remove(lines, 1))
  end, function(words)
    written[#written + 1] = words
  end, function(answers)
    got = answers
  end)
  t.eq({ { 'my' }, {}, {} }, got)
  assert(written[1]:find('1. pg  PostgreSQL', 1, true), written[1])
  assert(written[2]:find('no option 7', 1, true), written[2])
end

return M
