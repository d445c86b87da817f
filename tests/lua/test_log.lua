-- Sentences in the message line of a terminal.
package.path = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)) .. '/?.lua;' .. package.path

local M = {}

--- Calls `fn` with a Neovim of 80 columns.
---@param fn fun(child: dcode.Child)
local function with_child(fn)
  local child = require('support.child').start()
  local ok, err = pcall(fn, child)
  child:stop()
  assert(ok, err)
end

--- What `:messages` has of ours.
---@param child dcode.Child
---@return string[]
local function said(child)
  local all = vim.split(child:lua([[return vim.fn.execute('messages')]]), '\n')
  return vim.tbl_filter(function(line)
    return vim.startswith(line, 'dcode:')
  end, all)
end

function M.a_long_sentence_takes_one_line_and_messages_has_it_whole(t)
  with_child(function(child)
    -- A message that asks for <CR> would leave the child in another mode.
    child:type([[:lua require('dcode.log').notify('error', ('word '):rep(40) .. 'end.')<CR>]])
    local screen = child:screen()
    t.eq('dcode: word', screen[#screen]:sub(1, 11))
    t.eq({ 'dcode: ' .. ('word '):rep(40) .. 'end.' }, said(child))
  end)
end

function M.several_sentences_at_once_do_not_ask_for_enter(t)
  with_child(function(child)
    child:type([[:lua for i = 1, 3 do require('dcode.log').notify('warn', 'no ' .. i) end<CR>]])
    t.eq({ 'dcode: no 1', 'dcode: no 2', 'dcode: no 3' }, said(child))
  end)
end

return M
