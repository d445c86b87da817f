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

---@param usage table
---@param scripted boolean a script costs nothing, and nobody need be told
---@return string
local function meter(usage, scripted)
  local out = {}
  if (usage.context_window or 0) > 0 then
    out[1] = ('ctx %d%%'):format(
      math.floor(100 * usage.context_tokens / usage.context_window + 0.5)
    )
  elseif (usage.context_tokens or 0) > 0 then
    out[1] = ('ctx %.1fk'):format(usage.context_tokens / 1000)
  end
  if (usage.input_tokens or 0) > 0 and (usage.cached_tokens or 0) > 0 then
    out[#out + 1] = ('cache %d%%'):format(
      math.floor(100 * usage.cached_tokens / usage.input_tokens + 0.5)
    )
  end
  local requests, unpriced = usage.requests or 0, usage.unpriced_requests or 0
  if requests > unpriced then
    local cost = require('dcode.ui.usage').cost
    out[#out + 1] = cost(usage.cost, requests, 0) .. (unpriced > 0 and ' + ?' or '')
  elseif requests > 0 and not scripted then
    out[#out + 1] = '$?'
  end
  return table.concat(out, ' · ')
end

--- `dcode · model · mode            ctx 12% · cache 91%`
---@param s { model?: string, mode: string, scripted: boolean, usage?: table }
---@param cells integer
---@param signs table<string, string>
---@return string
function M.head(s, cells, signs)
  local sep = (' %s '):format(signs.sep)
  local right = s.usage and meter(s.usage, s.scripted):gsub('·', signs.sep) or ''
  local mode = s.mode or 'manual'
  local model = s.model and s.model:gsub('^.-:', '') or 'no model'
  if s.scripted then
    model = model .. ' (scripted)'
  end
  local width = vim.api.nvim_strwidth
  local room = cells - width('dcode') - width(mode) - width(right) - 2 * width(sep) - 3
  if room < width(model) and right ~= '' then
    room, right = room + width(right), ''
  end
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
