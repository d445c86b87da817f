---@meta
--- The words that Lua and Rust share. The Rust side (`src/protocol/`) is the source.

---@class dcode.Batch
---@field events dcode.Event[]
---@field more boolean whether more wait

---@class dcode.ConfigRow
---@field key string
---@field value any
---@field source string

---@class dcode.Native
---@field protocol_version integer
---@field start fun(opts: table): table?, string?
---@field submit fun(op: dcode.Op): any?, string?
---@field poll fun(opts: { max: integer }): dcode.Batch?, string?
---@field review fun(opts: table): any?, string?
---@field hunks fun(opts: table): dcode.Hunk[]?, string?
---@field status fun(opts: table): dcode.Status?, string?
---@field config fun(opts: table): dcode.ConfigRow[]?, string?
---@field stop fun(opts: { timeout_ms: integer }): boolean?, string?

---@alias dcode.OpType
---| 'prompt'
---| 'steer'
---| 'unqueue'
---| 'compact'
---| 'interrupt'
---| 'call'
---| 'cancel_call'
---| 'explain'
---| 'report'
---| 'reply'
---| 'undo'
---| 'redo'
---| 'reviewed'
---| 'reject'
---| 'set_mode'
---| 'set_model'
---| 'new_session'
---| 'shutdown'

---@class dcode.Op
---@field type dcode.OpType
---@field [string] any

---@alias dcode.EventType
---| 'session_started'
---| 'turn_started'
---| 'turn_finished'
---| 'text_delta'
---| 'reasoning_delta'
---| 'waiting'
---| 'tool_started'
---| 'tool_progress'
---| 'tool_finished'
---| 'files_changed'
---| 'todo_updated'
---| 'request'
---| 'request_closed'
---| 'hunks_changed'
---| 'waiting_changed'
---| 'words_taken'
---| 'compaction'
---| 'usage'
---| 'mode_changed'
---| 'model_changed'
---| 'notice'
---| 'call_finished'
---| 'explained'
---| 'reported'
---| 'restored'
---| 'stopped'

---@class dcode.Event
---@field type dcode.EventType
---@field turn? integer
---@field [string] any

---@class dcode.TurnFinished
---@field type 'turn_finished'
---@field turn integer
---@field reason 'done'|'interrupted'|'error'|'step_limit'|'loop'
---@field text string the last text of the model
---@field message? string why it failed and what to type

---@class dcode.CallOpts
---@field timeout_ms? integer limit of the tool's own time, 120000 by default
---@field on_request? fun(req: dcode.Request): any

---@class dcode.CallResult
---@field ok boolean
---@field text string what a model would have read
---@field blocks? table[]
---@field decision 'allow'|'ask'|'deny'

---@class dcode.Request
---@field id integer
---@field kind 'approval'|'question'
---@field tool? string
---@field title? string
---@field reason? string
---@field rule? string
---@field commands? { text: string, class: string, decision: string }[]
---@field paths? string[]
---@field diff? string
---@field choices? ('once'|'session'|'always'|'deny')[]
---@field pattern? string
---@field questions? dcode.Question[]

---@class dcode.Question
---@field question string
---@field header? string
---@field options { label: string, description?: string }[]
---@field multiple boolean

---@class dcode.Explanation
---@field decision 'allow'|'ask'|'deny'
---@field rule string
---@field layer string
---@field pattern? string
---@field commands? { text: string, class: string, decision: string }[]

---@class dcode.Status
---@field state string
---@field mode string
---@field model? string
---@field scripted? boolean
---@field pending_hunks integer
---@field session? string
---@field usage? table

---@class dcode.Hunk
---@field [string] any

---@class dcode.ReviewTarget
---@field buf? integer
---@field hunk? integer|string
---@field range? { first: integer, last: integer }|integer[]
---@field all? boolean
