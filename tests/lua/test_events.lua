-- Events reach the session, the handlers and the User autocmds.
package.path = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)) .. '/?.lua;' .. package.path
local support = require('support.fake_native')
local fake = support.start()
local events = require('dcode.events')
local session = require('dcode.session')

local M = {}

local function settle()
  vim.wait(1000, function()
    return not fake.poll({ max = 0 }).more
  end)
  vim.wait(20)
end

--- Names of the variants of an enum of the Rust side, as the wire spells them.
local function variants(file, enum)
  local out, inside = {}, false
  for line in io.lines(require('dcode.native').root() .. '/src/protocol/' .. file) do
    if line:find('pub enum ' .. enum .. ' {', 1, true) then
      inside = true
    elseif inside and line:sub(1, 1) == '}' then
      return out
    elseif inside then
      local name = line:match('^    (%u%w*)')
      if name then
        out[#out + 1] = name:gsub('(%u)', '_%1'):sub(2):lower()
      end
    end
  end
  error('no enum ' .. enum)
end

function M.a_new_session_has_used_nothing(t)
  fake.emit({ type = 'usage', input_tokens = 10, cached_tokens = 0, output_tokens = 1 })
  settle()
  t.eq(10, session.state.usage.input_tokens)
  fake.emit({ type = 'session_started', session = 's2', mode = 'manual', tools = {} })
  settle()
  t.eq(nil, session.state.usage)
end

function M.every_event_has_a_handler_and_every_handler_an_event(t)
  local wire, mine = variants('event.rs', 'Event'), vim.tbl_keys(events.handlers)
  table.sort(wire)
  table.sort(mine)
  t.eq(wire, mine)
end

function M.ops_are_those_of_the_wire(t)
  local wire = variants('op.rs', 'Op')
  local types =
    table.concat(vim.fn.readfile(require('dcode.native').root() .. '/lua/dcode/types.lua'), '\n')
  local mine = {}
  for name in types:match('dcode.OpType\n(.-)\n\n'):gmatch("'([%w_]+)'") do
    mine[#mine + 1] = name
  end
  t.eq(wire, mine)
end

function M.a_turn_from_queue_to_end(t)
  local turn = assert(session.prompt('hello'))
  t.eq({ 1, 'queued' }, { session.state.queued, session.state.turns[turn].state })
  fake.emit({ type = 'turn_started', turn = turn, text = 'hello' })
  settle()
  t.eq({ 0, turn }, { session.state.queued, session.state.running })
  t.eq('running', require('dcode.status').words().kind)
  fake.emit({ type = 'turn_finished', turn = turn, reason = 'done', text = 'bye' })
  settle()
  t.eq(
    { 'done', 'bye' },
    { session.state.turns[turn].state, session.state.turns[turn].result.text }
  )
  t.eq('idle', require('dcode.status').words().kind)
end

function M.user_autocmds_carry_data(t)
  local got = {}
  local id = vim.api.nvim_create_autocmd('User', {
    pattern = 'Dcode*',
    callback = function(ev)
      got[#got + 1] = { ev.match, ev.data }
    end,
  })
  fake.emit(
    { type = 'turn_started', turn = 9, text = 'x' },
    { type = 'files_changed', paths = { '/a' } },
    { type = 'mode_changed', mode = 'ask-all' },
    { type = 'hunks_changed', paths = { '/a' } },
    { type = 'turn_finished', turn = 9, reason = 'done', text = 'y' }
  )
  settle()
  vim.api.nvim_del_autocmd(id)
  t.eq({
    { 'DcodeTurnStarted', { turn = 9, text = 'x' } },
    { 'DcodeFilesChanged', { paths = { '/a' } } },
    { 'DcodeModeChanged', { mode = 'ask-all' } },
    { 'DcodeHunksChanged', { paths = { '/a' } } },
    { 'DcodeTurnFinished', { turn = 9, reason = 'done', text = 'y' } },
  }, got)
end

function M.more_than_a_round_of_events_keeps_its_order(t)
  local seen = {}
  local unlisten = events.listen(function(ev)
    seen[#seen + 1] = ev.text
  end)
  local many, expected = {}, {}
  for i = 1, 300 do
    many[i] = { type = 'text_delta', turn = 1, text = tostring(i) }
    expected[i] = tostring(i)
  end
  fake.emit(unpack(many))
  vim.wait(1000, function()
    return #seen == 300
  end)
  unlisten()
  t.eq(expected, seen)
end

function M.a_broken_handler_or_listener_stops_nobody(t)
  local said = {}
  local log = require('dcode.log')
  log.sink = function(_, message)
    said[#said + 1] = message
  end
  local reached = false
  local off1 = events.listen(function()
    error('boom')
  end)
  local off2 = events.listen(function()
    reached = true
  end)
  local handler = events.handlers.usage
  events.handlers.usage = function()
    error({ odd = true })
  end
  fake.emit({ type = 'usage' }, { type = 'usage' }, { type = 'of_the_future' })
  settle()
  off1()
  off2()
  events.handlers.usage = handler
  log.sink = nil
  t.eq(true, reached)
  -- One sentence a place, not one an event.
  t.eq(2, #said)
end

function M.ask_tells_its_own_turn_only(t)
  local got = {}
  local turn = assert(require('dcode').ask('go', {
    on_event = function(ev)
      got[#got + 1] = ev.type .. (ev.turn or '')
    end,
  }))
  fake.emit(
    { type = 'text_delta', turn = turn - 1, text = 'old' },
    { type = 'turn_started', turn = turn, text = 'go' },
    { type = 'text_delta', turn = turn, text = 'new' },
    { type = 'turn_finished', turn = turn, reason = 'done', text = 'new' },
    { type = 'usage' }
  )
  settle()
  t.eq({ 'turn_started' .. turn, 'text_delta' .. turn, 'turn_finished' .. turn }, got)
  t.eq({ nil, 'There is nothing to ask.' }, { require('dcode').ask('  ') })
end

function M.a_prompt_says_where_the_person_is(t)
  local path = vim.fn.tempname() .. '.rs'
  vim.cmd.new({ args = { path } })
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'one', 'two', 'three' })
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  t.eq({ path = path, line = 2 }, require('dcode.context').get())
  t.eq(
    { first = 2, last = 3, text = 'two\nthree' },
    require('dcode.context').get({ first = 2, last = 3 }).selection
  )
  vim.cmd.bwipeout({ bang = true })
end

function M.a_wait_counts_down_until_the_reply_comes(t)
  local status = require('dcode.status')
  fake.emit({ type = 'turn_started', turn = 91, text = 'hi' })
  fake.emit({
    type = 'waiting',
    turn = 91,
    ms = 90000,
    number = 2,
    of = 3,
    why = 'acme failed (HTTP 503).',
  })
  settle()
  local words = status.words()
  t.eq('running', words.kind)
  t.eq(true, words.text:match('^asks again in %d+ s %(2 of 3%)$') ~= nil)
  local items = require('dcode.ui.transcript').items
  t.eq('acme failed (HTTP 503). Asking again in 90 s (2 of 3).', items[#items].text)
  fake.emit({ type = 'text_delta', turn = 91, text = 'a' })
  settle()
  t.eq('writing', status.words().text)
  fake.emit({ type = 'turn_finished', turn = 91, reason = 'done', text = 'a' })
  settle()
end

return M
