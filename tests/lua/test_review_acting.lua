-- Operators, text object, going across files, the list, side by side, comments.
package.path = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)) .. '/?.lua;' .. package.path
local ed = require('support.editor')

local T = {}

local TEXT = 'one\ntwo\nthree\nfour\nfive\nsix\n'

---@return integer buf, string path, table native
local function reviewed(name, edits)
  local native = ed.start()
  local buf, path = ed.open(name, TEXT)
  ed.agent(buf, edits or { { 0, 1, { 'ONE' } }, { 2, 3, { 'THREE', 'and' } }, { 5, 6, {} } })
  require('dcode.review').refresh(buf)
  return buf, path, native
end

local function plug()
  vim.g.loaded_dcode = nil
  vim.cmd('runtime plugin/dcode.lua')
  for lhs, name in pairs({
    ga = 'accept',
    gr = 'reject',
    gA = 'accept-operator',
    gR = 'reject-operator',
  }) do
    vim.keymap.set('n', lhs, '<Plug>(dcode-' .. name .. ')')
  end
  vim.keymap.set({ 'o', 'x' }, 'ih', '<Plug>(dcode-hunk)')
end

local function keys(typed)
  vim.cmd.normal(vim.keycode(typed))
end

function T.a_dot_repeats_the_decision_on_another_hunk(t)
  local buf, _, native = reviewed('dot.txt')
  plug()
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  keys('gr')
  t.eq({ 'one', 'two', 'THREE', 'and', 'four', 'five' }, ed.lines(buf))
  vim.api.nvim_win_set_cursor(0, { 4, 0 })
  keys('.')
  t.eq({ 'one', 'two', 'three', 'four', 'five' }, ed.lines(buf))
  t.eq(1, #native.hunks({}))
end

function T.an_operator_takes_a_motion_and_is_repeated(t)
  local buf, _, native = reviewed('op.txt')
  plug()
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  keys('gAj')
  t.eq(2, #native.hunks({}))
  vim.api.nvim_win_set_cursor(0, { 3, 0 })
  keys('.')
  t.eq(1, #native.hunks({}))
  t.eq({ 'ONE', 'two', 'THREE', 'and', 'four', 'five' }, ed.lines(buf))
  keys('gRG')
  t.eq({ 'ONE', 'two', 'THREE', 'and', 'four', 'five', 'six' }, ed.lines(buf))
end

function T.a_hunk_is_a_text_object(t)
  local buf = reviewed('object.txt')
  plug()
  vim.api.nvim_win_set_cursor(0, { 4, 0 })
  keys('yih')
  t.eq('THREE\nand\n', vim.fn.getreg('"'))
  keys('dih')
  t.eq({ 'ONE', 'two', 'four', 'five' }, ed.lines(buf))
end

function T.an_operator_where_no_hunk_is_changes_nothing(t)
  local buf = reviewed('none.txt')
  plug()
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  local before = ed.lines(buf)
  keys('dih')
  t.eq(before, ed.lines(buf))
end

function T.next_and_previous_go_on_into_other_files_and_round(t)
  local _, first = reviewed('n1.txt', { { 0, 1, { 'ONE' } }, { 3, 4, { 'FOUR' } } })
  vim.o.hidden = true
  local buf, second = ed.open('n2.txt', TEXT)
  ed.agent(buf, { { 2, 3, { 'THREE' } } })
  require('dcode.review').refresh(buf)
  local function at(step)
    require('dcode.review.navigate')[step]()
    return { vim.fs.basename(vim.api.nvim_buf_get_name(0)), vim.api.nvim_win_get_cursor(0)[1] }
  end
  local names = { vim.fs.basename(first), vim.fs.basename(second) }
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  t.eq({ names[2], 3 }, at('next'))
  t.eq({ names[1], 1 }, at('next'))
  t.eq({ names[1], 4 }, at('next'))
  t.eq({ names[2], 3 }, at('next'))
  t.eq({ names[1], 4 }, at('prev'))
  vim.cmd.enew()
  t.eq({ names[1], 1 }, at('next'))
  vim.cmd.enew()
  t.eq({ names[2], 3 }, at('prev'))
end

function T.counts_walk_over_files_and_round_the_end(t)
  local walk = require('dcode.review.navigate').walk
  local function to(...)
    return { walk({ 2, 3, 1 }, ...) }
  end
  t.eq({ 2, 1 }, to(1, 2, 1, 2))
  t.eq({ 3, 1 }, to(1, 2, 1, 5))
  t.eq({ 1, 1 }, to(1, 2, 1, 6))
  t.eq({ 3, 1 }, to(1, 0, -1, 1))
  t.eq({ 2, 3 }, to(1, 0, -1, 2))
  t.eq({ 1, 1 }, to(0, 1, 1, 1))
  t.eq({ 3, 1 }, to(0, 0, -1, 1))
  t.eq({ 1, 2 }, to(1, 2, 1, 601))
end

function T.a_jump_opens_the_fold_and_can_be_taken_back(t)
  reviewed('fold.txt', { { 3, 4, { 'FOUR' } } })
  vim.wo.foldmethod = 'manual'
  vim.cmd('2,5fold')
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  require('dcode.review.navigate').next()
  t.eq({ 4, -1 }, { vim.api.nvim_win_get_cursor(0)[1], vim.fn.foldclosed(4) })
  vim.cmd.normal(vim.keycode('<C-o>'))
  t.eq(1, vim.api.nvim_win_get_cursor(0)[1])
end

function T.the_base_stands_beside_the_text_in_a_tab_page_of_its_own(t)
  local buf = reviewed('side.txt')
  vim.o.switchbuf = 'useopen'
  local before = vim.api.nvim_tabpage_list_wins(0)
  local compare = require('dcode.review.compare')
  t.eq(true, compare.toggle())
  t.eq(2, #vim.api.nvim_list_tabpages())
  local wins = vim.api.nvim_tabpage_list_wins(0)
  local base = vim.api.nvim_win_get_buf(wins[1])
  t.eq(vim.split(vim.trim(TEXT), '\n'), ed.lines(base))
  t.eq({ false, 'nofile', false }, {
    vim.bo[base].modifiable,
    vim.bo[base].buftype,
    vim.bo[base].swapfile,
  })
  t.eq({ true, true }, { vim.wo[wins[1]].diff, vim.wo[wins[2]].diff })
  t.eq({ buf, buf }, { vim.api.nvim_win_get_buf(wins[2]), vim.api.nvim_get_current_buf() })
  t.eq(true, compare.toggle())
  t.eq({ 1, before }, { #vim.api.nvim_list_tabpages(), vim.api.nvim_tabpage_list_wins(0) })
  t.eq({ false, false }, { vim.api.nvim_buf_is_valid(base), vim.wo.diff })
  vim.o.switchbuf = ''
end

function T.closing_one_side_leaves_no_window_in_diff_mode(t)
  reviewed('side2.txt')
  require('dcode.review.compare').toggle()
  local wins = vim.api.nvim_tabpage_list_wins(0)
  vim.api.nvim_win_close(wins[1], true)
  ed.flush()
  t.eq(false, vim.wo[wins[2]].diff)
  vim.cmd.tabclose()
end

function T.a_comment_goes_to_the_agent_with_the_hunk(t)
  local comment = require('dcode.review.comment')
  local hunk = { start = 3, count = 2, removed = { 'three' }, added = { 'THREE', '```' } }
  t.eq(
    'A comment on your change in a.txt, lines 3-4, which waits for review:\n'
      .. '````diff\n-three\n+THREE\n+```\n````\n\nWhy capitals?',
    comment.prompt(hunk, 'a.txt', 'Why capitals?')
  )
  reviewed('comment.txt')
  comment = require('dcode.review.comment')
  local sent
  require('dcode').ask = function(text)
    sent = text
    return 7
  end
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  t.eq(true, comment.on('Not here.'))
  t.eq(
    true,
    sent:find('line 1, which waits for review:\n```diff\n-one\n+ONE\n```\n\nNot here.', 1, true)
      ~= nil
  )
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  t.eq({ nil, 'No hunk is under the cursor. ]h goes to the next.' }, { comment.on('x') })
  package.loaded['dcode'] = nil
end

function T.the_list_has_a_row_a_file_and_a_hunk(t)
  local _, path, native = reviewed('rows.txt')
  local rows, lines =
    require('dcode.review.browser').rows(native.review_files({}), native.hunks({}), 40)
  t.eq(4, #rows)
  t.eq({ path, nil }, { rows[1].path, rows[1].hunk })
  t.eq(true, lines[1]:find(' M  +3 −3', 1, true) ~= nil)
  t.eq({ '     1  ONE', '     3  THREE', '     6  six' }, {
    lines[2],
    lines[3],
    (lines[4]:gsub('     5  six', '     6  six')),
  })
end

function T.without_a_screen_the_quickfix_list_opens(t)
  reviewed('qf.txt')
  t.eq(true, require('dcode.review.list').open())
  t.eq('quickfix', vim.bo.buftype)
  t.eq(
    { 1, 3, 6 },
    vim.tbl_map(function(item)
      return item.lnum
    end, vim.fn.getqflist())
  )
  vim.cmd.cclose()
end

function T.shy_keys_give_way_to_the_person_s_global_ones(t)
  pcall(vim.keymap.del, 'x', 'ih')
  vim.keymap.set('o', 'ih', 'mine')
  local buf = reviewed('shy.txt')
  t.eq('mine', vim.fn.maparg('ih', 'o'))
  t.eq(1, vim.fn.maparg('ih', 'x', false, true).buffer)
  require('dcode.review.actions').accept({ buf = buf, all = true })
  t.eq('', vim.fn.maparg('ih', 'x'))
  vim.keymap.del('o', 'ih')
end

return T
