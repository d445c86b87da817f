--- Turns items of the transcript into lines and marks. Pure: no buffer, no window.
local M = {}

local text = require('dcode.ui.text')
local text_of = require('dcode.ui.transcript').text_of

---@class dcode.Mark
---@field row integer counted from 0 within the item
---@field col? integer
---@field end_col? integer
---@field hl? string
---@field line_hl? string
---@field right? string[][] chunks at the right edge

---@class dcode.Drawn
---@field lines string[]
---@field marks dcode.Mark[]
---@field keys? string the keys in one line, for a float that is too small to show its last lines

---@class dcode.RenderOpts
---@field width integer
---@field signs table<string, string>
---@field now number

--- Lines of a tool's body that are shown when it is open, and when it failed and is closed.
M.BODY_LINES = 200
M.FAILED_LINES = 4

local OUTCOME = {
  failed = { word = 'failed', hl = 'DcodeRisk' },
  denied = { word = 'denied', hl = 'DcodeRisk' },
  cancelled = { word = 'stopped', hl = 'DcodeHint' },
}

local DIFF_TOOLS =
  { edit_file = true, write_file = true, apply_patch = true, git_diff = true, git_show = true }

---@param body string
---@return string[]
local function split(body)
  local lines = vim.split(body:gsub('\r\n', '\n'), '\n', { plain = true })
  for i, line in ipairs(lines) do
    lines[i] = line:gsub('\r', ' '):gsub('%z', '?')
  end
  return lines
end

M.split = split

