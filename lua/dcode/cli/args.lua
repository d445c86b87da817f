--- The flags of the command line. Pure: words in, a table or a usage error out.
local M = {}

---@class dcode.CliArgs
---@field command 'run'|'tools'|'help'
---@field task? string nil = read it from stdin
---@field quiet boolean
---@field json boolean
---@field timeout? number seconds
---@field flags table the highest layer of the configuration
---@field notices string[]

M.USAGE = [[
dcode -n "TASK" [options]     do a task without a person and print the answer
dcode [options] < FILE        the same with the task from stdin
dcode tools list              the tools on offer

  -n, --non-interactive TASK  the task
  -S, --shell-allow-list LIST commands that bash may run: names or prefixes
                              with commas, `recommended`, or `all`
  --allow-fs-tools LIST       the file tools that exist, with commas, or `all`
  --model PROVIDER:MODEL      the model
  --timeout SECONDS           end after so long (exit 124)
  --max-turns N               end after N replies of the model (exit 124)
  --yolo | --read-only | --ask-all
                              the permission mode; without one it is manual
  --mcp-config FILE, --trust-project-mcp
                              accepted without effect: no MCP servers yet
  --json                      one JSON object a line on stdout
  -q, --quiet                 nothing on stderr but errors and questions
  -h, --help                  this text

Exit codes: 0 done, 1 error, 2 usage, 124 limit reached, 130 interrupted.]]

M.FS_TOOLS = { 'delete', 'edit_file', 'execute', 'glob', 'grep', 'ls', 'read_file', 'write_file' }

--- Accepted in the list beside the documented names.
local FS_EXTRA = { bash = 'execute', apply_patch = 'apply_patch' }

