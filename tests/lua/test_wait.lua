-- Calls from Lua that wait for the agent.
package.path = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)) .. '/?.lua;' .. package.path
local support = require('support.fake_native')
local fake = support.start()
local dcode = require('dcode')

local M = {}

--- The engine finishes each call after an approval with the decision it was given.
local function asking()
  fake.on.call = function(_, ticket)
    vim.defer_fn(function()
      fake.emit({
        type = 'request',
        id = 40 + ticket,
        ticket = ticket,
        request = { kind = 'approval', tool = 'bash', title = 'ls', choices = { 'once', 'deny' } },
      })
    end, 5)
    fake.on.reply = function(op)
      local ok = op.reply.decision ~= 'deny'
      fake.emit({ type = 'request_closed', id = op.request, outcome = 'answered' }, {
        type = 'call_finished',
        ticket = ticket,
        result = { ok = ok, text = 't', decision = 'ask' },
      })
    end
  end
end

local function last_reply()
  local replies = fake.sent('reply')
  return replies[#replies].reply
end

function M.on_request_answers(t)
  asking()
  local seen
  local result = dcode.call('execute', { command = 'ls' }, {
    on_request = function(req)
      seen = req
      return 'once'
    end,
  })
  t.eq({ ok = true, text = 't', decision = 'ask' }, result)
  t.eq({ 'approval', 'ls', { 'once', 'deny' } }, { seen.kind, seen.title, seen.choices })
  assert(type(seen.id) == 'number')
  t.eq({ kind = 'approval', decision = 'once' }, last_reply())
end

function M.the_engine_is_told_whether_somebody_answers(t)
  fake.on.call = function(_, ticket)
    fake.emit({
      type = 'call_finished',
      ticket = ticket,
      result = { ok = false, text = 'no', decision = 'deny' },
    })
  end
  dcode.call('bash', { command = 'ls' })
  dcode.call('bash', { command = 'ls' }, {
    on_request = function()
      return 'once'
    end,
  })
  local calls = fake.sent('call')
  t.eq({ false, true }, { calls[#calls - 1].human, calls[#calls].human })
end

function M.requests_of_others_are_not_for_on_request(t)
  local asked = 0
  fake.on.call = function(_, ticket)
    fake.on.reply = function()
      fake.emit({
        type = 'call_finished',
        ticket = ticket,
        result = { ok = true, text = 't', decision = 'ask' },
      })
    end
    fake.emit({
      type = 'request',
      id = 99,
      request = { kind = 'approval', tool = 'bash', title = 'a turn asks', choices = { 'once' } },
    })
  end
  dcode.call('bash', { command = 'ls' }, {
    on_request = function()
      asked = asked + 1
      return 'once'
    end,
  })
  t.eq(0, asked)
  t.eq('deny', last_reply().decision)
end

function M.a_reply_with_words_or_arguments(t)
  asking()
  dcode.call('bash', {}, {
    on_request = function()
      return { decision = 'deny', feedback = 'use make' }
    end,
  })
  t.eq({ kind = 'approval', decision = 'deny', feedback = 'use make' }, last_reply())
  dcode.call('bash', {}, {
    on_request = function()
      return { decision = 'once', args = { command = 'ls -a' } }
    end,
  })
  t.eq({ kind = 'approval', decision = 'once', args = { command = 'ls -a' } }, last_reply())
end

function M.an_answer_that_is_not_on_offer_is_a_no(t)
  asking()
  require('dcode.log').sink = function() end
  for _, answer in ipairs({ 'always', 'maybe', 7 }) do
    dcode.call('bash', {}, {
      on_request = function()
        return answer
      end,
    })
    t.eq('deny', last_reply().decision)
  end
  dcode.call('bash', {}, {
    on_request = function()
      error('boom')
    end,
  })
  t.eq('deny', last_reply().decision)
  require('dcode.log').sink = nil
end

function M.questions_are_answered_with_lists(t)
  local requests = require('dcode.requests')
  local request = { kind = 'question', questions = { { options = {} }, { options = {} } } }
  t.eq({ kind = 'question', answers = { { 'a' }, {} } }, requests.normalize(request, { { 'a' } }))
  t.eq({ kind = 'question' }, requests.normalize(request, nil))
end

function M.no_wait_inside_on_request(t)
  asking()
  local inner, why
  dcode.call('bash', {}, {
    on_request = function()
      inner, why = dcode.call('ls', {})
      return 'once'
    end,
  })
  t.eq(nil, inner)
  assert(why:find('on_request', 1, true), why)
end

function M.a_call_that_is_too_slow_is_cancelled(t)
  fake.on.call = function() end
  fake.on.cancel_call = function(op)
    fake.emit({
      type = 'call_finished',
      ticket = op.ticket,
      result = { ok = false, text = 'cancelled', decision = 'allow' },
    })
  end
  local wait = require('dcode.wait')
  wait.GRACE_MS = 20
  local result = dcode.call('bash', {}, { timeout_ms = 50 })
  wait.GRACE_MS = 5000
  t.eq('cancelled', result.text)
  t.eq(1, #fake.sent('cancel_call'))
end

function M.no_wait_where_the_editor_cannot_be_edited(t)
  local refused = {}
  _G.dcode_test = function()
    refused[#refused + 1] = select(2, dcode.call('ls', {}))
    return ''
  end
  vim.keymap.set('n', '<F2>', 'v:lua.dcode_test()', { expr = true })
  vim.api.nvim_feedkeys(vim.keycode('<F2>'), 'xt', false)
  vim.keymap.del('n', '<F2>')
  vim.fn.setreg('q', ':lua dcode_test()' .. vim.keycode('<CR>'))
  vim.cmd.normal({ '@q', bang = true })
  local fast
  local timer = assert(vim.uv.new_timer())
  timer:start(0, 0, function()
    fast = select(2, dcode.call('ls', {}))
  end)
  vim.wait(200, function()
    return fast ~= nil
  end)
  timer:close()
  assert(refused[1] and refused[1]:find('locked', 1, true), vim.inspect(refused))
  assert(refused[2] and refused[2]:find('macro', 1, true), vim.inspect(refused))
  assert(fast and fast:find('fast', 1, true), vim.inspect(fast))
end

function M.explain_wait_and_undo(t)
  fake.on.explain = function(_, ticket)
    vim.schedule(function()
      fake.emit({ type = 'explained', ticket = ticket, explanation = { decision = 'ask' } })
    end)
  end
  t.eq({ decision = 'ask' }, dcode.explain('bash', { command = 'ls' }))
  fake.on.undo = function(op)
    vim.schedule(function()
      fake.emit({ type = 'restored', ok = true, message = op.steps .. ' steps', paths = { '/a' } })
    end)
  end
  require('dcode.log').sink = function() end
  t.eq({ ok = true, message = '2 steps', paths = { '/a' } }, dcode.undo(2))
  require('dcode.log').sink = nil
  t.eq(nil, (dcode.undo(0)))
  fake.on.prompt = function(_, turn)
    vim.defer_fn(function()
      fake.emit(
        { type = 'turn_started', turn = turn, text = 'x' },
        { type = 'turn_finished', turn = turn, reason = 'done', text = 'fine' }
      )
    end, 10)
  end
  assert(dcode.ask('x'))
  t.eq('fine', dcode.wait({ timeout_ms = 2000 }).text)
  fake.on.prompt = nil
  assert(dcode.ask('y'))
  t.eq({ nil, 'timeout' }, { dcode.wait({ timeout_ms = 60 }) })
end

function M.errors_of_the_library_are_values(t)
  fake.on.call = function()
    return nil, 'no such tool'
  end
  t.eq({ nil, 'no such tool' }, { dcode.call('nope', {}) })
end

return M
