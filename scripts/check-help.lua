-- Writes doc/tags; fails on a duplicate tag or a |link| of ours that leads nowhere.
local ok, err = pcall(vim.cmd.helptags, 'doc')
if not ok then
  io.stderr:write(err, '\n')
  os.exit(1)
end

local tags = {}
for line in io.lines('doc/tags') do
  tags[line:match('^(%S+)')] = true
end

local broken = 0
for _, path in ipairs(vim.fn.glob('doc/*.txt', true, true)) do
  local number = 0
  for line in io.lines(path) do
    number = number + 1
    for link in line:gmatch('|([^|%s]+)|') do
      if link:lower():match('dcode') and not tags[link] then
        io.stderr:write(('%s:%d: |%s| leads nowhere\n'):format(path, number, link))
        broken = broken + 1
      end
    end
  end
end
os.exit(broken == 0 and 0 or 1)
