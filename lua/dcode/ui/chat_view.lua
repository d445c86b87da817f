--- Keeps the chat buffer equal to the transcript.
---
--- Text that streams in is written at most every 16 ms, with one `nvim_buf_set_text` a batch. The
--- buffer may be wiped at any time: the transcript stays and the next `buffer()` draws it again.
local M = {}

local transcript = require('dcode.ui.transcript')
local render = require('dcode.ui.chat_render')
local float = require('dcode.ui.float')

local FRAME_MS = 16
--- The same for something new: the first words of a text, a call, a notice.
local NEWS_MS = 2
--- A last line of more bytes than this is not coloured while it grows.
local LONG_LINE = 1000
--- So long has nothing to be added before the colours come back.
local QUIET_MS = 200
local ns = vim.api.nvim_create_namespace('dcode-chat')

---@type integer?
local buf
--- Lines that each item takes, in order.
---@type integer[]
local counts = {}
--- Text of the last item that is not written yet.
---@type string[]
local pending = {}
--- Items to draw again.
---@type table<integer, boolean>
local dirty = {}
local last_flush, planned = 0, false
---@type uv.uv_timer_t?
local timer
---@type uv.uv_timer_t? while the colours are away
local resting

local width = 60

---@return boolean
local function alive()
  return buf ~= nil and vim.api.nvim_buf_is_valid(buf)
end

---@return dcode.RenderOpts
local function opts()
  return { width = width, signs = require('dcode.ui.signs').get(), now = vim.uv.now() }
end

---@param index integer
---@return integer row first line of the item, counted from 0
local function row_of(index)
  local row = 0
  for i = 1, index - 1 do
    row = row + counts[i]
  end
  return row
end

--- Replaces lines `first..last`. The buffer stays one that nobody types into.
---@param first integer
---@param last integer
---@param lines string[]
local function put(first, last, lines)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, first, last, false, lines)
  vim.bo[buf].modifiable = false
end

---@param drawn dcode.Drawn
---@param row integer
local function mark(drawn, row)
  for _, m in ipairs(drawn.marks) do
    float.mark(buf, ns, m, row)
  end
end

--- Draws an item that has lines already, or one at the end.
---@param index integer
local function draw(index)
  local drawn = render.item(transcript.items[index], transcript.items[index - 1], opts())
  local row, old = row_of(index), counts[index] or 0
  -- The first item takes the place of the empty line that every buffer has.
  local first_ever = index == 1 and #counts == 0
  local last = first_ever and -1 or row + old
  if old > 0 then
    vim.api.nvim_buf_clear_namespace(buf, ns, row, row + old)
  end
  put(row, last, drawn.lines)
  counts[index] = #drawn.lines
  mark(drawn, row)
end

local warm = false

--- Loads what the first words of a reply would wait for: the parsers of Markdown and their queries.
local function warm_up()
  if warm then
    return
  end
  warm = true
  vim.schedule(function()
    pcall(function()
      vim.treesitter.get_string_parser('**a** `b`\n', 'markdown'):parse(true)
      for _, lang in ipairs({ 'markdown', 'markdown_inline' }) do
        vim.treesitter.query.get(lang, 'highlights')
      end
    end)
  end)
end

--- Colours of Markdown, where they are cheap: 0.10 parses the whole text on every change.
local function colour()
  vim.treesitter.language.register('markdown', 'dcode-chat')
  if vim.fn.has('nvim-0.11') == 1 and pcall(vim.treesitter.start, buf, 'markdown') then
    return warm_up()
  end
  vim.bo[buf].syntax = 'markdown'
  -- It takes the underscore in the name of a tool for a mistake.
  vim.api.nvim_buf_call(buf, function()
    vim.cmd('silent! syntax clear markdownError')
  end)
end

--- Takes the colours away while a long line grows: each piece would have the whole line parsed again.
--- They come back when nothing has been added to it for a while.
---@param length integer bytes of the last line
local function rest_colours(length)
  if length > LONG_LINE and not resting then
    resting = assert(vim.uv.new_timer())
    pcall(vim.treesitter.stop, buf)
    vim.bo[buf].syntax = ''
  end
  if resting then
    resting:start(
      QUIET_MS,
      0,
      vim.schedule_wrap(function()
        if resting then
          resting:close()
          resting = nil
          if alive() then
            require('dcode.log').guard('chat', colour)
          end
        end
      end)
    )
  end
end

