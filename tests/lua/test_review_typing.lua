package.path = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)) .. '/?.lua;' .. package.path
local children = require('support.child')

local T = {}

--- Runs a case in a fresh child with a file of six lines open.
---@param body fun(t: table, child: dcode.Child)
---@return fun(t: table)
local function with_child(body)
  return function(t)
    local child = children.start()
    child:lua([[
      native = ed.start()
      buf, path = ed.open('typing.txt', 'one\ntwo\nthree\nfour\nfive\nsix\n')
      vim.bo[buf].modified = true
      function push(edits)
        local batch = { origin = 'agent', label = 'e', files = { ed.file(buf, edits) } }
        require('dcode.review.queue').push(1, batch)
      end
    ]])
    local ok, err = xpcall(body, debug.traceback, t, child)
    child:stop()
    if not ok then
      error(err, 0)
    end
  end
end

T.typing_goes_on_while_the_agent_edits_elsewhere = with_child(function(t, child)
  child:type('jAab', 'i')
  child:wait("vim.api.nvim_get_current_line() == 'twoab'")
  child:lua([[push({ { 0, 0, { 'zero' } }, { 4, 5, { 'FIVE' } } })]])
  child:type('cd<Esc>')
  t.eq({ 'zero', 'one', 'twoabcd', 'three', 'four', 'FIVE', 'six' }, child:lines())
  child:type('u')
  t.eq({ 'zero', 'one', 'twoab', 'three', 'four', 'FIVE', 'six' }, child:lines())
  child:type('u')
  t.eq({ 'one', 'twoab', 'three', 'four', 'five', 'six' }, child:lines())
  child:type('u')
  t.eq({ 'one', 'two', 'three', 'four', 'five', 'six' }, child:lines())
  child:type('<C-r><C-r>')
  t.eq({ 'zero', 'one', 'twoab', 'three', 'four', 'FIVE', 'six' }, child:lines())
  child:wait('#native.hunks({}) == 2')
end)

T.an_edit_of_the_typed_line_waits_until_insert_mode_ends = with_child(function(t, child)
  child:type('jAab', 'i')
  child:wait("vim.api.nvim_get_current_line() == 'twoab'")
  child:lua([[push({ { 1, 2, { 'TWO' } } })]])
  t.eq({ 'one', 'twoab', 'three', 'four', 'five', 'six' }, child:lines())
  child:type('<Esc>')
  child:wait('#native.ops == 1')
  t.eq({ 'one', 'TWO', 'three', 'four', 'five', 'six' }, child:lines())
end)

T.an_operator_that_waits_for_its_motion_is_not_disturbed = with_child(function(t, child)
  child:type('d', 'no')
  child:lua([[push({ { 4, 5, { 'FIVE' } } })]])
  t.eq(0, child:lua('return #native.ops'))
  child:type('j')
  child:wait('#native.ops == 1')
  t.eq('refused', child:lua('return native.ops[1].reply.kind'))
  t.eq({ 'three', 'four', 'five', 'six' }, child:lines())
end)

T.a_macro_is_recorded_to_its_end_first = with_child(function(t, child)
  child:type('qq')
  child:wait("vim.fn.reg_recording() == 'q'")
  child:lua([[push({ { 4, 5, { 'FIVE' } } })]])
  child:type('jj')
  t.eq(0, child:lua('return #native.ops'))
  child:type('q')
  child:wait('#native.ops == 1')
  t.eq('FIVE', child:lines()[5])
end)

T.a_command_that_is_typed_is_not_disturbed = with_child(function(t, child)
  child:type(':s/one/1/', 'c')
  child:lua([[push({ { 4, 5, { 'FIVE' } } })]])
  t.eq(0, child:lua('return #native.ops'))
  child:type('<Esc>')
  child:wait('#native.ops == 1')
  t.eq('FIVE', child:lines()[5])
end)

T.lines_removed_at_the_top_and_at_the_end_are_seen = with_child(function(t, child)
  child:lua([[push({ { 0, 1, {} }, { 5, 6, {} } })]])
  child:wait('#native.hunks({}) == 2')
  child:wait([[#vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, {}) >= 4]])
  local rows = vim.tbl_map(function(row)
    return (row:gsub('%s%s+hunk.*', ''))
  end, child:screen())
  t.eq({ '- one', '  two', '  three', '  four' }, vim.list_slice(rows, 1, 4))
  t.eq({ '  five', '- six' }, vim.list_slice(rows, 5, 6))
end)

T.the_hint_is_there_only_in_normal_mode_on_a_hunk = with_child(function(t, child)
  child:lua([[push({ { 2, 3, { 'THREE' } } })]])
  child:wait('#vim.api.nvim_buf_get_keymap(0, "n") > 0')
  local function hint()
    return table.concat(child:screen(), '\n'):match('hunk %d/%d') ~= nil
  end
  t.eq(false, hint())
  child:type(']h')
  t.eq(true, hint())
  child:type('A', 'i')
  t.eq(false, hint())
  child:type('<Esc>')
  t.eq(true, hint())
  child:type('j')
  t.eq(false, hint())
end)

T.keys_decide_and_undo_brings_back = with_child(function(t, child)
  child:lua([[push({ { 2, 3, { 'THREE' } }, { 4, 5, { 'FIVE' } } })]])
  child:wait('#vim.api.nvim_buf_get_keymap(0, "n") > 0')
  child:type(']h\\r')
  child:wait('#native.hunks({}) == 1')
  t.eq('three', child:lines()[3])
  t.eq(true, table.concat(child:screen(), '\n'):find('rejected hunk 1 of 2', 1, true) ~= nil)
  child:type('u')
  child:wait('#native.hunks({}) == 2')
  t.eq('THREE', child:lines()[3])
  child:type(']h]h\\a')
  child:wait('#native.hunks({}) == 1')
end)

return T
