--- Bringing back what was rejected.
local M = {}

local edits = require('dcode.review.edits')
local review = require('dcode.review')

--- Brings back what was rejected last in a buffer, also when `u` would take other things along. It waits
--- for review again.
---@param buf integer
---@return integer? count how many hunks, string? message
function M.bring_back(buf)
  buf = buf == 0 and vim.api.nvim_get_current_buf() or buf
  local native = require('dcode.session').state.native
  if not native then
    return nil, 'Nothing was rejected here.'
  end
  local held = require('dcode.review.queue').held()
  if held then
    return nil, ('The text cannot change now: %s.'):format(held)
  elseif not vim.bo[buf].modifiable then
    return nil, 'This buffer may not be changed. :set modifiable allows it.'
  end
  local path = require('dcode.buffers').path(buf)
  if not review.get(buf) and path then
    return native.submit({ type = 'bring_back', path = path })
  end
  local answer = native.review({ action = 'bring_back', buf = buf })
  if not answer then
    return nil, 'Nothing that was rejected here can be brought back.'
  end
  local list = edits.read(answer.edits)
  local was_modified = vim.bo[buf].modified
  review.mark(buf)
  review.as(buf, 'agent', function()
    edits.apply(buf, list)
    if not was_modified and require('dcode.review.save').policy() == 'on_edit' then
      require('dcode.review.save').write_or_tell(buf)
    end
  end)
  edits.end_block(buf)
  review.mark(buf)
  review.refresh(buf)
  return #list
end

return M
