--- Facts about the repository of the working directory, kept fresh by file events: for the status line.
local M = {}

--- How long to wait for more events, in milliseconds.
local REST = 300

---@class dcode.GitFacts
---@field root? string the working tree; nil = no repository
---@field git_dir? string
---@field branch? string nil = detached
---@field head? string 8 digits; nil = no commits yet
---@field ahead integer commits that the upstream does not have
---@field behind integer commits that only the upstream has
---@field dirty? integer files that differ from HEAD

---@type dcode.GitFacts?
M.facts = nil

local watched, handle, timer ---@type string?, uv.uv_fs_event_t?, uv.uv_timer_t?

local function unwatch()
  if handle and not handle:is_closing() then
    handle:close()
  end
  handle, watched = nil, nil
end

--- Follows HEAD and the index: git replaces both by renaming.
---@param folder? string
local function watch_folder(folder)
  if folder == watched then
    return
  end
  unwatch()
  handle = folder and vim.uv.new_fs_event() or nil
  if not handle then
    return
  end
  watched = folder
  local ok = handle:start(folder, {}, function(err, name)
    -- Locks come and go with each look of another program.
    if err or (name and name:match('%.lock$')) then
      return
    end
    vim.schedule(M.refresh_soon)
  end)
  if not ok then
    unwatch()
  end
end

---@param facts table
local function take(facts)
  M.facts = facts.root and facts or nil
  watch_folder(facts.root and facts.git_dir)
  require('dcode.status').update()
end

--- Asks the engine, where it runs.
function M.refresh()
  local session = require('dcode.session')
  if not session.started() then
    return
  end
  local ticket = session.submit({ type = 'look_at_git' })
  if ticket then
    session.tickets[ticket] = function(ev)
      take(ev.answer)
    end
  end
end

--- Asks once things are quiet.
function M.refresh_soon()
  timer = timer or vim.uv.new_timer()
  if timer then
    timer:start(REST, 0, vim.schedule_wrap(M.refresh))
  end
end

local FORGET = { stopped = true }
local CHANGES = { files_changed = true, turn_finished = true, restored = true }

--- Begins to follow the repository; called once, when the engine has started.
function M.watch()
  M.facts = nil
  M.refresh()
  vim.api.nvim_create_autocmd({ 'BufWritePost', 'FocusGained', 'ShellCmdPost' }, {
    group = vim.api.nvim_create_augroup('dcode-git', {}),
    desc = 'dcode: look at the repository again',
    callback = M.refresh_soon,
  })
  if M.unlisten then
    M.unlisten()
  end
  M.unlisten = require('dcode.events').listen(function(ev)
    if CHANGES[ev.type] then
      M.refresh_soon()
    elseif FORGET[ev.type] then
      M.facts = nil
      unwatch()
    end
  end)
end

--- The branch, how far it is from its upstream and how many files are changed: `main ↑2 ↓1 ~3`. Empty
--- outside of a repository and before the first use.
---@return string
function M.words()
  local f = M.facts
  if not f then
    return ''
  end
  local up, down = '↑', '↓'
  if require('dcode.config').get().ascii then
    up, down = '+', '-'
  end
  local parts = { f.branch or f.head or 'no commits' }
  for _, part in ipairs({ { up, f.ahead }, { down, f.behind }, { '~', f.dirty } }) do
    if (part[2] or 0) > 0 then
      parts[#parts + 1] = part[1] .. part[2]
    end
  end
  return (table.concat(parts, ' '):gsub('%c', ' '))
end

return M
