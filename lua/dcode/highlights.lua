--- Highlight groups, made of what every colour scheme has. A group that the person has defined
--- stays.
---
--- Most are links. The colours of hunks are backgrounds only, so that the syntax shows through: that
--- of the scheme's diff colours, or a tint of the letters' colour where the scheme has no background.
local M = {}

---@type table<string, string>
M.LINKS = {
  DcodeWord = 'DiffText',
  DcodeSignAdd = 'DiagnosticOk',
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

--- Group -> the group whose background it takes.
M.TINTS = {
  DcodeAdd = 'DiffAdd',
  DcodeDelete = 'DiffDelete',
}

--- How much of the letters' colour goes into a tint.
local TINT = 0.22

---@param a integer 0xRRGGBB
---@param b integer
---@param part number of `a`
---@return integer
local function mixed(a, b, part)
  local out = 0
  for shift = 16, 0, -8 do
    local x, y = math.floor(a / 2 ^ shift) % 256, math.floor(b / 2 ^ shift) % 256
    out = out * 256 + math.floor(x * part + y * (1 - part) + 0.5)
  end
  return out
end

--- The background of `source` and nothing else; of a group without one, a tint. On a terminal with
--- few colours, where there is no tint, the colour of the letters stays.
---@param source string
---@return vim.api.keyset.highlight
local function tint(source)
  local hl = vim.api.nvim_get_hl(0, { name = source, link = false })
  local normal = vim.api.nvim_get_hl(0, { name = 'Normal', link = false })
  local behind = normal.bg or (vim.o.background == 'light' and 0xffffff or 0x000000)
  local cterm = hl.cterm or {}
  -- Reversed, the letters' colour is what lies behind.
  local bg = not hl.reverse and hl.bg or (hl.fg and mixed(hl.fg, behind, TINT))
  if cterm.reverse or not hl.ctermbg then
    return { bg = bg, ctermfg = hl.ctermfg, ctermbg = hl.ctermbg, cterm = cterm }
  end
  return { bg = bg, ctermbg = hl.ctermbg }
end

---@type table<string, table> what we made of a group
local made = {}

---@param name string
---@return table
local function present(name)
  return vim.api.nvim_get_hl(0, { name = name })
end

--- Defines a group unless the person has.
---@param name string
---@param value vim.api.keyset.highlight
local function put(name, value)
  local now = present(name)
  if next(now) == nil or vim.deep_equal(now, made[name]) then
    vim.api.nvim_set_hl(0, name, value)
    made[name] = present(name)
  end
end

local function define()
  for name, link in pairs(M.LINKS) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
  for name, source in pairs(M.TINTS) do
    put(name, tint(source))
  end
end

local defined = false

--- Defines the groups, now and whenever the colours change.
function M.setup()
  if defined then
    return
  end
  defined = true
  define()
  local group = vim.api.nvim_create_augroup('dcode', { clear = false })
  vim.api.nvim_create_autocmd('ColorScheme', {
    group = group,
    desc = 'dcode: make the highlight groups anew',
    callback = define,
  })
  vim.api.nvim_create_autocmd('OptionSet', {
    group = group,
    pattern = 'background',
    desc = 'dcode: make the highlight groups anew',
    callback = vim.schedule_wrap(define),
  })
end

return M
