--- The library's review in Lua, over the real buffers: base against text, compared anew at every
--- question.
local M = {}

---@class dcode.FakeFile
---@field buf integer
---@field path string
---@field base string[]
---@field text string[]
---@field moments table<integer, { base: string[], text: string[] }>

---@param lines string[]
---@return string
local function joined(lines)
  return table.concat(lines, '\n') .. '\n'
end

---@param list string[]
---@param first integer
---@param last integer
---@return string[]
local function slice(list, first, last)
  return vim.list_slice(list, first, last)
end

---@param list string[]
---@param first integer 0-based
---@param last integer
---@param new string[]
---@return string[]
local function spliced(list, first, last, new)
  local out = slice(list, 1, first)
  vim.list_extend(out, new)
  return vim.list_extend(out, slice(list, last + 1, #list))
end

--- `{old_first, old_count, new_first, new_count}` each, 0-based firsts.
---@param file dcode.FakeFile
---@return integer[][]
local function diff(file)
  local fn = vim.text and vim.text.diff or vim.diff
  local found = fn(joined(file.base), joined(file.text), { result_type = 'indices' })
  for _, d in ipairs(found) do
    d[1] = d[2] == 0 and d[1] or d[1] - 1
    d[3] = d[4] == 0 and d[3] or d[3] - 1
  end
  return found
end

---@param file dcode.FakeFile
---@return dcode.Hunk[]
local function hunks(file)
  local list = {}
  for i, d in ipairs(diff(file)) do
    list[i] = {
      id = ('%s:%d'):format(file.path, d[1]),
      path = file.path,
      buf = file.buf,
      start = math.max(math.min(d[3] + 1, #file.text), 1),
      count = d[4],
      removed = slice(file.base, d[1] + 1, d[1] + d[2]),
      added = slice(file.text, d[3] + 1, d[3] + d[4]),
      at_end = d[4] == 0 and d[3] == #file.text and d[3] > 0 or nil,
      at = d,
    }
  end
  return list
end

--- A change of the person outside all hunks is agreed to.
---@param file dcode.FakeFile
---@param first integer
---@param last integer
---@param new string[]
local function follow(file, first, last, new)
  local by = 0
  for _, d in ipairs(diff(file)) do
    local from, to = d[3], d[3] + d[4]
    if first < to and from < last then
      return
    elseif from == to and first == from and last == from then
      return
    elseif to <= first then
      by = d[1] + d[2] - to
    end
  end
  file.base = spliced(file.base, first + by, last + by, new)
end

--- A library with nothing but the review in it. `calls` are the actions it was asked for.
---@return table native
function M.new()
  ---@type table<integer, dcode.FakeFile>
  local files = {}
  local native = { protocol_version = 1, calls = {}, ops = {}, policy = 'on_edit', created = {} }
  local on = {}

  function on.attach(o)
    local lines = vim.api.nvim_buf_get_lines(o.buf, 0, -1, false)
    files[o.buf] = { buf = o.buf, path = o.path, base = lines, text = lines, moments = {} }
    return { hunks = 0 }
  end

  function on.detach(o)
    files[o.buf] = nil
    return true
  end

  function on.lines(o)
    local file = files[o.buf]
    local new = vim.api.nvim_buf_get_lines(o.buf, o.first, o.new_last, false)
    if o.origin == 'person' then
      follow(file, o.first, o.last, new)
    end
    file.text = spliced(file.text, o.first, o.last, new)
    local shown = vim.tbl_map(function(hunk)
      return { hunk.removed, hunk.added }
    end, hunks(file))
    return { hunks = #shown, revision = vim.inspect(shown) }
  end

  --- One by one, each in the numbers of its own time; only the last answer counts.
  function on.batch(o)
    local file, moved, changes = files[o.buf], 0, {}
    for i = #o.changes - 2, 1, -3 do
      local first, last, new_last = unpack(o.changes, i, i + 2)
      local at = first + moved
      local new = vim.api.nvim_buf_get_lines(o.buf, at, at + new_last - first, false)
      moved = moved + new_last - last
      table.insert(changes, 1, { first, last, new })
    end
    for _, change in ipairs(changes) do
      if o.origin == 'person' then
        follow(file, unpack(change))
      end
      file.text = spliced(file.text, unpack(change))
    end
    return { hunks = #hunks(file), revision = vim.inspect(file.text) }
  end

  function on.resync(o)
    files[o.buf].text = vim.api.nvim_buf_get_lines(o.buf, 0, -1, false)
    files[o.buf].base = files[o.buf].text
    return true
  end

  function on.mark(o)
    local file = files[o.buf]
    file.moments[o.seq] = { base = file.base, text = file.text }
    return true
  end

  function on.arrive(o)
    local file = files[o.buf]
    local moment = file.moments[o.seq]
    local same = moment ~= nil and vim.deep_equal(moment.text, file.text)
    if same then
      file.base = moment.base
    end
    return { restored = same }
  end

  function on.eol()
    return true
  end

  function on.removed(o)
    files[o.buf].base = files[o.buf].text
    return true
  end

  ---@return { file: dcode.FakeFile, hunk: dcode.Hunk }[]
  local function chosen(o)
    local out = {}
    for _, buf in ipairs(vim.tbl_keys(files)) do
      for _, hunk in ipairs(hunks(files[buf])) do
        local last = hunk.start + math.max(hunk.count, 1) - 1
        local hit = (not o.buf or o.buf == buf)
          and (not o.hunk or o.hunk == hunk.id)
          and (not o.range or (hunk.start <= o.range[2] and o.range[1] <= last))
        if hit then
          out[#out + 1] = { file = files[buf], hunk = hunk }
        end
      end
    end
    return out
  end

  function on.accept(o)
    local list, paths = chosen(o), {}
    for i = #list, 1, -1 do
      local file, d = list[i].file, list[i].hunk.at
      file.base = spliced(file.base, d[1], d[1] + d[2], list[i].hunk.added)
      paths[file.path] = true
    end
    return { count = #list, paths = vim.tbl_keys(paths) }
  end

  function on.reject(o)
    local list, by_buf, out = chosen(o), {}, {}
    for _, item in ipairs(list) do
      local row = by_buf[item.file.buf]
      if not row then
        row = { path = item.file.path, buf = item.file.buf, edits = {} }
        row.remove = native.created[row.path] or false
        by_buf[row.buf] = row
        out[#out + 1] = row
      end
      local d = item.hunk.at
      row.edits[#row.edits + 1] = { start = d[3], end_ = d[3] + d[4], lines = item.hunk.removed }
    end
    return { count = #list, files = out }
  end

  function on.rejected()
    return true
  end

  function on.written()
    return true
  end

  function native.review(o)
    native.calls[#native.calls + 1] = o
    if o.buf and o.action ~= 'attach' and not files[o.buf] then
      return nil, 'Nothing waits for review in this buffer.'
    end
    return on[o.action](o)
  end

  function native.status()
    return { state = 'idle', pending_hunks = #native.hunks({}) }
  end

  function native.hunks(o)
    local out = {}
    for _, buf in ipairs(vim.tbl_keys(files)) do
      if (not o.buf or o.buf == buf) and (not o.path or o.path == files[buf].path) then
        vim.list_extend(out, hunks(files[buf]))
      end
    end
    return out
  end

  function native.spans(o)
    local out = {}
    for _, hunk in ipairs(native.hunks(o)) do
      local flags = hunk.at_end and 1 or 0
      vim.list_extend(out, { hunk.id, hunk.start, hunk.count, #hunk.removed, flags })
    end
    return out
  end

  function native.review_files()
    local out = {}
    for buf, file in pairs(files) do
      local list = native.hunks({ buf = buf })
      local row = { path = file.path, buf = buf, hunks = #list, added = 0, removed = 0 }
      for _, hunk in ipairs(list) do
        row.added, row.removed = row.added + hunk.count, row.removed + #hunk.removed
      end
      if #list > 0 then
        out[#out + 1] = row
      end
    end
    table.sort(out, function(a, b)
      return a.path < b.path
    end)
    return out
  end

  function native.base(o)
    for _, file in pairs(files) do
      if file.path == o.path then
        return file.base
      end
    end
    return nil, 'Nothing waits for review in this file.'
  end

  function native.seen(o)
    local out = {}
    for _, hunk in ipairs(native.hunks({ buf = o.buf })) do
      local last = hunk.start + math.max(hunk.count, 1) - 1
      if hunk.start <= o.last and o.first <= last then
        hunk.gone = #hunk.removed
        hunk.added = hunk.gone == hunk.count and hunk.added or {}
        hunk.at_end = hunk.at_end or false
        out[#out + 1] = hunk
      end
    end
    return out
  end

  function native.submit(op)
    native.ops[#native.ops + 1] = op
    return true
  end

  function native.config()
    return { { key = 'save', value = native.policy, source = 'test' } }
  end

  return native
end

return M
