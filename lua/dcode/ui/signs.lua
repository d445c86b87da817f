--- The few signs of the interface, with plain letters for `ascii = true`.
local M = {}

local RICH = {
  closed = '▸',
  open = '▾',
  prompt = '❯',
  bar = '▎',
  dot = '●',
  idle = '○',
  sep = '·',
  rule = '─',
  dots = '…',
  mark = '✓',
  minus = '−',
  updown = '↑↓',
}

local PLAIN = {
  closed = '>',
  open = 'v',
  prompt = '>',
  bar = '|',
  dot = '*',
  idle = 'o',
  sep = '-',
  rule = '-',
  dots = '...',
  mark = 'x',
  minus = '-',
  updown = 'j/k',
}

---@return table<string, string>
function M.get()
  return require('dcode.config').get().ascii and PLAIN or RICH
end

return M
