-- The least that a chat in Neovim has to do, as the measure of ours: it sends a prompt to a
-- chat-completions server and appends what comes to a buffer. No Rust, no tools, no layout.
local M = {}

function M.setup() end

local function append(buffer, text)
  local last = vim.api.nvim_buf_line_count(buffer) - 1
  local column = #vim.api.nvim_buf_get_lines(buffer, last, last + 1, true)[1]
  vim.api.nvim_buf_set_text(buffer, last, column, last, column, vim.split(text, '\n'))
  local window = vim.fn.bufwinid(buffer)
  vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(buffer), 0 })
end

function M.ask(prompt, port)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.cmd.vsplit()
  vim.api.nvim_win_set_buf(0, buffer)
  local body =
    vim.json.encode({ stream = true, messages = { { role = 'user', content = prompt } } })
  local tcp = assert(vim.uv.new_tcp())
  local held = ''
  tcp:connect('127.0.0.1', port, function(err)
    assert(not err, err)
    tcp:write(
      'POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n'
        .. ('content-length: %d\r\n\r\n%s'):format(#body, body)
    )
    tcp:read_start(function(_, data)
      held = held .. (data or '')
      local text = {}
      held = held:gsub('data: ({[^\n]*})\n', function(json)
        local delta = vim.json.decode(json).choices[1].delta
        text[#text + 1] = delta.content
        return ''
      end)
      if #text > 0 then
        vim.schedule(function()
          append(buffer, table.concat(text))
        end)
      end
    end)
  end)
end

return M
