-- What an approval shows beside the call: opinions of other models, calls that wait as well; and the
-- list of permissions.
package.path = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)) .. '/?.lua;' .. package.path
local support = require('support.fake_native')
local fake = support.start()
local approval = require('dcode.ui.approval')
local edit_call = require('dcode.ui.edit_call')
local permissions = require('dcode.ui.permissions')

local M = {}

local function bash(more)
  return vim.tbl_extend('force', {
    kind = 'approval',
    tool = 'bash',
    title = 'rm a',
    reason = '`rm a` may destroy something.',
    rule = 'r',
    diff = 'rm a',
    commands = { { text = 'rm a', class = 'destructive', decision = 'ask' } },
    choices = { 'once', 'deny' },
  }, more)
end

local function view_of(request)
  local box = {}
  local view = approval.new(request, function(reply)
    box.reply = reply
  end)
  return view, box
end

local function shown(view, width)
  return table.concat(view:render(width or 74).lines, '\n')
end

local function has(text, ...)
  for _, words in ipairs({ ... }) do
    assert(text:find(words, 1, true), ('%s is not shown in\n%s'):format(words, text))
  end
end

local function opinion(word, reason)
  return { { by = 'validator', model = 'p:pro', word = word, reason = reason } }
end

function M.the_side_of_the_sandbox_is_shown(t)
  has(
    shown((view_of(bash({ sandbox = 'inside' })))),
    'In the sandbox: it writes only in the project.'
  )
  has(shown((view_of(bash({ sandbox = 'outside' })))), 'Outside of the sandbox: it can do all')
  t.eq(nil, shown((view_of(bash({})))):find('sandbox', 1, true))
end

function M.an_opinion_is_shown_in_words(t)
  local view = view_of(bash({ opinions = opinion('approve', 'The person asked for it.') }))
  has(shown(view), 'validator fine: The person asked for it. (p:pro)', '[1] once', '[4] deny')
  view = view_of(bash({ opinions = opinion('none', 'It did not answer within 10 s.') }))
  has(shown(view), 'validator: It did not answer', '[1] once')
  local nobody = { by = 'validator', model = '', word = 'none', reason = 'Name a model.' }
  has(shown((view_of(bash({ opinions = { nobody } })))), 'validator: Name a model.')
  t.eq(nil, shown((view_of(bash({ opinions = { nobody } })))):find('()', 1, true))
  t.eq(nil, shown(view):find('edit', 1, true))
end

function M.a_block_is_overridden_edited_or_cancelled(t)
  local request =
    bash({ opinions = opinion('block', 'Not asked for.'), args = { command = 'rm a' } })
  local view, box = view_of(request)
  has(
    shown(view),
    'validator blocks it: Not asked for.',
    '[1] override once',
    '[4] cancel',
    '[8] edit'
  )
  view:key('1', false)
  t.eq({ kind = 'approval', decision = 'once' }, box.reply)
  view:key('4', false)
  t.eq({ kind = 'approval', decision = 'deny' }, box.reply)
  view:key('8', false)
  t.eq('acwrite', vim.bo.buftype)
  t.eq({ 'rm a' }, vim.api.nvim_buf_get_lines(0, 0, -1, false))
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'rm b &&', '  ls' })
  vim.cmd.write()
  assert(vim.wait(1000, function()
    return box.reply.args ~= nil
  end))
  t.eq({ kind = 'approval', decision = 'once', args = { command = 'rm b &&\n  ls' } }, box.reply)
end

function M.arguments_that_are_no_object_are_not_taken(t)
  local request = { tool = 'write_file', args = { path = 'a' } }
  t.eq({ path = 'b' }, edit_call.args(request, '{"path": "b"}'))
  for _, bad in ipairs({ '', '{', '[1]', '"a"', '1' }) do
    t.eq(nil, (edit_call.args(request, bad)))
  end
end

function M.calls_that_wait_are_shown_and_answered_with_it(t)
  local request = bash({
    choices = { 'once', 'deny', 'once_all', 'deny_all' },
    more = {
      { tool = 'write_file', title = '.env', reason = 'r', diff = '@@\n+K=1\n' },
      {
        tool = 'bash',
        title = 'rm b',
        reason = 'r',
        diff = 'rm b',
        commands = { { text = 'rm b', class = 'destructive', decision = 'ask' } },
      },
    },
  })
  local view, box = view_of(request)
  local text = shown(view)
  has(text, '2 calls', '2  write_file .env', '3  bash rm b', 'rm b is destructive')
  has(text, '[6] all 3 once', '[7] deny all 3')
  t.eq(nil, text:find('K=1', 1, true))
  view:key('v', false)
  has(shown(view), '+K=1')
  for _, line in ipairs(view:render(40).lines) do
    assert(vim.api.nvim_strwidth(line) <= 40, line)
  end
  view:key('6', false)
  t.eq({ kind = 'approval', decision = 'once_all' }, box.reply)
  view:key('D', false)
  t.eq({ kind = 'approval', decision = 'deny_all' }, box.reply)
end

local function grant(text, line, revocable)
  return {
    kind = 'command',
    mode = 'allow',
    text = text,
    source = 's',
    file = vim.fn.expand('~') .. '/.deepseek/config.toml',
    line = line,
    revocable = revocable,
  }
end

function M.permissions_are_listed_with_their_place_and_taken_back(t)
  require('dcode.session').ensure()
  local sent
  fake.on.permissions = function(op, ticket)
    sent = op.revoke
    local grants = { grant('git push *', 4, true), grant('cargo test *', 9, false) }
    if sent then
      table.remove(grants, 1)
    end
    fake.emit({ type = 'permissions', ticket = ticket, grants = grants })
  end
  permissions.open()
  assert(vim.wait(1000, function()
    return vim.bo.filetype == 'dcode-page'
  end))
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  has(lines[1], 'allow', 'git push *', '~/.deepseek/config.toml:4')
  vim.api.nvim_feedkeys('d', 'x', false)
  assert(vim.wait(1000, function()
    return vim.api.nvim_buf_line_count(0) == 1
  end))
  t.eq('git push *', sent.text)
  -- What stands elsewhere is not taken back by a key.
  sent = nil
  vim.api.nvim_feedkeys('d', 'x', false)
  t.eq(nil, sent)
  vim.api.nvim_feedkeys('q', 'x', false)
  assert(vim.bo.filetype ~= 'dcode-page')
  t.eq({ ' Nothing was allowed, asked for or denied beforehand.' }, (permissions.render({}, 60)))
end

return M
