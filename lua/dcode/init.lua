--- The public interface of dcode. `:help dcode-api` has the details.
---
--- Nothing here throws: a function gives its value, or nil and one sentence.
local M = {}

--- Stores options (the same as `vim.g.dcode = opts`). Optional; nothing is started.
---@param opts? table|fun(): table
function M.setup(opts)
  require('dcode.config').setup(opts)
end

--- Starts a turn, or queues one behind the running turn.
---@param text string
---@param opts? { on_event?: fun(ev: dcode.Event), context?: dcode.PromptContext }
---@return integer? turn, string? message
function M.ask(text, opts)
  opts = opts or {}
  if type(text) ~= 'string' or not text:find('%S') then
    return nil, 'There is nothing to ask.'
  end
  local context = opts.context or require('dcode.context').get()
  local turn, why = require('dcode.session').prompt(text, context)
  if not turn or not opts.on_event then
    return turn, why
  end
  local running, unlisten = false, nil
  unlisten = require('dcode.events').listen(function(ev)
    local mine = ev.turn == turn
    running = running or (mine and ev.type == 'turn_started')
    local last = (mine and ev.type == 'turn_finished') or ev.type == 'stopped'
    if last then
      unlisten()
    end
    if running or last then
      opts.on_event(ev)
    end
  end)
  return turn
end

--- Runs the event loop until a turn (by default the newest) has ended.
---@param opts? { turn?: integer, timeout_ms?: integer }
---@return dcode.TurnFinished?, string? message
function M.wait(opts)
  return require('dcode.wait').turn(opts)
end

--- Runs one tool exactly as a model's call would run: parsed, permitted, snapshotted, reviewed.
---@param tool string
---@param args? table
---@param opts? dcode.CallOpts
---@return dcode.CallResult?, string? message
function M.call(tool, args, opts)
  return require('dcode.wait').call(tool, args, opts)
end

--- What would be said of a call: allow, ask or deny, by which rule. Runs nothing, asks nobody.
---@param tool string
---@param args? table
---@return dcode.Explanation?, string? message
function M.explain(tool, args)
  return require('dcode.wait').explain(tool, args)
end

--- The state of the session.
---@return dcode.Status?, string? message
function M.status()
  local session = require('dcode.session')
  if not session.started() then
    return { state = 'idle', mode = session.state.mode, pending_hunks = 0 }
  end
  return session.state.native.status({})
end

--- The hunks that wait for review.
---@param buf? integer 0 = the current buffer, nil = all files
---@return dcode.Hunk[]?, string? message
function M.hunks(buf)
  local session = require('dcode.session')
  if not session.started() then
    return {}
  end
  if buf == 0 then
    buf = vim.api.nvim_get_current_buf()
  end
  return session.state.native.hunks({ buf = buf })
end

--- Accepts hunks: `{buf=0, hunk=ID}`, `{buf=0, range={first, last}}`, `{buf=0, all=true}`,
--- `{all=true}`.
---@param what dcode.ReviewTarget
---@return integer? count, string? message
function M.accept(what)
  return require('dcode.review.actions').accept(what)
end

--- Rejects hunks; the old text comes back. Takes what `accept` takes.
---@param what dcode.ReviewTarget
---@return integer? count, string? message
function M.reject(what)
  return require('dcode.review.actions').reject(what)
end

--- Takes back the agent's last `n` steps (1 by default), in all files.
---@param n? integer
---@return { ok: boolean, message: string, paths: string[] }?, string? message
function M.undo(n)
  n = n or 1
  if type(n) ~= 'number' or n < 1 or n % 1 ~= 0 then
    return nil, 'undo() takes a count of steps, 1 or more.'
  end
  return require('dcode.wait').restore({ type = 'undo', steps = n })
end

--- Takes back the last undo.
---@return { ok: boolean, message: string, paths: string[] }?, string? message
function M.redo()
  return require('dcode.wait').restore({ type = 'redo' })
end

--- Lays whole files down for a program, as `{path, bytes}` each; paths are absolute, and
--- `/retrieved/…` is the session's own folder, where the file tools find it. Asks nobody, and is
--- neither reviewed nor undone. One answer a file, in order; one that fails stops no other.
---@param files [string, string][]
---@return { path: string, error?: string }[]?, string? message
function M.upload_files(files)
  return require('dcode.session').transfer('upload_files', files)
end

--- Whole files as they lie on disk. One answer a path, in order.
---@param paths string[]
---@return { path: string, content?: string, error?: string }[]?, string? message
function M.download_files(paths)
  return require('dcode.session').transfer('download_files', paths)
end

--- Stops the running turn and drops what waits.
---@return boolean? stopped, string? message
function M.stop()
  local session = require('dcode.session')
  if not session.started() then
    return false
  end
  require('dcode.review.queue').drop()
  return session.submit({ type = 'interrupt' })
end

return M
