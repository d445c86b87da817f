--- Chooses the model from a list.
local M = {}

local text = require('dcode.ui.text')

---@class dcode.ModelRow
---@field name string `provider:model`
---@field context_window? integer tokens
---@field images boolean
---@field price? number[] US dollars for a million tokens of request and reply
---@field missing? string the variable of a key that is not set

---@type string[] names of the last list, for completion
local names = {}

--- Names to complete, sorted as they were shown.
---@return string[]
function M.names()
  return names
end

---@param tokens integer
---@return string
local function window(tokens)
  if tokens >= 1000000 then
    return ('%.2gM tokens'):format(tokens / 1000000)
  end
  return ('%dk tokens'):format(math.floor(tokens / 1000 + 0.5))
end

--- `12` for 12.0, `0.15` for 0.15.
---@param dollars number
---@return string
local function price(dollars)
  return (('%.2f'):format(dollars):gsub('%.00$', ''))
end

--- One line of the list.
---@param row dcode.ModelRow
---@param current? string
---@param width integer of the names, in cells
---@return string
function M.line(row, current, width)
  local facts = {}
  if row.name == current then
    facts[1] = 'in use'
  end
  if row.missing then
    facts[#facts + 1] = ('%s is not set'):format(row.missing)
  else
    if row.context_window then
      facts[#facts + 1] = window(row.context_window)
    end
    if row.price then
      facts[#facts + 1] = ('$%s in, $%s out'):format(price(row.price[1]), price(row.price[2]))
    end
    if row.images then
      facts[#facts + 1] = 'sees images'
    end
  end
  local name = text.line(row.name)
  if #facts == 0 then
    return name
  end
  local pad = (' '):rep(math.max(width - vim.api.nvim_strwidth(name), 0))
  return name .. pad .. '  ' .. table.concat(facts, ', ')
end

---@param report { models: dcode.ModelRow[], model?: string }
local function show(report)
  names = vim.tbl_map(function(row)
    return row.name
  end, report.models)
  local width = 0
  for _, name in ipairs(names) do
    width = math.max(width, vim.api.nvim_strwidth(name))
  end
  local session = require('dcode.session')
  if #report.models == 0 then
    return require('dcode.log').notify('warn', 'There is no model to choose.', session.MODEL_HINT)
  end
  local model = report.model
  vim.ui.select(report.models, {
    prompt = model and ('Model (now %s):'):format(model) or 'Model (none yet):',
    kind = 'dcode.model',
    format_item = function(row)
      return M.line(row, model, width)
    end,
  }, function(row)
    if row then
      session.submit({ type = 'set_model', model = row.name })
    end
  end)
end

--- Asks the engine what there is and lets the person choose.
---@return any? value, string? message
function M.pick()
  return require('dcode.reports').ask('models', show)
end

return M
