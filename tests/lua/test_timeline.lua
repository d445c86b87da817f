local T = {}

local function file(name, more)
  local defaults =
    { path = '/p/' .. name, change = 'changed', added = 2, removed = 1, undoable = true }
  return vim.tbl_extend('force', defaults, more or {})
end

function T.steps_stand_below_their_prompt_newest_first(t)
  local rows, lines, marks = require('dcode.ui.timeline').rows({
    { step = 1, turn = 1, prompt = 'fix\nthe test', undone = false, files = { file('a.rs') } },
    {
      step = 2,
      turn = 1,
      prompt = 'fix\nthe test',
      undone = true,
      files = { file('b.rs', { change = 'created' }), file('c.db', { undoable = false }) },
    },
    { step = 3, turn = 0, prompt = '', undone = false, files = { file('m', { change = 'mode' }) } },
  }, 60)
  t.eq({
    ' ❯ (a call from Lua)',
    '    3  m (mode)',
    ' ❯ fix the test',
    '    2  (taken back) A b.rs +2 −1, c.db (cannot be taken bac…',
    '    1  a.rs +2 −1',
  }, lines)
  t.eq(
    { false, 3, false, 2, 1 },
    vim.tbl_map(function(row)
      return row and row.step
    end, rows)
  )
  t.eq(
    { 'DcodeUser', 'Normal', 'DcodeUser', 'DcodeHint', 'Normal' },
    vim.tbl_map(function(mark)
      return mark.hl
    end, marks)
  )
end

return T
