--- One conversation with the agent, as this editor knows it.
local Conversation = require("airlock.conversation")
local status = require("airlock.status")
local tell = require("airlock.tell")

local Session = {}
Session.__index = Session

function Session.new(workspace)
  local self = setmetatable({
    workspace = workspace,
    --- nil until the server has named it.
    id = nil,
    model = nil,
    commands = {},
    --- The turn in work: true once it was asked for.
    turn = false,
    --- The tool that runs.
    tool = nil,
    sandbox = nil,
    usage = nil,
    changes = { count = 0, files = 0 },
    --- Updates tell what was said before, not what happens.
    replaying = false,
    after_replay = nil,
    --- What was asked before the session was ready, and what while a turn was in work.
    waiting_turn = nil,
    next_turn = nil,
    closed = false,
    --- The turn in work is the session's last.
    quits = false,
  }, Session)
  self.conversation = Conversation.new(status.redraw)
  return self
end

--- What the server answered to `new` or `load`.
function Session:opened(result)
  self.id, self.model, self.commands = result.sessionId, result.model, result.commands or {}
  status.redraw()
end

function Session:notice(level, text)
  self.conversation:push({ kind = "notice", level = level, text = text })
end

--- Takes an update of the server.
function Session:take(update)
  local take = self["take_" .. update.kind]
  if take then
    take(self, update)
  end
  update.replayed = self.replaying
  if update.kind == "user_message" and not self.replaying then
    update.kind = "expansion"
  end
  self.conversation:push(update)
end

function Session:take_usage(update)
  self.usage = update
  if self.replaying then
    self.replaying = false
    if self.after_replay then
      self.after_replay()
      self.after_replay = nil
    end
    self:send_waiting()
  end
end

function Session:take_model(update)
  self.model = update.model
end

function Session:take_sandbox(update)
  self.sandbox = update
  if update.state == "failed" and update.detail then
    self:notice("error", update.detail)
  end
end

function Session:take_changes(update)
  self.changes = { count = update.count, files = update.files }
  self.changes_are_news = update.count > 0
  require("airlock.changes").told(self)
end

function Session:take_commands(update)
  self.commands = update.commands
end

function Session:take_tool_call(update)
  self.tool = update.title
end

function Session:take_tool_call_update(update)
  if update.status ~= "in_progress" then
    self.tool = nil
  end
end

function Session:take_turn_end()
  self.turn, self.tool = false, nil
  -- The server closes it; the next prompt begins another one.
  self.closed = self.closed or self.quits
  vim.schedule(function()
    self:begin_next()
  end)
  if self.changes_are_news then
    self.changes_are_news = false
    local count, files = self.changes.count, self.changes.files
    local what = count == 1 and "1 change" or count .. " changes"
    local where = files == 1 and "1 file" or files .. " files"
    -- Shown behind the turn's end.
    vim.schedule(function()
      self:notice("info", ("%s in %s to review: :AirlockChanges"):format(what, where))
    end)
  end
end

--- Asks the agent. `context` is as in the protocol; `about` says the same to the user.
--- False when it cannot be asked now; the user was told why.
function Session:prompt(text, context, about)
  return self:begin_turn(text, about, function(id)
    return "airlock/session/prompt", { sessionId = id, text = text, context = context }
  end)
end

--- Does what a code action says; `text` is what the user reads of it.
function Session:command(name, argument, text, about)
  return self:begin_turn(text, about, function(id)
    argument.sessionId = id
    return "workspace/executeCommand", { command = name, arguments = { argument } }
  end)
end

--- `request` gives a method and its parameters for the session's id, which may not be there yet.
function Session:begin_turn(text, about, request)
  -- Whatever comes, the user does not have to type it again.
  if self.workspace.chat then
    self.workspace.chat.prompt:remember(text)
  end
  if self.closed then
    tell.warning("this session has ended. :AirlockNew begins another one")
    return false
  end
  if self.turn and self.next_turn then
    tell.warning("the agent is at work, and a question waits for it already")
    return false
  elseif self.turn then
    self.next_turn = { text = text, about = about, request = request }
    status.redraw()
    return true
  end
  self.turn = true
  self.waiting_turn = { text = text, about = about, request = request }
  self:send_waiting()
  status.redraw()
  return true
end

function Session:send_waiting()
  local turn = self.waiting_turn
  if not turn or not self.id or self.replaying then
    return
  end
  self.waiting_turn = nil
  self.conversation:push({ kind = "user_message", text = turn.text, about = turn.about })
  self.quits = turn.text:find("^/quit%s*$") ~= nil
  local method, params = turn.request(self.id)
  self.workspace:request(method, params, function(failure)
    if failure then
      self.conversation:push({ kind = "turn_end", error = failure.message })
      self.turn = false
      status.redraw()
    end
  end)
end

--- Asks what was asked while the turn before was in work.
function Session:begin_next()
  local turn = self.next_turn
  if turn and not self.turn and not self.closed then
    self.next_turn = nil
    self:begin_turn(turn.text, turn.about, turn.request)
  end
end

function Session:stop()
  if not self.turn then
    return false
  end
  self.next_turn = nil
  if self.waiting_turn then
    self.waiting_turn, self.turn = nil, false
  elseif self.id then
    self.workspace:notify("airlock/session/cancel", { sessionId = self.id })
  end
  return true
end

--- The server is gone, and what was in work with it.
function Session:lost()
  self.turn, self.tool, self.sandbox, self.waiting_turn, self.next_turn = false, nil, nil, nil, nil
  self.conversation:push({ kind = "turn_end" })
end

return Session
