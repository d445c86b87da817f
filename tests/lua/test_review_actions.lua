package.path = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)) .. '/?.lua;' .. package.path
local ed = require('support.editor')

local T = {}

---@return integer buf, string path, table native
local function reviewed(name)
  local native = ed.start()
  local buf, path = ed.open(name, 'one\ntwo\nthree\nfour\nfive\n')
  ed.agent(buf, { { 0, 1, { 'ONE' } }, { 2, 3, { 'THREE' } }, { 4, 5, {} } })
  require('dcode.review').refresh(buf)
  return buf, path, native
end

local function actions()
  return require('dcode.review.actions')
end

local function maps(buf)
  local list = {}
  for _, mode in ipairs({ 'n', 'x' }) do
    for _, map in ipairs(vim.api.nvim_buf_get_keymap(buf, mode)) do
      list[#list + 1] = mode .. map.lhs
    end
  end
  table.sort(list)
  return list
end

function T.accepting_keeps_the_text_and_takes_the_colours(t)
  local buf, path, native = reviewed('a.txt')
  local hunk = native.hunks({ buf = buf })[1]
  t.eq(1, actions().accept({ buf = buf, hunk = hunk.id }))
  t.eq({ 'ONE', 'two', 'THREE', 'four' }, ed.lines(buf))
  t.eq(2, #native.hunks({ buf = buf }))
  t.eq('ONE\ntwo\nTHREE\nfour\n', ed.read(path))
end

function T.rejecting_puts_back_and_writes_and_undo_brings_it_again(t)
  local buf, path, native = reviewed('b.txt')
  vim.api.nvim_win_set_cursor(0, { 3, 0 })
  t.eq(1, actions().at_cursor('reject'))
  t.eq({ 'ONE', 'two', 'three', 'four' }, ed.lines(buf))
  t.eq('ONE\ntwo\nthree\nfour\n', ed.read(path))
  t.eq(2, #native.hunks({ buf = buf }))
  vim.cmd('silent undo')
  vim.api.nvim_exec_autocmds('TextChanged', { buffer = buf })
  t.eq({ 'ONE', 'two', 'THREE', 'four' }, ed.lines(buf))
  t.eq(3, #native.hunks({ buf = buf }))
  vim.cmd('silent undo')
  vim.api.nvim_exec_autocmds('TextChanged', { buffer = buf })
  t.eq({ 'one', 'two', 'three', 'four', 'five' }, ed.lines(buf))
  t.eq({}, native.hunks({ buf = buf }))
  vim.cmd('silent redo')
  vim.api.nvim_exec_autocmds('TextChanged', { buffer = buf })
  t.eq(3, #native.hunks({ buf = buf }))
end

function T.a_modified_buffer_is_not_written_by_a_rejection(t)
  local buf, path, native = reviewed('c.txt')
  vim.api.nvim_buf_set_lines(buf, 1, 2, false, { 'mine' })
  t.eq(1, actions().reject({ buf = buf, hunk = native.hunks({ buf = buf })[1].id }))
  t.eq({ 'one', 'mine', 'THREE', 'four' }, ed.lines(buf))
  t.eq('ONE\ntwo\nTHREE\nfour\n', ed.read(path))
end

function T.all_hunks_of_a_buffer_are_decided_at_once(t)
  local buf, _, native = reviewed('d.txt')
  t.eq(3, actions().reject({ buf = buf, all = true }))
  t.eq({ 'one', 'two', 'three', 'four', 'five' }, ed.lines(buf))
  t.eq({}, native.hunks({}))
end

function T.a_range_meets_the_hunks_in_it(t)
  local buf, _, native = reviewed('e.txt')
  t.eq(2, actions().accept({ buf = buf, range = { 1, 3 } }))
  t.eq(1, #native.hunks({ buf = buf }))
  t.eq({ nil, 'range is {first, last}, lines counted from 1.' }, {
    actions().accept({ buf = buf, range = {} }),
  })
end

function T.the_only_hunk_is_decided_from_anywhere(t)
  local buf, _, native = reviewed('f.txt')
  actions().accept({ buf = buf, range = { 1, 3 } })
  vim.cmd.enew()
  t.eq(1, actions().at_cursor('accept'))
  t.eq({}, native.hunks({}))
  t.eq({ nil, 'Nothing waits for review.' }, { actions().at_cursor('accept') })
end

function T.next_and_previous_go_round(t)
  reviewed('g.txt')
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  local function at(step)
    require('dcode.review.navigate')[step]()
    return vim.api.nvim_win_get_cursor(0)[1]
  end
  t.eq({ 3, 4, 1, 4 }, { at('next'), at('next'), at('next'), at('prev') })
end

function T.keys_are_there_only_while_hunks_wait_and_never_over_the_person_s(t)
  local native = ed.start()
  local buf = ed.open('h.txt', 'one\ntwo\n')
  vim.keymap.set('n', ']h', 'mine', { buffer = buf })
  local before = maps(buf)
  ed.agent(buf, { { 0, 1, { 'ONE' } } })
  require('dcode.review').refresh(buf)
  t.eq('mine', vim.fn.maparg(']h', 'n'))
  t.eq(true, vim.tbl_contains(maps(buf), 'n[h'))
  actions().accept({ buf = buf, all = true })
  t.eq(before, maps(buf))
  t.eq({}, native.hunks({}))
end

function T.a_file_that_the_agent_made_goes_away_again(t)
  local native = ed.start()
  local buf, path = ed.open('i.txt', '')
  ed.agent(buf, { { 0, 1, { 'new' } } })
  native.created[path] = true
  t.eq(1, actions().reject({ buf = buf, all = true }))
  t.eq(nil, (vim.uv.fs_stat(path)))
  t.eq({}, native.hunks({}))
end

function T.a_buffer_that_takes_another_name_is_let_go(t)
  local buf = reviewed('k.txt')
  vim.cmd('silent file other-name.txt')
  t.eq(nil, require('dcode.review').get(buf))
  t.eq({}, maps(buf))
end

function T.marks_are_drawn_and_follow_the_text(t)
  vim.wo.number = true
  local buf = reviewed('j.txt')
  local ns = require('dcode.review.draw').ns
  local function signs()
    local list = {}
    local found = vim.api.nvim_buf_get_extmarks(buf, ns, 0, -1, { details = true })
    for _, mark in ipairs(found) do
      if mark[4].sign_text then
        list[#list + 1] = vim.trim(mark[4].sign_text) .. mark[2]
      end
    end
    return list
  end
  t.eq({ '+0', '+2', '3' }, signs())
  vim.api.nvim_buf_set_lines(buf, 1, 1, false, { 'typed' })
  ed.flush()
  t.eq({ '+0', '+3', '4' }, signs())
  vim.api.nvim_buf_set_lines(buf, 2, 2, false, { 'typed', 'again' })
  t.eq({ '+0', '+5', '6' }, signs())
  local starts = vim.tbl_map(function(hunk)
    return hunk.start
  end, require('dcode.review').get(buf).hunks)
  t.eq({ 1, 6, 7 }, starts)
  ed.flush()
  t.eq({ '+0', '+5', '6' }, signs())
  actions().accept({ all = true })
  t.eq({}, vim.api.nvim_buf_get_extmarks(buf, ns, 0, -1, {}))
end

return T
