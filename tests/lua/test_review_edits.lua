local edits = require('dcode.review.edits')

local T = {}

local function buffer(lines)
  local buf = vim.api.nvim_create_buf(true, false)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.api.nvim_set_current_buf(buf)
  edits.end_block(buf)
  return buf
end

local function numbered(count)
  local lines = {}
  for i = 1, count do
    lines[i] = 'line ' .. i
  end
  return lines
end

local function lines_of(buf)
  return vim.api.nvim_buf_get_lines(buf, 0, -1, false)
end

function T.changed_bytes_never_cut_a_character(t)
  t.eq({ 1, 3, 3 }, { edits.changed_bytes('aäb', 'aöb') })
  t.eq({ 1, 1, 2 }, { edits.changed_bytes('ab', 'axb') })
  t.eq({ 2, 3, 2 }, { edits.changed_bytes('aaa', 'aa') })
  t.eq({ 0, 0, 3 }, { edits.changed_bytes('', 'abc') })
end

function T.lines_are_followed_through_edits(t)
  local list = {
    { first = 2, last = 3, lines = { 'a', 'b', 'c' } },
    { first = 6, last = 8, lines = {} },
  }
  t.eq(
    { 1, 2, 3, 6, 8, 9, 9 },
    vim.tbl_map(function(line)
      return edits.moved(list, line)
    end, { 1, 2, 3, 4, 6, 7, 9 })
  )
end

function T.one_undo_takes_back_a_batch_and_no_typing(t)
  local buf = buffer({ 'one', 'two', 'three' })
  vim.api.nvim_buf_set_lines(buf, 0, 1, false, { 'typed' })
  assert(edits.apply(buf, {
    { first = 1, last = 2, lines = { 'TWO' } },
    { first = 2, last = 3, lines = { 'THREE', 'four' } },
  }))
  edits.end_block(buf)
  vim.api.nvim_buf_set_lines(buf, 0, 1, false, { 'typed again' })
  t.eq({ 'typed again', 'TWO', 'THREE', 'four' }, lines_of(buf))
  vim.cmd('silent undo')
  t.eq({ 'typed', 'TWO', 'THREE', 'four' }, lines_of(buf))
  vim.cmd('silent undo')
  t.eq({ 'typed', 'two', 'three' }, lines_of(buf))
  vim.cmd('silent redo')
  t.eq({ 'typed', 'TWO', 'THREE', 'four' }, lines_of(buf))
end

function T.marks_folds_extmarks_and_views_stay_with_their_text(t)
  local buf = buffer(numbered(1000))
  local ns = vim.api.nvim_create_namespace('test')
  local extmark = vim.api.nvim_buf_set_extmark(buf, ns, 899, 2, {})
  vim.api.nvim_buf_set_mark(buf, 'a', 900, 0, {})
  vim.wo.foldmethod = 'manual'
  vim.cmd('800,850fold')
  vim.cmd.split()
  local other = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_cursor(other, { 950, 3 })
  vim.cmd('normal! zt')
  vim.cmd.wincmd('p')
  vim.api.nvim_win_set_cursor(0, { 700, 1 })
  vim.cmd('normal! zt')
  assert(edits.apply(buf, {
    { first = 9, last = 10, lines = { 'line ten', 'and more' } },
    { first = 19, last = 20, lines = {} },
    { first = 29, last = 29, lines = { 'x', 'y' } },
  }))
  t.eq('line 900', lines_of(buf)[vim.api.nvim_buf_get_mark(buf, 'a')[1]])
  local row, col = unpack(vim.api.nvim_buf_get_extmark_by_id(buf, ns, extmark, {}))
  t.eq({ 'line 900', 2 }, { lines_of(buf)[row + 1], col })
  t.eq({ 802, 852 }, { vim.fn.foldclosed(810), vim.fn.foldclosedend(810) })
  local function seen(win)
    return vim.api.nvim_win_call(win, function()
      local view = vim.fn.winsaveview()
      return { vim.fn.getline(view.lnum), view.col, vim.fn.getline(view.topline) }
    end)
  end
  t.eq({ 'line 950', 3, 'line 950' }, seen(other))
  t.eq({ 'line 700', 1, 'line 700' }, seen(0))
  vim.cmd('only!')
end

function T.an_extmark_in_a_changed_line_stays_at_its_word(t)
  local buf = buffer({ 'let a = one + two;' })
  local ns = vim.api.nvim_create_namespace('test')
  local id = vim.api.nvim_buf_set_extmark(buf, ns, 0, 14, {})
  assert(edits.apply(buf, { { first = 0, last = 1, lines = { 'let a = eleven + two;' } } }))
  t.eq({ 0, 17 }, vim.api.nvim_buf_get_extmark_by_id(buf, ns, id, {}))
end

function T.a_failure_changes_nothing(t)
  local buf = buffer({ 'one', 'two', 'three' })
  vim.bo[buf].modified = false
  local ok, why = edits.apply(buf, {
    { first = 0, last = 1, lines = { 'not\na line', 'x' } },
    { first = 2, last = 3, lines = { 'THREE' } },
  })
  t.eq(false, ok)
  t.eq('string', type(why))
  t.eq({ 'one', 'two', 'three' }, lines_of(buf))
  t.eq(false, vim.bo[buf].modified)
end

function T.a_read_only_buffer_is_edited_without_a_warning(t)
  local buf = buffer({ 'one' })
  vim.bo[buf].modified = false
  vim.bo[buf].readonly = true
  local started = vim.uv.hrtime()
  assert(edits.apply(buf, { { first = 0, last = 1, lines = { 'two' } } }))
  t.eq(true, (vim.uv.hrtime() - started) / 1e6 < 500)
  t.eq(true, vim.bo[buf].readonly)
end

return T
