-- The command line over a fake library. The task says what the "model" does:
-- `say TEXT`, `ask` (a question), `approve` (a call that asks), `hang`, `limit`, `fail`.
local here = vim.fs.dirname(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p'))
local root = vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(here)))
vim.opt.runtimepath:prepend(root)
package.path = root .. '/tests/lua/?.lua;' .. package.path

local support = require('support.fake_native')
support.stub_review()
local fake = support.new()
require('dcode.native').use(fake)

local function finish(turn, reason, text, why)
  fake.emit({ type = 'turn_finished', turn = turn, reason = reason, text = text, message = why })
end

local start = fake.start
function fake.start(opts)
  local info = start(opts)
  fake.emit({
    type = 'session_started',
    session = 's',
    mode = 'manual',
    tools = { 'read_file', 'ls' },
  })
  return info
end

function fake.on.prompt(op, turn)
  vim.schedule(function()
    fake.emit({ type = 'turn_started', turn = turn, text = op.text })
    local verb, rest = op.text:match('^(%S+)%s*(.*)$')
    if verb == 'say' then
      fake.emit({ type = 'tool_started', call = 'c', step = 1, tool = 'ls', title = '.' }, {
        type = 'tool_finished',
        call = 'c',
        step = 1,
        tool = 'ls',
        outcome = 'ok',
        summary = '3 entries',
        text = '',
        elapsed_ms = 1,
      }, { type = 'text_delta', turn = turn, text = rest })
      finish(turn, 'done', rest)
    elseif verb == 'flags' then
      finish(turn, 'done', vim.json.encode({ fake.started.flags, fake.started.human }))
    elseif verb == 'ask' or verb == 'approve' then
      local request = verb == 'ask'
          and {
            kind = 'question',
            questions = {
              { question = 'Which?', options = { { label = 'pg' }, { label = 'my' } } },
            },
          }
        or { kind = 'approval', tool = 'bash', title = 'ls', choices = { 'once', 'deny' } }
      fake.on.reply = function(reply)
        local words = reply.reply.decision or vim.json.encode(reply.reply.answers)
        finish(turn, 'done', words)
      end
      fake.emit({ type = 'request', id = 1, request = request })
    elseif verb == 'limit' then
      finish(turn, 'step_limit', '', 'More steps than allowed.')
    elseif verb == 'fail' then
      finish(turn, 'error', '', 'No key.')
    elseif verb == 'hang' then
      io.stderr:write('hanging\n')
    end
  end)
end

function fake.on.interrupt()
  finish(1, 'interrupted', '')
end

dofile(root .. '/lua/dcode/cli.lua')
