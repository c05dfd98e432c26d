--- Lines that both the user and the agent changed. They are settled as a whole: half of them would be a lone mark.
local neutral = require("airlock.neutral")

local M = {}

local WAYS = {
  { way = "theirs", label = "Take the agent's" },
  { way = "both", label = "Keep both: yours, then the agent's" },
  { way = "yours", label = "Keep yours" },
  { way = "by hand", label = "Edit by hand: both go into the file, between marks" },
}

local function count(hunks)
  return #vim.tbl_filter(function(hunk)
    return hunk.conflict ~= nil
  end, hunks)
end

--- The ids to accept and to reject, so that what is in conflict is settled like this and all else is accepted.
local function settle(hunks, way)
  local accept, reject = {}, {}
  for _, hunk in ipairs(hunks) do
    if hunk.conflict and way == "yours" then
      table.insert(reject, hunk.id)
    else
      table.insert(accept, hunk.conflict and hunk.conflict[way] or hunk.id)
    end
  end
  return accept, reject
end

--- Asks how to settle what is in conflict among these hunks of a file, if anything is.
--- `on_settled(accept, reject)` gets ids; it is not called when the user chooses nothing.
function M.ask(path, hunks, on_settled)
  local many = count(hunks)
  if many == 0 then
    return on_settled(settle(hunks))
  end
  local where = many == 1 and "the same lines" or ("the same lines in %d places"):format(many)
  local prompt = ("%s: you and the agent changed %s"):format(neutral.line(path), where)
  vim.ui.select(WAYS, {
    prompt = prompt,
    format_item = function(item)
      return item.label
    end,
  }, function(item)
    if item then
      on_settled(settle(hunks, item.way))
    end
  end)
end

return M
