--- A native library in Lua: records ops and plays events, so that the front end runs without Rust.
local M = {}

---@class dcode.Fake: dcode.Native
---@field ops dcode.Op[]
---@field started table?
---@field stopped boolean
---@field pending_hunks integer
---@field on table<string, fun(op: table): any?, string?> what an op does beyond being recorded

--- @return dcode.Fake
function M.new()
  local queue, turn, ticket = {}, 0, 0
  local fake = {
    protocol_version = 1,
    ops = {},
    on = {},
    stopped = false,
    pending_hunks = 0,
    rows = { { key = 'mode', value = 'manual', source = 'default' } },
    notices = {},
    mode = 'manual',
  }

  function fake.start(opts)
    fake.started = opts
    return {
      session = '01TEST',
      mode = fake.mode,
      model = 'mock:any',
      scripted = false,
      notices = fake.notices,
    }
  end

  --- Puts events into the queue and rings the bell.
  function fake.emit(...)
    vim.list_extend(queue, { ... })
    fake.started.on_wake()
  end

  function fake.submit(op)
    op = vim.deepcopy(op)
    fake.ops[#fake.ops + 1] = op
    local value = true
    if op.type == 'prompt' then
      turn = turn + 1
      value = turn
    elseif vim.tbl_contains({ 'call', 'explain', 'permissions', 'blame' }, op.type) then
      ticket = ticket + 1
      value = ticket
    end
    local act = fake.on[op.type]
    if act then
      local other, why = act(op, value)
      if why then
        return nil, why
      end
      value = other or value
    end
    return value
  end

  function fake.poll(opts)
    local out = {}
    while #queue > 0 and #out < opts.max do
      out[#out + 1] = table.remove(queue, 1)
    end
    return { events = out, more = #queue > 0 }
  end

  function fake.status()
    return { state = 'idle', mode = fake.mode, pending_hunks = fake.pending_hunks }
  end

  function fake.hunks()
    return {}
  end

  function fake.spans()
    return {}
  end

  function fake.seen()
    return {}
  end

  function fake.review_files()
    return {}
  end

  function fake.review()
    return 0
  end

  function fake.config()
    return fake.rows
  end

  function fake.stop()
    fake.stopped = true
    return true
  end

  --- Ops of one type.
  function fake.sent(type)
    return vim.tbl_filter(function(op)
      return op.type == type
    end, fake.ops)
  end

  return fake
end

--- Stand-ins for the modules that belong to the review.
function M.stub_review()
  local done = {}
  local function stub(name, module)
    package.preload[name] = package.preload[name] or function()
      return module
    end
  end
  local function noop() end
  if #vim.api.nvim_get_runtime_file('lua/dcode/buffers.lua', false) == 0 then
    stub('dcode.buffers', { changed = noop, answer = noop })
    stub('dcode.highlights', { LINKS = {}, setup = noop })
    stub('dcode.review.queue', { push = noop, closed = noop, drain = noop })
    stub('dcode.review', { changed = noop, watch = noop })
    stub('dcode.review.list', { open = noop })
    stub('dcode.review.actions', {
      accept = function(what)
        done[#done + 1] = { 'accept', what }
        return 1
      end,
      reject = function(what)
        done[#done + 1] = { 'reject', what }
        return 1
      end,
      at_cursor = function(verb)
        done[#done + 1] = { verb, 'cursor' }
        return 1
      end,
    })
    stub('dcode.review.navigate', { next = noop, prev = noop })
  end
  return done
end

--- Loads the plugin with a fake library and starts the session.
---@return dcode.Fake
function M.start()
  M.stub_review()
  local fake = M.new()
  require('dcode.native').use(fake)
  assert(require('dcode.session').ensure())
  return fake
end

return M
