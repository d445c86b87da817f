--- Where the hunks of a buffer stand. Pure: lists in, answers out; nothing here costs more than the
--- number of hunks, and what is asked for a keystroke costs its logarithm.
local M = {}

---@class dcode.Span
---@field id integer
---@field start integer 1-based line; where lines were only deleted, the line in their place
---@field count integer lines now
---@field gone integer removed lines
---@field at_end? boolean the removed lines stood after the last line
---@field file? 'created'|'deleted'
---@field final_newline? boolean

local FIELDS = 5

--- Spans as the library lists them: five numbers each.
---@param numbers integer[]
---@return dcode.Span[]
function M.read(numbers)
  local out = {}
  for i = 1, #numbers, FIELDS do
    local id, start, count, gone, flags = unpack(numbers, i, i + FIELDS - 1)
    local span = { id = id, start = start, count = count, gone = gone }
    if flags > 0 then
      span.at_end = flags % 2 == 1 or nil
      span.file = math.floor(flags / 2) % 2 == 1 and 'created'
        or math.floor(flags / 4) % 2 == 1 and 'deleted'
        or nil
      if flags >= 8 then
        span.final_newline = flags < 16
      end
    end
    out[#out + 1] = span
  end
  return out
end

--- Whether two lists say the same, but for what only the text can tell.
---@param a dcode.Span[]
---@param b dcode.Span[]
---@return boolean
function M.same(a, b)
  if #a ~= #b then
    return false
  end
  for i, one in ipairs(a) do
    local other = b[i]
    local differs = one.id ~= other.id
      or one.start ~= other.start
      or one.count ~= other.count
      or one.gone ~= other.gone
      or one.file ~= other.file
      or one.final_newline ~= other.final_newline
    if differs then
      return false
    end
  end
  return true
end

--- The last line on which a hunk shows.
---@param span dcode.Span
---@return integer
function M.last(span)
  return span.start + math.max(span.count, 1) - 1
end

--- The first hunk of those that end at or below `line`.
---@param spans dcode.Span[]
---@param line integer
---@return integer index one more than there are when none does
function M.from(spans, line)
  local low, high = 1, #spans + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if M.last(spans[middle]) < line then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

--- The hunk at a line of the buffer.
---@param spans dcode.Span[]
---@param line integer 1-based
---@return dcode.Span?, integer? index
function M.at(spans, line)
  local index = M.from(spans, line)
  local span = spans[index]
  if span and span.start <= line then
    return span, index
  end
end

--- Whether a hunk shows on some of the lines `first` to `last`.
---@param spans dcode.Span[]
---@param first integer
---@param last integer
---@return boolean
function M.any(spans, first, last)
  local span = spans[M.from(spans, first)]
  return span ~= nil and span.start <= last
end

--- The hunk `count` steps below (or above, where `step` is -1) a line, round the end.
---@param spans dcode.Span[]
---@param line integer
---@param step 1|-1
---@param count integer
---@return integer index, boolean wrapped
function M.step(spans, line, step, count)
  local at = M.from(spans, line)
  if step > 0 then
    while spans[at] and spans[at].start <= line do
      at = at + 1
    end
  else
    at = math.min(at, #spans)
    while spans[at] and spans[at].start >= line do
      at = at - 1
    end
  end
  local wanted = at + step * (count - 1)
  return (wanted - 1) % #spans + 1, wanted < 1 or wanted > #spans
end

--- Moves the hunks below a change of lines that is outside all of them. Their marks have moved
--- already, but where the change meets a place of deleted lines: then nothing is moved here.
---@param spans dcode.Span[]
---@param first integer 0-based
---@param last integer
---@param by integer
---@return boolean moved
function M.shift(spans, first, last, by)
  local from = #spans + 1
  for i = #spans, 1, -1 do
    local span, row = spans[i], spans[i].start - 1
    local deletion = span.count == 0
    if deletion and span.at_end and row < last then
      return false
    elseif deletion and not span.at_end and first <= row and row <= last then
      return false
    elseif row < last then
      break
    end
    from = i
  end
  if by ~= 0 then
    for i = from, #spans do
      spans[i].start = spans[i].start + by
    end
  end
  return true
end

return M
