--- The state in words: a cached piece for status lines, and the parts of the chat's state line.
local M = {}

local cached = ''

---@class dcode.StateWords
---@field kind 'off'|'idle'|'running'|'asks'
---@field text string what happens, without decoration
---@field since? number `vim.uv.now()` when it began
---@field till? number `vim.uv.now()` when it goes on by itself
---@field queued integer
---@field hunks integer
---@field background? integer commands that run on

---@return integer
local function pending_hunks()
  local native = require('dcode.session').state.native
  if not native then
    return 0
  end
  local status = native.status({})
  return status and status.pending_hunks or 0
end

local hunks = 0

--- What the agent is doing now.
---@return dcode.StateWords
function M.words()
  local session = require('dcode.session')
  local s = session.state
  if not session.started() then
    return { kind = 'off', text = 'not started', queued = 0, hunks = 0 }
  end
  local asked = require('dcode.ui.prompts').title()
  local queued = s.queued
  for _, item in ipairs(s.waiting) do
    queued = queued + (item.turn and 0 or 1)
  end
  local out = { queued = queued, hunks = hunks, background = #(s.background or {}) }
  if asked then
    out.kind, out.text = 'asks', asked
  elseif s.activity and s.activity.till then
    local a = s.activity
    local seconds = math.ceil((a.till - vim.uv.now()) / 1000)
    out.kind, out.till = 'running', a.till
    out.text = seconds > 0 and ('asks again in %d s (%d of %d)'):format(seconds, a.number, a.of)
      or ('asks again (%d of %d)'):format(a.number, a.of)
  elseif s.activity then
    out.kind, out.text, out.since = 'running', s.activity.what, s.activity.since
  else
    out.kind, out.text = 'idle', 'idle'
  end
  return out
end

--- Recomputes the piece; called after every round of events and after each accept or reject.
function M.update()
  hunks = pending_hunks()
  local w = M.words()
  local parts = {}
  if w.kind ~= 'off' then
    parts[1] = w.kind == 'asks' and 'asks you' or w.kind
    if w.queued > 0 then
      parts[#parts + 1] = w.queued .. ' queued'
    end
    if w.hunks > 0 then
      parts[#parts + 1] = require('dcode.ui.text').count(w.hunks, 'hunk')
    end
    local git = require('dcode.git').words()
    if git ~= '' then
      -- A status line takes `%` for an item, and a branch may be called anything.
      parts[#parts + 1] = (git:gsub('%%', '%%%%'))
    end
    if (w.background or 0) > 0 then
      parts[#parts + 1] = w.background .. ' in background'
    end
  end
  local before = cached
  cached = #parts > 0 and 'dcode: ' .. table.concat(parts, ', ') or ''
  require('dcode.ui.chat').refresh_state()
  if cached ~= before then
    vim.cmd.redrawstatus()
  end
end

--- A short text for a status line; '' before the first use. Costs nothing.
---@return string
function M.get()
  return cached
end

return M