---@param list string
---@return string[]
local function names(list)
  local out, seen = {}, {}
  for word in list:gmatch('[^,]+') do
    word = vim.trim(word):lower()
    if word ~= '' and not seen[word] then
      seen[word] = true
      out[#out + 1] = word
    end
  end
  return out
end

--- The value of `--allow-fs-tools`.
---@param list string
---@param out dcode.CliArgs
---@return string? error
local function fs_tools(list, out)
  local words = names(list)
  if #words == 0 then
    return '--allow-fs-tools needs at least one name.'
  elseif vim.tbl_contains(words, 'all') then
    if #words > 1 then
      return '--allow-fs-tools: all stands alone.'
    end
    return nil
  end
  local unknown, known = {}, {}
  for _, word in ipairs(words) do
    local name = FS_EXTRA[word] or word
    if name ~= 'apply_patch' and not vim.tbl_contains(M.FS_TOOLS, name) then
      unknown[#unknown + 1] = word
    else
      known[#known + 1] = name
    end
  end
  if #unknown > 0 then
    return ('--allow-fs-tools does not know %s. It knows: %s.'):format(
      table.concat(unknown, ', '),
      table.concat(M.FS_TOOLS, ', ')
    )
  end
  if not vim.tbl_contains(known, 'read_file') then
    known[#known + 1] = 'read_file'
    out.notices[#out.notices + 1] = 'read_file was added to --allow-fs-tools: the others need it.'
  end
  out.flags.allow_fs_tools = known
end

--- The value of `-S`.
---@param list string
---@param out dcode.CliArgs
---@return string? error
local function shell_list(list, out)
  local words = {}
  for word in list:gmatch('[^,]+') do
    word = vim.trim(word)
    if word ~= '' then
      words[#words + 1] = word
    end
  end
  for _, word in ipairs(words) do
    if word:lower() == 'all' and #words > 1 then
      return '-S: all stands alone.'
    end
  end
  if #words > 0 then
    out.flags.shell_allow_list = words
  end
end

---@param field string
---@param whole boolean
---@return fun(value: string, out: dcode.CliArgs): string?
local function positive(field, whole)
  return function(value, out)
    local n = tonumber(value)
    if not n or n <= 0 or n ~= n or n == math.huge or (whole and n % 1 ~= 0) then
      return ('needs a %s above 0, not %s.'):format(whole and 'whole number' or 'number', value)
    end
    if field == 'timeout' then
      out.timeout = n
    else
      out.flags[field] = n
    end
  end
end

---@param name string
---@return fun(value: nil, out: dcode.CliArgs): string?
local function mode(name)
  return function(_, out)
    if out.flags.mode and out.flags.mode ~= name then
      return 'only one of --yolo, --read-only and --ask-all can be given.'
    end
    out.flags.mode = name
  end
end

local NO_MCP = 'There are no MCP servers yet: --mcp-config and --trust-project-mcp have no effect.'

---@param out dcode.CliArgs
---@return table
local function mcp(out)
  if not out.flags.mcp then
    out.flags.mcp = {}
    out.notices[#out.notices + 1] = NO_MCP
  end
  return out.flags.mcp
end

---@class dcode.Flag
---@field long string
---@field short? string
---@field value? boolean takes a value
---@field apply fun(value: string?, out: dcode.CliArgs): string? error

---@type dcode.Flag[]
M.FLAGS = {
  {
    long = '--non-interactive',
    short = '-n',
    value = true,
    apply = function(value, out)
      if vim.trim(value) == '' then
        return 'the task is empty.'
      end
      out.task = value
    end,
  },
  { long = '--shell-allow-list', short = '-S', value = true, apply = shell_list },
  { long = '--allow-fs-tools', value = true, apply = fs_tools },
  {
    long = '--model',
    value = true,
    apply = function(value, out)
      if vim.trim(value) == '' then
        return 'needs PROVIDER:MODEL.'
      end
      out.flags.model = value
    end,
  },
  { long = '--timeout', value = true, apply = positive('timeout', false) },
  { long = '--max-turns', value = true, apply = positive('max_steps', true) },
  { long = '--yolo', apply = mode('yolo') },
  { long = '--read-only', apply = mode('read-only') },
  { long = '--ask-all', apply = mode('ask-all') },
  {
    long = '--mcp-config',
    value = true,
    apply = function(value, out)
      mcp(out).config = value
    end,
  },
  {
    long = '--trust-project-mcp',
    apply = function(_, out)
      mcp(out).trust_project = true
    end,
  },
  {
    long = '--json',
    apply = function(_, out)
      out.json = true
    end,
  },
  {
    long = '--quiet',
    short = '-q',
    apply = function(_, out)
      out.quiet = true
    end,
  },
  {
    long = '--help',
    short = '-h',
    apply = function(_, out)
      out.command = 'help'
    end,
  },
}

---@param word string
---@return dcode.Flag?
local function find(word)
  for _, flag in ipairs(M.FLAGS) do
    if flag.long == word or flag.short == word then
      return flag
    end
  end
end

---@param word string
---@return string
local function unknown(word)
  local longs = vim.tbl_map(function(flag)
    return flag.long
  end, M.FLAGS)
  local near = require('dcode.nearest').find(word, longs)
  return ('There is no option %s.%s'):format(
    word,
    near and (' Did you mean %s?'):format(near) or ''
  )
end

---@param words string[]
---@param out dcode.CliArgs
---@return string? error
local function positional(words, out)
  if #words == 0 or out.command == 'help' then
    return nil
  elseif words[1] == 'tools' and words[2] == 'list' and #words == 2 then
    out.command = 'tools'
    return nil
  elseif words[1] == 'tools' then
    return 'Type: dcode tools list'
  end
  return ('There is no command %s. A task is given with -n "…".'):format(words[1])
end

--- Reads the words of a command line.
---@param argv string[]
---@return dcode.CliArgs?, string? error
function M.parse(argv)
  local out =
    { command = 'run', quiet = false, json = false, flags = vim.empty_dict(), notices = {} }
  local words, i = {}, 1
  while i <= #argv do
    local word, value = argv[i], nil
    if word:sub(1, 2) == '--' and word:find('=', 1, true) then
      word, value = word:match('^(.-)=(.*)$')
    end
    if word:sub(1, 1) ~= '-' or word == '-' then
      words[#words + 1] = word
    else
      local flag = find(word)
      if not flag then
        return nil, unknown(word)
      elseif flag.value and value == nil then
        i = i + 1
        value = argv[i]
        if value == nil then
          return nil, word .. ' needs a value.'
        end
      elseif not flag.value and value ~= nil then
        return nil, word .. ' takes no value.'
      end
      local err = flag.apply(value, out)
      if err then
        return nil, vim.startswith(err, '-') and err or ('%s: %s'):format(word, err)
      end
    end
    i = i + 1
  end
  local err = positional(words, out)
  if err then
    return nil, err
  end
  return out
end

return M
