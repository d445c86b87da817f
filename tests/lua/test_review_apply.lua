package.path = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)) .. '/?.lua;' .. package.path
local ed = require('support.editor')

local T = {}

function T.an_unmodified_buffer_is_written_with_its_autocommands(t)
  ed.start()
  local buf, path = ed.open('a.txt', 'one\ntwo\n')
  local fired = {}
  vim.api.nvim_create_autocmd({ 'BufWritePre', 'BufWritePost' }, {
    buffer = buf,
    callback = function(ev)
      fired[#fired + 1] = ev.event
    end,
  })
  local reply = ed.agent(buf, { { 1, 2, { 'TWO' } } })
  t.eq({ 'applied', true, nil }, { reply.kind, reply.files[1].saved, reply.files[1].note })
  t.eq('one\nTWO\n', ed.read(path))
  t.eq({ 'BufWritePre', 'BufWritePost' }, fired)
  t.eq(false, vim.bo[buf].modified)
end

function T.unsaved_text_of_the_person_never_reaches_the_disk(t)
  local native = ed.start()
  local buf, path = ed.open('b.txt', 'one\ntwo\n')
  vim.api.nvim_buf_set_lines(buf, 0, 1, false, { 'mine' })
  local reply = ed.agent(buf, { { 1, 2, { 'TWO' } } })
  t.eq({ 'applied', false, 'string' }, {
    reply.kind,
    reply.files[1].saved,
    type(reply.files[1].note),
  })
  t.eq({ 'mine', 'TWO' }, ed.lines(buf))
  t.eq('one\ntwo\n', ed.read(path))
  t.eq(true, vim.bo[buf].modified)
  local hunks = native.hunks({ buf = buf })
  t.eq({ 1, { 'two' } }, { #hunks, hunks[1].removed })
  vim.cmd('silent undo')
  t.eq({ 'mine', 'two' }, ed.lines(buf))
end

function T.a_formatter_s_changes_belong_to_the_agent(t)
  local native = ed.start()
  local buf, path = ed.open('c.txt', 'one\ntwo\nthree\n')
  vim.api.nvim_create_autocmd('BufWritePre', {
    buffer = buf,
    callback = function()
      vim.api.nvim_buf_set_lines(buf, 2, 3, false, { 'three!' })
    end,
  })
  ed.agent(buf, { { 0, 1, { 'ONE' } } })
  t.eq('ONE\ntwo\nthree!\n', ed.read(path))
  t.eq(2, #native.hunks({ buf = buf }))
  vim.cmd('silent undo')
  t.eq({ 'one', 'two', 'three' }, ed.lines(buf))
end

function T.an_error_while_writing_is_a_note(t)
  ed.start()
  local buf = ed.open('d.txt', 'one\n')
  vim.api.nvim_create_autocmd('BufWritePre', {
    buffer = buf,
    callback = function()
      error('no formatter')
    end,
  })
  local reply = ed.agent(buf, { { 0, 1, { 'ONE' } } })
  t.eq({ 'applied', 'string' }, { reply.kind, type(reply.files[1].note) })
  t.eq({ 'ONE' }, ed.lines(buf))
end

function T.a_read_only_buffer_is_edited_but_not_written(t)
  ed.start()
  local buf, path = ed.open('e.txt', 'one\n')
  vim.bo[buf].readonly = true
  local reply = ed.agent(buf, { { 0, 1, { 'ONE' } } })
  t.eq({ 'applied', false }, { reply.kind, reply.files[1].saved })
  t.eq('one\n', ed.read(path))
end

function T.a_buffer_that_changed_since_is_stale(t)
  ed.start()
  local buf = ed.open('f.txt', 'one\n')
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  vim.api.nvim_buf_set_lines(buf, 0, 1, false, { 'mine' })
  local reply = ed.agent(buf, { { 0, 1, { 'ONE' } } }, { tick = tick })
  t.eq({ 'refused', true }, { reply.kind, reply.stale })
  t.eq({ 'mine' }, ed.lines(buf))
end

function T.a_file_that_changed_on_disk_is_stale_and_nobody_is_asked(t)
  ed.start()
  local buf, path = ed.open('g.txt', 'one\n')
  ed.write(path, 'other, longer\n')
  vim.uv.fs_utime(path, os.time() + 10, os.time() + 10)
  local reply = ed.agent(buf, { { 0, 1, { 'ONE' } } })
  t.eq({ 'refused', true }, { reply.kind, reply.stale })
  t.eq({ 'other, longer' }, ed.lines(buf))
  t.eq('other, longer\n', ed.read(path))
end

function T.one_buffer_that_may_not_change_refuses_all(t)
  ed.start()
  local a, a_path = ed.open('h1.txt', 'one\n')
  local b = ed.open('h2.txt', 'one\n')
  vim.bo[b].modifiable = false
  local reply = require('dcode.review.apply').run({
    origin = 'agent',
    label = 'apply_patch',
    files = { ed.file(a, { { 0, 1, { 'ONE' } } }), ed.file(b, { { 0, 1, { 'ONE' } } }) },
  })
  t.eq({ 'refused', false }, { reply.kind, reply.stale })
  t.eq({ 'one' }, ed.lines(a))
  t.eq('one\n', ed.read(a_path))
end

function T.a_failure_in_the_second_buffer_takes_back_the_first(t)
  local native = ed.start()
  local a, a_path = ed.open('i1.txt', 'one\ntwo\n')
  local b = ed.open('i2.txt', 'one\n')
  local reply = require('dcode.review.apply').run({
    origin = 'agent',
    label = 'apply_patch',
    files = { ed.file(a, { { 0, 1, { 'ONE' } } }), ed.file(b, { { 0, 1, { 'bad\nline' } } }) },
  })
  t.eq({ 'refused', false }, { reply.kind, reply.stale })
  t.eq({ 'one', 'two' }, ed.lines(a))
  t.eq(false, vim.bo[a].modified)
  t.eq('one\ntwo\n', ed.read(a_path))
  t.eq({}, native.hunks({}))
end

function T.a_path_that_was_opened_meanwhile_refuses_the_batch(t)
  ed.start()
  local buf, path = ed.open('j.txt', 'one\n')
  local reply = require('dcode.review.apply').run({
    origin = 'agent',
    label = 'write',
    files = {},
    unloaded = { path },
  })
  t.eq({ 'refused', true }, { reply.kind, reply.stale })
  t.eq({ 'one' }, ed.lines(buf))
end

function T.line_endings_and_the_missing_newline_are_kept(t)
  ed.start()
  local buf, path = ed.open('k.txt', 'foo\r\nbar')
  t.eq({ 'dos', false }, { vim.bo[buf].fileformat, vim.bo[buf].endofline })
  ed.agent(buf, { { 0, 1, { 'FOO' } } })
  t.eq('FOO\r\nbar', ed.read(path))
  t.eq(true, vim.bo[buf].fixendofline)
end

function T.the_final_newline_may_go(t)
  ed.start()
  local buf, path = ed.open('l.txt', 'foo\n')
  ed.agent(buf, { { 0, 1, { 'bar' } } }, { eol = false })
  t.eq('bar', ed.read(path))
end

function T.restoring_leaves_no_hunk(t)
  local native = ed.start()
  local buf = ed.open('m.txt', 'one\ntwo\n')
  ed.agent(buf, { { 0, 1, { 'ONE' } } })
  t.eq(1, #native.hunks({ buf = buf }))
  require('dcode.review.apply').run({
    origin = 'restore',
    label = 'undo',
    files = { ed.file(buf, { { 0, 1, { 'one' } } }) },
  })
  t.eq({}, native.hunks({ buf = buf }))
end

return T
