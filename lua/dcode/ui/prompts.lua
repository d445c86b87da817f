--- The queue of requests that wait for the person; one float at a time.
---
--- A float opens without the cursor and takes it only when no key was pressed for a while and the
--- person is in no other mode than Normal, so that nothing typed for another window answers it.
local M = {}

local float = require('dcode.ui.float')

---@class dcode.View
---@field keys string[]
---@field reply fun(reply: table)
---@field changed? fun() redraws from outside a key
---@field title fun(self): string
---@field words fun(self): string
---@field render fun(self, width: integer): dcode.Drawn
---@field key fun(self, key: string, modal: boolean): boolean
---@field progress? fun(self): string?

---@class dcode.Pending
---@field id integer
---@field request table
---@field view dcode.View
---@field later boolean the person put it off

---@type dcode.Pending[]
local queue = {}
---@type dcode.Float?
local open
---@type integer id whose float is open
local shown = 0
---@type { win: integer, insert: boolean }?
local came_from
local last_key, took_focus = 0, 0
---@type uv.uv_timer_t?
local timer

local WIDTH = 72
--- Keys within this time after the float took the cursor by itself were meant for another window.
local GRACE_MS = 200

---@return number
local function now()
  return vim.uv.hrtime() / 1e6
end

local watching = false

--- Notes when the person pressed a key last.
function M.watch_keys()
  if watching then
    return
  end
  watching = true
  -- What started the session was most likely typed.
  last_key = now()
  vim.on_key(function(_, typed)
    if typed ~= '' then
      last_key = now()
    end
  end, vim.api.nvim_create_namespace('dcode-keys'))
end

---@return dcode.Pending?
local function first()
  return queue[1]
end

---@return boolean
function M.pending()
  return queue[1] ~= nil
end

--- What waits first, in words; nil when nothing does.
---@return string?
function M.title()
  return queue[1] and queue[1].view:words()
end

local function give_back_cursor()
  local from = came_from
  came_from = nil
  if from and vim.api.nvim_win_is_valid(from.win) then
    vim.api.nvim_set_current_win(from.win)
    if from.insert then
      vim.cmd.startinsert({ bang = true })
    end
  end
end

local function hide()
  if timer then
    timer:stop()
  end
  if open then
    local had_cursor = open:valid() and open:focused()
    local gone = open
    open, shown = nil, 0
    gone:close()
    if had_cursor then
      give_back_cursor()
    end
  end
end

---@param view dcode.View
---@return string?
local function footer(view)
  local own = view.progress and view:progress()
  local many = #queue > 1 and ('1 of %d'):format(#queue) or nil
  return own and many and own .. ', ' .. many or own or many
end

local function draw()
  local p = first()
  if not (open and p and open:valid()) then
    return
  end
  local drawn = p.view:render(float.width(WIDTH, 'corner'))
  local sep = require('dcode.ui.signs').get().rule
  open:set(drawn.lines, drawn.marks, {
    title = ('dcode asks %s %s'):format(sep, p.view:title()),
    footer = footer(p.view),
    keys = drawn.keys,
  })
end

local function take_cursor()
  if open and open:valid() and not open:focused() then
    local insert = vim.api.nvim_get_mode().mode:sub(1, 1) == 'i'
    came_from = { win = vim.api.nvim_get_current_win(), insert = insert }
    if insert then
      vim.cmd.stopinsert()
    end
    open:focus()
    took_focus = now()
  end
end

--- Whether the cursor may be taken without being asked for.
---@return boolean
local function person_rests()
  local idle = require('dcode.config').get().chat.idle_ms
  if now() - last_key < idle or vim.fn.getcmdwintype() ~= '' then
    return false
  end
  if vim.fn.reg_recording() ~= '' or vim.fn.reg_executing() ~= '' then
    return false
  end
  local mode = vim.api.nvim_get_mode()
  local input = require('dcode.ui.input')
  local idle_input = mode.mode == 'i'
    and vim.api.nvim_get_current_win() == input.window()
    and input.text() == ''
  return not mode.blocking and (mode.mode == 'n' or idle_input)
