--- Accepting and rejecting: what the user was shown, and nothing that the agent made of it since.
local conflict = require("airlock.conflict")
local neutral = require("airlock.neutral")
local tell = require("airlock.tell")

local M = {}

--- For so long no key decides about a hunk that has come under the cursor by itself: it was meant for what was there.
local UNREAD_MS = 500

--- Takes down that this hunk has just come under the cursor.
function M.unread(hunk)
  return { id = hunk.id, until_ms = vim.uv.now() + UNREAD_MS }
end

--- Whether a hunk is what was taken down, and came too short a time ago; the user is told.
function M.is_unread(unread, hunk)
  local is_unread = unread and hunk and unread.id == hunk.id and vim.uv.now() < unread.until_ms
  if is_unread then
    tell.info("this change has just come under the cursor: look at it, then press the key again")
  end
  return is_unread
end

--- `selection` has hunks, whose ids name what they are; or paths, with the digests of what was shown of them; or the
--- digest of the whole list that was shown.
local function decide(session, verb, selection, on_done)
  local params = vim.tbl_extend("error", { sessionId = session.id }, selection)
  session.workspace:request("airlock/changes/" .. verb, params, function(failure, result)
    if failure then
      tell.error(failure.message)
    else
      local done = verb == "accept" and "accepted" or "rejected"
      local texts = {}
      if #result.done > 0 then
        table.insert(texts, ("%s: %s"):format(done, neutral.line(table.concat(result.done, ", "))))
      end
      for _, failed in ipairs(result.failed) do
        local is_id = selection.hunks and vim.list_contains(selection.hunks, failed.path)
        local what = is_id and "a change" or failed.path
        table.insert(texts, neutral.line(("%s was not %s: %s"):format(what, done, failed.why)))
      end
      local say = #result.failed > 0 and tell.warning or tell.info
      say(table.concat(texts, "; "))
      -- What was not open was written to the disk.
      vim.cmd.checktime()
    end
    require("airlock.changes").refresh(session)
    if on_done then
      on_done(failure, result)
    end
  end)
end

--- Accepts these hunks of a file. The user is asked how, where both sides changed the same lines.
function M.accept(session, path, hunks, on_done)
  conflict.ask(path, hunks, function(accept, reject)
    if #reject == 0 then
      return decide(session, "accept", { hunks = accept }, on_done)
    elseif #accept == 0 then
      return decide(session, "reject", { hunks = reject }, on_done)
    end
    decide(session, "accept", { hunks = accept }, function(failure, result)
      if failure or #result.failed > 0 then
        return on_done and on_done(failure, result)
      end
      decide(session, "reject", { hunks = reject }, on_done)
    end)
  end)
end

--- Rejects these hunks.
function M.reject(session, hunks, on_done)
  local ids = vim.tbl_map(function(hunk)
    return hunk.id
  end, hunks)
  decide(session, "reject", { hunks = ids }, on_done)
end

--- Whether a file is meant by its own path or by that of a folder.
local function is_meant(path, paths)
  return vim.iter(paths):any(function(named)
    named = named:gsub("/+$", "")
    return path == named or vim.startswith(path, named .. "/")
  end)
end

--- What `:AirlockAccept` and `:AirlockReject` are about, as this list shows it; without paths, all of it.
local function selection_of(session, paths, list)
  if #paths == 0 then
    return { list = list.digest }
  end
  local in_diffs = require("airlock.diff").on_screen(session)
  local shown = vim.empty_dict()
  for _, change in ipairs(list.changes) do
    if is_meant(change.path, paths) then
      shown[change.path] = in_diffs[change.path] or change.digest
    end
  end
  return { paths = paths, shown = shown }
end

--- Accepts or rejects paths, or all: as the screen shows them, or as they were listed last where it shows none.
function M.paths(session, verb, paths)
  local changes = require("airlock.changes")
  local on_screen = changes.on_screen(session)
  if on_screen and #on_screen.changes > 0 then
    return decide(session, verb, selection_of(session, paths, on_screen))
  end
  changes.last(session, function(failure, list)
    if failure then
      return tell.error(failure.message)
    end
    decide(session, verb, selection_of(session, paths, list))
  end)
end

return M
