--- `:AirlockSessions`: goes on with a conversation that was kept.
local chat = require("airlock.chat")
local neutral = require("airlock.neutral")
local tell = require("airlock.tell")

local M = {}

local function in_words(kept)
  local day, time = kept.updatedAt:match("^(%d+-%d+-%d+)T(%d+:%d+)")
  local when = day and day .. " " .. time or kept.updatedAt
  local count = kept.messages == 1 and "1 message" or kept.messages .. " messages"
  return ("%s  %s  (%s)"):format(when, neutral.line(kept.title), count)
end

function M.load(workspace, id)
  workspace:load_session(id, function(failure)
    if failure then
      return tell.error(failure.message)
    end
    chat.of(workspace):open()
  end)
end

function M.choose(workspace)
  local params = { folder = vim.uri_from_fname(workspace.root) }
  workspace:request("airlock/session/list", params, function(failure, result)
    if failure then
      return tell.error(failure.message)
    end
    local own = workspace.session and workspace.session.id
    local others = vim.tbl_filter(function(kept)
      return kept.sessionId ~= own
    end, result.sessions)
    if #others == 0 then
      return tell.info("there is no earlier conversation in this workspace")
    end
    vim.ui.select(others, { prompt = "Go on with:", format_item = in_words }, function(kept)
      if kept then
        M.load(workspace, kept.sessionId)
      end
    end)
  end)
end

return M
