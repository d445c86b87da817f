--- What was said and done in this session, as data. Windows come and go; this stays.
local M = {}

---@class dcode.Item
---@field kind 'prompt'|'text'|'reasoning'|'tool'|'todo'|'notice'|'end'|'summary'
---@field open boolean whether it shows its body
---@field text? string
---@field parts? string[] the text of `text` and `reasoning`, in pieces; see `text_of`
---@field held? string line breaks at the end of it that are not shown yet
---@field turn? integer
---@field tool? string
---@field title? string
---@field outcome? 'ok'|'failed'|'denied'|'cancelled' nil while it runs
---@field summary? string
---@field elapsed_ms? number
---@field since? number
---@field items? table[]
---@field level? string
---@field hint? string
---@field done? boolean
---@field tokens? integer of a thought, as the provider counted them

---@class dcode.Change
---@field op 'add'|'update'|'append'|'clear'
---@field index integer
---@field text? string what was appended

---@type dcode.Item[]
M.items = {}

---@type table<integer, integer> index of a running call
local calls = {}

---@type fun(change: dcode.Change)?
local watcher

--- The one view that is told of changes; nil = none.
---@param fn? fun(change: dcode.Change)
function M.watch(fn)
  watcher = fn
end

---@param op 'add'|'update'|'append'|'clear'
---@param index integer
---@param text? string
local function tell(op, index, text)
  if watcher then
    watcher({ op = op, index = index, text = text })
  end
end

---@param item dcode.Item
---@return integer index
local function add(item)
  M.items[#M.items + 1] = item
  tell('add', #M.items)
  return #M.items
end

--- Ends a running thought: nothing more comes to it.
local function close_reasoning()
  local last = M.items[#M.items]
  if last and last.kind == 'reasoning' and not last.done then
    last.done, last.elapsed_ms = true, vim.uv.now() - last.since
    tell('update', #M.items)
  end
end

--- Splits off the line breaks at the end; they count only when more text follows.
---@param words string
---@return string body, string breaks
local function hold_breaks(words)
  local last = #words
  while last > 0 and words:byte(last) == 10 do
    last = last - 1
  end
  return words:sub(1, last), words:sub(last + 1)
end

---@param kind 'text'|'reasoning'
---@param ev { turn: integer, text: string }
local function append(kind, ev)
  local last = M.items[#M.items]
  local goes_on = last and last.kind == kind and last.turn == ev.turn and not last.done
  local words = goes_on and last.held .. ev.text or ev.text:gsub('^%s*\n', '')
  local body, held = hold_breaks(words)
  if goes_on then
    last.held = held
    if body ~= '' then
      last.parts[#last.parts + 1] = body
      tell('append', #M.items, body)
    end
  elseif body:find('%S') then
    close_reasoning()
    add({
      kind = kind,
      turn = ev.turn,
      parts = { body },
      held = held,
      open = false,
      since = vim.uv.now(),
    })
  end
end

--- The whole text of an item. What streams in is kept in pieces until somebody asks.
---@param item dcode.Item
---@return string
function M.text_of(item)
  if not item.parts then
    return item.text or ''
  elseif #item.parts > 1 then
    item.parts = { table.concat(item.parts) }
  end
  return item.parts[1]
end

function M.text(ev)
  append('text', ev)
end

function M.reasoning(ev)
  append('reasoning', ev)
end

--- The conversation was made shorter, or not.
---@param ev { state: string, message: string, summary?: string }
function M.compaction(ev)
  close_reasoning()
  if not ev.summary then
    local level = ev.state == 'failed' and 'warn' or 'info'
    return M.notice({ level = level, message = ev.message })
  end
  add({ kind = 'summary', title = ev.message, text = ev.summary, open = false })
end

--- The provider counted the reply: its thinking is told in tokens.
---@param ev { reasoning_tokens?: integer }
function M.usage(ev)
  local tokens = ev.reasoning_tokens or 0
  for i = #M.items, 1, -1 do
    local item = M.items[i]
    if item.kind == 'reasoning' then
      if tokens > 0 and not item.tokens then
        item.tokens = tokens
        tell('update', i)
      end
      return
    elseif item.kind == 'prompt' then
      return
    end
  end
end

function M.turn_started(ev)
  close_reasoning()
  add({ kind = 'prompt', turn = ev.turn, text = ev.text, open = true })
end

function M.turn_finished(ev)
  close_reasoning()
  if ev.reason ~= 'done' then
    local words = {
      interrupted = 'Stopped.',
      step_limit = 'The turn reached its limit of steps.',
      loop = 'The model repeated the same call; the turn was ended.',
      error = 'The turn failed.',
    }
    add({
      kind = 'end',
      turn = ev.turn,
      text = ev.message or words[ev.reason] or ev.reason,
      level = ev.reason == 'interrupted' and 'info' or 'error',
      open = false,
    })
  end
end

function M.tool_started(ev)
  close_reasoning()
  calls[ev.call] = add({
    kind = 'tool',
    tool = ev.tool,
    title = ev.title,
    text = '',
    open = false,
    since = vim.uv.now(),
  })
end

function M.tool_progress(ev)
  local index = calls[ev.call]
  if index then
    M.items[index].text = ev.tail
    tell('update', index)
  end
end

function M.tool_finished(ev)
  local index = calls[ev.call]
  if not index then
    return
  end
  calls[ev.call] = nil
  local item = M.items[index]
  item.outcome, item.summary, item.elapsed_ms = ev.outcome, ev.summary, ev.elapsed_ms
  item.text, item.tool = ev.text, ev.tool
  tell('update', index)
end

--- The plan is one item; a new state replaces it when nothing else came between.
function M.todo(ev)
  close_reasoning()
  for i = #M.items, math.max(#M.items - 1, 1), -1 do
    if M.items[i].kind == 'todo' then
      M.items[i].items = ev.items
      return tell('update', i)
    end
  end
  add({ kind = 'todo', items = ev.items, text = '', open = true })
end

---@param notice { level: string, message: string, hint?: string }
function M.notice(notice)
  add({
    kind = 'notice',
    level = notice.level,
    text = notice.message,
    hint = notice.hint,
    open = false,
  })
end

--- What another model said of calls, one line each.
---@param ev { by: string, model: string, words: table[], elapsed_ms: integer }
function M.judged(ev)
  local text = require('dcode.ui.text')
  local opinion = require('dcode.ui.approval_more').opinion
  for _, w in ipairs(ev.words or {}) do
    local words = opinion({ by = ev.by, model = ev.model, word = w.word, reason = w.reason or '' })
    local call = text.cut(text.line(w.tool .. ' ' .. w.title), 60)
    M.notice({
      level = w.word == 'approve' and 'info' or 'warn',
      message = ('%s, %s: %s'):format(words, text.duration(ev.elapsed_ms), call),
    })
  end
end

local FOLDS = { tool = true, reasoning = true, summary = true }

--- Opens or closes the body of an item.
---@param index integer
function M.toggle(index)
  local item = M.items[index]
  if item and FOLDS[item.kind] then
    item.open = not item.open
    tell('update', index)
  end
end

--- Forgets everything (a new session).
function M.clear()
  M.items, calls = {}, {}
  tell('clear', 0)
end

return M
