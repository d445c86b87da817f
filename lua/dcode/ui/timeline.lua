--- The timeline: what the agent did step by step, and going back to before one of them.
local M = {}

local log = require('dcode.log')
local text = require('dcode.ui.text')

---@class dcode.TimelineFile
---@field path string
---@field change 'created'|'deleted'|'changed'|'binary'|'mode'|'kind'|'unknown'
---@field added integer
---@field removed integer
---@field undoable boolean

---@class dcode.TimelineStep
---@field step integer
---@field turn integer
---@field prompt string
---@field undone boolean
---@field files dcode.TimelineFile[]

---@type dcode.TwoPanes?
local panes
---@type (dcode.TimelineStep|false)[] by row; false = the prompt of the steps below
local rows = {}
---@type table<integer, string[]> diffs by step
local diffs = {}
---@type fun()?
local unlisten

local MARKS = { created = 'A', deleted = 'D', mode = 'mode', kind = 'kind', binary = 'binary' }

---@param file dcode.TimelineFile
---@return string
local function file_words(file)
  local name = vim.fs.basename(file.path)
  if not file.undoable then
    return name .. ' (cannot be taken back)'
  elseif MARKS[file.change] and file.change ~= 'created' and file.change ~= 'deleted' then
    return ('%s (%s)'):format(name, MARKS[file.change])
  end
  local minus = require('dcode.ui.signs').get().minus
  local size = (' +%d %s%d'):format(file.added, minus, file.removed)
  return (MARKS[file.change] and MARKS[file.change] .. ' ' or '') .. name .. size
end

