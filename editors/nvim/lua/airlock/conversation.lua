--- Turns a session's updates into the blocks of its transcript.
---
--- Updates wait in a queue and are drawn once a frame; neighbouring pieces of one text are joined first.
local frame = require("airlock.frame")
local neutral = require("airlock.neutral")
local Transcript = require("airlock.transcript")

local Conversation = {}
Conversation.__index = Conversation

--- How long one frame may take updates from the queue before the user's keys have their turn.
local BUDGET_NS = 6e6
--- What is joined before it is drawn.
local JOINED_MAX_BYTES = 64 * 1024
--- How much of one tool's output is shown, and how many of its last lines behind that.
local OUTPUT_MAX_LINES = 5000
local OUTPUT_MAX_BYTES = 512 * 1024
local OUTPUT_TAIL_BYTES = 8 * 1024
--- How much of a call's title is shown.
local TITLE_MAX_CHARS = 500

function Conversation.new(on_drawn)
  local self = setmetatable({
    transcript = Transcript.new(),
    --- From `first` to `last`. Its length is counted: Lua's own length of a table that begins with nils is any.
    queue = {},
    first = 1,
    last = 0,
    calls = {},
    speaker = nil,
  }, Conversation)
  self.ask_frame = frame.new(function()
    local more = self:draw()
    on_drawn()
    return more
  end)
  return self
end

--- Notes an update; it is drawn with the next frame.
function Conversation:push(update)
  -- nil once it was drawn.
  local waiting = self.queue[self.last]
  local joins = waiting
    and waiting.kind == update.kind
    and (update.kind == "agent_message_chunk" or update.kind == "agent_thought_chunk")
    and waiting.bytes < JOINED_MAX_BYTES
  if joins then
    table.insert(waiting.pieces, update.text)
    waiting.bytes = waiting.bytes + #update.text
  else
    if type(update.text) == "string" then
      update.pieces, update.bytes = { update.text }, #update.text
    end
    self.last = self.last + 1
    self.queue[self.last] = update
  end
  self.ask_frame()
end

--- Draws what waits, for as long as a frame allows; true when something is left.
function Conversation:draw()
  local begun = vim.uv.hrtime()
  while self.first <= self.last do
    local update = self.queue[self.first]
    self.queue[self.first] = nil
    self.first = self.first + 1
    local show = self["show_" .. update.kind]
    local shown, why = xpcall(show or function() end, debug.traceback, self, update)
    if not shown then
      -- The user is told, and what comes behind it is drawn all the same.
      vim.schedule(function()
        error(why, 0)
      end)
    end
    if vim.uv.hrtime() - begun > BUDGET_NS then
      break
    end
  end
  local more = self.first <= self.last
  if not more then
    self.queue, self.first, self.last = {}, 1, 0
  end
  self.transcript:write()
  return more
end

local function words(update)
  return table.concat(update.pieces or {})
end

--- Another speaker begins under a heading.
function Conversation:head(speaker)
  if self.speaker ~= speaker then
    self.speaker = speaker
    self.transcript:open("heading", { header = "## " .. speaker, highlight = "AirlockSpeaker" })
  end
end

--- The block of text that a speaker goes on in.
function Conversation:speech(speaker)
  self:head(speaker)
  local last = self.transcript:last()
  return last.kind == "text" and last or self.transcript:open("text", {})
end

function Conversation:show_user_message(update)
  self.speaker = nil
  local block = self:speech("You")
  self.transcript:append(block, neutral.text(words(update)) .. "\n")
  if update.about then
    self.transcript:append(block, "\n*" .. neutral.line(update.about) .. "*\n")
  end
end

--- What a slash command of the user's own became.
function Conversation:show_expansion(update)
  local block = self.transcript:open("expansion", {
    header = "→ as it was sent",
    folds = true,
    prefix = "> ",
    highlight = "AirlockThought",
  })
  self.transcript:append(block, neutral.text(words(update)))
end

function Conversation:show_agent_message_chunk(update)
  self.transcript:append(self:speech("Airlock"), neutral.text(words(update)))
end

function Conversation:show_agent_thought_chunk(update)
  self:head("Airlock")
  local block = self.transcript:last()
  if not block or block.kind ~= "thought" then
    block = self.transcript:open("thought", {
      header = "✻ thought",
      folds = true,
      prefix = "> ",
      highlight = "AirlockThought",
    })
  end
  self.transcript:append(block, neutral.text(words(update)))
end

local MARKS = { pending = "●", in_progress = "●", completed = "✓", failed = "✗" }
local HIGHLIGHTS = {
  pending = "AirlockRunning",
  in_progress = "AirlockRunning",
  completed = "AirlockDone",
  failed = "AirlockFailed",
}

local function seconds(from_ns)
  local passed = (vim.uv.hrtime() - from_ns) / 1e9
  return passed < 10 and ("%.1f s"):format(passed) or ("%d s"):format(passed)
end

--- What is shown of a call in one line: its title, and what came of it.
local function header(call)
  local outcome = {}
  if call.exit_code then
    table.insert(outcome, "exit " .. call.exit_code)
  end
  table.insert(outcome, call.took)
  call.outcome = #outcome > 0 and " · " .. table.concat(outcome, " · ") or ""
  return MARKS[call.status] .. " " .. call.title .. call.outcome
