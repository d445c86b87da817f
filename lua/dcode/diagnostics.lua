--- What language servers and linters say of buffers, once they have looked at what stands there now.
local M = {}

--- How long nothing must have come in for a buffer before its diagnostics count as settled.
local SETTLED_MS = 150
--- How long an answer may wait for that.
local WAIT_MS = 1500

---@type table<integer, number> when the diagnostics of a buffer last changed
local changed = {}
local watching = false

local function watch()
  if watching then
    return
  end
  watching = true
  vim.api.nvim_create_autocmd('DiagnosticChanged', {
    group = vim.api.nvim_create_augroup('dcode', { clear = false }),
    desc = 'dcode: know when diagnostics have settled',
    callback = function(ev)
      changed[ev.buf] = vim.uv.now()
    end,
  })
end

local NAMES = {
  [vim.diagnostic.severity.ERROR] = 'error',
  [vim.diagnostic.severity.WARN] = 'warning',
}

---@param buf integer
---@param found table[]
local function collect(buf, found)
  local path = require('dcode.buffers').path(buf)
  if not path then
    return
  end
  local severity = { min = vim.diagnostic.severity.WARN }
  for _, d in ipairs(vim.diagnostic.get(buf, { severity = severity })) do
    found[#found + 1] = {
      path = path,
      line = d.lnum + 1,
      severity = NAMES[d.severity],
      source = d.source,
      message = d.message,
    }
  end
end

--- Whether somebody looks at the buffer who may say more soon.
---@param buf integer
---@return boolean
local function looked_at(buf)
  if #vim.lsp.get_clients({ bufnr = buf }) > 0 then
    return true
  end
  return changed[buf] ~= nil and vim.uv.now() - changed[buf] < SETTLED_MS
end

--- The diagnostics of the loaded buffers of `paths`, or of all buffers; `done` gets the reply.
---@param paths string[]|nil
---@param done fun(reply: table)
function M.get(paths, done)
  watch()
  local bufs = {}
  if paths then
    for _, path in ipairs(paths) do
      bufs[#bufs + 1] = require('dcode.buffers').find(path)
    end
  else
    bufs = vim.tbl_filter(vim.api.nvim_buf_is_loaded, vim.api.nvim_list_bufs())
  end
  local function answer()
    local found = {}
    for _, buf in ipairs(bufs) do
      if vim.api.nvim_buf_is_loaded(buf) then
        collect(buf, found)
      end
    end
    done({ kind = 'diagnostics', found = found })
  end
  local waits = paths and vim.iter(bufs):any(looked_at)
  if not waits then
    return answer()
  end
  -- A server says something a while after the edit, and then perhaps more.
  local since = vim.uv.now()
  local timer = assert(vim.uv.new_timer())
  timer:start(SETTLED_MS, 50, function()
    local now, last = vim.uv.now(), since
    local news = false
    for _, buf in ipairs(bufs) do
      if changed[buf] and changed[buf] >= since then
        news, last = true, math.max(last, changed[buf])
      end
    end
    if (news and now - last >= SETTLED_MS) or now - since >= WAIT_MS then
      timer:stop()
      timer:close()
      vim.schedule(answer)
    end
  end)
end

return M
