--- Removed lines as the chunks of virtual lines. Pure, but for the width of letters.
---
--- A virtual line is never wrapped by Neovim, so a long one is cut into rows here; where the window
--- does not wrap, it is moved aside with the text.
local M = {}

---@alias dcode.Chunk { [1]: string, [2]: string|string[] }

---@class dcode.Segment
---@field [1] integer first byte, 0-based
---@field [2] integer byte after the last
---@field [3] string highlight group

---@class dcode.ChunkContext
---@field tabstop integer
---@field width integer cells of text that a row is filled up to
---@field wrap integer? cells at which a row is cut; nil = not at all
---@field skip integer cells left out at the start: what the window is scrolled aside
---@field gutter dcode.Chunk[][]? what stands before the first row and before the others

--- Rows of one line at most: a minified file is no wall of text.
local MAX_ROWS = 20

--- Pieces of a line with one look each.
---@param line string
---@param words integer[][]? changed bytes
---@param syntax dcode.Segment[]? ascending
---@return { [1]: string, [2]: string[]|string }[]
local function pieces(line, words, syntax)
  words, syntax = words or {}, syntax or {}
  local out, at, w, s = {}, 0, 1, 1
  while at < #line do
    while words[w] and words[w][2] <= at do
      w = w + 1
    end
    while syntax[s] and syntax[s][2] <= at do
      s = s + 1
    end
    local stop, look = #line, { 'DcodeDelete' }
    local seg, word = syntax[s], words[w]
    if seg and seg[1] <= at then
      stop, look[2] = math.min(stop, seg[2]), seg[3]
    elseif seg then
      stop = math.min(stop, seg[1])
    end
    if word and word[1] <= at then
      stop, look[#look + 1] = math.min(stop, word[2]), 'DcodeWord'
    elseif word then
      stop = math.min(stop, word[1])
    end
    out[#out + 1] = { line:sub(at + 1, stop), #look == 1 and 'DcodeDelete' or look }
    at = stop
  end
  return out
end

--- Printable text of a piece that begins at `cell`: tabs become blanks, control characters `^X`.
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

--- Letters with what is put on top of them.
---@param text string
---@return fun(): string?
local function letters(text)
  local at = 1
  return function()
    if at > #text then
      return nil
    end
    local stop = at
    repeat
      stop = text:find('[%z\1-\127\192-\255]', stop + 1) or #text + 1
      local more = stop <= #text and text:match('^[\192-\255][\128-\191]*', stop)
    until not more or vim.api.nvim_strwidth(more) > 0
    local letter = text:sub(at, stop - 1)
    at = stop
    return letter
  end
end

--- One removed line as rows of chunks.
---@param line string
---@param words integer[][]?
---@param syntax dcode.Segment[]?
---@param ctx dcode.ChunkContext
---@return dcode.Chunk[][]
function M.rows(line, words, syntax, ctx)
  local rows, row, used, cell = {}, {}, 0, 0
  local limit = ctx.wrap
  local function finish()
    if used < ctx.width then
      row[#row + 1] = { (' '):rep(ctx.width - used), 'DcodeDelete' }
    end
    local gutter = ctx.gutter and ctx.gutter[#rows == 0 and 1 or 2]
    rows[#rows + 1] = gutter and vim.list_extend(vim.list_slice(gutter), row) or row
    row, used = {}, 0
  end
  for _, piece in ipairs(pieces(line, words, syntax)) do
    local before = cell
    local text
    text, cell = shown(piece[1], before, ctx.tabstop)
    local size = cell - before
    local simple = before >= ctx.skip and (not limit or used + size <= limit)
    if simple then
      row[#row + 1] = { text, piece[2] }
      used = used + size
    elseif cell > ctx.skip then
      local part, at = {}, before
      for letter in letters(text) do
        local wide = vim.api.nvim_strwidth(letter)
        if at >= ctx.skip then
          if limit and used + wide > limit and used > 0 then
            row[#row + 1] = { table.concat(part), piece[2] }
            part = {}
            if #rows + 1 == MAX_ROWS then
              finish()
              return rows
            end
            finish()
          end
          part[#part + 1] = letter
          used = used + wide
        elseif at + wide > ctx.skip then
          -- Half of a wide letter is scrolled away.
          part[#part + 1] = ' '
          used = used + 1
        end
        at = at + wide
      end
      row[#row + 1] = { table.concat(part), piece[2] }
    end
  end
  finish()
  return rows
end

return M
