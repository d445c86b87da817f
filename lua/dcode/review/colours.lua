--- The syntax colours of lines that are not in the buffer any more: by treesitter where it colours
--- the buffer, else by 'syntax'. Lines of the buffer around them are looked at as well, so that a
--- piece of a file is understood.
local M = {}

--- Lines around removed ones that are read with them.
local ABOVE, BELOW = 60, 20
--- Longer lines stay plain.
local MAX_BYTES = 1000
--- How many answers are kept: many more than windows can show, or they would drive each other out.
local MAX_KEPT = 5000

---@type table<string, dcode.Segment[][]>
local kept = {}
local kept_count = 0

---@class dcode.Painter how the buffer is coloured
---@field kind 'treesitter'|'syntax'
---@field name string language or syntax

---@param buf integer
---@return dcode.Painter?
local function painter(buf)
  -- Where removed lines are told by the colour of their letters, they keep it.
  if not vim.o.termguicolors and not vim.api.nvim_get_hl(0, { name = 'DcodeDelete' }).ctermbg then
    return nil
  end
  local active = vim.treesitter.highlighter.active[buf]
  if active then
    return { kind = 'treesitter', name = active.tree:lang() }
  end
  local syntax = vim.bo[buf].syntax
  if syntax ~= '' and syntax ~= 'off' and syntax ~= 'ON' and vim.g.syntax_on then
    return { kind = 'syntax', name = syntax }
  end
end

--- One group a byte as ascending segments.
---@param groups table<integer, string> by byte, 0-based
---@param length integer
---@return dcode.Segment[]
local function segments(groups, length)
  local out = {}
  local at = 0
  while at < length do
    local group, first = groups[at], at
    repeat
      at = at + 1
    until at >= length or groups[at] ~= group
    if group then
      out[#out + 1] = { first, at, group }
    end
  end
  return out
end

---@param lines string[] with what is around
---@param from integer 1-based
---@param count integer
---@param lang string
---@return dcode.Segment[][]
local function by_treesitter(lines, from, count, lang)
  local text = table.concat(lines, '\n') .. '\n'
  local parser = vim.treesitter.get_string_parser(text, lang)
  parser:parse(true)
  local painted = {}
  for i = 1, count do
    painted[i] = {}
  end
  parser:for_each_tree(function(tree, ltree)
    local name = ltree:lang()
    local query = vim.treesitter.query.get(name, 'highlights')
    if not query then
      return
    end
    for id, node, meta in query:iter_captures(tree:root(), text, from - 1, from - 1 + count) do
      local capture = query.captures[id]
      if capture:sub(1, 1) ~= '_' and not capture:find('^n?o?spell$') then
        local range = vim.treesitter.get_range(node, text, meta and meta[id])
        local group = '@' .. capture .. '.' .. name
        local first, last = range[1] - from + 2, range[4] - from + 2
        for row = math.max(first, 1), math.min(last, count) do
          local line = lines[from + row - 1]
          local a = row == first and range[2] or 0
          local b = row == last and range[5] or #line
          for byte = a, #line <= MAX_BYTES and b - 1 or -1 do
            painted[row][byte] = group
          end
        end
      end
    end
  end)
  local out = {}
  for i = 1, count do
    out[i] = segments(painted[i], #lines[from + i - 1])
  end
  return out
end

---@type table<string, integer> scratch buffers by syntax
local scratch = {}

---@param syntax string
---@return integer
local function scratch_for(syntax)
  local buf = scratch[syntax]
  if not buf or not vim.api.nvim_buf_is_valid(buf) then
    buf = vim.api.nvim_create_buf(false, true)
    vim.bo[buf].undolevels = -1
    scratch[syntax] = buf
    vim.bo[buf].syntax = syntax
  end
  return buf
end

---@param lines string[]
---@param from integer
---@param count integer
---@param syntax string
---@return dcode.Segment[][]
local function by_syntax(lines, from, count, syntax)
  local buf, names, out = scratch_for(syntax), {}, {}
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.api.nvim_buf_call(buf, function()
    for i = 1, count do
      local line, painted = lines[from + i - 1], {}
      for byte = 0, #line <= MAX_BYTES and #line - 1 or -1 do
        local id = vim.fn.synID(from + i - 1, byte + 1, 1)
        if id > 0 then
          names[id] = names[id] or vim.fn.synIDattr(id, 'name')
          painted[byte] = names[id]
        end
      end
      out[i] = segments(painted, #line)
    end
  end)
  return out
end

---@param buf integer
---@param hunk dcode.SeenHunk
---@return string[] lines, integer from
local function around(buf, hunk)
  local row = hunk.at_end and hunk.start or hunk.start - 1
  local lines = vim.api.nvim_buf_get_lines(buf, math.max(row - ABOVE, 0), row, false)
  local from = #lines + 1
  vim.list_extend(lines, hunk.removed)
  local below = row + hunk.count
  vim.list_extend(lines, vim.api.nvim_buf_get_lines(buf, below, below + BELOW, false))
  return lines, from
end

---@param who dcode.Painter
---@param hunk dcode.SeenHunk
---@return string
local function key(who, hunk)
  return who.kind .. who.name .. '\0' .. table.concat(hunk.removed, '\n')
end

--- The colours of a hunk's removed lines, if they are known already. Nil also where there are none.
---@param buf integer
---@param hunk dcode.SeenHunk
---@return dcode.Segment[][]?
function M.known(buf, hunk)
  local who = #hunk.removed > 0 and painter(buf)
  return who and kept[key(who, hunk)] or nil
end

--- Whether they can be found and are not known.
---@param buf integer
---@param hunk dcode.SeenHunk
---@return boolean
function M.wanted(buf, hunk)
  local who = #hunk.removed > 0 and painter(buf)
  return who and kept[key(who, hunk)] == nil or false
end

--- Finds them. Not while the screen is drawn: a scratch buffer may be filled.
---@param buf integer
---@param hunk dcode.SeenHunk
function M.find(buf, hunk)
  local who = painter(buf)
  if not who then
    return
  end
  local lines, from = around(buf, hunk)
  local paint = who.kind == 'treesitter' and by_treesitter or by_syntax
  local ok, found = pcall(paint, lines, from, #hunk.removed, who.name)
  if kept_count >= MAX_KEPT then
    kept, kept_count = {}, 0
  end
  kept[key(who, hunk)] = ok and found or {}
  kept_count = kept_count + 1
end

return M
