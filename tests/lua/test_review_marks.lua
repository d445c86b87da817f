local marks = require('dcode.review.marks')
local words = require('dcode.review.words')
local hint = require('dcode.review.hint')

local CTX = { line_count = 10, tabstop = 4, width = 20 }

local function hunk(more)
  local defaults = { id = 1, start = 3, count = 0, removed = {}, added = {} }
  return vim.tbl_extend('force', defaults, more)
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

function T.only_lines_above_the_first_need_room_at_the_top(t)
  t.eq(2, marks.lines_above_top({ hunk({ start = 1, removed = { 'a', 'b' } }) }))
  t.eq(0, marks.lines_above_top({ hunk({ start = 2, removed = { 'a' } }) }))
  t.eq(0, marks.lines_above_top({}))
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
  t.eq(1, hint.at(hunks, 4).id)
  t.eq(2, hint.at(hunks, 8).id)
  t.eq(nil, (hint.at(hunks, 5)))
end

return T
