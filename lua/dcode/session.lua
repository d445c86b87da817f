--- The running engine as the editor sees it: started on first use, its state kept from its events.
local M = {}

---@class dcode.TurnState
---@field id integer
---@field state 'queued'|'running'|'done'
---@field result? dcode.TurnFinished

---@class dcode.SessionState
---@field native? dcode.Native
---@field session? string
---@field mode string
---@field model? string
---@field scripted boolean
---@field turns table<integer, dcode.TurnState>
---@field last_turn? integer
---@field running? integer the turn that runs
---@field queued integer turns that wait
---@field waiting dcode.Waiting[] everything that waits, oldest first
---@field activity? { what: string, since?: number, till?: number, number?: integer, of?: integer }
---@field usage? table
---@field tools string[]
---@field stopped? string

---@return dcode.SessionState
local function fresh()
  return { mode = 'manual', scripted = false, turns = {}, queued = 0, waiting = {}, tools = {} }
end

---@type dcode.SessionState
M.state = fresh()

--- Called with each answer to a call or an explain, by ticket.
---@type table<integer, fun(ev: table)>
M.tickets = {}

---@type table|nil flags of the command line; set before the start
M.flags = nil

--- Events that answer a ticket.
M.ANSWERS = {
  call_finished = true,
  explained = true,
  permissions = true,
  git_answered = true,
  reported = true,
}

--- What to do where no model is configured.
M.MODEL_HINT = 'Set DEEPSEEK_API_KEY, ANTHROPIC_API_KEY or OPENAI_API_KEY, '
  .. 'or choose one with :Dcode model.'

---@return boolean
function M.started()
  return M.state.native ~= nil and M.state.stopped == nil
end

--- Starts the engine unless it runs.
---@return dcode.Native?, string? message
function M.ensure()
  if M.started() then
    return M.state.native
  end
  local native, why = require('dcode.native').load()
  if not native then
    return nil, why
  end
  local state_dir, unwritable = require('dcode.log').make_state_dir()
  if not state_dir then
    return nil, unwritable
  end
  local info, err = native.start({
    cwd = vim.fn.getcwd(-1, -1),
    home = vim.uv.os_homedir(),
    state_dir = state_dir,
    setup = require('dcode.config').for_engine(),
    flags = M.flags or vim.empty_dict(),
    human = not M.flags,
    headless = M.flags ~= nil,
    on_wake = require('dcode.events').on_wake,
  })
  if not info then
    return nil, err
  end
  M.state = fresh()
  local s = M.state
  s.native, s.mode = native, info.mode or s.mode
  require('dcode.exit').watch()
  require('dcode.ui.prompts').watch_keys()
  require('dcode.review').watch()
  if not M.flags then
    require('dcode.git').watch()
  end
  for _, notice in ipairs(info.notices or {}) do
    require('dcode.events').dispatch(vim.tbl_extend('keep', { type = 'notice' }, notice))
  end
  for _, problem in ipairs(require('dcode.config').problems()) do
    require('dcode.events').dispatch({ type = 'notice', level = 'warn', message = problem })
  end
  return native
end

--- Sends one op; starts the engine if need be.
---@param op dcode.Op
---@return any? value true, or the number that the op was given
---@return string? message
function M.submit(op)
  local native, why = M.ensure()
  if not native then
    return nil, why
  end
  return native.submit(op)
end

--- Whole files in or out; starts the engine if need be.
---@param what 'upload_files'|'download_files'
---@param list table
---@return table? answers, string? message
function M.transfer(what, list)
  if type(list) ~= 'table' then
    return nil, what .. '() takes a list.'
  end
  local native, why = M.ensure()
  if not native then
    return nil, why
  end
  return native[what](list)
end

--- Starts a turn or queues one.
---@param text string
---@param context? dcode.PromptContext
---@return integer? turn, string? message
function M.prompt(text, context)
  local turn, why =
    M.submit({ type = 'prompt', text = text, context = context or vim.empty_dict() })
  if not turn then
    return nil, why
  end
  local s = M.state
  if not s.turns[turn] then
    s.turns[turn] = { id = turn, state = 'queued' }
    s.queued = s.queued + 1
  end
  s.last_turn = math.max(s.last_turn or 0, turn)
  return turn
