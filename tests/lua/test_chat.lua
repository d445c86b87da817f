-- The chat buffer follows the transcript, whatever happens to its windows.
package.path = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)) .. '/?.lua;' .. package.path
local support = require('support.fake_native')
support.start()
local transcript = require('dcode.ui.transcript')
local render = require('dcode.ui.chat_render')
local view = require('dcode.ui.chat_view')
local chat = require('dcode.ui.chat')

local M = {}

local function drawn()
  view.flush()
  return vim.api.nvim_buf_get_lines(view.current(), 0, -1, false)
end

local function expected()
  local width = vim.api.nvim_win_get_width(chat.window()) - 1
  local o = { width = width, signs = require('dcode.ui.signs').get(), now = 0 }
  local out = {}
  for i, item in ipairs(transcript.items) do
    vim.list_extend(out, render.item(item, transcript.items[i - 1], o).lines)
  end
  return #out > 0 and out or { '' }
end

local function fresh()
  transcript.clear()
  chat.open()
end

function M.random_streams_end_equal_to_a_full_drawing(t)
  math.randomseed(7)
  local pieces = { 'word ', 'x\n', '\n\n', '日本', '```\n', '- a', ' ' }
  for _ = 1, 40 do
    fresh()
    local running = {}
    for step = 1, 60 do
      local dice = math.random(8)
      if dice <= 3 then
        transcript.text({ turn = 1, text = pieces[math.random(#pieces)] })
      elseif dice == 4 then
        transcript.reasoning({ turn = 1, text = 'hm\nhm' })
      elseif dice == 5 then
        running[#running + 1] = step
        transcript.tool_started({ call = step, tool = 'bash', title = 'ls' })
      elseif dice == 6 and #running > 0 then
        local call = table.remove(running, math.random(#running))
        transcript.tool_finished({
          call = call,
          tool = 'bash',
          outcome = 'failed',
          summary = 'exit 1',
          text = 'a\nb',
          elapsed_ms = 1,
        })
      elseif dice == 7 and #transcript.items > 0 then
        transcript.toggle(math.random(#transcript.items))
      elseif dice == 8 then
        view.flush()
      end
    end
    t.eq(expected(), drawn())
  end
end

function M.the_first_words_of_a_turn_are_drawn_at_once(t)
  fresh()
  transcript.turn_started({ turn = 1, text = 'go' })
  view.flush()
  -- Silence: the model thinks.
  vim.wait(40, function()
    return false
  end)
  local function last()
    local lines = vim.api.nvim_buf_get_lines(view.current(), 0, -1, false)
    return lines[#lines]
  end
  transcript.text({ turn = 1, text = 'First' })
  t.eq('First', last())
  -- What follows at once waits for the next frame, and nothing is lost.
  transcript.text({ turn = 1, text = ' words' })
  t.eq('First', last())
  vim.wait(1000, function()
    return last() == 'First words'
  end, 1)
  t.eq('First words', last())
end

function M.a_wiped_buffer_comes_back_whole(t)
  fresh()
  transcript.text({ turn = 1, text = 'one\n' })
  drawn()
  vim.cmd.bwipeout({ args = { tostring(view.current()) }, bang = true })
  transcript.text({ turn = 1, text = 'two' })
  view.flush()
  t.eq(nil, view.current())
  vim.wait(50)
  chat.open()
  t.eq({ 'one', 'two' }, drawn())
end

function M.it_follows_the_end_until_the_person_scrolls(t)
  fresh()
  for i = 1, 100 do
    transcript.text({ turn = 1, text = 'line ' .. i .. '\n' })
  end
  drawn()
  local win = chat.window()
  t.eq(100, vim.api.nvim_win_get_cursor(win)[1])
  vim.api.nvim_win_set_cursor(win, { 10, 0 })
  vim.api.nvim_win_call(win, function()
    vim.cmd.normal({ 'zt', bang = true })
  end)
  transcript.text({ turn = 1, text = 'more\nand more' })
  drawn()
  t.eq(10, vim.api.nvim_win_get_cursor(win)[1])
end

function M.enter_opens_the_row_under_the_cursor(t)
  fresh()
  transcript.tool_started({ call = 'a', tool = 'ls', title = '.' })
  transcript.tool_finished({
    call = 'a',
    tool = 'ls',
    outcome = 'ok',
    summary = '',
    text = 'a.rs',
    elapsed_ms = 1,
  })
  drawn()
  vim.api.nvim_set_current_win(chat.window())
  view.toggle()
  t.eq({ '▾ ls .', '    a.rs' }, drawn())
  view.toggle()
  t.eq({ '▸ ls .' }, drawn())
  t.eq(false, vim.bo[view.current()].modifiable)
end

function M.closing_the_transcript_closes_the_input(t)
  fresh()
  local input = require('dcode.ui.input')
  assert(input.window())
  vim.cmd.wincmd({ 't' })
  vim.api.nvim_win_close(chat.window(), true)
  vim.wait(500, function()
    return input.window() == nil
  end)
  t.eq({ nil, false }, { input.window(), chat.visible() })
  chat.toggle()
  t.eq(true, chat.visible())
  chat.toggle()
  t.eq(false, chat.visible())
end

--- Leaves the windows of the chat alone on the screen, closes the chat, and says what is there.
---@return integer win, string name
local function close_as_last_window()
  fresh()
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    if win ~= chat.window() and win ~= require('dcode.ui.input').window() then
      vim.api.nvim_win_close(win, true)
    end
  end
  chat.close()
  local wins = vim.api.nvim_list_wins()
  assert(#wins == 1, vim.inspect(wins))
  return wins[1], vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(wins[1]))
end

function M.closing_the_chat_as_last_window_leaves_a_window_like_any_other(t)
  local code = vim.fn.tempname() .. '.lua'
  vim.cmd.edit(code)
  local win, name = close_as_last_window()
  t.eq({ vim.fs.basename(code), false }, { vim.fs.basename(name), chat.visible() })
  for _, option in ipairs({
    'winfixbuf',
    'winfixwidth',
    'winfixheight',
    'winbar',
    'statusline',
    'statuscolumn',
    'breakindent',
    'signcolumn',
    'foldenable',
  }) do
    local here = vim.api.nvim_get_option_value(option, { win = win })
    t.eq({ option, vim.api.nvim_get_option_value(option, { scope = 'global' }) }, { option, here })
  end
  vim.cmd.enew()
  chat.open()
  t.eq({ true, 3 }, { chat.visible(), #vim.api.nvim_list_wins() })
end

function M.without_another_buffer_the_last_window_shows_an_empty_one(t)
  vim.cmd('silent! only')
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.bo[buf].buflisted then
      pcall(vim.api.nvim_buf_delete, buf, { force = true })
    end
  end
  local _, name = close_as_last_window()
  t.eq({ '', '' }, { name, vim.bo.buftype })
  t.eq({ '' }, vim.api.nvim_buf_get_lines(0, 0, -1, false))
end

function M.the_input_takes_no_more_room_than_its_text_when_another_window_is_gone(t)
  fresh()
  local input = require('dcode.ui.input')
  vim.cmd('botright 20new')
  vim.cmd.close()
  vim.api.nvim_win_set_height(input.window(), 9)
  chat.refit()
  t.eq(2, vim.api.nvim_win_get_height(input.window()))
end

function M.no_signs_of_empty_lines_below_the_text(t)
  fresh()
  for _, win in ipairs({ chat.window(), require('dcode.ui.input').window() }) do
    assert(vim.wo[win].fillchars:find('eob: ', 1, true), vim.wo[win].fillchars)
  end
end

function M.sent_lines_come_back_with_up(t)
  fresh()
  local input, history = require('dcode.ui.input'), require('dcode.ui.history')
  history.reset()
  input.focus()
  input.set('first')
  input.send()
  input.set('second')
  input.send()
  input.set('draft')
  input.browse(-1)
  t.eq('second', input.text())
  input.browse(-1)
  input.browse(-1)
  t.eq('first', input.text())
  input.browse(1)
  input.browse(1)
  t.eq('draft', input.text())
  vim.cmd.stopinsert()
end

return M
