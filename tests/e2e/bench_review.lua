-- The review on a large buffer, measured inside Neovim: time of the main loop, in milliseconds, the
-- median of some runs. `floor` is the same change of the text with nobody looking on.
local M = {}

local RUNS = 7

---@param lines integer
---@param hunks integer
---@return { first: integer, last: integer, lines: string[] }[]
local function edits_for(lines, hunks)
  local out, step = {}, math.floor(lines / hunks)
  for i = 1, hunks do
    local row = (i - 1) * step + 1
    out[i] =
      { start = row, ['end'] = row + 1, lines = { ('local changed_%d = %d'):format(i, row) } }
  end
  return out
end

---@param fn fun()
---@return number
local function timed(fn)
  local began = vim.uv.hrtime()
  fn()
  return (vim.uv.hrtime() - began) / 1e6
end

---@param times number[]
---@return number
local function median(times)
  table.sort(times)
  return times[math.floor(#times / 2) + 1]
end

---@param lines integer
---@return integer buf
local function open(lines, name)
  local text = {}
  for i = 1, lines do
    text[i] = ('local value_%d = compute(%d, "some text of a line")'):format(i, i)
  end
  vim.fn.writefile(text, name)
  vim.cmd('silent edit ' .. name)
  return vim.api.nvim_get_current_buf()
end

--- The least Lua that makes the same edits in one undo block.
---@param lines integer
---@param hunks integer
function M.floor(lines, hunks)
  local buf, out = open(lines, 'floor.txt'), {}
  local edits = edits_for(lines, hunks)
  local apply, key, jump = {}, {}, {}
  for run = 1, RUNS do
    apply[run] = timed(function()
      for i = #edits, 1, -1 do
        local e = edits[i]
        vim.api.nvim_buf_set_lines(buf, e.start, e['end'], false, e.lines)
      end
      vim.cmd.redraw()
    end)
    vim.cmd('silent undo')
    key[run] = timed(function()
      vim.api.nvim_buf_set_text(buf, 3, 0, 3, 0, { 'x' })
      vim.cmd.redraw()
    end)
    jump[run] = timed(function()
      vim.api.nvim_win_set_cursor(0, { math.floor(lines / 2) + run * 50, 0 })
      vim.cmd.redraw()
    end)
    vim.api.nvim_win_set_cursor(0, { 1, 0 })
    vim.cmd.redraw()
  end
  out.apply, out.key, out.jump = median(apply), median(key), median(jump)
  vim.cmd('silent bwipeout! ' .. buf)
  return out
end

---@param lines integer
---@param hunks integer
function M.run(lines, hunks)
  local review = require('dcode.review')
  local actions = require('dcode.review.actions')
  local navigate = require('dcode.review.navigate')
  local apply = require('dcode.review.apply')
  local buf = open(lines, 'bench.txt')
  local path = require('dcode.buffers').path(buf)
  local times = { apply = {}, accept = {}, reject = {}, key = {}, jump = {}, write = {}, read = {} }
  local list = edits_for(lines, hunks)
  local function put(name, fn)
    table.insert(times[name], timed(fn))
  end
  for _ = 1, RUNS do
    put('read', function()
      assert(review.attach(buf, path))
    end)
    local batch = {
      origin = 'agent',
      label = 'bench',
      files = {
        {
          path = path,
          buf = buf,
          tick = vim.api.nvim_buf_get_changedtick(buf),
          edits = list,
          save = false,
          deleted = false,
        },
      },
    }
    put('apply', function()
      local reply = assert(apply.run(batch))
      assert(reply.kind == 'applied', vim.inspect(reply))
      review.refresh(buf)
      vim.cmd.redraw()
    end)
    assert(#review.hunks(buf) == hunks, #review.hunks(buf))
    put('jump', function()
      navigate.next()
      vim.cmd.redraw()
    end)
    put('key', function()
      local span = actions.here()
      local row = span and span.start - 1 or 1
      vim.api.nvim_buf_set_text(buf, row, 0, row, 0, { 'x' })
      review.refresh(buf)
      vim.cmd.redraw()
    end)
    if hunks > 1 then
      put('accept', function()
        assert(actions.at_cursor('accept') == 1)
        vim.cmd.redraw()
      end)
      navigate.next()
    else
      times.accept = { 0 }
    end
    put('reject', function()
      assert(actions.at_cursor('reject') == 1)
      vim.cmd.redraw()
    end)
    put('write', function()
      vim.cmd('silent noautocmd write!')
    end)
    review.detach(buf)
    require('dcode').accept({ all = true })
    vim.cmd('silent undo 0')
    vim.cmd('silent noautocmd write!')
    vim.api.nvim_win_set_cursor(0, { 1, 0 })
    vim.cmd.redraw()
  end
  local out = {}
  for name, some in pairs(times) do
    out[name] = median(some)
  end
  vim.cmd('silent bwipeout! ' .. buf)
  return out
end

return M
