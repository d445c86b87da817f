-- What the person says while a turn runs, compactions in the chat, the page of the context.
local waiting = require('dcode.ui.waiting')
local transcript = require('dcode.ui.transcript')
local render = require('dcode.ui.chat_render')

local M = {}

local function plain(lines)
  return vim.tbl_map(function(chunks)
    local out = {}
    for i, chunk in ipairs(chunks) do
      out[i] = chunk[1]
    end
    return table.concat(out)
  end, lines)
end

function M.what_waits_stands_in_lines(t)
  local signs = require('dcode.ui.signs').get()
  local items = { { id = 1, text = 'also a\ntest' }, { id = 2, text = 'then this', turn = 4 } }
  t.eq({
    'next step: also a test',
    'then: then this  <Up> takes the last back',
  }, plain(waiting.lines(items, 60, signs)))
  items[3], items[4], items[5] = items[1], items[1], items[1]
  t.eq('2 more  <Up> takes the last back', plain(waiting.lines(items, 60, signs))[4])
  t.eq({}, waiting.lines({}, 60, signs))
end

function M.a_compaction_opens_to_its_summary(t)
  transcript.clear()
  transcript.compaction({ state = 'done', message = 'Compacted: 6 messages.', summary = 'One\ntwo' })
  local opts = { width = 60, signs = require('dcode.ui.signs').get(), now = 0 }
  t.eq({ '▸ Compacted: 6 messages.' }, render.item(transcript.items[1], nil, opts).lines)
  transcript.toggle(1)
  t.eq(
    { '▾ Compacted: 6 messages.', '    One', '    two' },
    render.item(transcript.items[1], nil, opts).lines
  )
  transcript.compaction({ state = 'failed', message = 'There is nothing to compact yet.' })
  t.eq('notice', transcript.items[2].kind)
end

function M.a_thought_is_told_in_time_and_tokens(t)
  transcript.clear()
  transcript.reasoning({ turn = 1, text = ('word '):rep(40) })
  transcript.text({ turn = 1, text = 'So.' })
  local opts = { width = 60, signs = require('dcode.ui.signs').get(), now = 0 }
  transcript.items[1].elapsed_ms = 3100
  t.eq(
    { '▸ thought  3.1 s · about 50 tokens' },
    render.item(transcript.items[1], nil, opts).lines
  )
  transcript.usage({ reasoning_tokens = 45 })
  t.eq({ '▸ thought  3.1 s · 45 tokens' }, render.item(transcript.items[1], nil, opts).lines)
end

function M.the_context_as_lines(t)
  local page = require('dcode.ui.context_page')
  t.eq('[#####...............]', page.bar(25, 100, 20))
  local lines = page.lines({
    model = 'p:m',
    length = 2500,
    limit = 8000,
    window = 10000,
    system = 'You are dcode.',
    tools = { { name = 'ls', description = 'Lists.', schema = { type = 'object' } } },
    messages = {
      { role = 'user', blocks = { { type = 'text', text = 'hi' } } },
      {
        role = 'tool',
        blocks = { { type = 'tool_result', id = 'a', text = 'no', is_error = true } },
      },
    },
  })
  t.eq(
    '[##########..............................] about 2.5k tokens of 10.0k; compacted at 8.0k',
    lines[2]
  )
  t.eq(
    { '## 1 user', 'hi', '', '## 2 tool', '(result of a, failed)', 'no' },
    vim.list_slice(lines, #lines - 5)
  )
end

function M.subcommands_and_prompts_are_told_apart(t)
  local parse = require('dcode.commands').parse
  local kinds = {
    ['usage'] = 'command',
    ['usage of this function'] = 'prompt',
    ['compact'] = 'command',
    ['compact undo'] = 'command',
    ['compact the loop'] = 'prompt',
    ['context json'] = 'command',
    ['context of this'] = 'prompt',
    ['queue drop 2'] = 'command',
    ['queue the jobs'] = 'prompt',
    ['paste'] = 'command',
    ['paste it twice'] = 'prompt',
  }
  for line, kind in pairs(kinds) do
    t.eq({ line, kind }, { line, parse(line).kind })
  end
end

return M
