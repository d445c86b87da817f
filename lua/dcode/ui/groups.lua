--- Highlight groups of the chat and the floats: links to what every colour scheme has.
local M = {}

---@type table<string, string>
M.LINKS = {
  DcodeTitle = 'FloatTitle',
  DcodeHint = 'Comment',
  DcodeRisk = 'DiagnosticError',
  DcodeAsk = 'DiagnosticWarn',
  DcodeOk = 'DiagnosticOk',
  DcodeAdd = 'DiffAdd',
  DcodeDelete = 'DiffDelete',
  DcodeUser = 'Title',
  DcodeTool = 'Identifier',
  DcodeOutput = 'Comment',
  DcodeSelected = 'CursorLine',
  DcodeModeManual = 'DiagnosticOk',
  DcodeModeAskAll = 'DiagnosticInfo',
  DcodeModeReadOnly = 'DiagnosticInfo',
  DcodeModeAuto = 'DiagnosticWarn',
  DcodeModeYolo = 'DiagnosticError',
}

local function define()
  for name, link in pairs(M.LINKS) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
end

local defined = false

--- Defines the groups, now and after every `:colorscheme`. A group that the person has defined
--- stays.
function M.setup()
  if defined then
    return
  end
  defined = true
  define()
  vim.api.nvim_create_autocmd('ColorScheme', {
    group = require('dcode.exit').augroup(),
    desc = 'dcode: link the highlight groups',
    callback = define,
  })
end

return M
