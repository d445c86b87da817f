-- Runs the Lua units: nvim --clean -l tests/lua/run.lua [part of a file's name]
--
-- A file tests/lua/test_*.lua returns a table of functions by name; each is one case and gets a
-- table `t` with t.eq(expected, actual). Modules of the plugin are loaded afresh for every file.
local here = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2))
local root = vim.fn.fnamemodify(here, ':p:h:h:h')
vim.opt.runtimepath:prepend(root)

local only = arg[1] or ''
local passed, failed = 0, 0

local t = {}

function t.eq(expected, actual)
  if not vim.deep_equal(expected, actual) then
    error(('expected %s\n     got %s'):format(vim.inspect(expected), vim.inspect(actual)), 2)
  end
end

local function forget_plugin()
  for name in pairs(package.loaded) do
    if name == 'dcode' or vim.startswith(name, 'dcode.') then
      package.loaded[name] = nil
    end
  end
end

local function run_case(file, name, case)
  local ok, err = xpcall(case, debug.traceback, t)
  if ok then
    passed = passed + 1
  else
    failed = failed + 1
    io.write(('FAILED %s: %s\n%s\n'):format(file, name, err))
  end
end

local files = vim.fn.glob(here .. '/test_*.lua', true, true)
table.sort(files)
for _, path in ipairs(files) do
  local file = vim.fs.basename(path)
  if file:find(only, 1, true) then
    forget_plugin()
    local ok, cases = xpcall(dofile, debug.traceback, path)
    if ok then
      local names = vim.tbl_keys(cases)
      table.sort(names)
      for _, name in ipairs(names) do
        run_case(file, name, cases[name])
      end
    else
      failed = failed + 1
      io.write(('FAILED %s does not load\n%s\n'):format(file, cases))
    end
  end
end

io.write(('%d passed, %d failed\n'):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
