-- From events to the lines of the chat, without a window.
local transcript = require('dcode.ui.transcript')
local render = require('dcode.ui.chat_render')

local M = {}

local function opts(width)
  return { width = width or 60, signs = require('dcode.ui.signs').get(), now = 0 }
end

local function lines()
  local out = {}
  for i, item in ipairs(transcript.items) do
    vim.list_extend(out, render.item(item, transcript.items[i - 1], opts()).lines)
  end
  return out
end

local function play(events)
  transcript.clear()
  for _, ev in ipairs(events) do
    transcript[ev[1]](ev)
  end
end

function M.with_plain_letters_nothing_is_drawn_with_others(t)
  local config = require('dcode.config')
  config.setup({ ascii = true })
  local summary = '2 hunks · +2 −1'
  play({ { 'tool_started', call = 'a', tool = 'edit_file', title = 'a.rs' } })
  transcript.tool_finished({
    call = 'a',
    tool = 'edit_file',
    outcome = 'ok',
    summary = summary,
    text = '',
    elapsed_ms = 5,
  })
  local row = render.item(transcript.items[1], nil, opts())
  vim.g.dcode = nil
  config.setup()
  t.eq({ '> edit_file a.rs', '2 hunks - +2 -1' }, { row.lines[1], row.marks[3].right[1][1] })
end

function M.a_notice_breaks_at_blanks_only(t)
  transcript.clear()
  transcript.notice({
    level = 'info',
    message = 'Took back 2 steps: shop/receipt.lua, shop/total.lua. :DcodeRedo brings it again.',
  })
  t.eq({
    '· Took back 2 steps: shop/receipt.lua, shop/total.lua.',
    '  :DcodeRedo brings it again.',
  }, lines())
end

function M.a_turn_as_lines(t)
  play({
    { 'turn_started', turn = 1, text = 'fix it\nplease' },
    { 'reasoning', turn = 1, text = 'hm' },
    { 'text', turn = 1, text = "I'll " },
    { 'text', turn = 1, text = 'look.\n\n' },
    { 'tool_started', call = 'a', tool = 'read_file', title = 'a.rs' },
    { 'tool_started', call = 'b', tool = 'bash', title = 'cargo test' },
    {
      'tool_finished',
      call = 'b',
      tool = 'bash',
      outcome = 'failed',
      summary = 'exit 101',
      text = 'one\r\ntwo',
      elapsed_ms = 5,
    },
    {
      'tool_finished',
      call = 'a',
      tool = 'read_file',
      outcome = 'ok',
      summary = '',
      text = 'x',
      elapsed_ms = 5,
    },
    { 'text', turn = 1, text = 'Done.' },
  })
  t.eq({
    '▎fix it',
    '▎please',
    '',
    '▸ thought',
    '',
    "I'll look.",
    '',
    '▸ read_file a.rs',
    '▸ bash cargo test',
    '    one',
    '    two',
    '',
    'Done.',
  }, lines())
end

function M.rows_open_and_stay_within_limits(t)
  local many = {}
  for i = 1, 300 do
    many[i] = 'line ' .. i
  end
  play({
    { 'tool_started', call = 'a', tool = 'grep', title = 'x' },
    {
      'tool_finished',
      call = 'a',
      tool = 'grep',
      outcome = 'ok',
      summary = '300',
      text = table.concat(many, '\n'),
      elapsed_ms = 1,
    },
  })
  t.eq({ '▸ grep x' }, lines())
  transcript.toggle(1)
  local shown = lines()
  t.eq({ '▾ grep x', '    line 1' }, { shown[1], shown[2] })
  t.eq('    100 lines more', shown[#shown])
end

function M.long_titles_are_cut_to_the_width(t)
  play({ { 'tool_started', call = 'a', tool = 'bash', title = ('word '):rep(50) } })
  local drawn = render.item(transcript.items[1], nil, opts(60))
  assert(vim.api.nvim_strwidth(drawn.lines[1]) <= 60 - #'running', drawn.lines[1])
end

function M.a_stopped_turn_says_so(t)
  play({ { 'turn_finished', turn = 1, reason = 'interrupted', text = '' } })
  t.eq({ '· Stopped.' }, lines())
end

function M.the_plan_is_one_item(t)
  play({
    { 'todo', items = { { subject = 'a', status = 'pending' } } },
    {
      'todo',
      items = {
        { subject = 'a', status = 'completed' },
        { subject = 'b', status = 'in_progress', active_form = 'doing b' },
      },
    },
  })
  t.eq({ 'plan  1 of 2', '  ✓ a', '  ▸ doing b' }, lines())
end

function M.odd_bytes_make_no_error(t)
  play({ { 'text', turn = 1, text = 'a\0b\rc\n\27[31m' } })
  t.eq({ 'a?b c', '\27[31m' }, lines())
end

return M
