-- Cutting, wrapping, nearest names.
local text = require('dcode.ui.text')
local nearest = require('dcode.nearest')

local M = {}

function M.cut_counts_cells(t)
  t.eq('abc', text.cut('abc', 3))
  t.eq('ab…', text.cut('abcd', 3))
  t.eq('日…', text.cut('日本語', 4))
  t.eq('…', text.cut('日本語', 1))
  t.eq('', text.cut('abc', 0))
end

function M.wrap_loses_nothing_and_fits(t)
  local words =
    'cargo test --all-features && echo 日本語日本語日本語 verylongwordwithoutanyblank'
  for cells = 4, 40 do
    local lines = text.wrap(words, cells)
    for _, line in ipairs(lines) do
      assert(vim.api.nvim_strwidth(line) <= cells, ('%q is wider than %d'):format(line, cells))
    end
    t.eq((words:gsub(' ', '')), (table.concat(lines):gsub(' ', '')))
  end
  t.eq({ 'a', '', '  b' }, text.wrap('a\n\n  b', 20))
end

---@param fn fun()
---@return number
local function seconds(fn)
  local start = vim.uv.hrtime()
  fn()
  return (vim.uv.hrtime() - start) / 1e9
end

-- A model can write an argument of a megabyte; drawing it must not hold up the editor.
function M.what_is_not_seen_has_a_name(t)
  for given, shown in pairs({
    ['rm \u{200b}x'] = 'rm <U+200B>x',
    ['a\u{ad}b'] = 'a<U+00AD>b',
    ['a\u{202e}b'] = 'a<U+202E>b',
    ['ls\u{a0}-a'] = 'ls<U+00A0>-a',
    ['x\u{3164}=1'] = 'x<U+3164>=1',
    ['x\u{2800}\u{e0041}'] = 'x<U+2800><U+E0041>',
    ['x\u{fe0f}\u{200d}'] = 'x<U+FE0F>\u{200d}',
    -- What writing needs stays.
    ['👩\u{200d}💻 ❤\u{fe0f}'] = '👩\u{200d}💻 ❤\u{fe0f}',
    ['می\u{200c}خواهم'] = 'می\u{200c}خواهم',
    ['日本\u{3000}語 é ö…'] = '日本\u{3000}語 é ö…',
  }) do
    t.eq(shown, text.line(given))
    t.eq({ shown }, text.wrap(given, 60))
  end
end

function M.a_huge_text_is_cut_and_wrapped_at_once(t)
  local huge = ('日本'):rep(170000)
  local cut
  local took = seconds(function()
    for _ = 1, 20 do
      cut = text.cut(huge, 9)
    end
  end)
  t.eq('日本日本…', cut)
  assert(took < 0.4, ('20 cuts took %.2f s'):format(took))
  took = seconds(function()
    t.eq(12500, #text.wrap(('a'):rep(1000000), 80))
    t.eq({ 'a' }, text.wrap('a' .. (' '):rep(300000), 80))
    t.eq({ '' }, text.wrap((' '):rep(300000), 80))
  end)
  assert(took < 2, ('wrapping took %.2f s'):format(took))
end

function M.a_character_and_what_is_composed_with_it_stay_together(t)
  t.eq('e\u{301}…', text.cut('e\u{301}e\u{301}e\u{301}', 2))
  t.eq({ 'e\u{301}e\u{301}e\u{301}e\u{301}', 'e\u{301}' }, text.wrap(('e\u{301}'):rep(5), 4))
end

function M.flow_keeps_words_whole(t)
  t.eq({ 'aa · bb', 'cc' }, text.flow({ 'aa', 'bb', 'cc' }, ' · ', 8))
end

function M.durations(t)
  t.eq({ '12 ms', '2.3 s', '4:05', '0:04' }, {
    text.duration(12),
    text.duration(2300),
    text.duration(245000),
    text.clock(4900),
  })
end

function M.one_line_has_no_control_characters(t)
  t.eq('a b?c', text.line('a\n\tb\27c'))
end

function M.nearest_name(t)
  t.eq('undo', nearest.find('udno', { 'stop', 'undo', 'redo' }))
  t.eq('review', nearest.find('rev', { 'redo', 'review' }))
  t.eq(nil, nearest.find('zebra', { 'stop', 'undo' }))
  t.eq(2, nearest.distance('abc', 'axcd'))
end

return M
