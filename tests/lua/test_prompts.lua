-- The floats that ask: what they show, what their keys answer, when they take the cursor.
package.path = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)) .. '/?.lua;' .. package.path
local support = require('support.fake_native')
local fake = support.start()
local prompts = require('dcode.ui.prompts')
local approval = require('dcode.ui.approval')
local question = require('dcode.ui.question')

local M = {}

local APPROVAL = {
  kind = 'approval',
  tool = 'bash',
  title = 'cd build && rm -rf cache',
  reason = 'It deletes files.',
  rule = 'tier: destructive commands ask',
  diff = 'cd build && rm -rf cache',
  commands = {
    { text = 'cd build', class = 'read', decision = 'allow' },
    { text = 'rm -rf cache', class = 'destructive', decision = 'ask' },
  },
  choices = { 'once', 'deny' },
}

local function shown(view, width)
  return table.concat(view:render(width or 74).lines, '\n')
end

function M.an_approval_names_the_risk_and_offers_what_is_on_offer(t)
  local view = approval.new(APPROVAL, function() end)
  local text = shown(view)
  for _, words in ipairs({
    'cd build && rm -rf cache',
    'destructive',
    'It deletes files.',
    '[1] once',
    '[4] deny',
    '[5] deny and say why',
  }) do
    assert(text:find(words, 1, true), ('%s is not shown in\n%s'):format(words, text))
  end
  t.eq(nil, text:find('always', 1, true))
  view:key('e', false)
  assert(shown(view):find('tier: destructive', 1, true))
end

function M.numbers_and_letters_answer(t)
  for key, decision in pairs({ ['1'] = 'once', o = 'once', ['4'] = 'deny', d = 'deny' }) do
    local got
    approval
      .new(APPROVAL, function(reply)
        got = reply
      end)
      :key(key, false)
    t.eq({ kind = 'approval', decision = decision }, got)
  end
  for _, key in ipairs({ '2', 's', '3', 'a' }) do
    local view = approval.new(APPROVAL, function()
      error(key .. ' answered though it is not on offer')
    end)
    view:key(key, false)
  end
end

function M.denying_with_words(t)
  local got
  local input = vim.ui.input
  vim.ui.input = function(_, done)
    done(' use make ')
  end
  local view = approval.new(APPROVAL, function(reply)
    got = reply
  end)
  view:key('w', false)
  t.eq({ kind = 'approval', decision = 'deny', feedback = 'use make' }, got)
  got = nil
  vim.ui.input = function(_, done)
    done(nil)
  end
  view:key('5', false)
  vim.ui.input = input
  t.eq(nil, got)
end

function M.a_long_diff_is_one_key_away_and_fits_narrow_screens(t)
  local lines = {}
  for i = 1, 40 do
    lines[i] = '+line ' .. i
  end
  local view = approval.new({
    kind = 'approval',
    tool = 'edit_file',
    title = 'edit_file a.rs',
    reason = 'outside',
    rule = '',
    diff = table.concat(lines, '\n'),
    choices = { 'once', 'session', 'always', 'deny' },
  }, function() end)
  t.eq(nil, shown(view):find('line 40', 1, true))
  view:key('v', false)
  assert(shown(view):find('line 40', 1, true))
  for _, line in ipairs(view:render(30).lines) do
    assert(vim.api.nvim_strwidth(line) <= 30, line)
  end
end

local function ask(questions)
  local got, done = nil, false
  local view = question.new({ kind = 'question', questions = questions }, function(reply)
    got, done = reply, true
  end)
  return view, function()
    return got, done
  end
end

local PG = { { label = 'pg', description = 'PostgreSQL' }, { label = 'my' } }

function M.one_choice(t)
  local view, got = ask({ { question = 'Which?', options = PG } })
  assert(shown(view):find('❯ 1  pg', 1, true), shown(view))
  view:key('j', false)
  view:key('<CR>', false)
  t.eq({ kind = 'question', answers = { { 'my' } } }, (got()))
  view, got = ask({ { question = 'Which?', options = PG } })
  view:key('2', false)
  t.eq({ { 'my' } }, got().answers)
end

