--- Highlight groups: links to what every colour scheme has. A group that the person has defined
--- stays.
local M = {}

---@type table<string, string>
M.LINKS = {
  DcodeAdd = 'DiffAdd',
  DcodeDelete = 'DiffDelete',
  DcodeWord = 'DiffText',
  DcodeSignAdd = 'DiagnosticOk',
  DcodeSignChange = 'DiagnosticWarn',
  DcodeSignDelete = 'DiagnosticError',
  DcodeHint = 'Comment',
  DcodeTitle = 'FloatTitle',
  DcodeRisk = 'DiagnosticError',
  DcodeAsk = 'DiagnosticWarn',
  DcodeOk = 'DiagnosticOk',
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

--- Defines the groups, now and after every `:colorscheme`.
function M.setup()
  if defined then
    return
  end
  defined = true
  define()
  vim.api.nvim_create_autocmd('ColorScheme', {
    group = vim.api.nvim_create_augroup('dcode', { clear = false }),
    desc = 'dcode: link the highlight groups',
    callback = define,
  })
end

return M