---@param text string
local function append(text)
  local lines = render.split(text)
  local row = vim.api.nvim_buf_line_count(buf) - 1
  local col = #(vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or '')
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_text(buf, row, col, row, col, lines)
  vim.bo[buf].modifiable = false
  counts[#counts] = counts[#counts] + #lines - 1
  rest_colours(#lines[#lines] + (#lines == 1 and col or 0))
end

--- Windows that show the end and shall go on showing it.
---@return integer[]
local function followers()
  local out, count = {}, vim.api.nvim_buf_line_count(buf)
  local current = vim.api.nvim_get_current_win()
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local at_end = vim.api.nvim_win_get_cursor(win)[1] >= count
    if win ~= current then
      at_end = at_end or vim.fn.line('w$', win) >= count
    end
    if at_end then
      out[#out + 1] = win
    end
  end
  return out
end

---@param wins integer[]
local function follow(wins)
  local count = vim.api.nvim_buf_line_count(buf)
  for _, win in ipairs(wins) do
    if vim.api.nvim_win_is_valid(win) then
      vim.api.nvim_win_set_cursor(win, { count, 0 })
    end
  end
end

--- Writes everything that waits.
function M.flush()
  planned, last_flush = false, vim.uv.hrtime() / 1e6
  if not alive() then
    pending, dirty, counts = {}, {}, {}
    return
  end
  local wins = followers()
  if #pending > 0 then
    local text = table.concat(pending)
    pending = {}
    append(text)
  end
  local again = vim.tbl_keys(dirty)
  dirty = {}
  table.sort(again)
  for _, index in ipairs(again) do
    if transcript.items[index] then
      draw(index)
    end
  end
  follow(wins)
end

---@param streaming boolean more of a text that stands already; what is new is shown sooner
local function plan(streaming)
  if planned then
    return
  end
  planned = true
  local wait = (streaming and FRAME_MS or NEWS_MS) - (vim.uv.hrtime() / 1e6 - last_flush)
  if wait <= 0 then
    return M.flush()
  end
  timer = timer or assert(vim.uv.new_timer())
  timer:start(
    math.ceil(wait),
    0,
    vim.schedule_wrap(function()
      require('dcode.log').guard('chat', M.flush)
    end)
  )
end

---@param change dcode.Change
local function changed(change)
  if not alive() then
    return
  elseif change.op == 'clear' then
    pending, dirty, counts = {}, {}, {}
    put(0, -1, {})
    vim.api.nvim_buf_clear_namespace(buf, ns, 0, -1)
    return
  end
  local item = transcript.items[change.index]
  local streaming = change.op == 'append'
    and item.kind == 'text'
    and change.index == #counts
    and not dirty[change.index]
  if streaming then
    pending[#pending + 1] = change.text
  elseif change.op == 'append' and item.kind == 'reasoning' and not item.open then
    return
  else
    if #pending > 0 then
      -- What streamed belongs to the item before this one: write it while that one is the last.
      M.flush()
    end
    dirty[change.index] = true
  end
  plan(streaming)
end

--- Draws everything anew.
local function redraw()
  pending, dirty, counts = {}, {}, {}
  local lines, o, marks = {}, opts(), {}
  for i, item in ipairs(transcript.items) do
    local drawn = render.item(item, transcript.items[i - 1], o)
    counts[i] = #drawn.lines
    for _, m in ipairs(drawn.marks) do
      marks[#marks + 1] = { m, #lines }
    end
    vim.list_extend(lines, drawn.lines)
  end
  put(0, -1, lines)
  vim.api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  for _, m in ipairs(marks) do
    float.mark(buf, ns, m[1], m[2])
  end
end

--- Draws for another width.
---@param cells integer
function M.resize(cells)
  if cells ~= width and cells > 0 then
    width = cells
    if alive() and #transcript.items > 0 then
      local wins = followers()
      redraw()
      follow(wins)
    end
  end
end

--- The chat buffer; made and drawn when there is none.
---@return integer
function M.buffer()
  if alive() then
    return buf
  end
  buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'hide'
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = false
  vim.bo[buf].filetype = 'dcode-chat'
  pcall(vim.api.nvim_buf_set_name, buf, 'dcode://chat')
  vim.bo[buf].buftype = 'nofile'
  vim.bo[buf].swapfile = false
  colour()
  require('dcode.keymaps').chat(buf)
  redraw()
  transcript.watch(changed)
  return buf
end

--- The buffer, if it lives.
---@return integer?
function M.current()
  return alive() and buf or nil
end

--- The item whose lines hold `row`, counted from 0.
---@param row integer
---@return integer?
function M.item_at(row)
  local start = 0
  for i, n in ipairs(counts) do
    if row < start + n then
      return i
    end
    start = start + n
  end
end

--- Rows where prompts of the person begin, counted from 1.
---@return integer[]
function M.prompt_rows()
  local out, row = {}, 0
  for i, n in ipairs(counts) do
    if transcript.items[i].kind == 'prompt' then
      out[#out + 1] = row + (i > 1 and 2 or 1)
    end
    row = row + n
  end
  return out
end

--- Opens or closes the item under the cursor.
function M.toggle()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local index = M.item_at(row)
  if index then
    transcript.toggle(index)
    M.flush()
  end
end

return M
