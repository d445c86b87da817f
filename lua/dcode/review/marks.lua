--- A hunk as extmarks. Pure: tables in, tables out.
---
--- Removed lines are virtual lines above what stands in their place; lines that are new have a
--- colour and a sign; the words that changed stand out on both sides.
local M = {}

local words = require('dcode.review.words')

---@class dcode.MarkSpec
---@field row integer 0-based
---@field col integer
---@field opts vim.api.keyset.set_extmark

---@class dcode.MarkContext
---@field line_count integer lines of the buffer
---@field tabstop integer
---@field width integer cells that a removed line is filled up to

--- Signs of other plugins keep their place: theirs are drawn before ours.
local SIGN_PRIORITY = 5
local LINE_PRIORITY = 90
local WORD_PRIORITY = 130

--- Hunks beyond this many lines are not compared word by word.
local MAX_PAIRS = 200

--- Printable cells of a piece of text that begins at `cell`: tabs become blanks, control characters
--- `^X`.
---@param text string
---@param cell integer
---@param tabstop integer
---@return string shown, integer next_cell
local function shown(text, cell, tabstop)
  local out = {}
  for part, tab in text:gmatch('([^\t]*)(\t?)') do
    if part ~= '' then
      part = part:find('%c') and vim.fn.strtrans(part) or part
      out[#out + 1] = part
      cell = cell + vim.api.nvim_strwidth(part)
    end
    if tab ~= '' then
      local fill = tabstop - cell % tabstop
      out[#out + 1] = (' '):rep(fill)
      cell = cell + fill
    end
  end
  return table.concat(out), cell
end

--- One removed line as chunks of a virtual line.
---@param line string
---@param ranges integer[][]? changed bytes
---@param ctx dcode.MarkContext
---@return { [1]: string, [2]: string|string[] }[]
local function virtual_line(line, ranges, ctx)
  local chunks, cell, at = {}, 0, 0
  local function put(from, to, hl)
    if to > from then
      local text
      text, cell = shown(line:sub(from + 1, to), cell, ctx.tabstop)
      chunks[#chunks + 1] = { text, hl }
    end
  end
  for _, range in ipairs(ranges or {}) do
    put(at, range[1], 'DcodeDelete')
    put(range[1], range[2], { 'DcodeDelete', 'DcodeWord' })
    at = range[2]
  end
  put(at, #line, 'DcodeDelete')
  if cell < ctx.width then
    chunks[#chunks + 1] = { (' '):rep(ctx.width - cell), 'DcodeDelete' }
  end
  return chunks
end

--- Changed bytes of each line, where old and new lines can be paired.
---@param hunk dcode.Hunk
---@return table<integer, integer[][]> removed, table<integer, integer[][]> added
local function changed_words(hunk)
  local removed, added = {}, {}
  if #hunk.removed ~= hunk.count or hunk.count > MAX_PAIRS then
    return removed, added
  end
  for i = 1, hunk.count do
    removed[i], added[i] = words.compare(hunk.removed[i], hunk.added[i])
  end
  return removed, added
end

---@param hunk dcode.Hunk
---@param ctx dcode.MarkContext
---@return dcode.MarkSpec
local function removed_lines(hunk, ranges, ctx)
  local lines = {}
  for i, line in ipairs(hunk.removed) do
    lines[i] = virtual_line(line, ranges[i], ctx)
  end
  local row = math.min(hunk.start, ctx.line_count) - 1
  return {
    row = math.max(row, 0),
    col = 0,
    opts = {
      virt_lines = lines,
      virt_lines_above = not hunk.at_end,
    },
  }
end

---@param hunk dcode.Hunk
---@return string sign, string hl
local function sign(hunk)
  if hunk.count == 0 then
    return '-', 'DcodeSignDelete'
  elseif #hunk.removed == 0 then
    return '+', 'DcodeSignAdd'
  end
  return '~', 'DcodeSignChange'
end

--- The extmarks of a hunk. The first one stands on the hunk's first line.
---@param hunk dcode.Hunk
---@param ctx dcode.MarkContext
---@return dcode.MarkSpec[]
function M.for_hunk(hunk, ctx)
  local text, sign_hl = sign(hunk)
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
  local old_words, new_words = changed_words(hunk)
  if hunk.count > 0 then
    -- The sign is the range's, so that a line typed inside a hunk gets it at once.
    first.opts.end_row = row + hunk.count - 1
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
  if #hunk.removed > 0 then
    specs[#specs + 1] = removed_lines(hunk, old_words, ctx)
  end
  return specs
end

--- Removed lines that stand above the first line of the buffer, where nothing is shown until a
--- window is told to.
---@param hunks dcode.Hunk[]
---@return integer
function M.lines_above_top(hunks)
  local first = hunks[1]
  if first and first.start == 1 and not first.at_end then
    return #first.removed
  end
  return 0
end

return M
