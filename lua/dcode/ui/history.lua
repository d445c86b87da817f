--- Prompts that were sent, for <Up> and <Down>. Data only.
local M = {}

local LIMIT = 200

---@type string[]
local sent = {}
---@type integer position while looking back; #sent + 1 is the draft
local at = 1
local draft = ''

--- Remembers a prompt.
---@param text string
function M.add(text)
  if sent[#sent] ~= text then
    sent[#sent + 1] = text
    if #sent > LIMIT then
      table.remove(sent, 1)
    end
  end
  at = #sent + 1
end

--- The older (-1) or newer (+1) prompt; nil at the end. What was being typed is kept and comes
--- back.
---@param step -1|1
---@param current string what stands in the input now
---@return string?
function M.move(step, current)
  local to = at + step
  if to < 1 or to > #sent + 1 then
    return nil
  end
  if at == #sent + 1 then
    draft = current
  end
  at = to
  return sent[to] or draft
end

--- Forgets everything; for tests.
function M.reset()
  sent, at, draft = {}, 1, ''
end

return M
