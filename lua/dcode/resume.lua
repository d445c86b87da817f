--- Earlier sessions of the project in which something waits: looked for at the start, offered once,
--- opened on demand.
local M = {}

local log = require('dcode.log')

---@class dcode.Offer
---@field session string
---@field hunks integer
---@field files integer
---@field others integer

---@type dcode.Offer?
local offer

--- Called with the next `session_resumed`.
---@type (fun(ok: boolean))[]
local waiting = {}

---@param count integer
---@param noun string
---@return string
local function counted(count, noun)
  return count == 1 and '1 ' .. noun or ('%d %ss'):format(count, noun)
end

--- Whether something of an earlier session waits in the working directory's project. A file of the
--- state folder says so; the library need not be loaded for it.
---@return boolean
local function something_waits()
  local marks = log.state_dir() .. '/waiting/'
  if not vim.uv.fs_stat(marks) then
    return false
  end
  local dir = vim.uv.fs_realpath(vim.fn.getcwd(-1, -1))
  while dir do
    local names = vim.uv.fs_scandir(marks .. vim.fn.sha256(dir))
    if names and vim.uv.fs_scandir_next(names) then
      return true
    end
    local above = vim.fs.dirname(dir)
    dir = above ~= dir and above or nil
  end
  return false
end

--- Starts the engine when something waits, so that it can be offered. Called once, after startup.
function M.look()
  local session = require('dcode.session')
  if session.started() or not something_waits() then
    return
  end
  local native, why = session.ensure()
  if not native then
    log.write('what waits for review cannot be offered: ' .. tostring(why))
  end
end

--- An earlier session with something in it was found.
---@param ev dcode.Offer
function M.offered(ev)
  offer = ev
  local message = ('%s in %s %s from an earlier session.'):format(
    counted(ev.hunks, 'hunk'),
    counted(ev.files, 'file'),
    ev.hunks == 1 and 'waits' or 'wait'
  )
  log.notify('info', message, ':Dcode review goes on with it.')
end

--- Whether an earlier session is on offer.
---@return boolean
function M.on_offer()
  return offer ~= nil
end

--- Goes on with the session on offer, else with the newest. `done` hears whether that worked.
---@param done? fun(ok: boolean)
---@return any? value, string? message
function M.resume(done)
  local session = offer and offer.session or nil
  local value, why = require('dcode.session').submit({ type = 'resume', session = session })
  if value and done then
    waiting[#waiting + 1] = done
  end
  return value, why
end

--- An earlier session goes on, or cannot.
---@param ev { ok: boolean, message: string, paths: string[] }
function M.resumed(ev)
  offer = nil
  log.notify(ev.ok and 'info' or 'warn', ev.message)
  if ev.ok then
    require('dcode.review').changed(ev.paths)
    require('dcode.events').fire('HunksChanged', { paths = ev.paths })
  end
  local list = waiting
  waiting = {}
  for _, done in ipairs(list) do
    done(ev.ok)
  end
end

return M
