--- The float that asks whether a call may run: what, why, and what may be answered.
local M = {}

local text = require('dcode.ui.text')
local render = require('dcode.ui.chat_render')
local beside = require('dcode.ui.approval_more')

--- The keys of the answers. Numbers and letters stay the same when an answer is not on offer.
M.ANSWERS = {
  { number = '1', letter = 'o', choice = 'once', words = 'once' },
  { number = '2', letter = 's', choice = 'session', words = 'session' },
  { number = '3', letter = 'a', choice = 'always', words = 'always' },
  { number = '4', letter = 'd', choice = 'deny', words = 'deny' },
  { number = '5', letter = 'w', choice = 'deny', words = 'deny and say why', say = true },
  { number = '6', letter = 'O', choice = 'once_all', words = 'all %d once' },
  { number = '7', letter = 'D', choice = 'deny_all', words = 'deny all %d' },
  { number = '8', letter = 'c', choice = 'once', words = 'edit', edit = true },
}

--- Other words where the validator stands against the call.
local OVERRIDE = { once = 'override once', deny = 'cancel' }

local CLASS = {
  read = 'only reads',
  change = 'changes files',
  unknown = 'not known',
  destructive = 'destructive',
  unparsable = 'cannot be parsed',
}

local DECISION = {
  allow = { 'allowed', 'DcodeOk' },
  ask = { 'asks', 'DcodeAsk' },
  deny = { 'refused', 'DcodeRisk' },
}

--- Where there is a sandbox: on which side of its walls a command would run.
local SANDBOX = {
  inside = { 'In the sandbox: it writes only in the project.', 'DcodeHint' },
  outside = { 'Outside of the sandbox: it can do all that you can.', 'DcodeRisk' },
}

--- Lines of a command or diff that are shown before `v` shows all.
local PREVIEW = 10

---@class dcode.ApprovalView: dcode.View
---@field request table
---@field whole boolean
---@field explained boolean
---@field save boolean? unsaved buffers are written first
---@field long boolean whether `v` has more to show
local View = {}
View.__index = View

View.keys = { 'v', 'e', 'b' }
for _, answer in ipairs(M.ANSWERS) do
  vim.list_extend(View.keys, { answer.number, answer.letter })
end

---@param request table
---@param reply fun(reply: table)
---@return dcode.ApprovalView
function M.new(request, reply)
  local self = { request = request, reply = reply, whole = false, explained = false, long = false }
  return setmetatable(self, View)
end

---@return string
function View:title()
  return text.line(self.request.tool)
end

--- What stands in the state line.
---@return string
function View:words()
  local r = self.request
  return text.line(r.tool == 'bash' and r.title or r.tool .. ' ' .. r.title)
end

--- The answers on offer.
---@return table[]
function View:offered()
  local r = self.request
  return vim.tbl_filter(function(answer)
    return vim.tbl_contains(r.choices or {}, answer.choice) and (not answer.edit or r.args ~= nil)
  end, M.ANSWERS)
end

