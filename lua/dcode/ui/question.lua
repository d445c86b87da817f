--- The float for questions of the model: one after another, single or multiple choice, free
--- words, skip.
local M = {}

local text = require('dcode.ui.text')

local HEADER_CELLS = 30

---@class dcode.QuestionView: dcode.View
---@field request table
---@field at integer which question
---@field cursor integer which row
---@field marked table<integer, boolean>
---@field other? string words of the person for this question
---@field answers string[][]
local View = {}
View.__index = View

View.keys = {
  'j',
  'k',
  '<Down>',
  '<Up>',
  '<Space>',
  '<CR>',
  '<Esc>',
  '1',
  '2',
  '3',
  '4',
  '5',
  '6',
  '7',
  '8',
  '9',
}

---@param request table
---@param reply fun(reply: table)
---@return dcode.QuestionView
function M.new(request, reply)
  return setmetatable({
    request = request,
    reply = reply,
    at = 1,
    cursor = 1,
    marked = {},
    answers = {},
  }, View)
end

---@return table
function View:question()
  return self.request.questions[self.at]
end

---@return string
function View:title()
  local header = self:question().header
  if header and header ~= '' then
    return text.cut(text.line(header), HEADER_CELLS)
  end
  return 'question'
end

---@return string
function View:words()
  return text.line(self:question().question)
end

--- `2/3` when there are several.
---@return string?
function View:progress()
  local n = #self.request.questions
  return n > 1 and ('%d/%d'):format(self.at, n) or nil
end

--- Rows that can be chosen: the options, and the person's own words. A question without options
--- can only be skipped.
---@return integer
function View:rows()
  local n = #self:question().options
  return n > 0 and n + 1 or 0
end

