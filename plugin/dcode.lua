-- Commands and <Plug> maps. Nothing is required, and no library is loaded, before one of them is
-- used.
if vim.g.loaded_dcode then
  return
end
vim.g.loaded_dcode = true

if vim.fn.has('nvim-0.10') == 0 then
  vim.notify('dcode needs Neovim 0.10 or newer.', vim.log.levels.ERROR)
  return
end

local command = vim.api.nvim_create_user_command

command('Dcode', function(opts)
  require('dcode.commands').run(opts)
end, {
  nargs = '*',
  range = true,
  bang = true,
  desc = 'Ask the agent, or run one of its subcommands',
  complete = function(...)
    return require('dcode.commands').complete(...)
  end,
})

command('DcodeUndo', function(opts)
  require('dcode.commands').undo(opts.args, opts.bang)
end, {
  nargs = '?',
  bang = true,
  desc = "Take back the agent's last step, N steps, or (!) the last turn",
})

command('DcodeRedo', function()
  require('dcode.commands').redo()
end, { nargs = 0, desc = 'Take back the last :DcodeUndo' })

local function plug(name, modes, desc)
  local opts = { noremap = true, desc = 'dcode: ' .. desc }
  opts.callback = function()
    require('dcode.keymaps').press(name)
  end
  for mode in modes:gmatch('.') do
    vim.api.nvim_set_keymap(mode, '<Plug>(dcode-' .. name .. ')', '', opts)
  end
end

--- A map that stands for other keys.
local function operator(name, desc)
  vim.api.nvim_set_keymap('n', '<Plug>(dcode-' .. name .. ')', '', {
    noremap = true,
    expr = true,
    desc = 'dcode: ' .. desc,
    callback = function()
      return require('dcode.keymaps').OPERATORS[name]()
    end,
  })
end

operator('accept', 'accept the hunk')
operator('reject', 'reject the hunk')
operator('accept-operator', 'accept the lines of a motion')
operator('reject-operator', 'reject the lines of a motion')
plug('accept', 'x', 'accept the selected lines')
plug('reject', 'x', 'reject the selected lines')
plug('accept-file', 'n', 'accept all hunks of this file')
plug('reject-file', 'n', 'reject all hunks of this file')
plug('accept-all', 'n', 'accept all hunks')
plug('reject-all', 'n', 'reject all hunks')
plug('next', 'n', 'next hunk')
plug('prev', 'n', 'previous hunk')
plug('hunk', 'ox', 'the lines of the hunk')
plug('compare', 'n', 'compare with the text before, side by side')
plug('comment', 'n', 'comment on the hunk for the agent')
plug('review', 'n', 'list what waits for review')
plug('unreject', 'n', 'bring back what was rejected last')
plug('timeline', 'n', 'the steps of the agent')
plug('mode', 'ni', 'next permission mode')
plug('answer', 'n', 'go to the open question')
plug('chat', 'n', 'open or close the chat')

-- What waited when the last Neovim ended is offered. A look at a folder; nothing is loaded when
-- nothing waits.
vim.api.nvim_create_autocmd('UIEnter', {
  once = true,
  group = vim.api.nvim_create_augroup('dcode_start', {}),
  desc = 'dcode: offer what waits from an earlier session',
  callback = vim.schedule_wrap(function()
    if vim.uv.fs_stat(vim.fn.stdpath('state') .. '/dcode/waiting') then
      require('dcode.resume').look()
    end
  end),
})