--- The rows of the list, newest first, each prompt above its steps.
---@param steps dcode.TimelineStep[] oldest first
---@param width integer
---@return (dcode.TimelineStep|false)[] rows, string[] lines, dcode.Mark[] marks
function M.rows(steps, width)
  local out, lines, marks, turn = {}, {}, {}, nil
  local signs = require('dcode.ui.signs').get()
  local function put(row, line, hl)
    line = text.cut(line, width)
    out[#out + 1], lines[#lines + 1] = row, line
    marks[#marks + 1] = { row = #lines - 1, col = 0, end_col = #line, hl = hl }
  end
  for i = #steps, 1, -1 do
    local step = steps[i]
    if step.turn ~= turn then
      turn = step.turn
      local prompt = step.prompt:gsub('%s+', ' ')
      put(
        false,
        (' %s %s'):format(signs.prompt, prompt ~= '' and prompt or '(a call from Lua)'),
        'DcodeUser'
      )
    end
    local names = vim.tbl_map(file_words, step.files)
    local what = #names > 0 and table.concat(names, ', ') or 'no file'
    local line = ('%5d  %s%s'):format(step.step, step.undone and '(taken back) ' or '', what)
    put(step, line, step.undone and 'DcodeHint' or 'Normal')
  end
  return out, lines, marks
end

---@return dcode.TimelineStep?
local function current()
  local row = panes and panes:valid() and rows[panes:row()]
  return row or nil
end

---@param lines string[]
---@return table<integer, string>
local function groups_of(lines)
  local out = {}
  for i, line in ipairs(lines) do
    local first = line:sub(1, 1)
    if line:find('^%+%+%+ ') or line:find('^%-%-%- ') or first == '@' then
      out[i] = 'DcodeHint'
    elseif first == '+' then
      out[i] = 'DcodeAdd'
    elseif first == '-' then
      out[i] = 'DcodeDelete'
    end
  end
  return out
end

local function show()
  local step = current()
  if not panes then
    return
  elseif not step then
    return panes:show({}, {}, '')
  end
  local diff = diffs[step.step]
  if not diff then
    require('dcode.session').submit({ type = 'step_diff', step = step.step })
    return
  end
  local lines = vim.list_slice(diff, 1, math.max(panes:room(), 1))
  panes:show(lines, groups_of(lines), ('step %d'):format(step.step))
end

local function close()
  if panes then
    panes:close()
  end
end

local function ask()
  return require('dcode.session').submit({ type = 'timeline' })
end

--- An undo would overwrite lines of the person: they say what becomes of those files.
---@param ev table
---@param again fun(conflicts: 'skip'|'mark')
local function settle(ev, again)
  local names = vim.tbl_map(function(conflict)
    return vim.fs.basename(conflict.path)
  end, ev.conflicts)
  local choices = {
    { 'Put the old lines beside mine, between conflict marks', 'mark' },
    { 'Skip ' .. table.concat(names, ', '), 'skip' },
    { 'Leave everything as it is' },
  }
  vim.ui.select(choices, {
    prompt = 'Lines of yours stand in the way in ' .. table.concat(names, ', '),
    format_item = function(choice)
      return choice[1]
    end,
  }, function(choice)
    if choice and choice[2] then
      again(choice[2])
    end
  end)
end

--- Takes back a step and all after it.
---@param step integer
---@param what 'files'|'conversation'|'both'
---@param conflicts? 'refuse'|'skip'|'mark'
---@return any? value, string? message
function M.restore(step, what, conflicts)
  local stop
  stop = require('dcode.events').listen(function(ev)
    if ev.type == 'restored' then
      stop()
      if not ev.ok and #(ev.conflicts or {}) > 0 then
        settle(ev, function(choice)
          M.restore(step, what, choice)
        end)
      end
    end
  end)
  local op = { type = 'undo', from = step, what = what, conflicts = conflicts or 'refuse' }
  local value, why = require('dcode.session').submit(op)
  if not value then
    stop()
  end
  return value, why
end

---@param what 'files'|'conversation'|'both'
---@return fun()
local function restore(what)
  return function()
    local step = current()
    if not step then
      return log.notify('info', 'Put the cursor on a step.')
    end
    local value, why = M.restore(step.step, what)
    if not value then
      log.notify('warn', why or 'That cannot be taken back.')
    end
  end
end

---@type table<string, { [1]: string, [2]: fun() }>
local KEYS = {
  f = { 'restore the files', restore('files') },
  c = { 'restore the conversation', restore('conversation') },
  b = { 'restore both', restore('both') },
  r = {
    'redo',
    function()
      require('dcode.commands').redo()
    end,
  },
  q = { 'close', close },
  ['<Esc>'] = { 'close', close },
  ['g?'] = {
    'help',
    function()
      close()
      vim.cmd.help('dcode-timeline')
    end,
  },
}

---@param steps dcode.TimelineStep[]
---@return string
local function title(steps)
  return 'timeline: ' .. text.count(#steps, 'step')
end

---@param steps dcode.TimelineStep[]
local function fill(steps)
  if #steps == 0 then
    close()
    return log.notify('info', 'No step has changed a file yet.')
  end
  panes = panes
    or require('dcode.ui.two_panes').open({
      title = title(steps),
      footer = {
        'f files  c conversation  b both  r redo  g? keys',
        'f c b restore  g? keys',
        'g? keys',
      },
      rows = 2 * #steps,
      filetype = 'dcode-timeline',
      keys = KEYS,
      on_row = show,
      on_close = function()
        panes, rows, diffs = nil, {}, {}
        if unlisten then
          unlisten()
          unlisten = nil
        end
      end,
    })
  if not panes then
    return log.notify('warn', 'The screen is too small for the timeline.')
  end
  local fresh = #rows == 0
  local lines, marks
  rows, lines, marks = M.rows(steps, panes.width)
  panes:fill(lines, marks, title(steps))
  if fresh then
    panes:go(2)
  end
  show()
end

---@param ev dcode.Event
local function follow(ev)
  if ev.type == 'timeline' then
    fill(ev.steps)
  elseif ev.type == 'step_diff' then
    diffs[ev.step] = vim.split(ev.diff, '\n')
    if current() and current().step == ev.step then
      show()
    end
  elseif ev.type == 'restored' and panes then
    diffs = {}
    ask()
  end
end

--- Opens the timeline as soon as the engine has told it.
---@return any? value, string? message
function M.open()
  if not require('dcode.ui.two_panes').fits() then
    return nil, 'The screen is too small for the timeline. :DcodeUndo takes back the last step.'
  end
  unlisten = unlisten or require('dcode.events').listen(follow)
  return ask()
end

return M
