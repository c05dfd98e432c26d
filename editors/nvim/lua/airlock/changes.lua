--- What the agent changed and the user has not reviewed: a quickfix list, an entry a hunk.
local neutral = require("airlock.neutral")
local options = require("airlock.options")
local preview = require("airlock.preview")
local tell = require("airlock.tell")
local workspaces = require("airlock.workspace")

local M = {}

local TITLE = "Airlock: changes to review"
--- How much of a hunk's first line stands in the list.
local LABEL_MAX_BYTES = 200

--- The quickfix list that is ours, and what it was made from.
local shown = { id = nil, workspace = nil, entries = {} }

--- What the server lists. `on_list(failure, changes)`.
function M.fetch(session, on_list)
  session.workspace:request("airlock/changes/list", { sessionId = session.id }, function(failure, result)
    on_list(failure, result)
  end)
end

--- Counts what waits in a session that was loaded.
function M.count(session)
  M.fetch(session, function(failure, result)
    if failure then
      return
    end
    local hunks = 0
    for _, change in ipairs(result.changes) do
      hunks = hunks + #change.hunks
    end
    session.changes = { count = hunks, files = #result.changes }
    require("airlock.status").redraw()
  end)
end

--- The hunks of a file as they were shown: what came since is not decided with them.
function M.ids(change)
  return vim.tbl_map(function(hunk)
    return hunk.id
  end, change.hunks)
end

local function label(change, hunk)
  local words = { change.kind, ("+%d -%d"):format(hunk.newLines, hunk.oldLines) }
  if change.protected then
    table.insert(words, "PROTECTED")
  end
  if change.conflict then
    table.insert(words, "CONFLICT")
  end
  if change.binary then
    words[2] = "binary"
  end
  local first = neutral.line(hunk.text:match("^[^\n]*"):sub(1, LABEL_MAX_BYTES))
  return table.concat(words, ", ") .. "  " .. first
end

--- What stands in the list: a hunk with its file.
local function entries(changes)
  local all = {}
  for _, change in ipairs(changes) do
    for number, hunk in ipairs(change.hunks) do
      table.insert(all, { change = change, hunk = hunk, number = number, path = change.path })
    end
  end
  return all
end

local function items(workspace, all)
  return vim.tbl_map(function(data)
    return {
      filename = workspace.root .. "/" .. data.path,
      lnum = math.max(1, data.hunk.oldStart),
      text = label(data.change, data.hunk),
    }
  end, all)
end

--- 'quickfixtextfunc'
function M.text(info)
  local lines = {}
  local list = vim.fn.getqflist({ id = info.id, items = 0 }).items
  for index = info.start_idx, info.end_idx do
    local data = shown.entries[index]
    table.insert(lines, ("%s:%d  %s"):format(neutral.line(data.path), list[index].lnum, list[index].text))
  end
  return lines
end

--- Fills the list; where it is ours already, in place.
local function fill(workspace, result)
  local all = entries(result.changes)
  shown.entries = all
  local what = {
    title = TITLE,
    items = items(workspace, all),
    quickfixtextfunc = "v:lua.require'airlock.changes'.text",
    context = { airlock = true },
  }
  local current = vim.fn.getqflist({ id = 0, idx = 0, context = 0 })
  local replaces = shown.id == current.id and type(current.context) == "table" and current.context.airlock
  if replaces then
    what.idx = math.max(1, math.min(current.idx, #what.items))
  end
  vim.fn.setqflist({}, replaces and "r" or " ", what)
  shown.id, shown.workspace = vim.fn.getqflist({ id = 0 }).id, workspace
  shown.result = result
end

--- Whether the quickfix list that is shown is ours.
function M.is_current()
  return shown.id ~= nil and vim.fn.getqflist({ id = 0 }).id == shown.id
end

--- The entry under the cursor of the list.
local function entry()
  return shown.entries[vim.fn.line(".")]
end

--- Accepts or rejects; `selection` has hunks or paths, or nothing for all.
function M.decide(session, verb, selection, on_done)
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
    M.refresh()
    if on_done then
      on_done(failure, result)
    end
  end)
end

--- Lists the changes anew where they are shown.
function M.refresh()
  local workspace = shown.workspace
  if not workspace or not workspace.session or not workspace.session.id or not M.is_current() then
    return
  end
  M.fetch(workspace.session, function(failure, result)
    if not failure and M.is_current() then
      fill(workspace, result)
      M.preview()
    end
  end)
end

--- The server says that their number changed.
function M.told(session)
  if shown.workspace == session.workspace then
    M.refresh()
  end
  require("airlock.diff").told(session)
end

--- Shows the hunk under the cursor beside the list.
function M.preview()
  local window = vim.fn.getqflist({ winid = 0 }).winid
  if window == 0 or not M.is_current() then
    return
  end
  vim.api.nvim_win_call(window, function()
    preview.show(window, entry())
  end)
end

local function map_keys(buf)
  local function map_key(key, what, run)
    vim.keymap.set("n", key, function()
      local data = M.is_current() and entry()
      if data then
        return run(shown.workspace.session, data)
      elseif not M.is_current() then
        -- The window shows another list, in which the key means what it always did.
        vim.api.nvim_feedkeys(vim.keycode(key), "in", false)
      end
    end, { buffer = buf, nowait = true, desc = what })
  end
  local function map(action, what, run)
    for _, key in ipairs(options.keys(action)) do
      map_key(key, what, run)
    end
  end
  map("accept", "Accept this hunk", function(session, data)
    M.decide(session, "accept", { hunks = { data.hunk.id } })
  end)
  map("reject", "Reject this hunk", function(session, data)
    M.decide(session, "reject", { hunks = { data.hunk.id } })
  end)
  map("accept_file", "Accept this file", function(session, data)
    M.decide(session, "accept", { hunks = M.ids(data.change) })
  end)
  map("reject_file", "Reject this file", function(session, data)
    M.decide(session, "reject", { hunks = M.ids(data.change) })
  end)
  local function diff(session, data)
    require("airlock.diff").open(session, data.path, data.hunk)
  end
  map("diff", "Show the file's changes side by side", diff)
  -- To go to a file that is not there yet would open an empty one under its name.
  map_key("<CR>", "Go to the place in the file", function(session, data)
    if data.change.kind == "created" then
      return diff(session, data)
    end
    vim.cmd("normal! \r")
  end)
end

local function show_list()
  vim.cmd("botright copen 10")
  local buf = vim.api.nvim_get_current_buf()
  map_keys(buf)
  vim.api.nvim_create_autocmd("CursorMoved", {
    group = vim.api.nvim_create_augroup("airlock.changes", {}),
    buffer = buf,
    callback = M.preview,
  })
  M.preview()
end

--- `:AirlockChanges`
function M.open(workspace)
  local session = workspace.session
  if not session or not session.id then
    return tell.info("there is no session here yet. :Airlock begins one")
  end
  M.fetch(session, function(failure, result)
    if failure then
      return tell.error(failure.message)
    end
    for _, remark in ipairs(result.remarks or {}) do
      tell.warning(neutral.line(remark))
    end
    if #result.changes == 0 then
      return tell.info("nothing waits for review")
    end
    fill(workspace, result)
    show_list()
  end)
end

--- The changed paths, to complete a command with.
function M.paths(buf)
  local workspace = workspaces.of_buffer(buf)
  if shown.workspace ~= workspace or not shown.result then
    return {}
  end
  return vim.tbl_map(function(change)
    return change.path
  end, shown.result.changes)
end

return M
