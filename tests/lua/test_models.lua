-- The list of models and the choice from it.
package.path = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)) .. '/?.lua;' .. package.path
local support = require('support.fake_native')
support.start()
local models = require('dcode.ui.models')

local M = {}

local ROWS = {
  {
    name = 'deepseek:deepseek-flash',
    context_window = 1000000,
    price = { 0.15, 0.6 },
    images = true,
  },
  { name = 'ollama:qwen3', images = false },
  {
    name = 'openai:gpt-6.2-sol',
    context_window = 1050000,
    images = true,
    missing = 'OPENAI_API_KEY',
  },
}

function M.a_line_says_what_counts(t)
  t.eq(
    'deepseek:deepseek-flash  in use, 1M tokens, $0.15 in, $0.60 out, sees images',
    models.line(ROWS[1], 'deepseek:deepseek-flash', 23)
  )
  t.eq('ollama:qwen3', models.line(ROWS[2], nil, 23))
  t.eq('openai:gpt-6.2-sol       OPENAI_API_KEY is not set', models.line(ROWS[3], nil, 23))
end

function M.the_choice_is_sent(t)
  local sent, own_submit, own_select = {}, require('dcode.session').submit, vim.ui.select
  local session = require('dcode.session')
  session.submit = function(op)
    sent[#sent + 1] = op
    return 77
  end
  local shown
  vim.ui.select = function(items, opts, choose)
    shown = opts.prompt .. ' ' .. #items
    choose(items[2])
  end
  t.eq(true, (models.pick()))
  t.eq({ type = 'report', what = 'models' }, sent[1])
  session.tickets[77]({ report = { models = ROWS, model = 'deepseek:deepseek-flash' } })
  t.eq('Model (now deepseek:deepseek-flash): 3', shown)
  t.eq({ type = 'set_model', model = 'ollama:qwen3' }, sent[2])
  t.eq('ollama:qwen3', models.names()[2])
  session.submit, vim.ui.select = own_submit, own_select
  session.tickets[77] = nil
end

return M
