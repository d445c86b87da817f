--- Asks the engine for something of the session that is looked at once.
local M = {}

---@param what 'models'|'usage'|'context'
---@param show fun(report: table)
---@return any? value, string? message
function M.ask(what, show)
  local session = require('dcode.session')
  local ticket, why = session.submit({ type = 'report', what = what })
  if not ticket then
    return nil, why
  end
  session.tickets[ticket] = function(ev)
    show(ev.report)
  end
  return true
end

return M
