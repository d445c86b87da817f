--- `:Dcode …` and the lines of the chat's input.
---
--- After `:Dcode` the first word is a subcommand only when all that follows fits it; else the
--- whole line is a prompt. `:Dcode -- …` is always a prompt. A line `/NAME …` of the input is
--- `:Dcode NAME …`.
local M = {}

local subcommands = require('dcode.subcommands')
local log = require('dcode.log')

---@class dcode.Parsed
---@field kind 'prompt'|'command'|'open'|'error'
---@field text? string the prompt, or the error
---@field hint? string
---@field name? string
---@field words? string[]
---@field rest? string

---@param line string
---@return string first, string rest
local function first_word(line)
  local first, rest = line:match('^%s*(%S+)%s*(.-)%s*$')
  return first or '', rest or ''
end

---@param rest string
---@return string[]
local function words_of(rest)
  return vim.split(rest, '%s+', { trimempty = true })
end

--- What stands after `:Dcode`.
---@param line string
---@return dcode.Parsed
function M.parse(line)
  local first, rest = first_word(line)
  if first == '' then
    return { kind = 'open' }
  elseif first == '--' then
    return rest == '' and { kind = 'open' } or { kind = 'prompt', text = rest }
  end
  local sub = subcommands.get(first)
  local words = words_of(rest)
  if sub and sub.fits(words, rest) then
    return { kind = 'command', name = first, words = words, rest = rest }
  end
  return { kind = 'prompt', text = vim.trim(line) }
end

--- What stands in the input of the chat.
---@param line string
---@return dcode.Parsed
function M.parse_line(line)
  if line:sub(1, 2) == '//' then
    return { kind = 'prompt', text = line:sub(2) }
  elseif line:sub(1, 1) ~= '/' then
    return { kind = 'prompt', text = line }
  end
  local first, rest = first_word(line:sub(2))
  local sub = subcommands.get(first)
  if not sub then
    local near = require('dcode.nearest').find(first, subcommands.names())
    return {
      kind = 'error',
      text = ('There is no command /%s.'):format(first),
      hint = (near and ('Did you mean /%s? '):format(near) or '')
        .. 'Two slashes send a text that begins with one.',
    }
  end
  local words = words_of(rest)
  if not sub.fits(words, rest) then
    return {
      kind = 'error',
      text = ('/%s does not take that.'):format(first),
      hint = ('Type /%s.'):format(sub.usage),
    }
  end
  return { kind = 'command', name = first, words = words, rest = rest }
end

---@param why? string
local function complain(why)
  -- In brackets: the count that gsub returns as well is not a hint.
  log.notify('error', ((why or 'That did not work.'):gsub('\n', '; ')))
end

---@param text string
---@param range? { first: integer, last: integer }
---@return boolean sent
local function send(text, range)
  local turn, why = require('dcode.session').say(text, require('dcode.context').get(range))
  if not turn then
    complain(why)
  end
  return turn ~= nil
end

---@param parsed dcode.Parsed
---@param ctx dcode.CommandContext
---@return boolean
local function execute(parsed, ctx)
  ctx.words, ctx.rest = parsed.words, parsed.rest
  local ok, value, why = log.guard('command', function()
    local value, why = subcommands.get(parsed.name).run(ctx)
    return { value, why }
  end)
  if ok then
    value, why = value[1], value[2]
  end
  if ok and value == nil and why then
    complain(why)
  end
  return ok and value ~= nil
end

--- `:Dcode`.
---@param opts table of nvim_create_user_command
function M.run(opts)
  local range = opts.range > 0 and { first = opts.line1, last = opts.line2 } or nil
  local parsed = M.parse(opts.args)
  if parsed.kind == 'command' then
    execute(parsed, { range = range, bang = opts.bang })
    return
  end
  local context_range = range
  if parsed.kind == 'prompt' then
    if opts.bang then
      require('dcode').stop()
    end
    if not send(parsed.text, context_range) then
      return
    end
  end
  require('dcode.ui.chat').open({ enter = parsed.kind == 'open' })
end

