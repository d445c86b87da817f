--- The head and the state line of the chat as 'winbar' texts. Pure.
local M = {}

local text = require('dcode.ui.text')

--- Text of others in a 'winbar' or 'statusline': `%` would be evaluated there.
---@param words string
---@return string
function M.escape(words)
  return (text.line(words):gsub('%%', '%%%%'))
end

---@param hl string
---@param words string
---@return string
local function chunk(hl, words)
  return ('%%#%s#%s%%*'):format(hl, M.escape(words))
end

local MODE_HL = {
  manual = 'DcodeModeManual',
  ['ask-all'] = 'DcodeModeAskAll',
  ['read-only'] = 'DcodeModeReadOnly',
  plan = 'DcodeModeReadOnly',
  auto = 'DcodeModeAuto',
  yolo = 'DcodeModeYolo',
}

---@class dcode.MeterPart
---@field words string
---@field weight integer what has the least goes first where there is no room

--- How full, how much from the cache, what it cost.
---@param usage table
---@param scripted boolean a script costs nothing, and nobody need be told
---@return dcode.MeterPart[]
local function meter(usage, scripted)
  local out = {}
  local function put(weight, words, ...)
    out[#out + 1] = { words = words:format(...), weight = weight }
  end
  local tokens, window = usage.context_tokens or 0, usage.context_window or 0
  if window > 0 then
    put(3, 'ctx %d%%', math.floor(100 * tokens / window + 0.5))
  elseif tokens > 0 then
    put(3, 'ctx %.1fk', tokens / 1000)
  end
  if (usage.input_tokens or 0) > 0 and (usage.cached_tokens or 0) > 0 then
    put(1, 'cache %d%%', math.floor(100 * usage.cached_tokens / usage.input_tokens + 0.5))
  end
  local requests, unpriced = usage.requests or 0, usage.unpriced_requests or 0
  if requests > unpriced then
    local cost = require('dcode.ui.usage').cost
    put(2, '%s', (unpriced > 0 and 'over ' or '') .. cost(usage.cost, requests, 0))
  elseif requests > 0 and not scripted then
    put(0, 'cost unknown')
  end
  return out
end

--- The parts in one text of at most `cells` cells.
---@param parts dcode.MeterPart[]
---@param cells integer
---@param sep string
---@return string
local function joined(parts, cells, sep)
  while #parts > 0 do
    local words, least = {}, 1
    for i, part in ipairs(parts) do
      words[i] = part.words
      least = part.weight < parts[least].weight and i or least
    end
    local text_all = table.concat(words, sep)
    if vim.api.nvim_strwidth(text_all) <= cells then
      return text_all
    end
    table.remove(parts, least)
  end
  return ''
end

--- `dcode · model · mode            ctx 12% · cache 91%`
---@param s { model?: string, mode: string, scripted: boolean, usage?: table }
---@param cells integer
---@param signs table<string, string>
---@return string
function M.head(s, cells, signs)
  local sep = (' %s '):format(signs.sep)
  local mode = s.mode or 'manual'
  local model = s.model and s.model:gsub('^.-:', '') or 'no model'
  if s.scripted then
    model = model .. ' (scripted)'
  end
  local width = vim.api.nvim_strwidth
  local room = cells - width('dcode') - width(mode) - 2 * width(sep) - 3
  local right = joined(s.usage and meter(s.usage, s.scripted) or {}, room - width(model) - 1, sep)
  room = room - width(right)
  return table.concat({
    ' ',
    chunk('DcodeTitle', 'dcode'),
    chunk('DcodeHint', sep),
    M.escape(text.cut(model, math.max(room, 6), signs.dots)),
    chunk('DcodeHint', sep),
    chunk(MODE_HL[mode] or 'DcodeModeManual', mode),
    '%=',
    chunk('DcodeHint', right),
    ' ',
  })
end

--- `● running cargo test  0:04             <C-c> stop · 1 queued · 2 hunks wait`
---@param w dcode.StateWords
---@param cells integer
---@param signs table<string, string>
---@param now number
---@return string
function M.state(w, cells, signs, now)
  local right = {}
  if w.kind == 'running' then
    right[1] = '<C-c> stop'
  elseif w.kind == 'asks' then
    right[1] = ':Dcode answer'
  end
  if w.queued > 0 then
    right[#right + 1] = w.queued .. ' queued'
  end
  if (w.background or 0) > 0 then
    right[#right + 1] = w.background .. ' in background'
  end
  if w.hunks > 0 then
    right[#right + 1] = text.count(w.hunks, 'hunk') .. (w.hunks == 1 and ' waits' or ' wait')
  end
  local clock = w.since and ('  ' .. text.clock(now - w.since)) or ''
  local width = vim.api.nvim_strwidth
  local hints = table.concat(right, (' %s '):format(signs.sep))
  local room = cells - width(hints) - width(clock) - 6
  while #right > 0 and room < math.min(width(w.text), 24) do
    table.remove(right, 1)
    hints = table.concat(right, (' %s '):format(signs.sep))
    room = cells - width(hints) - width(clock) - 6
  end
  local hl = ({ asks = 'DcodeAsk', running = 'DcodeOk' })[w.kind] or 'DcodeHint'
  local sign = (w.kind == 'running' or w.kind == 'asks') and signs.dot or signs.idle
  local words = w.kind == 'asks' and 'asks: ' .. w.text or w.text
  return table.concat({
    ' ',
    chunk(hl, sign .. ' '),
    chunk(
      w.kind == 'asks' and 'DcodeAsk' or 'Normal',
      text.cut(words, math.max(room, 8), signs.dots)
    ),
    chunk('DcodeHint', clock),
    '%=',
    chunk('DcodeHint', hints),
    ' ',
  })
end

return M
