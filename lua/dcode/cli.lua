--- The command line: `nvim -l lua/dcode/cli.lua -n "task"`. `make install-cli` wraps it as `dcode`.
local root = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h:h')
vim.opt.runtimepath:prepend(root)

local argv = {}
for i = 1, #arg do
  argv[i] = arg[i]
end

local io_ = {
  out = function(text)
    io.stdout:write(text)
    io.stdout:flush()
  end,
  err = function(text)
    io.stderr:write(text)
    io.stderr:flush()
  end,
  line = function(fn)
    require('dcode.cli.stdin').line(fn)
  end,
}

local ok, code = xpcall(function()
  return require('dcode.cli.run').main(argv, io_)
end, debug.traceback)
if not ok then
  require('dcode.log').write('cli: ' .. tostring(code))
  io_.err('dcode: Something in dcode failed: ' .. tostring(code):match('^[^\n]*') .. '\n')
  code = 1
end
os.exit(code)
