--- The state of a session in one line: for the chat's winbar and the user's statusline.
local neutral = require("airlock.neutral")

local M = {}

local ISOLATION = { microvm = "microVM", container = "container" }

local function isolation(session)
  local sandbox = session.sandbox
  if not sandbox then
    return "no sandbox"
  end
  if sandbox.state == "ready" then
    return ISOLATION[sandbox.isolation] or "sandbox"
  elseif sandbox.state == "starting" then
    return "sandbox starts"
  end
  return "no sandbox"
end

local function short(number)
  if number < 1000 then
    return tostring(number)
  end
  return number < 1e6 and ("%.0fk"):format(number / 1e3) or ("%.1fM"):format(number / 1e6)
end

local function work(session)
  if require("airlock.permission").of(session) then
    return "asks you: :AirlockAnswer"
  end
  if session.turn then
    return session.tool and "works: " .. session.tool or "thinks"
  end
end

local function changes(session)
  local count = session.changes.count
  if count > 0 then
    return count == 1 and "1 change" or count .. " changes"
  end
end

local function usage(session)
  local used = session.usage
  if not used or used.contextSize == 0 then
    return
  end
  local text = ("%s/%s tokens"):format(short(used.contextUsed), short(used.contextSize))
  return used.costUsd and ("%s · $%.2f"):format(text, used.costUsd) or text
end

local function join(parts)
  local texts = {}
  for number = 1, parts.n do
    if parts[number] then
      table.insert(texts, neutral.bar(parts[number]))
    end
  end
  return table.concat(texts, " · ")
end

--- For 'statusline': `%{%v:lua.require'airlock'.statusline()%}`
function M.line(session)
  if not session or not session.id then
    return ""
  end
  return join(vim.F.pack_len("Airlock", isolation(session), work(session), changes(session)))
end

--- For the chat's winbar.
function M.bar(session)
  if not session.id then
    return join(vim.F.pack_len("Airlock", "starting"))
  end
  local parts = vim.F.pack_len(isolation(session), work(session), changes(session), session.model, usage(session))
  return join(parts)
end

local shown = {}

--- What shows a state is drawn again, if it is another one.
function M.redraw()
  local changed = false
  for root, workspace in pairs(require("airlock.workspace").all()) do
    local line = workspace.session and M.line(workspace.session) or ""
    changed = changed or shown[root] ~= line
    shown[root] = line
    if workspace.chat then
      workspace.chat:refresh()
    end
  end
  if changed then
    vim.cmd.redrawstatus({ bang = true })
  end
end

return M
