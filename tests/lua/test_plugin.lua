-- The plugin file, the loader, the options, the keys.
package.path = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)) .. '/?.lua;' .. package.path
require('support.fake_native').stub_review()

local M = {}

local root = require('dcode.native').root()

function M.loading_the_plugin_file_requires_nothing(t)
  for name in pairs(package.loaded) do
    if vim.startswith(name, 'dcode') then
      package.loaded[name] = nil
    end
  end
  vim.g.loaded_dcode = nil
  vim.cmd.source({ args = { root .. '/plugin/dcode.lua' } })
  for name in pairs(package.loaded) do
    assert(not vim.startswith(name, 'dcode'), name .. ' is loaded')
  end
  local commands = vim.api.nvim_get_commands({})
  t.eq({ true, true, true }, {
    commands.Dcode ~= nil,
    commands.DcodeUndo.bang,
    commands.DcodeRedo ~= nil,
  })
  for _, name in ipairs({ 'accept', 'reject', 'accept-all', 'next', 'mode', 'answer' }) do
    assert(vim.fn.maparg('<Plug>(dcode-' .. name .. ')', 'n') ~= '', name)
  end
  assert(vim.fn.maparg('<Plug>(dcode-accept)', 'x') ~= '')
end

--- Loads the library of a checkout that has none.
---@param checkout string
---@param fn? fun() called meanwhile
---@return any lib, string? why, string[]? tried
local function without_library(checkout, fn)
  local native = require('dcode.native')
  native.use(nil)
  local own_root = native.root
  native.root = function()
    return checkout
  end
  local lib, why, tried = native.load()
  local ok, err = pcall(fn or function() end)
  native.root = own_root
  assert(ok, err)
  return lib, why, tried
end