---@param out dcode.Drawn
---@param line string
---@param hl? string
local function put(out, line, hl)
  out.lines[#out.lines + 1] = ' ' .. line
  if hl then
    out.marks[#out.marks + 1] = { row = #out.lines - 1, col = 1, end_col = #line + 1, hl = hl }
  end
end

---@param out dcode.Drawn
---@param cells integer
function View:put_options(out, cells)
  local q, signs = self:question(), require('dcode.ui.signs').get()
  local widest = 0
  for _, option in ipairs(q.options) do
    widest = math.max(widest, vim.api.nvim_strwidth(text.line(option.label)))
  end
  widest = math.min(widest, math.max(math.floor(cells / 2) - 6, 8))
  for i = 1, self:rows() do
    local option = q.options[i]
    local here = i == self.cursor
    local box = ''
    if q.multiple then
      local on = self.marked[i] or (not option and self.other ~= nil)
      box = on and ('[%s] '):format(signs.mark) or '[ ] '
    end
    local label = option and text.line(option.label)
      or (self.other and text.line(self.other) or ('(something else %s)'):format(signs.dots))
    local head = ('%s %d  %s'):format(here and signs.prompt or ' ', i, box)
    local first = #out.lines
    if option and option.description and option.description ~= '' then
      label = text.pad(text.cut(label, widest), widest)
      local indent = vim.api.nvim_strwidth(head) + widest + 2
      local room = math.max(cells - indent, 12)
      for n, part in ipairs(text.wrap(text.line(option.description), room)) do
        if n == 1 then
          put(out, head .. label .. '  ' .. part)
          out.marks[#out.marks + 1] = {
            row = first,
            col = 1 + #head + #label,
            end_col = 3 + #head + #label + #part,
            hl = 'DcodeHint',
          }
        else
          put(out, (' '):rep(indent) .. part, 'DcodeHint')
        end
      end
    else
      local indent = (' '):rep(vim.api.nvim_strwidth(head))
      for n, part in ipairs(text.wrap(label, math.max(cells - #indent, 12))) do
        put(out, (n == 1 and head or indent) .. part, not option and 'DcodeHint' or nil)
      end
    end
    if here then
      out.marks[#out.marks + 1] = { row = first, line_hl = 'DcodeSelected' }
    end
  end
end

--- Lines and marks for a float of `width` cells.
---@param width integer
---@return dcode.Drawn
function View:render(width)
  local out, cells = { lines = {}, marks = {} }, width - 2
  local q, signs = self:question(), require('dcode.ui.signs').get()
  for _, line in ipairs(text.wrap(q.question, cells)) do
    put(out, line)
  end
  put(out, '')
  self:put_options(out, cells)
  if self:rows() > 0 then
    put(out, '')
  end
  local sep = (' %s '):format(signs.sep)
  local hints = { signs.updown .. ' or number' }
  if self:rows() == 0 then
    hints = { 'Enter skips' }
  elseif q.multiple then
    hints[#hints + 1] = 'Space marks'
    hints[#hints + 1] = 'Enter answers'
  else
    hints[#hints + 1] = 'Enter answers'
  end
  hints[#hints + 1] = 'Esc no answer'
  hints[#hints + 1] = 'q later'
  for _, line in ipairs(text.flow(hints, sep, cells)) do
    put(out, line, 'DcodeHint')
  end
  return out
end

--- Goes to the next question, or answers.
---@param answer string[]
function View:answer(answer)
  self.answers[self.at] = answer
  if self.at < #self.request.questions then
    self.at, self.cursor, self.marked, self.other = self.at + 1, 1, {}, nil
  else
    self.reply({ kind = 'question', answers = self.answers })
  end
end

--- What is chosen now: the marked rows, else the row under the cursor.
---@return string[]
function View:chosen()
  local q, out = self:question(), {}
  if q.multiple then
    for i, option in ipairs(q.options) do
      if self.marked[i] then
        out[#out + 1] = option.label
      end
    end
    if self.other then
      out[#out + 1] = self.other
    end
    if #out > 0 then
      return out
    end
  end
  local option = q.options[self.cursor]
  return option and { option.label } or {}
end

--- Asks for the person's own words.
---@param modal boolean
function View:ask_other(modal)
  local function done(words)
    words = words and vim.trim(words) or ''
    if words == '' then
      return
    elseif self:question().multiple then
      self.other = words
    else
      self:answer({ words })
    end
    if self.changed then
      self.changed()
    end
  end
  local prompt = 'Your answer: '
  if modal then
    done(vim.fn.input({ prompt = prompt, cancelreturn = '' }))
  else
    vim.ui.input({ prompt = prompt, default = self.other }, done)
  end
end

---@param row integer
---@param modal boolean
function View:pick(row, modal)
  self.cursor = row
  if row > #self:question().options then
    if self.other then
      self.other = nil
    else
      self:ask_other(modal)
    end
  elseif self:question().multiple then
    self.marked[row] = not self.marked[row] or nil
  else
    self:answer({ self:question().options[row].label })
  end
end

--- Handles a key.
---@param key string
---@param modal boolean
---@return boolean redraw
function View:key(key, modal)
  local rows = self:rows()
  if key == '<Esc>' then
    self.reply({ kind = 'question' })
  elseif (key == 'j' or key == '<Down>') and rows > 0 then
    self.cursor = self.cursor % rows + 1
  elseif (key == 'k' or key == '<Up>') and rows > 0 then
    self.cursor = (self.cursor - 2) % rows + 1
  elseif key == '<Space>' and rows > 0 then
    if self:question().multiple or self.cursor > #self:question().options then
      self:pick(self.cursor, modal)
    end
  elseif key == '<CR>' then
    local own = rows > 0 and self.cursor > #self:question().options
    if own and not self.other and not next(self.marked) then
      self:ask_other(modal)
    else
      self:answer(self:chosen())
    end
  elseif key:match('^%d$') and tonumber(key) <= rows then
    self:pick(tonumber(key), modal)
  end
  return true
end

return M
