--- Base and text side by side, in a tab page of its own: no window of the person is moved.
local M = {}

local log = require('dcode.log')

---@class dcode.Comparison
---@field tab integer
---@field base integer buffer

---@type table<integer, dcode.Comparison> by the buffer that is compared
local open = {}

---@param buf integer
---@return dcode.Comparison?
local function of(buf)
  local one = open[buf]
  if one and vim.api.nvim_tabpage_is_valid(one.tab) and vim.api.nvim_buf_is_valid(one.base) then
    return one
  end
  open[buf] = nil
end

---@param buf integer
---@param path string
---@param lines string[]
---@return integer
local function base_buffer(buf, path, lines)
  local base = vim.api.nvim_create_buf(false, true)
  vim.bo[base].bufhidden = 'wipe'
  vim.bo[base].swapfile = false
  vim.api.nvim_buf_set_lines(base, 0, -1, false, lines)
  vim.bo[base].filetype = vim.bo[buf].filetype
  vim.bo[base].tabstop = vim.bo[buf].tabstop
  vim.bo[base].modifiable = false
  -- A name like a file's would be taken for one.
  pcall(vim.api.nvim_buf_set_name, base, ('dcode://base/%d/%s'):format(base, vim.fs.basename(path)))
  return base
end

---@param one dcode.Comparison
local function close(one)
  if #vim.api.nvim_list_tabpages() > 1 then
    pcall(vim.cmd, 'tabclose ' .. vim.api.nvim_tabpage_get_number(one.tab))
  end
end

--- Opens the comparison of a buffer under review, or closes it.
---@param buf? integer the current one by default
---@return boolean? ok, string? message
function M.toggle(buf)
  buf = buf or vim.api.nvim_get_current_buf()
  local one = of(buf)
  if one then
    close(one)
    return true
  end
  local r = require('dcode.review').get(buf)
  local native = require('dcode.session').state.native
  if not r or not native then
    return nil, 'Nothing waits for review in this buffer.'
  end
  local lines, why = native.base({ path = r.path })
  if not lines then
    return nil, why
  end
  -- Not `:sbuffer`, which goes to a window that shows the buffer where 'switchbuf' says so.
  vim.cmd('tab split')
  local right = vim.api.nvim_get_current_win()
  if vim.api.nvim_win_get_buf(right) ~= buf then
    vim.api.nvim_win_set_buf(right, buf)
  end
  local base = base_buffer(buf, r.path, lines)
  vim.cmd('leftabove vsplit')
  local left = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(left, base)
  one = { tab = vim.api.nvim_get_current_tabpage(), base = base }
  open[buf] = one
  for _, win in ipairs({ left, right }) do
    vim.api.nvim_win_call(win, function()
      vim.cmd.diffthis()
    end)
  end
  vim.wo[left].winbar = '%#DcodeHint# before (q closes)'
  vim.keymap.set('n', 'q', function()
    log.guard('compare', close, one)
  end, { buffer = base, nowait = true, desc = 'dcode: close the comparison' })
  -- Either window closed ends it: no window of a person stays in diff mode.
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = base,
    once = true,
    desc = 'dcode: the comparison is over',
    callback = function()
      open[buf] = nil
      if vim.api.nvim_win_is_valid(right) then
        vim.schedule(function()
          if vim.api.nvim_win_is_valid(right) then
            vim.api.nvim_win_call(right, function()
              vim.cmd.diffoff()
            end)
          end
        end)
      end
    end,
  })
  vim.api.nvim_set_current_win(right)
  return true
end

return M
