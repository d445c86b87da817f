--- Takes events out of the engine and hands each to its handler.
---
--- The engine wakes us; we drain at most 64 events a round and let the editor breathe between
--- rounds.
local M = {}

local session = require('dcode.session')
local log = require('dcode.log')

---@type (fun(ev: dcode.Event))[]
local listeners = {}

--- Requests for the person; the editor answers the others by itself.
local PERSONAL = { approval = true, question = true }

--- Fires `User Dcode<name>` with `data`.
---@param name string
---@param data table
function M.fire(name, data)
  vim.api.nvim_exec_autocmds('User', { pattern = 'Dcode' .. name, modeline = false, data = data })
end

--- Calls `fn` with every event, but for requests that the editor answers by itself, until the
--- returned function is called.
---@param fn fun(ev: dcode.Event)
---@return fun()
function M.listen(fn)
  listeners[#listeners + 1] = fn
  return function()
    for i, other in ipairs(listeners) do
      if other == fn then
        table.remove(listeners, i)
        return
      end
    end
  end
end

local function transcript()
  return require('dcode.ui.transcript')
end

--- What an event does beyond the state of the session. One entry a type; `nothing` says so on
--- purpose.
---@type table<string, fun(ev: table)>
M.handlers = {}
local on = M.handlers

local function nothing() end

on.session_started = nothing
on.call_finished = nothing
on.explained = nothing
on.permissions = nothing
on.git_answered = nothing
on.reported = nothing

function on.waiting_changed()
  require('dcode.ui.input').show_waiting()
end

function on.words_taken(ev)
  transcript().turn_started(ev)
end

function on.compaction(ev)
  if ev.state ~= 'started' then
    transcript().compaction(ev)
    if not require('dcode.ui.chat').visible() then
      log.notify('info', ev.message)
    end
  end
end

function on.usage(ev)
  transcript().usage(ev)
end

function on.turn_started(ev)
  transcript().turn_started(ev)
  M.fire('TurnStarted', { turn = ev.turn, text = ev.text })
end

function on.turn_finished(ev)
  transcript().turn_finished(ev)
  local unseen = #vim.api.nvim_list_uis() > 0 and not require('dcode.ui.chat').visible()
  if unseen and ev.reason ~= 'done' and ev.reason ~= 'interrupted' then
    log.notify('error', ev.message or 'The turn ended early.', ':Dcode chat shows it.')
  end
  M.fire('TurnFinished', { turn = ev.turn, reason = ev.reason, text = ev.text })
end

function on.text_delta(ev)
  transcript().text(ev)
end

function on.reasoning_delta(ev)
  transcript().reasoning(ev)
end

--- A request failed and is made again. What follows is a countdown in the state line.
function on.waiting(ev)
  local seconds = math.max(math.ceil(ev.ms / 1000), 1)
  transcript().notice({
    level = 'warn',
    message = ('%s Asking again in %d s (%d of %d).'):format(ev.why, seconds, ev.number, ev.of),
  })
end

function on.tool_started(ev)
  transcript().tool_started(ev)
end

function on.tool_progress(ev)
  transcript().tool_progress(ev)
end

function on.tool_finished(ev)
  transcript().tool_finished(ev)
end

function on.todo_updated(ev)
  transcript().todo(ev)
end

function on.background_changed(ev)
  require('dcode.session').state.background = ev.commands
end

function on.files_changed(ev)
  require('dcode.buffers').changed(ev.paths)
  M.fire('FilesChanged', { paths = ev.paths })
end

function on.request(ev)
  local kind = ev.request.kind
  if PERSONAL[kind] then
    M.fire('Request', { id = ev.id, kind = kind })
    require('dcode.requests').route(ev.id, ev.request, ev.ticket)
  elseif kind == 'apply_edits' then
    require('dcode.review.queue').push(ev.id, ev.request)
  else
    require('dcode.buffers').answer(ev.id, ev.request)
  end
end

function on.request_closed(ev)
  require('dcode.ui.prompts').close(ev.id)
  require('dcode.review.queue').closed(ev.id)
end

function on.hunks_changed(ev)
  require('dcode.review').changed(ev.paths)
  require('dcode.review.browser').changed()
  M.fire('HunksChanged', { paths = ev.paths })
end

function on.mode_changed(ev)
  M.fire('ModeChanged', { mode = ev.mode })
end

on.judging = nothing

function on.judged(ev)
  transcript().judged(ev)
end

function on.model_changed(ev)
  transcript().notice({ level = 'info', message = ('The model is %s now.'):format(ev.model) })
end

function on.notice(ev)
  transcript().notice(ev)
  if ev.level ~= 'info' or not require('dcode.ui.chat').visible() then
    log.notify(ev.level, ev.message, ev.hint)
  end
end

function on.restored(ev)
  transcript().notice({ level = ev.ok and 'info' or 'warn', message = ev.message })
  log.notify(ev.ok and 'info' or 'warn', ev.message)
end

function on.session_offered(ev)
  require('dcode.resume').offered(ev)
end

function on.session_resumed(ev)
  transcript().notice({ level = ev.ok and 'info' or 'warn', message = ev.message })
  require('dcode.resume').resumed(ev)
end

-- Whoever asked for the timeline listens.
on.timeline = nothing
on.step_diff = nothing

function on.stopped(ev)
  require('dcode.ui.prompts').clear()
  if ev.reason ~= 'shutdown' then
    log.notify('error', 'The agent ended: ' .. ev.reason, ':Dcode starts a new one.')
  end
end

---@type table<integer, true> open requests that the editor answers by itself
local own = {}

---@param ev dcode.Event
---@return boolean
local function is_internal(ev)
  if ev.type == 'request' and not PERSONAL[ev.request.kind] then
    own[ev.id] = true
    return true
  elseif ev.type == 'request_closed' and own[ev.id] then
    own[ev.id] = nil
    return true
  end
  return false
end

--- Hands one event to everybody. A fault in one handler does not keep the others from running.
---@param ev dcode.Event
function M.dispatch(ev)
  log.guard('session', session.follow, ev)
  local handler = on[ev.type]
  if handler then
    log.guard('event ' .. ev.type, handler, ev)
  else
    log.write('no handler for the event ' .. tostring(ev.type))
  end
  for _, fn in ipairs(is_internal(ev) and {} or vim.list_slice(listeners)) do
    log.guard('listener', fn, ev)
  end
end

local planned = false
---@type uv.uv_timer_t?
local breath

--- Plans the next round through a timer: a callback scheduled from a scheduled callback runs at
--- once and would keep keys and the screen waiting.
local function go_on()
  planned = true
  breath = breath or assert(vim.uv.new_timer())
  breath:start(0, 0, vim.schedule_wrap(M.drain))
end

--- Events that only go on with what is shown already.
local STREAMED = { text_delta = true, reasoning_delta = true, tool_progress = true }

--- Takes at most 64 events out of the engine's queue.
function M.drain()
  planned = false
  local native = session.state.native
  if not native then
    return
  end
  local batch, err = native.poll({ max = 64 })
  if not batch then
    log.fault('poll', err)
    return
  end
  local news = false
  for _, ev in ipairs(batch.events or {}) do
    news = news or not STREAMED[ev.type]
    M.dispatch(ev)
  end
  -- Text that streams changes nothing of the state, and comes a hundred times a second.
  if news then
    log.guard('state', require('dcode.status').update)
  end
  if batch.more then
    go_on()
  end
end

--- The engine's bell. Many rings make one round.
function M.on_wake()
  if not planned then
    planned = true
    vim.schedule(M.drain)
  end
end

return M
