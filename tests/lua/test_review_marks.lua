local marks = require('dcode.review.marks')
local words = require('dcode.review.words')
local hint = require('dcode.review.hint')
local spans = require('dcode.review.spans')

local CTX = { line_count = 10, tabstop = 4, width = 20, skip = 0, emphasis = 'word' }

local WRAPPED = vim.tbl_extend('force', CTX, { wrap = 20 })

local function hunk(more)
  local defaults = { id = 1, start = 3, count = 0, removed = {}, added = {}, at_end = false }
  local out = vim.tbl_extend('force', defaults, more)
  out.gone = out.gone or #out.removed
  return out
end

local function text_of(virt_line)
  return table.concat(vim.tbl_map(function(chunk)
    return chunk[1]
  end, virt_line))
end

local T = {}

function T.a_pure_addition_has_a_sign_and_a_colour(t)
  local specs = marks.for_hunk(hunk({ count = 2, added = { 'a', 'b' } }), CTX)
  t.eq(2, #specs)
  t.eq({ 2, '+', 3 }, { specs[1].row, specs[1].opts.sign_text, specs[1].opts.end_row })
  t.eq({ 'DcodeAdd', true }, { specs[2].opts.hl_group, specs[2].opts.hl_eol })
end

function T.a_deletion_stands_above_the_line_in_its_place(t)
  local specs = marks.for_hunk(hunk({ removed = { 'x', 'y' } }), CTX)
  t.eq(2, #specs)
  t.eq('-', specs[1].opts.sign_text)
  t.eq({ 2, true }, { specs[2].row, specs[2].opts.virt_lines_above })
  t.eq(2, #specs[2].opts.virt_lines)
end

function T.a_deletion_at_the_end_stands_below_the_last_line(t)
  local specs = marks.for_hunk(hunk({ start = 10, removed = { 'x' }, at_end = true }), CTX)
  t.eq({ 9, false }, { specs[2].row, specs[2].opts.virt_lines_above })
end

function T.removed_lines_fill_the_row_and_expand_tabs(t)
  local specs = marks.for_hunk(hunk({ removed = { '\tä\tb', 'a\1' } }), CTX)
  local lines = specs[2].opts.virt_lines
  t.eq('    ä   b' .. (' '):rep(11), text_of(lines[1]))
  t.eq('a^A' .. (' '):rep(17), text_of(lines[2]))
end

function T.the_words_that_changed_stand_out(t)
  local change =
    hunk({ count = 1, removed = { 'let sum = old + one;' }, added = { 'let sum = new + one;' } })
  local specs = marks.for_hunk(change, CTX)
  t.eq({ 2, 10, 13 }, { specs[3].row, specs[3].col, specs[3].opts.end_col })
  local chunks = specs[4].opts.virt_lines[1]
  t.eq({ 'old', { 'DcodeDelete', 'DcodeWord' } }, chunks[2])
end

function T.lines_with_nothing_in_common_are_not_compared(t)
  t.eq(nil, (words.compare('fn main() {', 'import os, sys')))
end

function T.a_word_of_several_bytes_is_marked_as_a_whole(t)
  local old, new = words.compare('a = "grün";', 'a = "blau";')
  t.eq({ { 5, 10 } }, old)
  t.eq({ { 5, 9 } }, new)
end

function T.rows_above_the_first_line_are_counted(t)
  local _, above = marks.for_hunk(hunk({ start = 1, removed = { 'a', ('b'):rep(25) } }), WRAPPED)
  t.eq(3, above)
end

function T.the_hint_names_place_size_and_keys(t)
  local h = hunk({ count = 3, removed = { 'a', 'b' } })
  local keys = { accept = '\\a', reject = '\\r', next = ']h' }
  local expected = 'hunk 2/5  +3 −2 · \\a accept · \\r reject · ]h next'
  t.eq(expected, hint.text(h, 2, 5, keys, false))
  t.eq('hunk 2/5  +3 -2', hint.text(h, 2, 5, {}, true))
end

function T.a_hunk_is_found_on_any_of_its_lines(t)
  local hunks = { hunk({ start = 3, count = 2 }), hunk({ id = 2, start = 8, count = 0 }) }
  t.eq(1, spans.at(hunks, 4).id)
  t.eq(2, spans.at(hunks, 8).id)
  t.eq(nil, (spans.at(hunks, 5)))
end

function T.a_long_line_is_cut_into_rows_of_the_window(t)
  local long = ('x'):rep(18) .. '宽宽' .. 'end'
  local specs = marks.for_hunk(hunk({ removed = { long } }), WRAPPED)
  local rows = vim.tbl_map(text_of, specs[2].opts.virt_lines)
  t.eq({ ('x'):rep(18) .. '宽', '宽end' .. (' '):rep(15) }, rows)
  specs = marks.for_hunk(hunk({ removed = { '宽' .. ('x'):rep(19) } }), WRAPPED)
  rows = vim.tbl_map(text_of, specs[2].opts.virt_lines)
  t.eq({ '宽' .. ('x'):rep(18), 'x' .. (' '):rep(19) }, rows)
end

function T.a_line_goes_aside_with_the_window(t)
  local aside = vim.tbl_extend('force', CTX, { skip = 3 })
  local specs = marks.for_hunk(hunk({ removed = { 'ab宽cdef' } }), aside)
  t.eq(' cdef' .. (' '):rep(15), text_of(specs[2].opts.virt_lines[1]))
end

function T.removed_lines_have_their_sign_in_the_gutter(t)
  local gutter = { { { '- ', 'Sign' }, { '    ', 'LineNr' } }, { { '  ', 'Sign' } } }
  local ctx = vim.tbl_extend('force', WRAPPED, { gutter = gutter })
  local specs = marks.for_hunk(hunk({ removed = { ('b'):rep(25) } }), ctx)
  t.eq('  ', specs[1].opts.sign_text)
  t.eq(true, specs[2].opts.virt_lines_leftcol)
  local lines = specs[2].opts.virt_lines
  t.eq({ { '- ', 'Sign' }, { '  ', 'Sign' } }, { lines[1][1], lines[2][1] })
end

function T.syntax_and_changed_words_lie_over_each_other(t)
  local rows = require('dcode.review.chunks').rows(
    'let old = 1;',
    { { 4, 7 } },
    { { 0, 3, '@keyword' }, { 4, 5, '@variable' }, { 10, 11, '@number' } },
    vim.tbl_extend('force', CTX, { width = 12 })
  )
  t.eq({
    { 'let', { 'DcodeDelete', '@keyword' } },
    { ' ', 'DcodeDelete' },
    { 'o', { 'DcodeDelete', '@variable', 'DcodeWord' } },
    { 'ld', { 'DcodeDelete', 'DcodeWord' } },
    { ' = ', 'DcodeDelete' },
    { '1', { 'DcodeDelete', '@number' } },
    { ';', 'DcodeDelete' },
  }, rows[1])
end

function T.more_removed_lines_than_are_shown_are_counted(t)
  local specs = marks.for_hunk(hunk({ removed = { 'a' }, gone = 9 }), CTX)
  local lines = specs[2].opts.virt_lines
  t.eq({ 2, '(8 more removed lines)' }, { #lines, text_of(lines[2]) })
end

function T.words_stand_out_as_diffopt_says(t)
  local old, new = 'abc one xyz two', 'abd one xyw two'
  t.eq({ { 0, 3 }, { 8, 11 } }, (words.compare(old, new, 'word')))
  t.eq({ { 2, 3 }, { 10, 11 } }, (words.compare(old, new, 'char')))
  t.eq({ { 0, 11 } }, (words.compare(old, new, 'simple')))
  local none = vim.tbl_extend('force', CTX, { emphasis = 'none' })
  local specs = marks.for_hunk(hunk({ count = 1, removed = { old }, added = { new } }), none)
  t.eq(3, #specs)
end

function T.hunks_are_found_by_line_and_step(t)
  local list = spans.read({ 7, 3, 2, 0, 0, 8, 8, 0, 1, 1, 9, 20, 1, 1, 0 })
  t.eq({ true, nil }, { list[2].at_end, list[1].at_end })
  t.eq(
    { 1, 1, 2, 4 },
    { spans.from(list, 1), spans.from(list, 4), spans.from(list, 5), spans.from(list, 21) }
  )
  t.eq({ 2, false }, { spans.step(list, 3, 1, 1) })
  t.eq({ 1, true }, { spans.step(list, 20, 1, 1) })
  t.eq({ 3, true }, { spans.step(list, 3, -1, 1) })
  t.eq({ 1, false }, { spans.step(list, 20, -1, 2) })
  t.eq({ true, false }, { spans.any(list, 4, 7), spans.any(list, 9, 19) })
end

return T
