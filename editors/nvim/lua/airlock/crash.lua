--- After a crash of the server: it is started again, and the same session goes on.
local tell = require("airlock.tell")

local M = {}

--- A server that crashes more often than this in this time is left alone.
local CRASHES_MAX = 3
local CRASHES_WITHIN_S = 60

local function crashes_lately(workspace)
  local now = vim.uv.now() / 1000
  table.insert(workspace.crashes, now)
  workspace.crashes = vim.tbl_filter(function(moment)
    return now - moment < CRASHES_WITHIN_S
  end, workspace.crashes)
  return #workspace.crashes
end

local function give_up(session, why, times)
  local hint = "It crashed %d times in a minute and is left alone now; :AirlockSessions starts it again"
  local text = ("%s. %s"):format(why, hint:format(times))
  tell.error(text)
  if session then
    session.closed = true
    session:notice("error", text)
  end
end

--- The same session in a new server. What was said is replayed into the same chat.
local function resume(workspace, session, why)
  session.conversation:clear()
  session.replaying = true
  session.after_replay = function()
    session:notice("warning", why .. ". It was started again. If an answer was in work, ask again")
  end
  -- Its updates come before the answer.
  workspace.sessions[session.id] = session
  workspace:open(session, "airlock/session/load", { sessionId = session.id }, function(failure)
    if not failure then
      return require("airlock.changes").count(session)
    end
    -- Where nothing was said yet, there is nothing to go on with.
    session.replaying, session.after_replay = false, nil
    workspace:open(session, "airlock/session/new", {}, function(again)
      if again then
        session.closed = true
        return session:notice("error", again.message)
      end
      local text = "%s. It was started again, with a new conversation (%s)"
      session:notice("warning", text:format(why, failure.message))
    end)
  end)
end

function M.recover(workspace, why)
  local session, times = workspace.session, crashes_lately(workspace)
  if session then
    session:lost()
  end
  if times > CRASHES_MAX then
    return give_up(session, why, times)
  end
  workspace:start(function(failure)
    if failure then
      if session then
        session.closed = true
        session:notice("error", failure.message)
      end
      return tell.error(failure.message)
    end
    for _, buf in ipairs(workspace:files()) do
      workspace:attach(buf)
    end
    if session and session.id and not session.closed then
      resume(workspace, session, why)
    end
  end)
end

return M
