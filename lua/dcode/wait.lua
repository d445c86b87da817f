--- Calls that wait for the agent without stopping the event loop.
---
--- `vim.wait` nests last-in first-out and serves no keys, so: no wait inside an `on_request`,
--- none where the editor cannot be edited, and a float that opens meanwhile gets its keys from
--- here.
local M = {}

local session = require('dcode.session')
local requests = require('dcode.requests')

local DEFAULT_TIMEOUT_MS = 120000
--- What a call may take beyond its own limit, for the way there and back.
M.GRACE_MS = 5000

--- How many `on_request` functions run now.
local answering = 0

--- Why waiting is not possible now, or nil when it is.
---@return string?
function M.refusal()
  if vim.in_fast_event() then
    return 'dcode cannot wait in a fast context. Wrap the call in vim.schedule().'
  elseif answering > 0 then
    return 'dcode cannot wait inside on_request. Answer first.'
  end
  local mode = vim.api.nvim_get_mode()
  if vim.fn.reg_recording() ~= '' or vim.fn.reg_executing() ~= '' then
    return 'dcode cannot wait while a macro is recorded or played.'
  elseif mode.blocking or mode.mode:sub(1, 2) == 'no' then
    return 'dcode cannot wait in the middle of a command.'
  elseif vim.fn.getcmdwintype() ~= '' then
    return 'dcode cannot wait in the command-line window.'
  elseif require('dcode.textlock').locked() then
    return 'dcode cannot wait while the text is locked. Wrap the call in vim.schedule().'
  end
end

---@return boolean
local function has_ui()
  return #vim.api.nvim_list_uis() > 0
end

--- Gives typed keys to the open float.
local function feed_float()
  local prompts = require('dcode.ui.prompts')
  if not prompts.pending() or not has_ui() then
    return
  end
  local key = vim.fn.getcharstr(0)
  if key ~= '' then
    prompts.key(vim.fn.keytrans(key), true)
  end
end

local drawn = 0

---@param done fun(): boolean
local function check(done)
  local queue = package.loaded['dcode.review.queue']
  if queue then
    queue.drain()
  end
  if has_ui() and vim.uv.now() - drawn > 40 then
    drawn = vim.uv.now()
    vim.cmd.redraw()
  end
  return done() or session.state.stopped ~= nil
end

--- Runs the event loop until `done`.
---@param done fun(): boolean
---@param budget_ms number time that counts
---@param free? fun(): boolean while true, time does not count
---@return 'done'|'timeout'|'interrupted'
local function loop(done, budget_ms, free)
  local slice = 50
  while true do
    local started = vim.uv.hrtime()
    local ok, code = vim.wait(slice, function()
      return check(done)
    end, 10)
    if ok then
      return 'done'
    elseif code == -2 then
      return 'interrupted'
    end
    feed_float()
    if not (free and free()) then
      budget_ms = budget_ms - (vim.uv.hrtime() - started) / 1e6
      if budget_ms <= 0 then
        return 'timeout'
      end
    end
  end
end

---@param value any
---@return table
local function object(value)
  return type(value) == 'table' and next(value) ~= nil and value or vim.empty_dict()
end

--- Answers requests of the waiting call by its `on_request`.
---@param ticket integer
---@param on_request fun(req: table): any
---@return fun() pop
local function answer_by(ticket, on_request)
  return requests.push(function(id, request, of)
    if of ~= ticket then
      return false
    end
    local req = vim.tbl_extend('force', vim.deepcopy(request), { id = id })
    answering = answering + 1
    local ok, answer = require('dcode.log').guard('on_request', on_request, req)
    answering = answering - 1
    local reply, why
    if ok then
      reply, why = requests.normalize(request, answer)
    end
    if why then
      require('dcode.log').notify('warn', 'on_request: ' .. why)
    end
    requests.reply(id, reply or requests.nobody(request))
    return true
  end)
end

--- Runs one tool exactly as a model's call would run.
---@param tool string
---@param args? table
---@param opts? dcode.CallOpts
---@return dcode.CallResult?, string? message
function M.call(tool, args, opts)
  opts = opts or {}
  local why = M.refusal()
  if why then
    return nil, why
  end
  local limit = opts.timeout_ms or DEFAULT_TIMEOUT_MS
  local ticket, err = session.submit({
    type = 'call',
    tool = tool,
    args = object(args),
    timeout_ms = limit,
    human = opts.on_request ~= nil or has_ui(),
  })
  if not ticket then
    return nil, err
  end
  local result
  session.tickets[ticket] = function(ev)
    result = ev.result
  end
  local pop = opts.on_request and answer_by(ticket, opts.on_request)
  local function done()
    return result ~= nil
  end
  local how = loop(done, limit + M.GRACE_MS, function()
    return session.state.running ~= nil or require('dcode.ui.prompts').pending()
  end)
  if how ~= 'done' then
    session.submit({ type = 'cancel_call', ticket = ticket })
    loop(done, 1000)
  end
  if pop then
    pop()
  end
  session.tickets[ticket] = nil
  if result then
    return result
  elseif session.state.stopped then
    return nil, 'The agent ended: ' .. session.state.stopped
  end
  return nil, how == 'interrupted' and 'The call was interrupted.' or 'The call took too long.'
end

--- What the gate would say of a call.
---@param tool string
---@param args? table
---@return table?, string? message
function M.explain(tool, args)
  local why = M.refusal()
  if why then
    return nil, why
  end
  local ticket, err = session.submit({ type = 'explain', tool = tool, args = object(args) })
  if not ticket then
    return nil, err
  end
  local answer
  session.tickets[ticket] = function(ev)
    answer = ev.explanation
  end
  loop(function()
    return answer ~= nil
  end, M.GRACE_MS)
  session.tickets[ticket] = nil
  if not answer then
    return nil, 'The agent did not answer.'
  elseif answer.error then
    return nil, answer.error
  end
  return answer
end

--- Runs the event loop until a turn has ended.
---@param opts? { turn?: integer, timeout_ms?: integer }
---@return dcode.TurnFinished?, string? message
function M.turn(opts)
  opts = opts or {}
  local why = M.refusal()
  if why then
    return nil, why
  end
  local s = session.state
  local id = opts.turn or s.last_turn
  if not id or not s.turns[id] then
    return nil, 'There is no turn to wait for. ask() starts one.'
  end
  local how = loop(function()
    return s.turns[id].state == 'done'
  end, opts.timeout_ms or require('dcode.config').get().chat.timeout_ms)
  if s.turns[id].result then
    return s.turns[id].result
  elseif s.stopped then
    return nil, 'The agent ended: ' .. s.stopped
  end
  return nil, how == 'interrupted' and 'Waiting was interrupted; the turn goes on.' or 'timeout'
end

--- Sends an undo or redo and waits for its outcome.
---@param op dcode.Op
---@return { ok: boolean, message: string, paths: string[] }?, string? message
function M.restore(op)
  local why = M.refusal()
  if why then
    return nil, why
  end
  local answer
  local events = require('dcode.events')
  local unlisten = events.listen(function(ev)
    if ev.type == 'restored' then
      answer = { ok = ev.ok, message = ev.message, paths = ev.paths or {} }
    end
  end)
  local ok, err = session.submit(op)
  if ok then
    loop(function()
      return answer ~= nil
    end, 10000)
  end
  unlisten()
  if not ok then
    return nil, err
  end
  return answer, answer == nil and 'The agent is busy; it restores as soon as it can.' or nil
end

return M
