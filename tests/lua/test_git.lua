-- Facts about the repository in the status line, and the blame beside a file.
local M = {}

function M.facts_in_few_cells(t)
  local git = require('dcode.git')
  local cases = {
    { {}, '' },
    { { root = '/p', branch = 'main', ahead = 0, behind = 0, dirty = 0 }, 'main' },
    { { root = '/p', branch = 'main', ahead = 2, behind = 1, dirty = 3 }, 'main ↑2 ↓1 ~3' },
    { { root = '/p', head = '01234567', ahead = 0, behind = 0 }, '01234567' },
    { { root = '/p', branch = 'a\nb', ahead = 0, behind = 0 }, 'a b' },
  }
  for _, case in ipairs(cases) do
    git.facts = case[1].root and case[1] or nil
    t.eq(case[2], git.words())
  end
  git.facts = nil
end

function M.a_run_is_named_once(t)
  local runs = {
    { first = 1, last = 2, sha = ('a'):rep(40), author = 'Ann', day = '2024-05-31', subject = 's' },
    { first = 3, last = 3 },
  }
  local lines, marks = require('dcode.ui.blame').render(runs, false)
  t.eq({ 'aaaaaaaa  Ann             2024-05-31', '│', 'not committed' }, lines)
  local narrow = require('dcode.ui.blame').render(runs, true, 7)
  t.eq({ 'aaaaaaaa  Ann      2024-05-31', '|', 'not committed' }, narrow)
  local hl = vim.tbl_map(function(m)
    return m.hl
  end, marks)
  t.eq({ 'DcodeTool', 'DcodeHint', 'DcodeHint', 'DcodeAsk' }, hl)
end

return M
