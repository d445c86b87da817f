--- `:Dcode context`: everything that the next request would hold, as a buffer to read and search.
local M = {}

local tokens = require('dcode.ui.usage').tokens

--- A share of the window as a bar of `cells` cells. Pure.
---@param part number
---@param whole number
---@param cells integer
---@return string
function M.bar(part, whole, cells)
  local full = whole > 0 and math.min(math.floor(part / whole * cells + 0.5), cells) or 0
  return '[' .. ('#'):rep(full) .. ('.'):rep(cells - full) .. ']'
end

---@param out string[]
---@param words string
local function put(out, words)
  vim.list_extend(out, vim.split((words:gsub('\r', '')), '\n', { plain = true }))
end

---@param block table
---@return string
local function block_words(block)
  if block.type == 'text' then
    return block.text
  elseif block.type == 'reasoning' then
    return '(thought)\n' .. block.text
  elseif block.type == 'tool_call' then
    return ('(call %s) %s %s'):format(block.id, block.name, block.arguments)
  elseif block.type == 'tool_result' then
    local media = {}
    for _, m in ipairs(block.media or {}) do
      media[#media + 1] = ('\n(%s, %d bytes in base64)'):format(m.mime_type, #m.base64)
    end
    local head = ('(result of %s%s)\n'):format(block.id, block.is_error and ', failed' or '')
    return head .. block.text .. table.concat(media)
  elseif block.type == 'media' then
    return ('(%s, %d bytes in base64)'):format(block.mime_type, #block.base64)
  end
  return '(' .. tostring(block.type) .. ')'
end

--- About how many tokens the system prompt, the tools and the conversation have: the whole by their bytes.
---@param report table
---@return string system, string tools, string conversation
local function shares(report)
  local system, tools, said = #report.system, 0, 0
  for _, tool in ipairs(report.tools) do
    tools = tools + #vim.json.encode(tool)
  end
  for _, message in ipairs(report.messages) do
    for _, block in ipairs(message.blocks) do
      said = said + #block_words(block)
    end
  end
  local function about(bytes)
    local part = report.length * bytes / math.max(system + tools + said, 1)
    return ('about %s tokens'):format(tokens(part))
  end
  return about(system), tools, said
end

--- The report as lines of Markdown.
---@param report table
---@return string[]
function M.lines(report)
  local out = {}
  local window = report.window or 0
  put(out, ('# What %s is sent with the next prompt'):format(report.model or 'the model'))
  local size = ('about %s tokens'):format(tokens(report.length))
  if window > 0 then
    local bar = M.bar(report.length, window, 40)
    put(
      out,
      ('%s %s of %s; compacted at %s'):format(bar, size, tokens(window), tokens(report.limit))
    )
  else
    put(out, ('%s; the window is not known; compacted at %s'):format(size, tokens(report.limit)))
  end
  put(out, ':Dcode context json shows the bytes of the request.')
  local system, tools, said = shares(report)
  put(out, ('\n# System prompt, %s\n'):format(system))
  put(out, report.system)
  put(out, ('\n# Tools (%d), %s'):format(#report.tools, tools))
  for _, tool in ipairs(report.tools) do
    put(out, ('\n## %s\n%s\n%s'):format(tool.name, tool.description, vim.json.encode(tool.schema)))
  end
  local words = require('dcode.ui.text').count(#report.messages, 'message')
  put(out, ('\n# Conversation (%s), %s'):format(words, said))
  for i, message in ipairs(report.messages) do
    put(out, ('\n## %d %s'):format(i, message.role))
    for _, block in ipairs(message.blocks) do
      put(out, block_words(block))
    end
  end
  return out
end

---@param lines string[]
---@param name string
---@param filetype string
local function show(lines, name, filetype)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  pcall(vim.api.nvim_buf_set_name, buf, name)
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].buftype = 'nofile'
  vim.bo[buf].swapfile = false
  vim.bo[buf].modifiable = false
  vim.cmd.tabnew()
  vim.bo.bufhidden = 'wipe'
  vim.api.nvim_win_set_buf(0, buf)
  vim.wo[0][0].linebreak = true
  vim.bo[buf].filetype = filetype
  vim.keymap.set('n', 'q', '<Cmd>tabclose<CR>', { buffer = buf, nowait = true, desc = 'close' })
end

---@param json boolean the bytes of the request
---@return any? value, string? message
function M.open(json)
  return require('dcode.reports').ask('context', function(report)
    if not json then
      return show(M.lines(report), 'dcode://context', 'markdown')
    elseif not report.body then
      return require('dcode.log').notify('info', 'This model is sent nothing.')
    end
    show(vim.split(report.body, '\n', { plain = true }), 'dcode://context.json', 'json')
  end)
end

return M