--- A line of the chat's input. Whether it was taken.
---@param line string
---@return boolean
function M.line(line)
  local parsed = M.parse_line(line)
  if parsed.kind == 'error' then
    local hint = parsed.hint
    require('dcode.ui.transcript').notice({ level = 'warn', message = parsed.text, hint = hint })
    return false
  elseif parsed.kind == 'command' then
    return execute(parsed, { bang = false })
  end
  return send(parsed.text)
end

--- `:DcodeUndo[!] [N]`. Waits for the outcome where waiting is possible.
---@param args string
---@param bang boolean
---@return boolean? done, string? message
function M.undo(args, bang)
  local steps
  if not bang then
    steps = args == '' and 1 or tonumber(args)
    if not steps or steps < 1 or steps % 1 ~= 0 then
      complain('A count of steps is a whole number from 1. :DcodeUndo 2 takes back two steps.')
      return nil
    end
  elseif args ~= '' then
    complain(':DcodeUndo! takes back the whole last turn and no count.')
    return nil
  end
  return M.restore({ type = 'undo', steps = steps })
end

--- `:DcodeRedo`.
---@return boolean? done, string? message
function M.redo()
  return M.restore({ type = 'redo' })
end

---@param op dcode.Op
---@return boolean? done, string? message
function M.restore(op)
  local wait = require('dcode.wait')
  local value, why
  if wait.refusal() then
    value, why = require('dcode.session').submit(op)
  else
    value, why = wait.restore(op)
  end
  if value == nil then
    complain(why)
  end
  return value ~= nil or nil
end

--- Stops the running turn.
function M.stop()
  local session = require('dcode.session')
  local s = session.state
  if not s.activity and not s.running and s.queued == 0 then
    log.notify('info', 'Nothing runs.')
  end
  -- What was meant for the running turn is not lost with it.
  local words = require('dcode.ui.waiting').words()
  require('dcode').stop()
  local input = require('dcode.ui.input')
  if words ~= '' and vim.trim(input.text()) == '' then
    input.set(words)
  end
end

--- Goes to the open question.
---@return boolean
function M.answer()
  if not require('dcode.ui.prompts').focus() then
    log.notify('info', 'Nothing waits for an answer.')
  end
  return true
end

--- The modes that the key goes through; `yolo` is chosen by name only.
M.MODE_CYCLE = { 'manual', 'ask-all', 'read-only', 'auto' }

--- Goes to the next mode.
---@return any? value, string? message
function M.next_mode()
  local session = require('dcode.session')
  local native, why = session.ensure()
  if not native then
    return nil, why
  end
  local cycle, at = M.MODE_CYCLE, 0
  for i, mode in ipairs(cycle) do
    if mode == session.state.mode then
      at = i
    end
  end
  return session.submit({ type = 'set_mode', mode = cycle[at % #cycle + 1] })
end

---@param words string[]
---@param lead string
---@return string[]
local function matching(words, lead)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
end

--- Completion of `:Dcode`.
---@param lead string
---@param line string
---@param pos integer
---@return string[]
function M.complete(lead, line, pos)
  local before = line:sub(1, pos):match('Dcode!?%s+(.*)$') or ''
  local words = words_of(before:sub(1, #before - #lead))
  if #words == 0 then
    return matching(subcommands.names(), lead)
  end
  local sub = subcommands.get(words[1])
  return sub and sub.complete and matching(sub.complete(words, lead), lead) or {}
end

--- Completion of a slash line in the input. Whether there was something to complete.
---@return boolean
function M.complete_slash()
  local line = vim.api.nvim_get_current_line()
  local col = vim.api.nvim_win_get_cursor(0)[2]
  local before = line:sub(1, col)
  if before:sub(1, 1) ~= '/' or vim.api.nvim_win_get_cursor(0)[1] > 1 then
    return false
  end
  local lead = before:match('(%S*)$')
  local names
  if lead:sub(1, 1) == '/' then
    names = vim.tbl_map(function(name)
      return '/' .. name
    end, M.complete(lead:sub(2), 'Dcode ' .. lead:sub(2), 6 + #lead - 1))
  else
    local ex = 'Dcode ' .. before:sub(2)
    names = M.complete(lead, ex, #ex)
  end
  vim.fn.complete(col - #lead + 1, names)
  return true
end

return M
