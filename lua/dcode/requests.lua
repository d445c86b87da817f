--- Who answers the agent's requests: a script that waits, the command line, the person, or nobody.
local M = {}

local session = require('dcode.session')

---@alias dcode.Answerer fun(id: integer, request: table, ticket?: integer): boolean it takes it

---@type dcode.Answerer[]
local answerers = {}

local ALIASES = {
  execute = 'bash',
  ask_user = 'question',
  write_todos = 'todo_write',
  fetch_url = 'web_fetch',
  tavily_search = 'web_search',
}

--- The canonical name of a tool.
---@param name string
---@return string
function M.canonical(name)
  return ALIASES[name] or name
end

---@return table<string, string>
function M.aliases()
  return ALIASES
end

--- Somebody who is asked before the person, until the returned function is called.
---@param fn dcode.Answerer
---@return fun()
function M.push(fn)
  table.insert(answerers, 1, fn)
  return function()
    for i, other in ipairs(answerers) do
      if other == fn then
        table.remove(answerers, i)
        return
      end
    end
  end
end

--- Sends the answer.
---@param id integer
---@param reply table
function M.reply(id, reply)
  local ok, err = session.submit({ type = 'reply', request = id, reply = reply })
  if not ok then
    require('dcode.log').fault('reply', err)
  end
end

--- The answer of nobody: no for a call, no answer for a question.
---@param request table
---@return table
function M.nobody(request)
  if request.kind == 'question' then
    return { kind = 'question' }
  end
  return {
    kind = 'approval',
    decision = 'deny',
    feedback = 'Nobody is there to answer. Do it another way, or say what you would have done.',
  }
end

--- What a script answered, as a reply for the engine.
---@param request table
---@param answer any a choice, `{decision=, feedback=, args=}`, a list of lists, or nil
---@return table? reply, string? message
function M.normalize(request, answer)
  if request.kind == 'question' then
    if answer == nil then
      return { kind = 'question' }
    end
    if type(answer) ~= 'table' then
      return nil, 'A question is answered with a list of lists, or nil.'
    end
    local answers = {}
    for i = 1, #request.questions do
      local one = answer[i]
      answers[i] = type(one) == 'string' and { one } or one or {}
    end
    return { kind = 'question', answers = answers }
  end
  local reply = type(answer) == 'string' and { decision = answer } or answer
  if type(reply) ~= 'table' or type(reply.decision) ~= 'string' then
    return nil, 'A call is answered with once, session, always or deny.'
  end
  if reply.decision ~= 'deny' and not vim.tbl_contains(request.choices or {}, reply.decision) then
    return nil, ('%s is not on offer here.'):format(reply.decision)
  end
  return {
    kind = 'approval',
    decision = reply.decision,
    feedback = reply.feedback,
    args = reply.args,
  }
end

--- Gives a request to the one who answers.
---@param id integer
---@param request table
---@param ticket? integer the call from Lua that needs it
function M.route(id, request, ticket)
  for _, fn in ipairs(vim.list_slice(answerers)) do
    local ok, taken = require('dcode.log').guard('on_request', fn, id, request, ticket)
    if not ok then
      return M.reply(id, M.nobody(request))
    elseif taken then
      return
    end
  end
  if #vim.api.nvim_list_uis() == 0 then
    return M.reply(id, M.nobody(request))
  end
  require('dcode.ui.prompts').push(id, request)
end

return M
