--- The review list: files and hunks on the left, the hunk under the cursor on the right.
local M = {}

local actions = require('dcode.review.actions')
local list = require('dcode.review.list')
local log = require('dcode.log')
local navigate = require('dcode.review.navigate')
local text = require('dcode.ui.text')

local ns = vim.api.nvim_create_namespace('dcode.review.browser')

---@class dcode.BrowserRow
---@field path string
---@field hunk? dcode.Hunk nil for the row of a file

---@class dcode.Browser
---@field float dcode.Float
---@field preview dcode.Float?
---@field rows dcode.BrowserRow[]
---@field back integer the window that the person came from

---@type dcode.Browser?
local now

local MIN_COLUMNS, MIN_LINES = 40, 10
--- From here on there is room for the preview.
local PREVIEW_COLUMNS = 76

--- Whether the screen has room for it.
---@return boolean
function M.fits()
  return vim.o.columns >= MIN_COLUMNS and vim.o.lines >= MIN_LINES
end

---@param file dcode.ReviewFile
---@return string
local function kind(file)
  return file.file == 'created' and 'A' or file.file == 'deleted' and 'D' or 'M'
end

---@param files dcode.ReviewFile[]
---@return string
local function title(files)
  local hunks, added, removed = 0, 0, 0
  for _, file in ipairs(files) do
    hunks, added, removed = hunks + file.hunks, added + file.added, removed + file.removed
  end
  local minus = require('dcode.ui.signs').get().minus
  return ('review: %s, %s, +%d %s%d'):format(
    text.count(#files, 'file'),
    text.count(hunks, 'hunk'),
    added,
    minus,
    removed
  )
end

---@param path string
---@return string
local function shown(path)
  return vim.fn.fnamemodify(path, ':~:.')
end

--- The rows of the list, their text and marks.
---@param files dcode.ReviewFile[]
---@param hunks dcode.Hunk[]
---@param width integer
---@return dcode.BrowserRow[] rows, string[] lines, dcode.Mark[] marks
function M.rows(files, hunks, width)
  local rows, lines, marks = {}, {}, {}
  local minus, by_path = require('dcode.ui.signs').get().minus, {}
  for _, hunk in ipairs(hunks) do
    by_path[hunk.path] = by_path[hunk.path] or {}
    table.insert(by_path[hunk.path], hunk)
  end
  local function put(row, line, hl)
    rows[#rows + 1] = row
    lines[#lines + 1] = line
    marks[#marks + 1] = { row = #lines - 1, col = 0, end_col = #line, hl = hl }
  end
  for _, file in ipairs(files) do
    local size = (' %s  +%d %s%d'):format(kind(file), file.added, minus, file.removed)
    local room = width - vim.api.nvim_strwidth(size) - 1
    put({ path = file.path }, ' ' .. text.cut(shown(file.path), room) .. size, 'DcodeTitle')
    for _, hunk in ipairs(by_path[file.path] or {}) do
      local line = ('%6d  %s'):format(hunk.start, list.gist(hunk))
      put({ path = file.path, hunk = hunk }, text.cut(line:gsub('%c', ' '), width), 'Normal')
      marks[#marks].end_col = 6
      marks[#marks].hl = 'DcodeHint'
    end
  end
  return rows, lines, marks
end

--- What the preview shows of a row.
---@param row dcode.BrowserRow
---@param hunks dcode.Hunk[]
---@param height integer
---@return string[] lines, dcode.Mark[] marks
local function preview_of(row, hunks, height)
  local lines, marks = {}, {}
  local function put(prefix, line, hl)
    if #lines >= height then
      return
    end
    line = prefix .. line:gsub('[%z\1-\8\10-\31]', '?')
    lines[#lines + 1] = line
    if hl then
      local mark = { row = #lines - 1, col = 0, end_col = #line, hl = hl }
      marks[#marks + 1] = mark
    end
  end
  local function show(hunk)
    local minus = require('dcode.ui.signs').get().minus
    local sizes = ('@@ %d  +%d %s%d'):format(hunk.start, hunk.count, minus, #hunk.removed)
    put('', sizes, 'DcodeHint')
    for _, line in ipairs(hunk.removed) do
      put('-', line, 'DcodeDelete')
    end
    for _, line in ipairs(hunk.added) do
      put('+', line, 'DcodeAdd')
    end
  end
  if row.hunk then
    show(row.hunk)
  else
    for _, hunk in ipairs(hunks) do
      if hunk.path == row.path then
        show(hunk)
      end
    end
  end
  return lines, marks
end

local function close()
  local b = now
  now = nil
  if b then
    b.float:close()
    if b.preview then
      b.preview:close()
    end
    if vim.api.nvim_win_is_valid(b.back) then
      vim.api.nvim_set_current_win(b.back)
    end
  end
end

---@return dcode.BrowserRow?
local function current()
  local b = now
  if b and b.float:valid() then
    return b.rows[vim.api.nvim_win_get_cursor(b.float.win)[1]]
  end
end

local function show_preview()
  local b, row = now, current()
  if not b or not row or not b.preview or not b.preview:valid() then
    return
  end
  local height = vim.api.nvim_win_get_height(b.preview.win)
  local lines, marks = preview_of(row, list.all(), height)
  local buf = b.preview.buf
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  for _, mark in ipairs(marks) do
    vim.api.nvim_buf_set_extmark(buf, ns, mark.row, 0, {
      end_row = mark.row + 1,
      end_col = 0,
      hl_group = mark.hl,
      hl_eol = true,
      strict = false,
    })
  end
  local name = vim.filetype.match({ filename = row.path })
  local lang = name and vim.treesitter.language.get_lang(name)
  if lang and vim.bo[buf].syntax ~= name then
    vim.bo[buf].syntax = name or ''
  end
end

--- Fills the windows anew; closes them when nothing waits any more.
local function refresh()
  local b = now
  if not b or not b.float:valid() then
    return
  end
  local native = require('dcode.session').state.native
  local files = native and native.review_files({}) or {}
  if #files == 0 then
    return close()
  end
  local at = vim.api.nvim_win_get_cursor(b.float.win)[1]
  local lines, marks
  b.rows, lines, marks = M.rows(files, list.all(), b.float.opts.width)
  b.float:set(lines, marks, { title = title(files) })
  vim.api.nvim_win_set_cursor(b.float.win, { math.min(at, #lines), 0 })
  show_preview()
end

---@param verb 'accept'|'reject'
---@param whole 'hunk'|'file'|'all'
local function decide(verb, whole)
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

local function go()
  local row = current()
  close()
  if row then
    local ok, why
    if row.hunk then
      ok, why = navigate.to_hunk(row.path, row.hunk.id)
    else
      ok, why = navigate.open(row.path)
    end
    if not ok then
      log.notify('warn', why or 'That hunk is not waiting any more.')
    end
  end
end

local function comment()
  local row = current()
  if not row or not row.hunk then
    return log.notify('info', 'Put the cursor on a hunk to comment on it.')
  end
  require('dcode.review.comment').on(nil, row.hunk.id)
end

local function compare()
  local row = current()
  close()
  if row and navigate.open(row.path) then
    local ok, why = require('dcode.review.compare').toggle()
    if not ok then
      log.notify('warn', why or 'There is nothing to compare.')
    end
  end
end

---@param step 1|-1
local function next_hunk(step)
  local b = now
  if not b then
    return
  end
  local at = vim.api.nvim_win_get_cursor(b.float.win)[1]
  repeat
    at = at + step
  until not b.rows[at] or b.rows[at].hunk
  if b.rows[at] then
    vim.api.nvim_win_set_cursor(b.float.win, { at, 0 })
  end
end

---@type table<string, { [1]: string, [2]: fun() }>
local KEYS = {
  a = {
    'accept the hunk',
    function()
      decide('accept', 'hunk')
    end,
  },
  r = {
    'reject the hunk',
    function()
      decide('reject', 'hunk')
    end,
  },
  A = {
    'accept the file',
    function()
      decide('accept', 'file')
    end,
  },
  R = {
    'reject the file',
    function()
      decide('reject', 'file')
    end,
  },
  ['<C-a>'] = {
    'accept all',
    function()
      decide('accept', 'all')
    end,
  },
  ['<CR>'] = { 'go there', go },
  c = { 'comment for the agent', comment },
  d = { 'side by side', compare },
  [']h'] = {
    'next hunk',
    function()
      next_hunk(1)
    end,
  },
  ['[h'] = {
    'previous hunk',
    function()
      next_hunk(-1)
    end,
  },
  ['<C-q>'] = {
    'quickfix list',
    function()
      close()
      list.quickfix()
    end,
  },
  q = { 'close', close },
  ['<Esc>'] = { 'close', close },
  ['g?'] = {
    'help',
    function()
      close()
      vim.cmd.help('dcode-review-list')
    end,
  },
}

---@param b dcode.Browser
local function map_keys(b)
  for lhs, map in pairs(KEYS) do
    vim.keymap.set('n', lhs, function()
      log.guard('review list', map[2])
    end, { buffer = b.float.buf, nowait = true, desc = 'dcode: ' .. map[1] })
  end
end

---@param width integer
---@param height integer
---@param row integer
---@param col integer
---@param title_text string
---@return dcode.Float?
local function pane(width, height, row, col, title_text)
  return require('dcode.ui.float').open({
    title = title_text,
    place = { row = row, col = col, height = height },
    width = width,
    filetype = 'dcode-review',
  })
end

--- Opens the list. Never while somebody types in another window.
---@return boolean? ok, string? message
function M.open()
  close()
  local native = require('dcode.session').state.native
  local files = native and native.review_files({}) or {}
  if #files == 0 then
    return nil, 'Nothing waits for review.'
  end
  local columns, height = vim.o.columns, math.max(math.floor(vim.o.lines * 0.6), 6)
  local row = math.max(math.floor((vim.o.lines - height) / 2) - 2, 0)
  local with_preview = columns >= PREVIEW_COLUMNS
  local total = math.min(columns - 4, 140)
  local left = with_preview and math.floor(total * 0.45) or total
  local col = math.max(math.floor((columns - total) / 2) - 2, 0)
  local back = vim.api.nvim_get_current_win()
  local float = pane(left, height, row, col, title(files))
  if not float then
    return list.quickfix()
  end
  now = { float = float, rows = {}, back = back }
  if with_preview then
    now.preview = pane(total - left - 2, height, row, col + left + 2, 'hunk')
  end
  float.opts.footer = 'a/r hunk  A/R file  ^A all  Enter go  c comment  d beside  g?'
  vim.wo[float.win].cursorline = true
  float.opts.on_close = close
  map_keys(now)
  vim.api.nvim_create_autocmd('CursorMoved', {
    buffer = float.buf,
    desc = 'dcode: show the hunk under the cursor',
    callback = function()
      log.guard('review list', show_preview)
    end,
  })
  vim.api.nvim_set_current_win(float.win)
  refresh()
  if now then
    next_hunk(1)
    show_preview()
  end
  return true
end

--- What waits has changed: the list follows.
function M.changed()
  if now then
    log.guard('review list', refresh)
  end
end

return M
