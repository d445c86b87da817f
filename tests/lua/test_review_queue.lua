package.path = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)) .. '/?.lua;' .. package.path
local ed = require('support.editor')

local T = {}

---@return integer buf, table native, table batch
local function ready(name)
  local native = ed.start()
  local buf = ed.open(name, 'one\ntwo\n')
  local batch = { origin = 'agent', label = 'e', files = { ed.file(buf, { { 0, 1, { 'ONE' } } }) } }
  return buf, native, batch
end

local function replies(native)
  return vim.tbl_map(function(op)
    return { op.request, op.reply.kind }
  end, native.ops)
end

function T.a_batch_is_made_at_once_when_it_can_be(t)
  local buf, native, batch = ready('a.txt')
  require('dcode.review.queue').push(7, batch)
  t.eq({ 'ONE', 'two' }, ed.lines(buf))
  t.eq({ { 7, 'applied' } }, replies(native))
end

function T.a_batch_waits_while_a_macro_is_recorded(t)
  local buf, native, batch = ready('b.txt')
  local queue = require('dcode.review.queue')
  vim.cmd('normal! qa')
  queue.push(7, batch)
  t.eq({ 'one', 'two' }, ed.lines(buf))
  t.eq({}, native.ops)
  vim.cmd('normal! q')
  queue.drain()
  t.eq({ { 7, 'applied' } }, replies(native))
end

function T.a_batch_waits_while_the_text_is_locked(t)
  local buf, native, batch = ready('c.txt')
  local queue = require('dcode.review.queue')
  _G.dcode_test = function()
    queue.push(7, batch)
    return ''
  end
  vim.cmd('nnoremap <expr> Q v:lua.dcode_test()')
  vim.api.nvim_feedkeys('Q', 'xt', false)
  t.eq({ 'one', 'two' }, ed.lines(buf))
  t.eq(1, queue.count())
  queue.drain()
  t.eq({ 'ONE', 'two' }, ed.lines(buf))
  t.eq({ { 7, 'applied' } }, replies(native))
end

function T.a_stop_answers_what_waits_and_nothing_is_made_after_it(t)
  local buf, native, batch = ready('s.txt')
  local queue = require('dcode.review.queue')
  vim.cmd('normal! qa')
  queue.push(7, batch)
  queue.drop()
  vim.cmd('normal! q')
  queue.drain()
  t.eq({ 'one', 'two' }, ed.lines(buf))
  t.eq({ { 7, 'refused' } }, replies(native))
end

function T.a_cancelled_batch_is_not_made(t)
  local buf, native, batch = ready('d.txt')
  local queue = require('dcode.review.queue')
  vim.cmd('normal! qa')
  queue.push(7, batch)
  queue.closed(7)
  vim.cmd('normal! q')
  queue.drain()
  t.eq({ 'one', 'two' }, ed.lines(buf))
  t.eq({}, native.ops)
end

function T.a_refusal_is_answered(t)
  local buf, native, batch = ready('e.txt')
  vim.bo[buf].modifiable = false
  require('dcode.review.queue').push(7, batch)
  t.eq({ { 7, 'refused' } }, replies(native))
  vim.bo[buf].modifiable = true
end

return T
