--- What stands in an approval beside the call itself: what other models said, and later calls of
--- the same step that wait as well.
local M = {}

local text = require('dcode.ui.text')
local render = require('dcode.ui.chat_render')

local OFFICE = { validator = 'validator', auto = 'reviewer' }
--- Words and colours; who said nothing has a reason that is a sentence of its own.
local WORD = {
  approve = { ' fine', 'DcodeOk' },
  block = { ' blocks it', 'DcodeRisk' },
  none = { '', 'DcodeAsk' },
}

--- Lines of each waiting call that are shown with `v`.
local PREVIEW = 40

--- What a model said, in words.
---@param o { by: string, model: string, word: string, reason: string }
---@return string words, string hl
function M.opinion(o)
  local word = WORD[o.word] or WORD.none
  local why = o.reason ~= '' and ': ' .. text.line(o.reason) or ''
  local who = OFFICE[o.by] or text.line(o.by)
  local model = o.model ~= '' and (' (%s)'):format(text.line(o.model)) or ''
  return ('%s%s%s%s'):format(who, word[1], why, model), word[2]
end

--- Whether the validator stands against the call: it runs only when the person overrides it.
---@param request table
---@return boolean
function M.blocked(request)
  return vim.iter(request.opinions or {}):any(function(o)
    return o.by == 'validator' and o.word == 'block'
  end)
end

---@param put fun(line: string, hl?: string)
---@param request table
---@param cells integer
function M.put_opinions(put, request, cells)
  for _, o in ipairs(request.opinions or {}) do
    local words, hl = M.opinion(o)
    for _, line in ipairs(text.wrap(words, cells)) do
      put(line, hl)
    end
  end
end

--- The command of a waiting call that may do harm, in words.
---@param call table
---@return string?
local function risk(call)
  for _, c in ipairs(call.commands or {}) do
    if c.class == 'destructive' then
      return text.line(c.text) .. ' is destructive'
    elseif c.class == 'unparsable' then
      return 'cannot be parsed'
    end
  end
end

--- One row a waiting call; with `whole` also what each would change.
---@param put fun(line: string, hl?: string)
---@param request table
---@param cells integer
---@param whole boolean
function M.put_waiting(put, request, cells, whole)
  local more = request.more or {}
  if #more == 0 then
    return
  end
  put('')
  put(('Then, in the same step, %s:'):format(text.count(#more, 'call')), 'DcodeHint')
  for i, call in ipairs(more) do
    local name = ('%d  %s %s'):format(i + 1, text.line(call.tool), text.line(call.title))
    put('  ' .. text.cut(name, cells - 2))
    local danger = risk(call)
    if danger then
      put('     ' .. text.cut(danger, cells - 5), 'DcodeRisk')
    end
    if whole then
      local lines = render.split((call.diff or ''):gsub('\n$', ''))
      for at, line in ipairs(lines) do
        if at > PREVIEW then
          put(('     %s more'):format(text.count(#lines - PREVIEW, 'line')), 'DcodeHint')
          break
        end
        local shown = text.cut((line:gsub('\t', '    ')), cells - 5)
        put('     ' .. shown, call.tool ~= 'bash' and render.diff_hl(line) or 'DcodeHint')
      end
    end
  end
end

return M
