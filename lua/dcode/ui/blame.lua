--- `:Dcode blame`: beside the file, for each line which commit it comes from.
local M = {}

local text = require('dcode.ui.text')

local ns = vim.api.nvim_create_namespace('dcode-blame')
--- Cells of the window beside an author's name, and of the name: in a narrow window the code needs them.
local WIDTH, NAME, SHORT_NAME = 24, 14, 7
--- With fewer cells a window is narrow.
local NARROW = 100

---@class dcode.BlameRun
---@field first integer
---@field last integer
---@field sha? string nil = not committed
---@field author? string
---@field day? string
---@field subject? string

--- What stands beside a run: commit, author, day; in its other lines a bar.
---@param run dcode.BlameRun
---@param name integer cells of the author's name
---@return string
local function head(run, name)
  if not run.sha then
    return 'not committed'
  end
  local author = text.pad(text.cut(text.line(run.author), name), name)
  return ('%s  %s  %s'):format(run.sha:sub(1, 8), author, run.day)
end

--- The lines of the window and their marks.
---@param runs dcode.BlameRun[]
---@param ascii boolean
---@param name? integer cells of an author's name
---@return string[] lines, { row: integer, col: integer, end_col: integer, hl: string }[] marks
function M.render(runs, ascii, name)
  local lines, marks = {}, {}
  for _, run in ipairs(runs) do
    for row = run.first, run.last do
      local line = row == run.first and head(run, name or NAME) or (ascii and '|' or '│')
      lines[#lines + 1] = line
      local hl = not run.sha and 'DcodeAsk' or row > run.first and 'DcodeHint'
      if hl then
        marks[#marks + 1] = { row = #lines - 1, col = 0, end_col = #line, hl = hl }
      else
        marks[#marks + 1] = { row = #lines - 1, col = 0, end_col = 8, hl = 'DcodeTool' }
        marks[#marks + 1] = { row = #lines - 1, col = 8, end_col = #line, hl = 'DcodeHint' }
      end
    end
  end
  return lines, marks
end

---@param runs dcode.BlameRun[]
---@param row integer from 1
---@return dcode.BlameRun?
local function run_at(runs, row)
  for _, run in ipairs(runs) do
    if row >= run.first and row <= run.last then
      return run
    end
  end
end

--- The commit of the line at the cursor, in a float.
---@param runs dcode.BlameRun[]
---@param folder string
local function show_commit(runs, folder)
  local run = run_at(runs, vim.api.nvim_win_get_cursor(0)[1])
  if not run or not run.sha then
    return require('dcode.log').notify('info', 'This line is not committed.')
  end
  local out = vim.fn.fnamemodify(folder, ':~:.')
  local words = { run.subject or '', '', run.sha, ('%s, %s'):format(run.author, run.day), out }
  local lines = {}
  for _, word in ipairs(words) do
    for _, line in ipairs(word == '' and { '' } or text.wrap(text.line(word), 70)) do
      lines[#lines + 1] = ' ' .. line
    end
  end
  local width = 40
  for _, line in ipairs(lines) do
    width = math.max(width, vim.api.nvim_strwidth(line) + 1)
  end
  local float = require('dcode.ui.float').open({
    title = run.sha:sub(1, 8),
    footer = 'q closes',
    enter = true,
    place = 'center',
    width = width,
    filetype = 'dcode-page',
  })
  if float then
    float:set(lines, { { row = 0, col = 0, end_col = #lines[1], hl = 'DcodeTitle' } })
    for _, lhs in ipairs({ 'q', '<Esc>' }) do
      vim.keymap.set('n', lhs, function()
        float:close()
      end, { buffer = float.buf, nowait = true })
    end
  end
end

--- Opens the window at the left of `win`, which scrolls with it.
---@param win integer
---@param runs dcode.BlameRun[]
local function show(win, runs)
  local source = vim.api.nvim_win_get_buf(win)
  local room = vim.api.nvim_win_get_width(win)
  local cells = room < NARROW and SHORT_NAME or NAME
  local lines, marks = M.render(runs, require('dcode.config').get().ascii == true, cells)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  for _, m in ipairs(marks) do
    vim.api.nvim_buf_set_extmark(buf, ns, m.row, m.col, { end_col = m.end_col, hl_group = m.hl })
  end
  vim.bo[buf].modifiable, vim.bo[buf].bufhidden = false, 'wipe'
  vim.bo[buf].filetype = 'dcode-blame'
  local before = { scrollbind = vim.wo[win].scrollbind, cursorbind = vim.wo[win].cursorbind }
  local wrap, folds = vim.wo[win].wrap, vim.wo[win].foldenable
  local width = math.min(WIDTH + cells, math.max(math.floor(room / 2) - 1, 8))
  local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  local side = vim.api.nvim_open_win(buf, true, { split = 'left', win = win, width = width })
  for name, value in pairs({
    number = false,
    relativenumber = false,
    wrap = false,
    list = false,
    spell = false,
    foldenable = false,
    signcolumn = 'no',
    foldcolumn = '0',
    statuscolumn = '',
    statusline = ' blame%=<CR> commit  q close ',
    colorcolumn = '',
    winfixwidth = true,
  }) do
    vim.wo[side][0][name] = value
  end
  -- A wrapped or folded line would stand beside several.
  vim.wo[win].wrap, vim.wo[win].foldenable = false, false
  vim.api.nvim_win_set_cursor(side, { math.min(view.lnum, #lines), 0 })
  vim.api.nvim_win_call(side, function()
    vim.fn.winrestview({ topline = view.topline })
  end)
  for _, w in ipairs({ win, side }) do
    vim.wo[w].scrollbind, vim.wo[w].cursorbind = true, true
  end
  local group = vim.api.nvim_create_augroup('dcode-blame', {})
  local function close()
    pcall(vim.api.nvim_del_augroup_by_id, group)
    if vim.api.nvim_win_is_valid(win) then
      vim.wo[win].scrollbind, vim.wo[win].cursorbind = before.scrollbind, before.cursorbind
      vim.wo[win].wrap, vim.wo[win].foldenable = wrap, folds
    end
    if vim.api.nvim_win_is_valid(side) then
      pcall(vim.api.nvim_win_close, side, true)
    end
  end
  vim.api.nvim_create_autocmd('WinClosed', {
    group = group,
    desc = 'dcode: close the blame with its file',
    callback = function(ev)
      if tonumber(ev.match) == side or tonumber(ev.match) == win then
        vim.schedule(close)
      end
    end,
  })
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'BufWinLeave' }, {
    group = group,
    buffer = source,
    desc = 'dcode: the lines are no longer beside theirs',
    callback = function()
      vim.schedule(close)
    end,
  })
  for _, lhs in ipairs({ 'q', '<Esc>' }) do
    vim.keymap.set(
      'n',
      lhs,
      close,
      { buffer = buf, nowait = true, desc = 'dcode: close the blame' }
    )
  end
  vim.keymap.set('n', '<CR>', function()
    show_commit(runs, vim.api.nvim_buf_get_name(source))
  end, { buffer = buf, nowait = true, desc = 'dcode: show the commit of this line' })
end

--- Blames the file of the current window.
---@return true?, string? message
function M.open()
  local win = vim.api.nvim_get_current_win()
  local buf = vim.api.nvim_win_get_buf(win)
  if vim.bo[buf].filetype == 'dcode-blame' then
    vim.api.nvim_win_close(win, true)
    return true
  end
  local path = vim.api.nvim_buf_get_name(buf)
  if path == '' or vim.bo[buf].buftype ~= '' then
    return nil, 'This buffer holds no file.'
  end
  local unsaved
  if vim.bo[buf].modified then
    unsaved = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
    unsaved = unsaved .. (vim.bo[buf].endofline and '\n' or '')
  end
  local session = require('dcode.session')
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  local ticket, why = session.submit({ type = 'blame', path = path, text = unsaved })
  if not ticket then
    return nil, why
  end
  session.tickets[ticket] = function(ev)
    if ev.answer.error then
      require('dcode.log').notify('warn', ev.answer.error)
    elseif not vim.api.nvim_win_is_valid(win) or vim.api.nvim_win_get_buf(win) ~= buf then
      return
    elseif vim.api.nvim_buf_get_changedtick(buf) ~= tick then
      require('dcode.log').notify('info', 'The buffer changed meanwhile. Type :Dcode blame again.')
    elseif #ev.answer.runs == 0 then
      require('dcode.log').notify('info', 'The file is empty.')
    else
      show(win, ev.answer.runs)
    end
  end
  return true
end

return M