end

local function wait_for_rest()
  if person_rests() then
    return take_cursor()
  end
  timer = timer or assert(vim.uv.new_timer())
  timer:start(
    100,
    100,
    vim.schedule_wrap(function()
      if not open or not open:valid() or open:focused() then
        timer:stop()
      elseif person_rests() then
        timer:stop()
        take_cursor()
      end
    end)
  )
end

---@param view dcode.View
local function map_keys(view)
  local function map(lhs)
    vim.keymap.set('n', lhs, function()
      M.key(lhs, false)
    end, { buffer = open.buf, nowait = true, desc = 'dcode: answer' })
  end
  for _, lhs in ipairs(view.keys) do
    map(lhs)
  end
  map('q')
  map('<Esc>')
end

---@param opts? { focus?: boolean }
local function show(opts)
  local p = first()
  if not p or p.later then
    return
  end
  open = float.open({
    title = 'dcode asks',
    place = 'corner',
    width = WIDTH,
    filetype = 'dcode-prompt',
    on_close = function()
      -- Closed by :q or the like: the question stays, the state line says so.
      open, shown = nil, 0
      if queue[1] then
        queue[1].later = true
        require('dcode.status').update()
      end
    end,
  })
  if not open then
    return
  end
  shown = p.id
  p.view.changed = draw
  map_keys(p.view)
  draw()
  if opts and opts.focus then
    take_cursor()
    took_focus = 0
  else
    wait_for_rest()
  end
end

---@param id integer
local function remove(id)
  for i, p in ipairs(queue) do
    if p.id == id then
      table.remove(queue, i)
      return true
    end
  end
  return false
end

--- Takes a request into the queue.
---@param id integer
---@param request table
function M.push(id, request)
  local kind = request.kind == 'question' and require('dcode.ui.question')
    or require('dcode.ui.approval')
  local view = kind.new(request, function(reply)
    require('dcode.requests').reply(id, reply)
    M.close(id)
  end)
  queue[#queue + 1] = { id = id, request = request, view = view, later = false }
  if #queue == 1 then
    show()
  else
    draw()
  end
  require('dcode.status').update()
end

--- A request is answered or void.
---@param id integer
function M.close(id)
  local was_shown = shown == id
  local had_cursor = was_shown and open and open:valid() and open:focused()
  if not remove(id) then
    return
  end
  if was_shown then
    hide()
    show({ focus = had_cursor and first() ~= nil })
  else
    draw()
  end
  require('dcode.status').update()
end

--- Nothing waits any more.
function M.clear()
  queue = {}
  hide()
end

--- Goes to the open question; shows one that was put off.
---@return boolean whether there is one
function M.focus()
  local p = first()
  if not p then
    return false
  end
  p.later = false
  if open and open:valid() then
    take_cursor()
    took_focus = 0
  else
    show({ focus = true })
  end
  require('dcode.status').update()
  return true
end

--- Leaves the question for later; the state line names it.
function M.put_off()
  local p = first()
  if p then
    p.later = true
    hide()
    require('dcode.status').update()
  end
end

--- A key for the open float.
---@param key string
---@param modal boolean whether it comes from a waiting call
function M.key(key, modal)
  local p = first()
  if not p or (not modal and now() - took_focus < GRACE_MS) then
    return
  end
  if p.later then
    p.later = false
    show()
  end
  local takes = vim.tbl_contains(p.view.keys, key)
  if not modal and not takes and (key == 'q' or key == '<Esc>') then
    return M.put_off()
  end
  if takes and p.view:key(key, modal) and first() == p then
    draw()
    require('dcode.status').update()
  end
end

--- Places the float anew after the screen changed.
function M.refit()
  draw()
end

return M
