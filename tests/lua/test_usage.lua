-- `:Dcode usage` and the meter of the chat's head.
local usage = require('dcode.ui.usage')

local M = {}

local function row(model, changes)
  local base =
    { model = model, requests = 2, input = 11000, cached = 4992, output = 30, reasoning = 0 }
  return vim.tbl_extend('force', base, { cost = 0, unpriced = 0 }, changes or {})
end

function M.a_report_as_lines(t)
  local report = {
    models = {
      row('deepseek:v4', { cost = 0.00423, reasoning = 12 }),
      row('mock:n', { unpriced = 2, input = 900, cached = 0 }),
    },
    total = row('', { requests = 4, cost = 0.00423, unpriced = 2 }),
    misses = { { request = 3, tokens = 6000, cause = 'another model: deepseek:v4 before' } },
    context_tokens = 12300,
    context_window = 128000,
  }
  t.eq({
    ' this session  requests   sent  cached          replies               cost',
    ' deepseek:v4          2  11.0k     45%  30 (12 thought)            $0.0042',
    ' mock:n               2    900      0%               30            unknown',
    ' together             4  11.0k     45%               30  $0.0042 + unknown',
    '',
    ' context now: 12.3k of 128.0k tokens (10%)',
    ' Prices that are not known can be written into providers.NAME.models.',
    '',
    ' paid in full again',
    ' request 3  6.0k  another model: deepseek:v4 before',
  }, (usage.lines(report, 76)))
end

function M.a_long_name_gives_way_to_the_figures(t)
  local report = { models = { row('openrouter:' .. ('x'):rep(60)) }, total = row(''), misses = {} }
  for _, width in ipairs({ 76, 54 }) do
    for _, line in ipairs((usage.lines(report, width))) do
      assert(vim.api.nvim_strwidth(line) <= width + 1, line)
    end
  end
end

function M.money_in_few_letters(t)
  t.eq('$0.0042', usage.cost(0.00423, 1, 0))
  t.eq('$0.042', usage.cost(0.0423, 1, 0))
  t.eq('$1.00', usage.cost(0.996, 1, 0))
  t.eq('unknown', usage.cost(0, 2, 2))
  t.eq('$12.50 + unknown', usage.cost(12.5, 2, 1))
  t.eq(
    { '999', '1.0k', '999.9k', '1.0M' },
    vim.tbl_map(usage.tokens, { 999, 1000, 999940, 999950 })
  )
end

function M.nothing_counted_is_said(t)
  local lines = usage.lines({ models = {}, total = row(''), misses = {} }, 76)
  assert(lines[1]:find('No model was asked', 1, true), lines[1])
end

function M.the_head_shows_hits_and_cost(t)
  local head = require('dcode.ui.state_line').head
  local signs = require('dcode.ui.signs').get()
  local function shown(usage_event, scripted, cells)
    local words = head(
      { model = 'p:m', mode = 'manual', scripted = scripted or false, usage = usage_event },
      cells or 80,
      signs
    )
    return (words:gsub('%%#%w+#', ''):gsub('%%%*', ''):match('%%=(.-) ?$'):gsub('%%%%', '%%'))
  end
  local event = {
    input_tokens = 1000,
    cached_tokens = 910,
    context_tokens = 1200,
    context_window = 10000,
    requests = 1,
    cost = 0.004,
    unpriced_requests = 0,
  }
  t.eq('ctx 12% · cache 91% · $0.0040', shown(event))
  t.eq('ctx 12% · $0.0040', shown(event, false, 40))
  t.eq('ctx 12%', shown(event, false, 30))
  event.unpriced_requests = 1
  t.eq('ctx 12% · cache 91% · cost unknown', shown(event))
  t.eq('ctx 12% · cache 91%', shown(event, false, 44))
  t.eq('ctx 12% · cache 91%', shown(event, true))
  event.requests = 2
  t.eq('ctx 12% · cache 91% · over $0.0040', shown(event))
end

return M