---@param out dcode.Drawn
---@param line string
---@param hl? string
local function put(out, line, hl)
  out.lines[#out.lines + 1] = line
  if hl and line ~= '' then
    out.marks[#out.marks + 1] = { row = #out.lines - 1, col = 0, end_col = #line, hl = hl }
  end
end

---@param line string
---@return string?
local function diff_hl(line)
  local first = line:sub(1, 1)
  if line:sub(1, 2) == '@@' then
    return 'DcodeHint'
  elseif first == '+' then
    return 'DcodeAdd'
  elseif first == '-' then
    return 'DcodeDelete'
  end
end

M.diff_hl = diff_hl

--- The body of a call under its row.
---@param out dcode.Drawn
---@param item dcode.Item
---@param limit integer
local function put_body(out, item, limit)
  local lines = split(vim.trim(item.text))
  local colour = DIFF_TOOLS[item.tool]
  local in_diff = false
  for i, line in ipairs(lines) do
    if i > limit then
      put(out, ('    %s more'):format(text.count(#lines - limit, 'line')), 'DcodeHint')
      break
    end
    in_diff = in_diff or line:sub(1, 2) == '@@'
    local hl = colour and in_diff and diff_hl(line) or nil
    put(out, '    ' .. line, hl or 'DcodeOutput')
  end
end

---@param item dcode.Item
---@param opts dcode.RenderOpts
---@return dcode.Drawn
local function tool(item, opts)
  local out = { lines = {}, marks = {} }
  local bad = item.outcome and OUTCOME[item.outcome]
  local right = {}
  local function chunk(words, hl)
    if words and words ~= '' then
      if #right > 0 then
        right[#right + 1] = { (' %s '):format(opts.signs.sep), 'DcodeHint' }
      end
      right[#right + 1] = { words, hl }
    end
  end
  local summary = text.line(item.summary or '')
  summary = summary:gsub('·', opts.signs.sep):gsub('−', opts.signs.minus)
  if bad and summary == '' then
    summary = bad.word
  end
  chunk(summary, bad and bad.hl or 'DcodeHint')
  if item.outcome then
    chunk(item.elapsed_ms and text.duration(item.elapsed_ms), 'DcodeHint')
  else
    chunk('running', 'DcodeTitle')
  end
  local room = opts.width - 4 - vim.api.nvim_strwidth(item.tool)
  for _, c in ipairs(right) do
    room = room - vim.api.nvim_strwidth(c[1])
  end
  local sign = item.open and opts.signs.open or opts.signs.closed
  local title = text.line(item.title or '')
  local row = ('%s %s '):format(sign, text.line(item.tool))
  local shown = text.cut(title, math.max(room, 8), opts.signs.dots)
  put(out, row .. shown)
  out.marks[1] = { row = 0, col = 0, end_col = #sign, hl = bad and bad.hl or 'DcodeHint' }
  out.marks[2] = { row = 0, col = #sign + 1, end_col = #row - 1, hl = 'DcodeTool' }
  out.marks[3] = { row = 0, right = right }
  if item.open then
    if shown ~= title then
      for _, line in ipairs(text.wrap(item.title, opts.width - 6)) do
        put(out, '    ' .. line, 'DcodeHint')
      end
    end
    if item.text ~= '' then
      put_body(out, item, M.BODY_LINES)
    end
  elseif item.outcome == 'failed' and item.text ~= '' then
    put_body(out, item, M.FAILED_LINES)
  end
  return out
end

local TODO_SIGN = { completed = 'mark', in_progress = 'closed' }
local TODO_HL = { completed = 'DcodeHint', in_progress = 'DcodeTitle' }

local RENDER = {}

function RENDER.prompt(item, opts)
  local out = { lines = {}, marks = {} }
  local bar = opts.signs.bar
  for _, line in ipairs(split(item.text)) do
    put(out, bar .. line, 'DcodeUser')
    out.marks[#out.marks + 1] = { row = #out.lines - 1, col = 0, end_col = #bar, hl = 'DcodeTitle' }
  end
  return out
end

function RENDER.text(item)
  return { lines = split(text_of(item)), marks = {} }
end

function RENDER.reasoning(item, opts)
  local out = { lines = {}, marks = {} }
  local sign = item.open and opts.signs.open or opts.signs.closed
  local words = ('%s thinking'):format(sign)
  if item.done then
    words = sign .. ' thought'
    local facts = {}
    if item.elapsed_ms >= 1000 then
      facts[1] = text.duration(item.elapsed_ms)
    end
    local guess = not item.tokens and math.floor(#text_of(item) / 4 + 0.5)
    if item.tokens then
      facts[#facts + 1] = text.count(item.tokens, 'token')
    elseif guess >= 10 then
      facts[#facts + 1] = ('about %s'):format(text.count(guess, 'token'))
    end
    if #facts > 0 then
      words = words .. '  ' .. table.concat(facts, (' %s '):format(opts.signs.sep))
    end
  end
  put(out, words, 'DcodeHint')
  if item.open then
    for _, line in ipairs(split(text_of(item))) do
      put(out, '    ' .. line, 'DcodeHint')
    end
  end
  return out
end

--- What stands in place of a conversation that was compacted.
function RENDER.summary(item, opts)
  local out = { lines = {}, marks = {} }
  local sign = item.open and opts.signs.open or opts.signs.closed
  for i, line in ipairs(text.wrap(item.title, opts.width - 2)) do
    put(out, (i == 1 and sign or ' ') .. ' ' .. line, 'DcodeHint')
  end
  if item.open then
    for _, line in ipairs(split(vim.trim(item.text))) do
      put(out, '    ' .. line, 'DcodeOutput')
    end
  end
  return out
end

RENDER.tool = tool

function RENDER.todo(item, opts)
  local out = { lines = {}, marks = {} }
  local done = 0
  for _, todo in ipairs(item.items) do
    done = done + (todo.status == 'completed' and 1 or 0)
  end
  put(out, ('plan  %d of %d'):format(done, #item.items), 'DcodeTitle')
  for _, todo in ipairs(item.items) do
    local sign = opts.signs[TODO_SIGN[todo.status] or 'sep']
    local words = todo.status == 'in_progress' and todo.active_form or todo.subject
    put(out, ('  %s %s'):format(sign, text.line(words or todo.subject or '')), TODO_HL[todo.status])
  end
  return out
end

local LEVEL_HL = { error = 'DcodeRisk', warn = 'DcodeAsk', info = 'DcodeHint' }

function RENDER.notice(item, opts)
  local out = { lines = {}, marks = {} }
  -- Wrapped here: 'linebreak' would break within a command, behind its colon.
  for i, line in ipairs(text.wrap(item.text, opts.width - 2)) do
    put(out, (i == 1 and opts.signs.sep or ' ') .. ' ' .. line, LEVEL_HL[item.level] or 'DcodeHint')
  end
  for _, line in ipairs(text.wrap(item.hint or '', opts.width - 2)) do
    if line ~= '' then
      put(out, '  ' .. line, 'DcodeHint')
    end
  end
  return out
end

RENDER['end'] = RENDER.notice

--- Rows that stand close together; every other change of kind gets a blank line.
local TIGHT = { tool = 'row', reasoning = 'row', notice = 'note', ['end'] = 'note' }

---@param before dcode.Item?
---@param item dcode.Item
---@return boolean
local function gap(before, item)
  if not before then
    return false
  end
  return not (TIGHT[before.kind] and TIGHT[before.kind] == TIGHT[item.kind])
end

--- Lines and marks of one item; a blank line first where it begins something new.
---@param item dcode.Item
---@param before dcode.Item?
---@param opts dcode.RenderOpts
---@return dcode.Drawn
function M.item(item, before, opts)
  local out = RENDER[item.kind](item, opts)
  if gap(before, item) then
    table.insert(out.lines, 1, '')
    for _, mark in ipairs(out.marks) do
      mark.row = mark.row + 1
    end
  end
  return out
end

return M