--- An answer as it is called here.
---@param answer table
---@return string
function View:called(answer)
  if beside.blocked(self.request) and not (answer.say or answer.edit) then
    return OVERRIDE[answer.choice] or answer.words
  end
  return (answer.words:gsub('%%d', #(self.request.more or {}) + 1))
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

--- The command or the diff.
---@param out dcode.Drawn
---@param cells integer
function View:put_body(out, cells)
  local r = self.request
  local is_command = r.commands ~= nil or r.tool == 'bash'
  local body = r.diff or ''
  local lines = {}
  if is_command then
    lines = text.wrap(body ~= '' and body or r.title, cells)
  else
    for _, line in ipairs(text.wrap(r.title, cells)) do
      put(out, line)
    end
    for _, path in ipairs(r.paths or {}) do
      local name = text.line(vim.fn.fnamemodify(path, ':~:.'))
      if not (r.title:find(name, 1, true) or r.title:find(path, 1, true)) then
        put(out, '  ' .. text.cut(name, cells - 2), 'DcodeHint')
      end
    end
    if body ~= '' then
      put(out, '')
      -- The names of the file stand above.
      body = body:gsub('^%-%-%- [^\n]*\n%+%+%+ [^\n]*\n', ''):gsub('\n$', '')
      lines = render.split(body)
    end
  end
  self.long = #lines > PREVIEW
  local limit = self.whole and #lines or PREVIEW
  for i, line in ipairs(lines) do
    if i > limit then
      put(out, ('%s more, v shows all'):format(text.count(#lines - limit, 'line')), 'DcodeHint')
      break
    end
    local hl = not is_command and render.diff_hl(line) or nil
    put(out, hl and text.pad(line:gsub('\t', '    '), cells) or (line:gsub('\t', '    ')), hl)
  end
end

--- One row a simple command: text, class, decision.
---@param out dcode.Drawn
---@param cells integer
function View:put_commands(out, cells)
  local commands = self.request.commands or {}
  if #commands == 0 then
    return
  end
  put(out, '')
  for _, c in ipairs(commands) do
    local decision = DECISION[c.decision] or { c.decision, 'DcodeHint' }
    local class = CLASS[c.class] or c.class
    local room = math.max(cells - 2 - 18 - 9, 10)
    local command = text.pad(text.cut(text.line(c.text), room), room)
    local line = ('  %s %s %8s'):format(command, text.pad(class, 17), decision[1])
    put(out, line)
    local row, at = #out.lines - 1, 3 + #command + 1
    local risky = c.class == 'destructive' or c.class == 'unparsable'
    out.marks[#out.marks + 1] = {
      row = row,
      col = at,
      end_col = at + #class,
      hl = risky and 'DcodeRisk' or 'DcodeHint',
    }
    out.marks[#out.marks + 1] =
      { row = row, col = #line + 1 - #decision[1], end_col = #line + 1, hl = decision[2] }
  end
end

--- The row of keys, in as many lines as the width needs.
---@param out dcode.Drawn
---@param cells integer
function View:put_keys(out, cells)
  local words = {}
  for _, answer in ipairs(self:offered()) do
    words[#words + 1] = ('[%s] %s'):format(answer.number, self:called(answer))
  end
  if #(self.request.unsaved or {}) > 0 then
    words[#words + 1] = self.save and 'b do not save' or 'b save first'
  end
  words[#words + 1] = self.explained and 'e less' or 'e explain'
  if self.long or #(self.request.more or {}) > 0 then
    words[#words + 1] = self.whole and 'v less' or 'v view'
  end
  words[#words + 1] = 'q later'
  out.keys = table.concat(words, '   ')
  for _, line in ipairs(text.flow(words, '   ', cells)) do
    put(out, line, 'DcodeHint')
    local row, start = #out.lines - 1, 1
    for _ in line:gmatch('%[%d%]') do
      local from, to = out.lines[row + 1]:find('%[%d%]', start)
      out.marks[#out.marks + 1] = { row = row, col = from - 1, end_col = to, hl = 'DcodeTitle' }
      start = to + 1
    end
  end
end

--- Lines and marks for a float of `width` cells.
---@param width integer
---@return dcode.Drawn
function View:render(width)
  local out, cells = { lines = {}, marks = {} }, width - 2
  local r = self.request
  self:put_body(out, cells)
  self:put_commands(out, cells)
  put(out, '')
  for _, line in ipairs(text.wrap(r.reason or '', cells)) do
    put(out, line, 'DcodeAsk')
  end
  local place = SANDBOX[r.sandbox]
  for _, line in ipairs(place and text.wrap(place[1], cells) or {}) do
    put(out, line, place[2])
  end
  local function add(line, hl)
    put(out, line, hl)
  end
  beside.put_opinions(add, r, cells)
  if self.explained then
    for _, line in ipairs(text.wrap(r.rule or '', cells)) do
      put(out, line, 'DcodeHint')
    end
    if r.pattern then
      for _, line in ipairs(text.wrap('session and always remember:  ' .. r.pattern, cells)) do
        put(out, line, 'DcodeHint')
      end
    end
  end
  self:put_unsaved(out, cells)
  beside.put_waiting(add, r, cells, self.whole)
  put(out, '')
  self:put_keys(out, cells)
  return out
end

--- The buffers whose text the command would not see.
---@param out dcode.Drawn
---@param cells integer
function View:put_unsaved(out, cells)
  local names = {}
  for _, path in ipairs(self.request.unsaved or {}) do
    names[#names + 1] = text.line(vim.fn.fnamemodify(path, ':~:.'))
  end
  if #names == 0 then
    return
  end
  local words = self.save and 'Saved first: %s.'
    or 'Not saved: %s. The command sees the '
      .. (#names == 1 and 'file' or 'files')
      .. ' on disk.'
  for _, line in ipairs(text.wrap(words:format(table.concat(names, ', ')), cells)) do
    put(out, line, self.save and 'DcodeHint' or 'DcodeAsk')
  end
end

--- Handles a key.
---@param key string
---@param modal boolean whether the person cannot be asked asynchronously
---@return boolean redraw
function View:key(key, modal)
  if key == 'v' then
    self.whole = not self.whole
    return true
  elseif key == 'b' then
    self.save = #(self.request.unsaved or {}) > 0 and not self.save
    return true
  elseif key == 'e' then
    self.explained = not self.explained
    return true
  end
  for _, answer in ipairs(self:offered()) do
    if key == answer.number or key == answer.letter then
      if answer.say then
        self:say(modal)
      elseif answer.edit then
        require('dcode.ui.edit_call').open(self.request, modal, function(args)
          self.reply({ kind = 'approval', decision = 'once', args = args })
        end)
      else
        local save = self.save and answer.choice ~= 'deny' or nil
        self.reply({ kind = 'approval', decision = answer.choice, save = save })
      end
      return false
    end
  end
  return false
end

--- Denies with the person's words; without words nothing is answered.
---@param modal boolean
function View:say(modal)
  local function done(words)
    if words and vim.trim(words) ~= '' then
      self.reply({ kind = 'approval', decision = 'deny', feedback = vim.trim(words) })
    end
  end
  local prompt = 'Tell the agent why: '
  if modal then
    done(vim.fn.input({ prompt = prompt, cancelreturn = '' }))
  else
    vim.ui.input({ prompt = prompt }, done)
  end
end

return M