function M.a_missing_library_says_what_was_tried_and_what_to_type(t)
  local native = require('dcode.native')
  local candidates = native.candidates('/nowhere')
  t.eq('/nowhere/target/release/libdcode', (candidates[1]:gsub('%.%w+$', '')))
  t.eq(6, #candidates)
  local lib, why, tried = without_library('/nowhere')
  t.eq(nil, lib)
  for _, path in ipairs(candidates) do
    assert(vim.tbl_contains(tried, path), path)
  end
  t.eq('Run cargo build --release in /nowhere: the library is not there.', why)
end

-- The message line of a terminal of 80 columns shows about 60 cells of a sentence.
function M.the_remedy_for_a_missing_library_stands_first(t)
  local _, why = without_library('/' .. ('long/'):rep(40))
  t.eq(1, (why:find('Run cargo build --release', 1, true)))
  t.eq(nil, why:find('\n', 1, true))
end

function M.health_names_the_paths_that_were_tried(t)
  local shown
  without_library('/nowhere', function()
    vim.cmd.checkhealth('dcode')
    shown = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
    vim.cmd.bwipeout({ bang = true })
  end)
  for _, path in ipairs(require('dcode.native').candidates('/nowhere')) do
    assert(shown:find(path, 1, true), path .. ' in ' .. shown)
  end
end

--- Calls `fn` while the folder for logs and sessions cannot be made.
---@param fn fun(dir: string)
local function without_state(fn)
  local log = require('dcode.log')
  local file = vim.fn.tempname()
  vim.fn.writefile({}, file)
  local own = log.state_dir
  log.state_dir = function()
    return file .. '/dcode'
  end
  local ok, err = pcall(fn, file .. '/dcode')
  log.state_dir = own
  assert(ok, err)
end

function M.a_state_folder_that_cannot_be_made_is_one_sentence(t)
  require('dcode.native').use(require('support.fake_native').new())
  local session = require('dcode.session')
  session.state.native = nil
  without_state(function(dir)
    require('dcode.log').write('goes nowhere')
    local native, why = session.ensure()
    t.eq(nil, native)
    t.eq(dir .. ' cannot be written. Change its owner, or set XDG_STATE_HOME.', why)
    vim.cmd.checkhealth('dcode')
    local shown = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
    vim.cmd.bwipeout({ bang = true })
    t.eq(nil, shown:find('Failed to run healthcheck', 1, true))
    assert(shown:find(dir .. ' cannot be written', 1, true), shown)
  end)
end

function M.nobody_else_reads_the_log(t)
  local log = require('dcode.log')
  local own, dir = log.state_dir, vim.fn.tempname()
  log.state_dir = function()
    return dir
  end
  log.write('hello')
  local path = log.path()
  log.state_dir = own
  t.eq({ 'rw-------', 'rwx------' }, { vim.fn.getfperm(path), vim.fn.getfperm(dir) })
  t.eq('hello', vim.fn.readfile(path)[1]:sub(-5))
end

function M.options_are_a_table_or_a_function(t)
  local config = require('dcode.config')
  config.setup({ ascii = true, chat = { width = 70 }, keys = { accept = 'ga', reject = false } })
  t.eq({ true, 70, 'ga', false, ']h' }, {
    config.get().ascii,
    config.get().chat.width,
    config.get().keys.accept,
    config.get().keys.reject,
    config.get().keys.next,
  })
  t.eq({}, config.problems())
  config.setup({ ascii = 'yes', chat = { widht = 3 }, keys = { acept = 'x' }, on_x = print })
  t.eq(false, config.get().ascii)
  local all = table.concat(config.problems(), '\n')
  for _, words in ipairs({ 'ascii', 'chat.widht', 'width', 'keys.acept', 'accept' }) do
    assert(all:find(words, 1, true), words .. ' in ' .. all)
  end
  vim.g.dcode = nil
  config.setup()
end

function M.review_keys_come_and_go_and_take_nothing(t)
  local keymaps = require('dcode.keymaps')
  local buf = vim.api.nvim_create_buf(true, false)
  vim.keymap.set('n', ']h', 'own', { buffer = buf })
  local function maps()
    local out = {}
    for _, map in ipairs(vim.api.nvim_buf_get_keymap(buf, 'n')) do
      out[map.lhs] = map.rhs
    end
    return out
  end
  local before = maps()
  keymaps.attach(buf)
  keymaps.attach(buf)
  t.eq('own', maps()[']h'])
  t.eq('<Plug>(dcode-prev)', maps()['[h'])
  t.eq('<Plug>(dcode-accept)', maps()['\\a'])
  keymaps.detach(buf)
  t.eq(before, maps())
  vim.api.nvim_buf_delete(buf, { force = true })
end

function M.a_mapping_made_meanwhile_stays(t)
  local keymaps = require('dcode.keymaps')
  local buf = vim.api.nvim_create_buf(true, false)
  keymaps.attach(buf)
  vim.keymap.set('n', '[h', 'own', { buffer = buf })
  vim.keymap.set('x', '<localleader>a', function() end, { buffer = buf, desc = 'own' })
  vim.keymap.del('n', '<localleader>r', { buffer = buf })
  vim.g.maplocalleader = ','
  keymaps.detach(buf)
  vim.g.maplocalleader = nil
  local normal, visual = {}, {}
  for _, map in ipairs(vim.api.nvim_buf_get_keymap(buf, 'n')) do
    normal[map.lhs] = map.rhs
  end
  for _, map in ipairs(vim.api.nvim_buf_get_keymap(buf, 'x')) do
    visual[map.lhs] = map.desc
  end
  t.eq({ { ['[h'] = 'own' }, { ['\\a'] = 'own' } }, { normal, visual })
  vim.api.nvim_buf_delete(buf, { force = true })
end

function M.hints_name_the_keys_that_are_mapped_as_one_types_them(t)
  local keymaps = require('dcode.keymaps')
  local buf = vim.api.nvim_create_buf(true, false)
  t.eq(nil, keymaps.shown('accept', buf))
  vim.keymap.set('n', ']h', 'own', { buffer = buf })
  vim.g.maplocalleader = ' '
  require('dcode.config').setup({ keys = { reject = '<M-r>', prev = false } })
  keymaps.attach(buf)
  local shown = {}
  for _, name in ipairs({ 'accept', 'reject', 'next', 'prev', 'accept_all' }) do
    shown[name] = keymaps.shown(name, buf)
  end
  t.eq({ accept = '<Space>a', reject = '<M-r>' }, shown)
  vim.keymap.set('n', '<M-r>', 'own', { buffer = buf })
  t.eq(nil, keymaps.shown('reject', buf))
  keymaps.detach(buf)
  t.eq(nil, keymaps.shown('accept', buf))
  vim.g.maplocalleader, vim.g.dcode = nil, nil
  require('dcode.config').setup()
  vim.api.nvim_buf_delete(buf, { force = true })
end

function M.texts_of_others_are_not_evaluated_in_the_state_line(t)
  local line = require('dcode.ui.state_line')
  local signs = require('dcode.ui.signs').get()
  local words = { kind = 'running', text = 'bash echo %{system("x")} 100%', queued = 1, hunks = 2 }
  local got = line.state(words, 90, signs, 0)
  local shown = vim.api.nvim_eval_statusline(got, { maxwidth = 90 }).str
  assert(shown:find('echo %{system("x")} 100%', 1, true), shown)
  assert(shown:find('<C-c> stop · 1 queued · 2 hunks wait', 1, true), shown)
  t.eq(90, vim.api.nvim_strwidth(shown))
  shown = vim.api.nvim_eval_statusline(line.state(words, 40, signs, 0), { maxwidth = 40 }).str
  assert(shown:find('bash echo', 1, true), shown)
end

function M.the_head_shows_model_mode_and_meter(t)
  local line = require('dcode.ui.state_line')
  local s = {
    model = 'deepseek:v4-flash',
    mode = 'manual',
    scripted = true,
    usage = {
      input_tokens = 100,
      cached_tokens = 91,
      context_tokens = 12,
      context_window = 100,
    },
  }
  local shown = vim.api.nvim_eval_statusline(
    line.head(s, 80, require('dcode.ui.signs').get()),
    { maxwidth = 80 }
  ).str
  assert(shown:find('dcode · v4-flash (scripted) · manual', 1, true), shown)
  assert(shown:find('ctx 12% · cache 91%', 1, true), shown)
end

function M.the_manual_names_every_group_option_key_and_event(t)
  local doc = table.concat(vim.fn.readfile(root .. '/doc/dcode.txt'), '\n')
  local function has(words)
    t.eq({ words, true }, { words, doc:find(words, 1, true) ~= nil })
  end
  for name, link in pairs(require('dcode.highlights').LINKS) do
    assert(doc:find('%*' .. name .. '%*%s+' .. link), name .. ' or its link is not in the manual')
  end
  local defaults = require('dcode.config').defaults
  for name, lhs in pairs(defaults.keys) do
    has(('%s = %s'):format(name, vim.inspect(lhs):gsub('"', "'")))
  end
  for name, value in pairs(defaults.chat) do
    has(('%s = %s'):format(name, vim.inspect(value):gsub('"', "'")))
  end
  local events = table.concat(vim.fn.readfile(root .. '/lua/dcode/events.lua'), '\n')
  for name in events:gmatch("M%.fire%('(%w+)'") do
    has('*Dcode' .. name .. '*')
  end
  for name in pairs(require('dcode')) do
    has('*dcode.' .. name .. '()*')
  end
end

-- A window or tab page may have a folder of its own; the agent works in Neovim's.
function M.the_agent_works_in_the_folder_of_neovim_and_not_of_a_window(t)
  local fake = require('support.fake_native').new()
  require('dcode.native').use(fake)
  local session = require('dcode.session')
  local own, state = vim.fn.getcwd(-1, -1), session.state
  for _, cd in ipairs({ 'lcd', 'tcd' }) do
    session.state = {}
    vim.cmd.tabnew()
    vim.cmd[cd](vim.fn.fnameescape(vim.fn.fnamemodify(vim.fn.tempname(), ':h')))
    local ok, err = pcall(session.ensure)
    local elsewhere = vim.fn.getcwd()
    vim.cmd.tabclose()
    assert(ok, err)
    assert(elsewhere ~= own, cd)
    t.eq(own, fake.started.cwd)
  end
  session.state = state
end

-- Advice that no error message can give.
function M.the_manual_advises_before_it_is_too_late(t)
  local doc = table.concat(vim.fn.readfile(root .. '/doc/dcode.txt'), '\n'):gsub('%s+', ' ')
  for _, advice in ipairs({
    'Look at what an agent made before you publish it, and give it a folder of its own to work in.',
    'what your provider takes of them is in its documentation',
  }) do
    t.eq({ advice, true }, { advice, doc:find(advice, 1, true) ~= nil })
  end
end

--- The options that the engine knows, as `:Dcode config` lists them.
---@return table<string, true>
local function engine_options()
  local out = {}
  local source = table.concat(vim.fn.readfile(root .. '/src/config/keys.rs'), '\n')
  for path in source:gmatch('%l+%("([%w_.*]+)", Kind::') do
    out[(path:gsub('%*', 'NAME'))] = true
  end
  return out
end

function M.the_manual_lists_the_options_that_there_are_and_no_others(t)
  local doc = table.concat(vim.fn.readfile(root .. '/doc/dcode.txt'), '\n')
  local section = doc:match('%*dcode%-options%*(.-)\n====')
  local listed = {}
  for name in section:gmatch('\n  `([%w_.]+)`') do
    listed[name] = true
  end
  local known = engine_options()
  assert(known.model and known['providers.NAME.wire'], vim.inspect(known))
  t.eq(known, listed)
end

function M.health_runs_without_a_library(t)
  require('dcode.native').use({ protocol_version = 1 })
  vim.cmd.checkhealth('dcode')
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  vim.cmd.bwipeout({ bang = true })
  t.eq(nil, text:find('Failed to run healthcheck', 1, true))
  assert(text:find('protocol 1', 1, true), text)
end

return M
