--- What the person said while a turn runs: shown below the input until it goes in, and taken back
--- from there.
local M = {}

local text = require('dcode.ui.text')

--- So many are shown; the others are counted.
local SHOWN = 3

---@class dcode.Waiting
---@field id integer
---@field text string
---@field turn? integer the turn that it will be; nil for words to the running one

---@return dcode.Waiting[]
function M.items()
  return require('dcode.session').state.waiting
end

--- The lines below the input as chunks. Pure.
---@param items dcode.Waiting[]
---@param cells integer
---@param signs table<string, string>
---@return string[][][]
function M.lines(items, cells, signs)
  local out = {}
  for i, item in ipairs(items) do
    if i > SHOWN then
      local more = text.count(#items - SHOWN, 'more')
      out[#out + 1] = { { more:gsub('mores', 'more'), 'DcodeHint' } }
      break
    end
    local head = item.turn and 'then: ' or 'next step: '
    local room = math.max(cells - #head - 6, 8)
    out[#out + 1] = {
      { head, 'DcodeAsk' },
      { text.cut(text.line(item.text), room, signs.dots), 'DcodeHint' },
    }
  end
  if #items > 0 then
    local last = out[#out]
    last[#last + 1] =
      { #items == 1 and '  <Up> takes it back' or '  <Up> takes the last back', 'DcodeHint' }
  end
  return out
end

--- Takes the newest out of the queue; its words come back to be changed.
---@return string? words
function M.take_last()
  local items = M.items()
  local last = items[#items]
  if last and require('dcode.session').submit({ type = 'unqueue', id = last.id }) then
    return last.text
  end
end

--- The words for the running turn, to be given back when it is stopped.
---@return string
function M.words()
  local out = {}
  for _, item in ipairs(M.items()) do
    if not item.turn then
      out[#out + 1] = item.text
    end
  end
  return table.concat(out, '\n\n')
end

--- `:Dcode queue [drop N]`.
---@param n? integer the place in the list, from 1
---@return any? value, string? message
function M.run(n)
  local items = M.items()
  if n then
    local item = items[n]
    if not item then
      return nil, ('Nothing waits at place %d. :Dcode queue shows what waits.'):format(n)
    end
    return require('dcode.session').submit({ type = 'unqueue', id = item.id })
  end
  if #items == 0 then
    require('dcode.log').notify('info', 'Nothing waits.')
    return true
  end
  local lines, marks, width = {}, {}, math.min(76, vim.o.columns - 6)
  for i, item in ipairs(items) do
    local head = (' %d  %s'):format(i, item.turn and 'a turn of its own' or 'at the next step')
    lines[#lines + 1] = head
    marks[#marks + 1] = { row = #lines - 1, col = 0, end_col = #head, hl = 'DcodeHint' }
    for _, line in ipairs(text.wrap(item.text, width - 4)) do
      lines[#lines + 1] = '    ' .. line
    end
  end
  lines[#lines + 1] = ''
  lines[#lines + 1] = ' :Dcode queue drop N takes one out.'
  return require('dcode.ui.page').show('queue', lines, marks)
end

return M
