--- Lines removed above the first and below the last line of a buffer: Neovim shows virtual lines there
--- only to a window that is scrolled to them.
local M = {}

local draw = require('dcode.review.draw')

--- Scrolls windows that stand at line 1 up to what was removed above it.
---@param buf integer
function M.top(buf)
  local canvas = draw.ensure(buf)
  local first = canvas and canvas.spans[1]
  if not canvas or not first or first.start ~= 1 or first.gone == 0 or first.at_end then
    return
  end
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_call(win, function()
      local view = vim.fn.winsaveview()
      local room = math.max(vim.api.nvim_win_get_height(win) - view.lnum, 0)
      if view.topline == 1 and view.topfill == 0 and room > 0 then
        vim.fn.winrestview({ topline = 1, topfill = math.min(canvas.above, room) })
      end
    end)
  end
end

--- Scrolls a window that shows the last line down to what was removed below it.
---@param win integer
function M.bottom(win)
  local canvas = draw.ensure(vim.api.nvim_win_get_buf(win))
  local last = canvas and canvas.spans[#canvas.spans]
  if not last or not last.at_end or vim.fn.line('w$', win) < last.start then
    return
  end
  vim.api.nvim_win_call(win, function()
    local view = vim.fn.winsaveview()
    local info, top = vim.fn.getwininfo(win)[1], view.topline
    local height = info.height - info.winbar
    local limit = math.min(view.lnum, top + height)
    while top < limit and vim.api.nvim_win_text_height(win, { start_row = top - 1 }).all > height do
      top = top + 1
    end
    if top > view.topline then
      vim.fn.winrestview({ topline = top })
    end
  end)
end

return M
