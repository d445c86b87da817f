--- Questions of the model on the command line: numbered options out, numbers in.
local M = {}

---@param q table
---@param n integer
---@param total integer
---@return string
function M.show(q, n, total)
  local text = require('dcode.ui.text')
  local out = {}
  local head = q.header and q.header ~= '' and text.cut(text.line(q.header), 30) or 'question'
  out[1] = ('? %s%s'):format(head, total > 1 and (' (%d/%d)'):format(n, total) or '')
  out[2] = q.question
  for i, option in ipairs(q.options) do
    local words = option.description and option.description ~= '' and '  ' .. option.description
      or ''
    out[#out + 1] = ('  %d. %s%s'):format(i, text.line(option.label), text.line(words))
  end
  if #q.options == 0 then
    out[#out + 1] = 'Enter goes on:'
  elseif q.multiple then
    out[#out + 1] = 'Numbers with commas, or other words; empty = no answer:'
  else
    out[#out + 1] = 'A number, or other words; empty = no answer:'
  end
  return table.concat(out, '\n') .. '\n'
end

--- What a line answers; nil and a sentence when it answers nothing.
---@param q table
---@param line string
---@return string[]?, string? message
function M.read(q, line)
  line = vim.trim(line)
  if line == '' or #q.options == 0 then
    return {}
  end
  if not line:match('^[%d%s,]+$') then
    return { line }
  end
  local out = {}
  for number in line:gmatch('%d+') do
    local option = q.options[tonumber(number)]
    if not option then
      return nil, ('There is no option %s.'):format(number)
    end
    if not vim.tbl_contains(out, option.label) then
      out[#out + 1] = option.label
    end
  end
  if #out > 1 and not q.multiple then
    return nil, 'Only one of them can be chosen.'
  end
  return out
end

--- Asks all questions one after another. At the end of the input the rest get empty answers.
---@param questions table[]
---@param line fun(fn: fun(line: string?)) reads the next line
---@param write fun(text: string)
---@param done fun(answers: string[][])
function M.all(questions, line, write, done)
  local answers, ended = {}, false
  local function ask(n)
    local q = questions[n]
    if not q then
      return done(answers)
    elseif ended then
      answers[n] = {}
      return ask(n + 1)
    end
    write(M.show(q, n, #questions))
    local function try(words)
      if words == nil then
        ended = true
        answers[n] = {}
        return ask(n + 1)
      end
      local answer, why = M.read(q, words)
      if not answer then
        write(why .. '\n')
        return line(try)
      end
      answers[n] = answer
      ask(n + 1)
    end
    line(try)
  end
  ask(1)
end

return M
