--- A comment on a hunk, sent to the agent with the hunk as it stands.
local M = {}

local actions = require('dcode.review.actions')

--- Lines of a hunk that are sent along; a long one is cut.
local MAX_LINES = 80

---@param out string[]
---@param lines string[]
---@param sign string
local function put(out, lines, sign)
  for i, line in ipairs(lines) do
    if i > MAX_LINES then
      out[#out + 1] = ('(%d more lines)'):format(#lines - MAX_LINES)
      return
    end
    out[#out + 1] = sign .. line
  end
end

--- A fence that no line of the text closes.
---@param lines string[]
---@return string
local function fence(lines)
  local longest = 2
  for _, line in ipairs(lines) do
    for run in line:gmatch('`+') do
      longest = math.max(longest, #run)
    end
  end
  return ('`'):rep(longest + 1)
end

--- The prompt. Pure.
---@param hunk dcode.Hunk
---@param path string as it is shown
---@param text string the person's words
---@return string
function M.prompt(hunk, path, text)
  local last = hunk.start + math.max(hunk.count, 1) - 1
  local where = hunk.start == last and ('line %d'):format(hunk.start)
    or ('lines %d-%d'):format(hunk.start, last)
  local diff = {}
  put(diff, hunk.removed, '-')
  put(diff, hunk.added, '+')
  local mark = fence(diff)
  local lines =
    { ('A comment on your change in %s, %s, which waits for review:'):format(path, where) }
  lines[#lines + 1] = mark .. 'diff'
  vim.list_extend(lines, diff)
  vim.list_extend(lines, { mark, '', text })
  return table.concat(lines, '\n')
end

---@param id integer
---@return dcode.Hunk?
local function find(id)
  local native = require('dcode.session').state.native
  for _, hunk in ipairs(native and native.hunks({}) or {}) do
    if hunk.id == id then
      return hunk
    end
  end
end

--- Sends a comment: a prompt of its own, which waits behind a turn that runs.
---@param id integer
---@param text string
---@return integer? turn, string? message
function M.send(id, text)
  local hunk = find(id)
  if not hunk then
    return nil, 'That hunk is not waiting any more.'
  end
  local path = vim.fn.fnamemodify(hunk.path, ':.')
  local turn, why = require('dcode').ask(M.prompt(hunk, path, text), { context = vim.empty_dict() })
  if turn then
    actions.say('sent the comment to the agent')
  end
  return turn, why
end

--- Asks for the words, unless they are given, and sends them.
---@param text? string
---@param id? integer the hunk; by default the one under the cursor
---@return boolean? ok, string? message
function M.on(text, id)
  if not id then
    local span = actions.here()
    if not span then
      return nil, 'No hunk is under the cursor. ]h goes to the next.'
    end
    id = span.id
  end
  local hunk = assert(id)
  if text and text:find('%S') then
    local turn, why = M.send(hunk, text)
    return turn and true or nil, why
  end
  vim.ui.input({ prompt = 'Comment for the agent: ' }, function(words)
    if words and words:find('%S') then
      local turn, why = M.send(hunk, words)
      if not turn then
        require('dcode.log').notify('warn', why or 'The comment was not sent.')
      end
    end
  end)
  return true
end

return M