function M.several_choices_and_several_questions(t)
  local view, got = ask({
    { question = 'Which?', options = PG, multiple = true },
    { question = 'Go on?', options = {} },
    { question = 'Name?', options = PG },
  })
  view:key('<Space>', false)
  view:key('2', false)
  assert(shown(view):find('[✓] my', 1, true), shown(view))
  t.eq('1/3', view:progress())
  view:key('<CR>', false)
  t.eq('Go on?', view:words())
  view:key('<CR>', false)
  local input = vim.ui.input
  vim.ui.input = function(_, done)
    done('sqlite')
  end
  view:key('3', false)
  vim.ui.input = input
  t.eq({ { 'pg', 'my' }, {}, { 'sqlite' } }, got().answers)
end

function M.escape_is_no_answer(t)
  local view, got = ask({ { question = 'Which?', options = PG } })
  view:key('<Esc>', false)
  local reply, done = got()
  t.eq({ { kind = 'question' }, true }, { reply, done })
end

function M.long_headers_are_cut(t)
  local view = ask({ { question = 'q', header = ('x'):rep(40), options = {} } })
  t.eq(30, vim.api.nvim_strwidth(view:title()))
end

local function floats()
  local out = {}
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(win).relative ~= '' then
      out[#out + 1] = win
    end
  end
  return out
end

local function footer(win)
  local text = ''
  for _, chunk in ipairs(vim.api.nvim_win_get_config(win).footer or {}) do
    text = text .. chunk[1]
  end
  return vim.trim(text)
end

function M.one_float_at_a_time(t)
  vim.g.dcode = { chat = { idle_ms = 60000 } }
  require('dcode.config').setup()
  local before = vim.api.nvim_get_current_win()
  prompts.push(1, APPROVAL)
  prompts.push(2, vim.tbl_extend('force', APPROVAL, { title = 'second' }))
  t.eq({ 1, '1 of 2' }, { #floats(), footer(floats()[1]) })
  t.eq(before, vim.api.nvim_get_current_win())
  prompts.close(1)
  t.eq({ 1, '' }, { #floats(), footer(floats()[1]) })
  t.eq('second', prompts.title())
  prompts.close(2)
  t.eq({ 0, nil }, { #floats(), prompts.title() })
end

function M.q_leaves_it_pending_and_answer_brings_it_back(t)
  prompts.push(1, APPROVAL)
  prompts.put_off()
  t.eq({ 0, true }, { #floats(), prompts.pending() })
  t.eq('asks', require('dcode.status').words().kind)
  t.eq(true, prompts.focus())
  t.eq(floats()[1], vim.api.nvim_get_current_win())
  vim.api.nvim_feedkeys('1', 'xt', false)
  local replies = fake.sent('reply')
  t.eq({ 1, 'once' }, { replies[#replies].request, replies[#replies].reply.decision })
  t.eq({ 0, false }, { #floats(), prompts.pending() })
end

function M.a_closed_window_leaves_it_pending(t)
  prompts.push(1, APPROVAL)
  vim.api.nvim_win_close(floats()[1], true)
  vim.wait(200, function()
    return #floats() == 0
  end)
  vim.wait(20)
  t.eq({ 0, true }, { #floats(), prompts.pending() })
  prompts.clear()
end

function M.it_takes_the_cursor_when_the_person_rests_and_gives_it_back(t)
  local before = vim.api.nvim_get_current_win()
  vim.g.dcode = { chat = { idle_ms = 60000 } }
  require('dcode.config').setup()
  prompts.push(1, APPROVAL)
  t.eq(before, vim.api.nvim_get_current_win())
  prompts.close(1)
  vim.g.dcode = { chat = { idle_ms = 0 } }
  require('dcode.config').setup()
  prompts.push(2, APPROVAL)
  t.eq(floats()[1], vim.api.nvim_get_current_win())
  prompts.close(2)
  t.eq(before, vim.api.nvim_get_current_win())
  vim.g.dcode = nil
  require('dcode.config').setup()
end

function M.a_cancelled_request_closes_its_float(t)
  prompts.push(5, APPROVAL)
  require('dcode.events').dispatch({ type = 'request_closed', id = 5, outcome = 'cancelled' })
  t.eq({ 0, false }, { #floats(), prompts.pending() })
end

return M
