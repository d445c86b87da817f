package.path = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)) .. '/?.lua;' .. package.path
local ed = require('support.editor')

local T = {}

function T.a_buffer_is_found_by_its_file_not_by_a_pattern(t)
  ed.start()
  local odd, path = ed.open('a[1]*.txt', 'x\n')
  ed.open('a1.txt', 'y\n')
  t.eq(odd, require('dcode.buffers').find(path))
  t.eq(nil, require('dcode.buffers').find(vim.fs.dirname(path) .. '/a2.txt'))
end

function T.a_buffer_opened_through_a_link_is_found(t)
  ed.start()
  local _, path = ed.open('real.txt', 'x\n')
  vim.cmd('bwipeout')
  local link = vim.fs.dirname(path) .. '/link.txt'
  vim.uv.fs_unlink(link)
  assert(vim.uv.fs_symlink(path, link))
  vim.cmd.edit(link)
  t.eq(vim.api.nvim_get_current_buf(), require('dcode.buffers').find(path))
end

function T.special_and_unloaded_buffers_hold_no_file(t)
  ed.start()
  local buf, path = ed.open('special.txt', 'x\n')
  vim.bo[buf].buftype = 'nofile'
  t.eq(nil, require('dcode.buffers').find(path))
  vim.bo[buf].buftype = ''
  vim.cmd.enew()
  vim.cmd.bunload(buf)
  t.eq(nil, require('dcode.buffers').find(path))
end

function T.requests_for_text_are_answered(t)
  local native = ed.start()
  local buf, path = ed.open('t.txt', 'x\n')
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, { 'y' })
  local buffers = require('dcode.buffers')
  buffers.answer(1, { kind = 'read_buffer', path = path })
  buffers.answer(2, { kind = 'read_buffer', path = path .. '.no' })
  buffers.answer(3, { kind = 'unsaved' })
  t.eq(
    {
      { kind = 'buffer', buf = buf, modified = true, eol = true },
      { kind = 'buffer' },
      { kind = 'unsaved', buffers = { { path = path, buf = buf, eol = true } } },
    },
    vim.tbl_map(function(op)
      return op.reply
    end, native.ops)
  )
end

function T.a_file_changed_on_disk_is_read_again_without_a_question(t)
  ed.start()
  local buf, path = ed.open('disk.txt', 'x\n')
  vim.bo[buf].autoread = false
  ed.write(path, 'longer than before\n')
  vim.uv.fs_utime(path, os.time() + 10, os.time() + 10)
  require('dcode.buffers').changed({ path })
  t.eq({ 'longer than before' }, ed.lines(buf))
end

return T
