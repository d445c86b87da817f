--- Cutting and wrapping text by the cells it takes on screen. Pure.
local M = {}

local width = vim.api.nvim_strwidth

--- Characters that take part in no word and show nothing, or turn the text around: first and last. In
--- src/agent/system/clean.rs stands the same for the model.
local INVISIBLE = {
  { 0xAD, 0xAD },
  { 0x61C, 0x61C },
  { 0x115F, 0x1160 },
  { 0x17B4, 0x17B5 },
  { 0x180B, 0x180F },
  { 0x200B, 0x200B },
  { 0x200E, 0x200F },
  { 0x2028, 0x202E },
  { 0x2060, 0x206F },
  { 0x2800, 0x2800 },
  { 0x3164, 0x3164 },
  { 0xFEFF, 0xFEFF },
  { 0xFFA0, 0xFFA0 },
  { 0xFFF9, 0xFFFB },
  { 0x1D173, 0x1D17A },
  { 0xE0000, 0xE0FFF },
}
--- Joiners, variants and wide blanks, which other scripts and emoji need: nothing to see behind an ASCII letter.
local JOINING = {
  { 0xA0, 0xA0 },
  { 0x1680, 0x1680 },
  { 0x2000, 0x200A },
  { 0x200C, 0x200D },
  { 0x202F, 0x202F },
  { 0x205F, 0x205F },
  { 0x3000, 0x3000 },
  { 0xFE00, 0xFE0F },
}

---@param ranges integer[][]
---@param code integer
---@return boolean
local function within(ranges, code)
  for _, range in ipairs(ranges) do
    if code >= range[1] and code <= range[2] then
      return true
    end
  end
  return false
end

--- `text` with a name for every character that nobody would see: `rm <U+200B>x`.
---@param text string
---@return string
local function visible(text)
  if not text:find('[\194\216\225-\227\239\240\243]') then
    return text
  end
  return (
    text:gsub('()([\194\216\225-\227\239\240\243][\128-\191]*)', function(at, char)
      local code = vim.fn.char2nr(char)
      local before = at > 1 and text:byte(at - 1) or 0
      if within(INVISIBLE, code) or (before < 128 and within(JOINING, code)) then
        return ('<U+%04X>'):format(code)
      end
    end)
  )
end

--- One line without control characters, and with names for invisible ones.
---@param text string
---@return string
function M.line(text)
  return visible((text:gsub('[\r\n\t]+', ' '):gsub('%c', '?')))
end

--- The first `cells` cells of `text`, with an ellipsis where something was cut. The time it takes
--- does not grow with the text.
---@param text string
---@param cells integer
---@param dots? string
---@return string
function M.cut(text, cells, dots)
  dots = dots or '…'
  -- Every character takes a cell at least, so no more than these can be shown.
  local head = vim.fn.strcharpart(text, 0, math.max(cells, 0), 1)
  if #head == #text and width(head) <= cells then
    return text
  elseif cells <= width(dots) then
    return cells > 0 and dots or ''
  end
  local room, out, used = cells - width(dots), {}, 0
  for _, char in ipairs(vim.fn.split(head, '\\zs')) do
    local w = width(char)
    if used + w > room then
      break
    end
    out[#out + 1], used = char, used + w
  end
  return table.concat(out) .. dots
end

--- `text` filled with blanks to `cells`.
---@param text string
---@param cells integer
---@return string
function M.pad(text, cells)
  return text .. (' '):rep(math.max(cells - width(text), 0))
end

---@param word string longer than a line
---@param cells integer
---@return string[]
local function chop(word, cells)
  local out, part, used = {}, {}, 0
  if not word:find('[^\32-\126]') then
    for at = 1, #word, cells do
      out[#out + 1] = word:sub(at, at + cells - 1)
    end
    return out
  end
  for _, char in ipairs(vim.fn.split(word, '\\zs')) do
    local w = width(char)
    if used + w > cells and used > 0 then
      out[#out + 1], part, used = table.concat(part), {}, 0
    end
    part[#part + 1], used = char, used + w
  end
  out[#out + 1] = table.concat(part)
  return out
end

--- The words of a line, each with the blanks before it.
---@param line string
---@return fun(): string?, string?
local function words_of(line)
  local at = 1
  return function()
    -- Not one pattern: `(%s*)(%S+)` tries a run of blanks at the end from each of its blanks.
    local first = line:find('%S', at)
    if not first then
      return nil
    end
    local gap, stop = line:sub(at, first - 1), line:find('%s', first) or #line + 1
    at = stop
    return gap, line:sub(first, stop - 1)
  end
end

--- Wraps text at blanks; its own line breaks and indents stay. No character is lost but the blanks
--- at a break or at the end of a line; invisible ones are named.
---@param text string
---@param cells integer
---@return string[]
function M.wrap(text, cells)
  local out = {}
  cells = math.max(cells, 4)
  for _, source in ipairs(vim.split(text, '\n', { plain = true })) do
    source = visible((source:gsub('\r$', ''):gsub('\t', '    '):gsub('%c', '?')))
    local line = source:match('^%s*')
    line = #line < cells and line or ''
    local indent, empty = line, true
    for gap, word in words_of(source) do
      local joined = empty and line .. word or line .. gap .. word
      if width(joined) <= cells then
        line = joined
      else
        if not empty then
          out[#out + 1] = line
        end
        local parts = chop(word, math.max(cells - #indent, 4))
        for i = 1, #parts - 1 do
          out[#out + 1] = indent .. parts[i]
        end
        line = indent .. parts[#parts]
      end
      empty = false
    end
    out[#out + 1] = line
  end
  return out
end

--- Words in rows no wider than `cells`; a word is never broken.
---@param words string[]
---@param sep string
---@param cells integer
---@return string[]
function M.flow(words, sep, cells)
  local out = {}
  for _, word in ipairs(words) do
    local joined = out[1] and out[#out] .. sep .. word
    if joined and width(joined) <= cells then
      out[#out] = joined
    else
      out[#out + 1] = word
    end
  end
  return out
end

--- Milliseconds in words: `12 ms`, `2.3 s`, `4:05`.
---@param ms number
---@return string
function M.duration(ms)
  if ms < 1000 then
    return ('%d ms'):format(ms)
  elseif ms < 60000 then
    return ('%.1f s'):format(ms / 1000)
  end
  return M.clock(ms)
end

--- Milliseconds as a clock: `0:04`.
---@param ms number
---@return string
function M.clock(ms)
  local s = math.floor(ms / 1000)
  return ('%d:%02d'):format(math.floor(s / 60), s % 60)
end

--- A count with its noun: `1 hunk`, `3 hunks`.
---@param n integer
---@param noun string
---@return string
function M.count(n, noun)
  return ('%d %s%s'):format(n, noun, n == 1 and '' or 's')
end

return M
