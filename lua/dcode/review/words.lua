--- Which words of a changed line are new. Pure.
local M = {}

--- Longer lines are not compared word by word.
local MAX_BYTES = 500
--- A line that shares less than this with its old form is another line: nothing in it stands out.
local MIN_SHARED = 0.4

---@param old string
---@param new string
---@return integer[][]
local function diff(old, new)
  local fn = vim.text and vim.text.diff or vim.diff
  return fn(old, new, { result_type = 'indices', algorithm = 'minimal' }) --[[@as integer[][] ]]
end

--- Words, runs of blanks and single other characters.
---@param line string
---@return string[]
local function tokens(line)
  local list, at = {}, 1
  while at <= #line do
    local last = select(2, line:find('^[%w_\128-\255]+', at))
      or select(2, line:find('^%s+', at))
      or at
    list[#list + 1] = line:sub(at, last)
    at = last + 1
  end
  return list
end

---@param list string[]
---@return integer[] byte offset at which each token begins, and the end of the last
local function offsets(list)
  local at, out = 0, {}
  for i, token in ipairs(list) do
    out[i] = at
    at = at + #token
  end
  out[#list + 1] = at
  return out
end

---@param ranges integer[][]
---@param from integer
---@param to integer
local function add(ranges, from, to)
  if to > from then
    ranges[#ranges + 1] = { from, to }
  end
end

--- The changed byte ranges (0-based, end exclusive) of both lines; nil when they have too little in
--- common.
---@param old string
---@param new string
---@return integer[][]? old_ranges, integer[][]? new_ranges
function M.compare(old, new)
  if #old > MAX_BYTES or #new > MAX_BYTES then
    return nil
  end
  local a, b = tokens(old), tokens(new)
  if #a == 0 or #b == 0 then
    return nil
  end
  local a_at, b_at = offsets(a), offsets(b)
  local a_ranges, b_ranges, changed = {}, {}, 0
  local hunks = diff(table.concat(a, '\n') .. '\n', table.concat(b, '\n') .. '\n')
  for _, h in ipairs(hunks) do
    local a_first, a_count, b_first, b_count = unpack(h)
    if a_count > 0 then
      add(a_ranges, a_at[a_first], a_at[a_first + a_count])
      changed = changed + a_at[a_first + a_count] - a_at[a_first]
    end
    if b_count > 0 then
      add(b_ranges, b_at[b_first], b_at[b_first + b_count])
      changed = changed + b_at[b_first + b_count] - b_at[b_first]
    end
  end
  if changed > (1 - MIN_SHARED) * (#old + #new) then
    return nil
  end
  return a_ranges, b_ranges
end

return M
