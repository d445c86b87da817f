--- Loaded buffers and the files they hold: the text of such a buffer is the truth, not the disk.
local M = {}

--- The path as the engine writes it: absolute, links resolved, also for a file that is not there
--- yet.
---@param name string
---@return string
function M.real(name)
  local path = vim.uv.fs_realpath(name)
  if path then
    return path
  end
  local dir = vim.uv.fs_realpath(vim.fs.dirname(name))
  return dir and vim.fs.joinpath(dir, vim.fs.basename(name)) or vim.fs.normalize(name)
end

--- The file that a loaded buffer holds; nil for an unloaded, unnamed or special one.
---@param buf integer
---@return string?
function M.path(buf)
  if not vim.api.nvim_buf_is_loaded(buf) or vim.bo[buf].buftype ~= '' then
    return nil
  end
  local name = vim.api.nvim_buf_get_name(buf)
  if name == '' or name:find('^%a[%w+.-]+://') then
    return nil
  end
  return M.real(name)
end

--- The loaded buffer that holds a file. Names are compared, never used as patterns.
---@param path string absolute, links resolved
---@return integer?
function M.find(path)
  local base = vim.fs.basename(path)
  local others = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' then
      local name = vim.api.nvim_buf_get_name(buf)
      if name == path then
        return buf
      elseif name ~= '' then
        others[#others + 1] = buf
      end
    end
  end
  -- A link may have another name than its file, so every name has to be resolved; most likely
  -- first.
  table.sort(others, function(a, b)
    local a_same = vim.fs.basename(vim.api.nvim_buf_get_name(a)) == base
    local b_same = vim.fs.basename(vim.api.nvim_buf_get_name(b)) == base
    if a_same ~= b_same then
      return a_same
    end
    return a < b
  end)
  for _, buf in ipairs(others) do
    if M.path(buf) == path then
      return buf
    end
  end
end

--- Whether the file of a buffer ends in a newline.
---@param buf integer
---@return boolean
function M.eol(buf)
  return vim.bo[buf].endofline
end

---@return table
local function unsaved()
  local list = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local path = vim.bo[buf].modified and M.path(buf)
    if path then
      list[#list + 1] = { path = path, buf = buf, eol = M.eol(buf) }
    end
  end
  return { kind = 'unsaved', buffers = list }
end

---@param path string
---@return table
local function held(path)
  local buf = M.find(path)
  if not buf then
    return { kind = 'buffer' }
  end
  return { kind = 'buffer', buf = buf, modified = vim.bo[buf].modified, eol = M.eol(buf) }
end

--- Writes buffers before a command that reads their files.
---@param paths string[]
---@return table
local function save(paths)
  local failed = {}
  for _, path in ipairs(paths) do
    local buf = M.find(path)
    if buf and vim.bo[buf].modified then
      local saved, reason = require('dcode.review.save').write(buf)
      if not saved then
        failed[#failed + 1] = { path = path, reason = reason }
      end
    end
  end
  return { kind = 'saved', failed = failed }
end

--- Answers a request that concerns buffers. The library reads their text itself.
---@param id integer
---@param request table
function M.answer(id, request)
  local reply
  if request.kind == 'unsaved' then
    reply = unsaved()
  elseif request.kind == 'diagnostics' then
    return require('dcode.diagnostics').get(request.paths, function(found)
      require('dcode.requests').reply(id, found)
    end)
  elseif request.kind == 'save_buffers' then
    reply = save(request.paths)
  else
    reply = held(request.path)
  end
  require('dcode.requests').reply(id, reply)
end

--- Takes in what was written on disk: unmodified buffers are read again, without a question.
---@param buf integer
function M.check_disk(buf)
  local path = M.path(buf)
  if not path or vim.bo[buf].modified or not vim.uv.fs_stat(path) then
    return
  end
  local autoread = vim.bo[buf].autoread
  vim.bo[buf].autoread = true
  pcall(vim.cmd, 'silent! checktime ' .. buf)
  if vim.api.nvim_buf_is_valid(buf) then
    vim.bo[buf].autoread = autoread
  end
end

--- Files were changed by a call. A buffer that was edited itself is in step already.
---@param paths string[]
function M.changed(paths)
  for _, path in ipairs(paths) do
    local buf = M.find(path)
    if buf then
      M.check_disk(buf)
    end
  end
end

return M