end

--- Says something to the running turn, or begins one.
---@param text string
---@param context? dcode.PromptContext
---@return any? value, string? message
function M.say(text, context)
  if not M.state.running then
    return M.prompt(text, context)
  end
  return M.submit({ type = 'steer', text = text, context = context or vim.empty_dict() })
end

--- Whether the model only plays a script. The person has to see that.
---@return boolean
local function scripted()
  local status = M.state.native and M.state.native.status({})
  return status ~= nil and status.scripted == true
end

--- Follows the events; called before every other handler.
---@param ev dcode.Event
function M.follow(ev)
  local s, now = M.state, vim.uv.now()
  if ev.type == 'session_started' then
    s.usage = nil
    s.session, s.model, s.mode, s.tools = ev.session, ev.model, ev.mode, ev.tools or {}
    s.scripted = scripted()
  elseif ev.type == 'turn_started' then
    local turn = s.turns[ev.turn]
    if turn and turn.state == 'queued' then
      s.queued = math.max(s.queued - 1, 0)
    end
    s.turns[ev.turn] = { id = ev.turn, state = 'running' }
    s.running, s.last_turn = ev.turn, math.max(s.last_turn or 0, ev.turn)
    s.activity = { what = 'thinking', since = now }
  elseif ev.type == 'turn_finished' then
    local turn = s.turns[ev.turn] or { id = ev.turn, state = 'running' }
    if turn.state == 'queued' then
      s.queued = math.max(s.queued - 1, 0)
    end
    turn.state, turn.result = 'done', ev
    s.turns[ev.turn] = turn
    if s.running == ev.turn then
      s.running, s.activity = nil, nil
    end
  elseif ev.type == 'tool_started' and s.running then
    s.activity = { what = ev.tool .. ' ' .. ev.title, since = now, call = ev.call }
  elseif ev.type == 'tool_finished' and s.activity and s.activity.call == ev.call then
    s.activity = { what = 'thinking', since = now }
  elseif ev.type == 'waiting' and s.running then
    s.activity = { what = 'waiting', till = now + ev.ms, number = ev.number, of = ev.of }
  elseif ev.type == 'reasoning_delta' and s.activity and s.activity.till then
    s.activity = { what = 'thinking', since = now }
  elseif ev.type == 'text_delta' and s.activity and s.activity.what == 'thinking' then
    s.activity = { what = 'writing', since = s.activity.since }
  elseif ev.type == 'text_delta' and s.activity and s.activity.till then
    s.activity = { what = 'writing', since = now }
  elseif ev.type == 'judging' and s.activity then
    s.judged = s.judged or s.activity
    s.activity = { what = ev.model:gsub('^.-:', '') .. ' judges', since = now }
  elseif ev.type == 'judged' and s.judged then
    s.activity, s.judged = s.running and s.judged or nil, nil
  elseif ev.type == 'waiting_changed' then
    s.waiting = ev.items
  elseif ev.type == 'compaction' then
    if ev.state == 'started' then
      s.activity = { what = 'compacting', since = now }
    elseif s.running then
      s.activity = { what = 'thinking', since = now }
    else
      s.activity = nil
    end
  elseif ev.type == 'mode_changed' then
    s.mode = ev.mode
  elseif ev.type == 'model_changed' then
    s.model, s.scripted = ev.model, scripted()
  elseif ev.type == 'usage' then
    s.usage = ev
  elseif ev.type == 'stopped' then
    s.stopped = ev.reason
  elseif M.ANSWERS[ev.type] then
    local callback = M.tickets[ev.ticket]
    M.tickets[ev.ticket] = nil
    if callback then
      callback(ev)
    end
  end
end

--- Ends the engine; a later use starts a new one.
---@param timeout_ms integer
function M.stop(timeout_ms)
  local native = M.state.native
  if native then
    M.state.native = nil
    native.stop({ timeout_ms = timeout_ms })
  end
end

return M
