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

--- The remedy stands first: a message line shows no more than that.
---@param root string
---@param why string
---@return string
local function build(root, why)
  return ('Run cargo build --release in %s: %s'):format(root, why)
end

---@param native any
---@param path string
---@return dcode.Native?, string?
local function check(native, path)
  if type(native) ~= 'table' then
    return nil, path .. ' is a library, but not of dcode.'
  end
  if native.protocol_version ~= M.PROTOCOL then
    local speaks = tostring(native.protocol_version)
    local why = 'the library speaks protocol %s, the Lua files speak %d.'
    return nil, build(M.root(), why:format(speaks, M.PROTOCOL))
  end
  return native
end

--- The library; loaded on first use.
---@return dcode.Native?, string? message what to type
---@return string[]? tried the paths, each with the reason where it was there and did not load
function M.load()
  if loaded then
    return loaded
  end
  local root, tried, why = M.root(), {}, 'the library is not there.'
  for _, path in ipairs(M.candidates(root)) do
    if vim.uv.fs_stat(path) then
      local open, err = package.loadlib(path, 'luaopen_dcode')
      if open then
        local ok, native = pcall(open)
        if not ok then
          return nil, ('%s does not start: %s'):format(path, tostring(native)), { path }
        end
        local good, complaint = check(native, path)
        if not good then
          return nil, complaint, { path }
        end
        loaded, M.path = good, path
        return good
      end
      why = 'the library that is there does not load.'
      tried[#tried + 1] = path .. '  (' .. tostring(err) .. ')'
    else
      tried[#tried + 1] = path
    end
  end
  return nil, build(root, why), tried
end

--- Puts another table in the library's place; for tests.
---@param native dcode.Native?
function M.use(native)
  loaded, M.path = native, native and '(given)' or nil
end

return M
