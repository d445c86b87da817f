--- Finds and loads the Rust library. By absolute path: searching 'cpath' could find another build.
local M = {}

--- The version of the protocol that this Lua code speaks.
M.PROTOCOL = 1

---@type dcode.Native?
local loaded

--- The checkout that this file lies in.
---@return string
function M.root()
  local source = debug.getinfo(1, 'S').source:sub(2)
  return vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(vim.fn.fnamemodify(source, ':p'))))
end

local PLACES = { 'target/release/libdcode', 'target/debug/libdcode', 'lua/dcode/native' }

--- Paths that are tried, in order.
---@param root? string
---@return string[]
function M.candidates(root)
  root = root or M.root()
  local ext = vim.uv.os_uname().sysname == 'Darwin' and { 'dylib', 'so' } or { 'so', 'dylib' }
  local paths = {}
  for _, place in ipairs(PLACES) do
    for _, e in ipairs(ext) do
      paths[#paths + 1] = ('%s/%s.%s'):format(root, place, e)
    end
  end
  return paths
end

---@param root string
---@return string
local function build_command(root)
  return 'cd ' .. root .. ' && cargo build --release'
end

---@param root string
---@param tried string[] one line a path: the path and why it did not do
---@return string
local function advice(root, tried)
  local lines = { 'The native library of dcode is not there. Tried:' }
  for _, line in ipairs(tried) do
    lines[#lines + 1] = '  ' .. line
  end
  lines[#lines + 1] = 'Type this in a shell:  ' .. build_command(root)
  return table.concat(lines, '\n')
end

---@param native any
---@param path string
---@return dcode.Native?, string?
local function check(native, path)
  if type(native) ~= 'table' then
    return nil, path .. ' is a library, but not of dcode.'
  end
  if native.protocol_version ~= M.PROTOCOL then
    return nil,
      ('%s speaks protocol %s, the Lua files speak %d. Type this in a shell:  %s'):format(
        path,
        tostring(native.protocol_version),
        M.PROTOCOL,
        build_command(M.root())
      )
  end
  return native
end

--- The library; loaded on first use.
---@return dcode.Native?, string? message what was tried and what to type
function M.load()
  if loaded then
    return loaded
  end
  local root, tried = M.root(), {}
  for _, path in ipairs(M.candidates(root)) do
    if vim.uv.fs_stat(path) then
      local open, err = package.loadlib(path, 'luaopen_dcode')
      if open then
        local ok, native = pcall(open)
        if not ok then
          return nil, ('%s does not start: %s'):format(path, tostring(native))
        end
        local good, why = check(native, path)
        if not good then
          return nil, why
        end
        loaded, M.path = good, path
        return good
      end
      tried[#tried + 1] = path .. '  (' .. tostring(err) .. ')'
    else
      tried[#tried + 1] = path
    end
  end
  return nil, advice(root, tried)
end

--- Puts another table in the library's place; for tests.
---@param native dcode.Native?
function M.use(native)
  loaded, M.path = native, native and '(given)' or nil
end

return M
