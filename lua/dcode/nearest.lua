--- The name that somebody probably meant.
local M = {}

--- Edit distance of two words, case ignored; swapping two neighbours counts one.
---@param a string
---@param b string
---@return integer
function M.distance(a, b)
  a, b = a:lower(), b:lower()
  local before, last = nil, {}
  for j = 0, #b do
    last[j] = j
  end
  for i = 1, #a do
    local row = { [0] = i }
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      row[j] = math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (same and 0 or 1))
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        row[j] = math.min(row[j], before[j - 2] + 1)
      end
    end
    before, last = last, row
  end
  return last[#b]
end

--- The nearest of `names`, unless none is near.
---@param word string
---@param names string[]
---@return string?
function M.find(word, names)
  local best, least = nil, math.max(2, math.floor(#word / 3)) + 1
  for _, name in ipairs(names) do
    local d = M.distance(word, name)
    if vim.startswith(name, word) and #word > 1 then
      d = math.min(d, 1)
    end
    if d < least then
      best, least = name, d
    end
  end
  return best
end

return M
