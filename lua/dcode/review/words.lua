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

--- Words, runs of blanks and single other characters; or single characters.
---@param line string
---@param emphasis? string
---@return string[]
local function tokens(line, emphasis)
  local list, at = {}, 1
  if emphasis == 'char' then
    for char in line:gmatch('[%z\1-\127\192-\255][\128-\191]*') do
      list[#list + 1] = char
    end
    return list
  end
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

--- One range from the first to the last.
---@param ranges integer[][]
---@return integer[][]
local function whole(ranges)
  return #ranges > 1 and { { ranges[1][1], ranges[#ranges][2] } } or ranges
end

--- How words are to stand out: as 'diffopt' says, where the person has set it; else by words.
---@return 'word'|'char'|'simple'|'none'
function M.emphasis()
  local wanted = vim.o.diffopt:match('inline:(%l+)')
  if not wanted or not vim.api.nvim_get_option_info2('diffopt', {}).was_set then
    return 'word'
  end
  return wanted
end

--- The changed byte ranges (0-based, end exclusive) of both lines; nil when they have too little in
--- common.
---@param old string
---@param new string
---@param emphasis? 'word'|'char'|'simple' `simple`: from the first change to the last
---@return integer[][]? old_ranges, integer[][]? new_ranges
function M.compare(old, new, emphasis)
  if #old > MAX_BYTES or #new > MAX_BYTES then
    return nil
  end
  local a, b = tokens(old, emphasis), tokens(new, emphasis)
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
  if emphasis == 'simple' then
    return whole(a_ranges), whole(b_ranges)
  end
  return a_ranges, b_ranges
end

return M
