--- `:Dcode usage`: tokens, money and cache misses as lines. Pure but for `open`.
local M = {}

local text = require('dcode.ui.text')

--- Tokens in few letters: `950`, `12.3k`, `1.2M`.
---@param n number
---@return string
function M.tokens(n)
  if n < 1000 then
    return ('%d'):format(n)
  elseif n < 999950 then
    return ('%.1fk'):format(n / 1000)
  end
  return ('%.1fM'):format(n / 1000000)
end

--- Money: small sums keep two digits that say something. `unpriced` requests have no known price.
---@param dollars number
---@param requests integer
---@param unpriced integer
---@return string
function M.cost(dollars, requests, unpriced)
  if unpriced >= requests then
    return requests > 0 and 'unknown' or '$0'
  end
  local sum = dollars >= 0.995 and ('$%.2f'):format(dollars)
    or dollars >= 0.0095 and ('$%.3f'):format(dollars)
    or ('$%.4f'):format(dollars)
  return unpriced > 0 and sum .. ' + unknown' or sum
end

---@param cached number
---@param input number
---@return string
local function hits(cached, input)
  return input > 0 and ('%d%%'):format(math.floor(100 * cached / input + 0.5)) or ''
end

---@param row table
---@param name string
---@return string[]
local function cells(row, name)
  local reply = M.tokens(row.output)
  if row.reasoning > 0 then
    reply = ('%s (%s thought)'):format(reply, M.tokens(row.reasoning))
  end
  return {
    name,
    ('%d'):format(row.requests),
    M.tokens(row.input),
    hits(row.cached, row.input),
    reply,
    M.cost(row.cost, row.requests, row.unpriced),
  }
end

--- Columns as wide as their widest cell; the first to the left, the others to the right. The first is cut
--- where all together are wider than `width`.
---@param rows string[][]
---@param width integer
---@return string[]
function M.columns(rows, width)
  local widths = {}
  for _, row in ipairs(rows) do
    for i, cell in ipairs(row) do
      widths[i] = math.max(widths[i] or 0, vim.api.nvim_strwidth(cell))
    end
  end
  local others = 1
  for i = 2, #widths do
    others = others + 2 + widths[i]
  end
  widths[1] = math.min(widths[1], math.max(width - others, 8))
  return vim.tbl_map(function(row)
    local out = {}
    for i, cell in ipairs(row) do
      cell = i == 1 and text.cut(cell, widths[1]) or cell
      local gap = (' '):rep(widths[i] - vim.api.nvim_strwidth(cell))
      out[i] = i == 1 and cell .. gap or gap .. cell
    end
    return ' ' .. table.concat(out, '  ')
  end, rows)
end

--- The report as lines.
---@param report table
---@param width integer
---@return string[] lines, dcode.Mark[] marks
function M.lines(report, width)
  local lines, marks = {}, {}
  local function put(line, hl)
    lines[#lines + 1] = line
    if hl and line ~= '' then
      marks[#marks + 1] = { row = #lines - 1, col = 0, end_col = #line, hl = hl }
    end
  end
  if #report.models == 0 then
    put(' No model was asked in this session, or its server counts no tokens.', 'DcodeHint')
    return lines, marks
  end
  local rows = { { 'this session', 'requests', 'sent', 'cached', 'replies', 'cost' } }
  for _, row in ipairs(report.models) do
    rows[#rows + 1] = cells(row, text.line(row.model))
  end
  if #report.models > 1 then
    rows[#rows + 1] = cells(report.total, 'together')
  end
  for i, line in ipairs(M.columns(rows, width)) do
    put(line, i == 1 and 'DcodeHint' or nil)
  end
  put('')
  local window = report.context_window or 0
  local now = 'context now: ' .. M.tokens(report.context_tokens or 0)
  if window > 0 then
    local share = hits(report.context_tokens, window)
    now = ('%s of %s tokens (%s)'):format(now, M.tokens(window), share)
  else
    now = now .. ' tokens; how many the model can read is not known'
  end
  for _, line in ipairs(text.wrap(now, width)) do
    put(' ' .. line)
  end
  if report.total.unpriced > 0 then
    local hint = 'Prices that are not known can be written into providers.NAME.models.'
    for _, line in ipairs(text.wrap(hint, width)) do
      put(' ' .. line, 'DcodeHint')
    end
  end
  if #report.misses > 0 then
    put('')
    put(' paid in full again', 'DcodeHint')
    for _, miss in ipairs(report.misses) do
      local head = ('request %d  %s'):format(miss.request, M.tokens(miss.tokens))
      for i, line in ipairs(text.wrap(text.line(miss.cause), width - #head - 2)) do
        put(' ' .. (i == 1 and head or (' '):rep(#head)) .. '  ' .. line)
      end
    end
  end
  return lines, marks
end

---@return any? value, string? message
function M.open()
  return require('dcode.reports').ask('usage', function(report)
    local lines, marks = M.lines(report, math.min(76, vim.o.columns - 6))
    require('dcode.ui.page').show('usage', lines, marks)
  end)
end

return M
