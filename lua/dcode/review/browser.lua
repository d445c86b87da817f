--- The review list: files and hunks on the left, the hunk under the cursor on the right.
local M = {}

local actions = require('dcode.review.actions')
local list = require('dcode.review.list')
local log = require('dcode.log')
local navigate = require('dcode.review.navigate')
local text = require('dcode.ui.text')

---@class dcode.BrowserRow
---@field path string
---@field hunk? dcode.Hunk nil for the row of a file

---@type dcode.TwoPanes?
local panes
---@type dcode.BrowserRow[]
local rows = {}
---@type dcode.Hunk[]
local hunks = {}

--- Whether the screen has room for it.
---@return boolean
function M.fits()
  return require('dcode.ui.two_panes').fits()
end

---@return dcode.ReviewFile[]
local function files()
  local native = require('dcode.session').state.native
  return native and native.review_files({}) or {}
end

---@param count integer
---@param gone integer
---@return string
local function size(count, gone)
  return ('+%d %s%d'):format(count, require('dcode.ui.signs').get().minus, gone)
end

---@param some dcode.ReviewFile[]
---@return string
local function title(some)
  local total, added, removed = 0, 0, 0
  for _, file in ipairs(some) do
    total, added, removed = total + file.hunks, added + file.added, removed + file.removed
  end
  local counts = text.count(#some, 'file') .. ', ' .. text.count(total, 'hunk')
  return ('review: %s, %s'):format(counts, size(added, removed))
end

---@param file dcode.ReviewFile
---@return string
local function kind(file)
  return file.file == 'created' and 'A' or file.file == 'deleted' and 'D' or 'M'
end

--- The rows of the list, their text and marks.
---@param some dcode.ReviewFile[]
---@param all dcode.Hunk[]
---@param width integer
---@return dcode.BrowserRow[] rows, string[] lines, dcode.Mark[] marks
function M.rows(some, all, width)
  local out, lines, marks, by_path = {}, {}, {}, {}
  for _, hunk in ipairs(all) do
    by_path[hunk.path] = by_path[hunk.path] or {}
    table.insert(by_path[hunk.path], hunk)
  end
  local function put(row, line, last, hl)
    out[#out + 1], lines[#lines + 1] = row, line
    marks[#marks + 1] = { row = #lines - 1, col = 0, end_col = last or #line, hl = hl }
  end
  for _, file in ipairs(some) do
    local tail = (' %s  %s'):format(kind(file), size(file.added, file.removed))
    local room = width - vim.api.nvim_strwidth(tail) - 1
    local name = text.cut(vim.fn.fnamemodify(file.path, ':~:.'), room)
    put({ path = file.path }, ' ' .. name .. tail, nil, 'DcodeTitle')
    for _, hunk in ipairs(by_path[file.path] or {}) do
      local line = ('%6d  %s'):format(hunk.start, (list.gist(hunk):gsub('%c', ' ')))
      put({ path = file.path, hunk = hunk }, text.cut(line, width), 6, 'DcodeHint')
    end
  end
  return out, lines, marks
end

--- A hunk as the right side shows it.
---@param hunk dcode.Hunk
---@param lines string[]
---@param groups table<integer, string>
---@param room integer
local function put_hunk(hunk, lines, groups, room)
  local function put(line, group)
    if #lines < room then
      lines[#lines + 1] = line
      groups[#lines] = group
    end
  end
  put(('@@ %d  %s'):format(hunk.start, size(hunk.count, #hunk.removed)), 'DcodeHint')
  for _, line in ipairs(hunk.removed) do
    put('-' .. line, 'DcodeDelete')
  end
  for _, line in ipairs(hunk.added) do
    put('+' .. line, 'DcodeAdd')
  end
end

---@return dcode.BrowserRow?
local function current()
  return panes and panes:valid() and rows[panes:row()] or nil
end

local function show()
  local row = current()
  if not panes or not row then
    return
  end
  local lines, groups, room = {}, {}, panes:room()
  for _, hunk in ipairs(hunks) do
    if hunk.path == row.path and (not row.hunk or row.hunk.id == hunk.id) then
      put_hunk(hunk, lines, groups, room)
    end
  end
  panes:show(lines, groups, vim.fs.basename(row.path))
end

local function close()
  if panes then
    panes:close()
  end
end

--- Fills the windows anew; closes them when nothing waits any more.
local function refresh()
  if not panes or not panes:valid() then
    return
  end
  local some = files()
  if #some == 0 then
    return close()
  end
  hunks = list.all()
  local lines, marks
  rows, lines, marks = M.rows(some, hunks, panes.width)
  panes:fill(lines, marks, title(some))
  show()
end

---@param verb 'accept'|'reject'
---@param whole 'hunk'|'file'|'all'
---@return fun()
local function decide(verb, whole)
  return function()
    local row = current()
    if not row then
      return
    end
    local what = { all = true }
    if whole == 'hunk' and row.hunk then
      what = { hunk = row.hunk.id }
    elseif whole ~= 'all' then
      what = { path = row.path, all = true }
    end
    local count, why = actions[verb](what)
    if not count or count == 0 then
      log.notify('warn', why or 'Nothing was changed.')
    end
    -- Hunks of files that no buffer holds are rejected by the engine, which tells when it is done.
    refresh()
  end
end

---@param ok any
---@param why string?
local function complain(ok, why)
  if not ok then
    log.notify('warn', why or 'That hunk is not waiting any more.')
  end
end

local function go()
  local row = current()
  close()
  if row and row.hunk then
    complain(navigate.to_hunk(row.path, row.hunk.id))
  elseif row then
    complain(navigate.open(row.path))
  end
end

local function comment()
  local row = current()
  if not row or not row.hunk then
    return log.notify('info', 'Put the cursor on a hunk to comment on it.')
  end
  complain(require('dcode.review.comment').on(nil, row.hunk.id))
end

local function compare()
  local row = current()
  close()
  if row and navigate.open(row.path) then
    complain(require('dcode.review.compare').toggle())
  end
end

---@param step 1|-1
---@return fun()
local function move(step)
  return function()
    local at = panes and panes:row() or 0
    repeat
      at = at + step
    until not rows[at] or rows[at].hunk
    if panes and rows[at] then
      panes:go(at)
    end
  end
end

---@type table<string, { [1]: string, [2]: fun() }>
local KEYS = {
  a = { 'accept the hunk', decide('accept', 'hunk') },
  r = { 'reject the hunk', decide('reject', 'hunk') },
  A = { 'accept the file', decide('accept', 'file') },
  R = { 'reject the file', decide('reject', 'file') },
  ['<C-a>'] = { 'accept all', decide('accept', 'all') },
  ['<CR>'] = { 'go there', go },
  c = { 'comment for the agent', comment },
  d = { 'side by side', compare },
  [']h'] = { 'next hunk', move(1) },
  ['[h'] = { 'previous hunk', move(-1) },
  q = { 'close', close },
  ['<Esc>'] = { 'close', close },
  ['<C-q>'] = {
    'quickfix list',
    function()
      close()
      list.quickfix()
    end,
  },
  ['g?'] = {
    'help',
    function()
      close()
      vim.cmd.help('dcode-review-list')
    end,
  },
}

--- Opens the list.
---@return boolean? ok, string? message
function M.open()
  close()
  local some = files()
  if #some == 0 then
    return nil, 'Nothing waits for review.'
  end
  panes = require('dcode.ui.two_panes').open({
    title = title(some),
    footer = {
      'a/r hunk  A/R file  ^A all  Enter go  g? keys',
      'a/r hunk  A/R file  g? keys',
      'g? keys',
    },
    rows = #some + #list.all(),
    filetype = 'dcode-review',
    keys = KEYS,
    on_row = show,
    on_close = function()
      panes, rows, hunks = nil, {}, {}
    end,
  })
  if not panes then
    return list.quickfix()
  end
  refresh()
  move(1)()
  show()
  return true
end

--- What waits has changed: the list follows.
function M.changed()
  if panes then
    log.guard('review list', refresh)
  end
end

return M
