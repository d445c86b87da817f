--- A hunk as extmarks. Pure: tables in, tables out.
---
--- Removed lines are virtual lines above what stands in their place; lines that are new have a
--- colour and a sign; the words that changed stand out on both sides.
local M = {}

local chunks = require('dcode.review.chunks')
local words = require('dcode.review.words')

---@class dcode.MarkSpec
---@field row integer 0-based
---@field col integer
---@field opts vim.api.keyset.set_extmark

---@class dcode.MarkContext: dcode.ChunkContext
---@field line_count integer lines of the buffer
---@field emphasis 'word'|'char'|'simple'|'none'
---@field bare boolean? signs only: a diff of the windows shows the rest

---@class dcode.SeenHunk what the library says of a hunk that is drawn
---@field id integer
---@field start integer
---@field count integer
---@field gone integer removed lines altogether
---@field at_end boolean
---@field removed string[] the first of them
---@field added string[] the lines now, where they pair with the removed ones

--- Signs of other plugins keep their place: theirs are drawn before ours.
local SIGN_PRIORITY = 5
local LINE_PRIORITY = 90
local WORD_PRIORITY = 130

--- Hunks beyond this many lines are not compared word by word.
local MAX_PAIRS = 200

--- Removed lines that are shown at most; one line says how many more there are.
M.MAX_REMOVED = 200

--- Changed bytes of each line, where old and new lines can be paired.
---@param hunk dcode.SeenHunk
---@param emphasis string
---@return table<integer, integer[][]> removed, table<integer, integer[][]> added
local function changed_words(hunk, emphasis)
  local removed, added = {}, {}
  local paired = #hunk.removed == hunk.count and #hunk.added == hunk.count
  if not paired or hunk.count > MAX_PAIRS or emphasis == 'none' then
    return removed, added
  end
  for i = 1, hunk.count do
    removed[i], added[i] = words.compare(hunk.removed[i], hunk.added[i], emphasis)
  end
  return removed, added
end

---@param hunk dcode.SeenHunk
---@param changed table<integer, integer[][]>
---@param ctx dcode.MarkContext
---@param syntax table<integer, dcode.Segment[]>?
---@return dcode.MarkSpec
local function removed_lines(hunk, changed, ctx, syntax)
  local lines = {}
  for i, line in ipairs(hunk.removed) do
    vim.list_extend(lines, chunks.rows(line, changed[i], syntax and syntax[i], ctx))
  end
  if hunk.gone > #hunk.removed then
    local rest = ('(%d more removed lines)'):format(hunk.gone - #hunk.removed)
    vim.list_extend(lines, chunks.rows(rest, nil, { { 0, #rest, 'DcodeHint' } }, ctx))
  end
  local row = math.min(hunk.start, ctx.line_count) - 1
  return {
    row = math.max(row, 0),
    col = 0,
    opts = {
      virt_lines = lines,
      virt_lines_above = not hunk.at_end,
      virt_lines_leftcol = ctx.gutter ~= nil or nil,
    },
  }
end

--- The sign of the lines that a hunk has now. Removed lines carry their own where a gutter is drawn
--- for them; the line in their place then only keeps the column open.
---@param hunk dcode.SeenHunk
---@param ctx dcode.MarkContext
---@return string sign, string hl
local function sign(hunk, ctx)
  if hunk.count > 0 then
    return '+', 'DcodeSignAdd'
  elseif ctx.gutter and not ctx.bare then
    return '  ', 'SignColumn'
  end
  return '-', 'DcodeSignDelete'
end

--- The extmarks of a hunk. The first one stands on the hunk's first line.
---@param hunk dcode.SeenHunk
---@param ctx dcode.MarkContext
---@param syntax table<integer, dcode.Segment[]>? colours of the removed lines
---@return dcode.MarkSpec[] specs, integer above virtual lines above the first line
function M.for_hunk(hunk, ctx, syntax)
  local text, sign_hl = sign(hunk, ctx)
  local row = math.max(math.min(hunk.start, ctx.line_count) - 1, 0)
  local first = {
    row = row,
    col = 0,
    opts = {
      sign_text = text,
      sign_hl_group = sign_hl,
      priority = SIGN_PRIORITY,
    },
  }
  local specs = { first }
  if hunk.count > 0 then
    -- The sign is the range's, so that a line typed inside a hunk gets it at once.
    first.opts.end_row = row + hunk.count - 1
  end
  if ctx.bare then
    return specs, 0
  end
  local old_words, new_words = changed_words(hunk, ctx.emphasis)
  if hunk.count > 0 then
    specs[#specs + 1] = {
      row = row,
      col = 0,
      -- Not `line_hl_group`: that lies over all other colours, and would hide the changed words.
      opts = {
        end_row = row + hunk.count,
        end_col = 0,
        hl_group = 'DcodeAdd',
        hl_eol = true,
        strict = false,
        priority = LINE_PRIORITY,
      },
    }
  end
  for i = 1, hunk.count do
    for _, range in ipairs(new_words[i] or {}) do
      specs[#specs + 1] = {
        row = row + i - 1,
        col = range[1],
        opts = { end_col = range[2], hl_group = 'DcodeWord', priority = WORD_PRIORITY },
      }
    end
  end
  local above = 0
  if #hunk.removed > 0 then
    local spec = removed_lines(hunk, old_words, ctx, syntax)
    specs[#specs + 1] = spec
    above = hunk.at_end and 0 or #spec.opts.virt_lines
  end
  return specs, above
end

return M
