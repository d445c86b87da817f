--- `:checkhealth dcode`.
local M = {}

local h = vim.health

local function neovim()
  h.start('dcode: Neovim')
  local v = vim.version()
  local words = ('Neovim %d.%d.%d'):format(v.major, v.minor, v.patch)
  if vim.fn.has('nvim-0.10') == 0 then
    h.error(words .. ' is too old.', 'Install Neovim 0.10 or newer.')
  else
    h.ok(words)
  end
end

---@return boolean
local function library()
  h.start('dcode: native library')
  local loader = require('dcode.native')
  local native, why, tried = loader.load()
  if not native then
    h.error(why or 'The library does not load.')
    h.info('These were tried:\n' .. table.concat(tried or {}, '\n'))
    return false
  end
  h.ok(('protocol %d, from %s'):format(native.protocol_version, loader.path))
  return true
end

local function configuration()
  h.start('dcode: configuration')
  local problems = require('dcode.config').problems()
  for _, problem in ipairs(problems) do
    h.warn(problem)
  end
  local session = require('dcode.session')
  if not session.started() then
    h.info(
      'The agent does not run yet. :Dcode config starts it and shows every value with its source.'
    )
  else
    local s = session.state
    if s.model then
      h.ok('model ' .. s.model .. (s.scripted and ' (scripted)' or ''))
    else
      h.warn('No model is configured.', session.MODEL_HINT)
    end
    h.info('mode ' .. s.mode)
  end
  if #problems == 0 then
    h.ok('The options of the editor side are in order.')
  end
end

local function keys()
  h.start('dcode: keys')
  local maps = require('dcode.keymaps')
  local clash = false
  for name, action in pairs(maps.REVIEW) do
    local lhs = require('dcode.config').get().keys[name]
    local taken = lhs and vim.fn.maparg(lhs, 'n', false, true) or {}
    if taken.rhs and not taken.rhs:find('dcode', 1, true) and taken.buffer ~= 1 then
      clash = true
      h.info(
        ('%s means %s while hunks wait in a buffer, and %s elsewhere.'):format(
          lhs,
          action.plug,
          taken.rhs
        )
      )
    end
  end
  if not clash then
    h.ok('No key of the review is mapped to something else.')
  end
end

local function places()
  h.start('dcode: files')
  local dir, why = require('dcode.log').make_state_dir()
  if dir then
    h.ok('state and logs: ' .. dir)
  else
    h.error(why)
  end
  for _, program in ipairs({ 'bash', 'git' }) do
    local path = vim.fn.exepath(program)
    if path ~= '' then
      h.ok(program .. ': ' .. path)
    else
      h.warn(program .. ' is not on PATH.')
    end
  end
end

function M.check()
  neovim()
  if library() then
    configuration()
  end
  keys()
  places()
end

return M