end

function Conversation:show_tool_call(update)
  self:head("Airlock")
  local call = {
    title = vim.fn.strcharpart(neutral.line(update.title), 0, TITLE_MAX_CHARS),
    status = "pending",
    lines = 0,
    bytes = 0,
    --- What is not shown yet of an output that is too long; nil while all of it is.
    tail = nil,
    begun = vim.uv.hrtime(),
  }
  call.block = self.transcript:open("tool", {
    header = header(call),
    folds = true,
    prefix = "    ",
    highlight = HIGHLIGHTS.pending,
  })
  self.calls[update.toolCallId] = call
end

function Conversation:show_tool_call_update(update)
  local call = self.calls[update.toolCallId]
  if not call then
    return
  end
  if update.output and update.output ~= "" then
    self:show_output(call, update.output)
  end
  local ended = update.status == "completed" or update.status == "failed"
  if update.status ~= call.status or update.exitCode then
    call.status = MARKS[update.status] and update.status or call.status
    call.exit_code = update.exitCode
    -- What is replayed took its time long ago.
    call.took = ended and not update.replayed and seconds(call.begun) or nil
    self:show_outcome(call)
  end
  if ended then
    self:show_tail(call)
    self.calls[update.toolCallId] = nil
  end
end

function Conversation:show_outcome(call)
  self.transcript:set_header(call.block, header(call), HIGHLIGHTS[call.status])
  call.block.outcome = call.outcome
end

--- Where the line begins that is `lines` lines behind the beginning of a text; nil when it has fewer.
local function behind_lines(text, lines)
  local at = 1
  for _ = 1, lines do
    at = text:find("\n", at, true)
    if not at then
      return nil
    end
    at = at + 1
  end
  return at
end

--- The last bytes of a text, from the beginning of a line or at least of a character.
local function last_part(text, bytes)
  local part = text:sub(-bytes)
  if #part < #text then
    part = part:gsub(part:find("\n", 1, true) and "^[^\n]*\n" or "^[\128-\191]+", "")
  end
  return part
end

--- As much of it as is shown at once; the rest waits as the tail.
function Conversation:show_output(call, text)
  if call.tail then
    call.tail = last_part(call.tail .. last_part(text, OUTPUT_TAIL_BYTES), OUTPUT_TAIL_BYTES)
    return
  end
  if call.bytes == 0 then
    -- Markdown takes indented lines for code only behind an empty one.
    self.transcript:append(call.block, "\n")
  end
  local behind = behind_lines(text, OUTPUT_MAX_LINES - call.lines) or math.huge
  local room = math.min(OUTPUT_MAX_BYTES - call.bytes, behind - 1)
  if room < #text then
    -- Not in the middle of a character.
    while room > 0 and text:byte(room + 1) >= 128 and text:byte(room + 1) < 192 do
      room = room - 1
    end
    call.tail = last_part(text:sub(room + 1), OUTPUT_TAIL_BYTES)
    text = text:sub(1, room)
  end
  call.bytes = call.bytes + #text
  call.lines = call.lines + select(2, text:gsub("\n", "\n"))
  self.transcript:append(call.block, neutral.text(text))
end

--- The end of an output that was too long: that is where errors stand.
function Conversation:show_tail(call)
  if call.tail and call.tail ~= "" then
    self.transcript:append(call.block, "\n… more is not shown here …\n" .. neutral.text(call.tail))
  end
  call.tail = ""
end

local NOTICES = {
  info = { "· ", "AirlockInfo" },
  warning = { "⚠ ", "AirlockWarning" },
  error = { "✗ ", "AirlockFailed" },
}

function Conversation:show_notice(update)
  local look = NOTICES[update.level] or NOTICES.info
  local lines = vim.split(neutral.text(words(update)), "\n", { plain = true })
  local block = self.transcript:open("notice", { header = look[1] .. lines[1], highlight = look[2] })
  if #lines > 1 then
    self.transcript:append(block, table.concat(lines, "\n", 2))
  end
end

local ENDS = {
  cancelled = "stopped",
  max_tokens = "the answer was cut off: it reached the limit of tokens. Say “go on” to get the rest",
  max_turn_requests = "stopped: this took as many rounds as are allowed. Say “go on” to let it continue",
  refusal = "the model refuses to answer this",
}

function Conversation:show_turn_end(update)
  -- A call that nobody ended would look as if it still ran.
  for _, call in pairs(self.calls) do
    call.status = "failed"
    self:show_outcome(call)
    self:show_tail(call)
  end
  self.calls = {}
  if update.error then
    self:show_notice({ level = "error", pieces = { update.error } })
  elseif ENDS[update.stopReason] then
    local level = update.stopReason == "cancelled" and "info" or "warning"
    self:show_notice({ level = level, pieces = { ENDS[update.stopReason] } })
  end
  self.speaker = nil
end

--- Forgets everything that is shown.
function Conversation:clear()
  self.queue, self.first, self.last, self.calls, self.speaker = {}, 1, 0, {}, nil
  self.transcript:clear()
  self.ask_frame()
end

return Conversation
