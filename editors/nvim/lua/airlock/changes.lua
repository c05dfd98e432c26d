--- What the agent changed and the user has not reviewed: a quickfix list, an entry a hunk.
local neutral = require("airlock.neutral")
local options = require("airlock.options")
local preview = require("airlock.preview")
local tell = require("airlock.tell")
local verdict = require("airlock.verdict")
local workspaces = require("airlock.workspace")

local M = {}

local TITLE = "Airlock: changes to review"
--- How much of a hunk's first line stands in the list.
local LABEL_MAX_BYTES = 200

--- The quickfix list that is ours, and what it was made from. `unread` is a hunk that a list has put under the cursor.
local shown = { id = nil, workspace = nil, entries = {}, unread = nil }

--- What the server lists. `on_list(failure, changes)`.
function M.fetch(session, on_list)
  local number = (session.listings or 0) + 1
  session.listings = number
  session.workspace:request("airlock/changes/list", { sessionId = session.id }, function(failure, result)
    -- A later answer may have come first.
    if not failure and number > (session.listed_by or 0) then
      session.listed, session.listed_by = result, number
    end
    on_list(failure, result)
  end)
end

--- The last list; where another one is on its way, the changes are listed now.
function M.last(session, on_list)
  if session.listed and session.listed_by == session.listings then
    return on_list(nil, session.listed)
  end
  M.fetch(session, on_list)
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

--- The line that a hunk is known by; of a conflict, the first one of the agent's.
local function first_line(hunk)
  local theirs = hunk.conflict and hunk.text:match(".*\n%+=======\r?\n(.*)")
  return neutral.line((theirs or hunk.text):match("^[^\n]*"):sub(1, LABEL_MAX_BYTES))
end

local function label(change, hunk)
  local words = { change.kind, ("+%d -%d"):format(hunk.newLines, hunk.oldLines) }
  if change.protected then
    table.insert(words, "PROTECTED")
  end
  local is_of_hunks = vim.iter(change.hunks):any(function(other)
    return other.conflict ~= nil
  end)
  if hunk.conflict or (change.conflict and not is_of_hunks) then
    table.insert(words, "CONFLICT")
  end
  if change.binary then
    words[2] = "binary"
  end
  return table.concat(words, ", ") .. "  " .. first_line(hunk)
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

--- Where the cursor goes in a list that has become another: with its hunk; where that is gone, it stays in its line.
--- Also whether that is the same hunk.
local function line_of(was, line, all)
  for index, data in ipairs(all) do
    if was and data.path == was.path and data.hunk.id == was.hunk.id then
      return index, true
    end
  end
  return math.max(1, math.min(line, #all)), false
end

--- Puts the cursor of the list there, and leaves what is in sight in sight.
local function put_cursor(line, topline)
  local window = vim.fn.getqflist({ winid = 0 }).winid
  if window == 0 then
    return
  end
  vim.api.nvim_win_call(window, function()
    vim.fn.winrestview({ lnum = line, col = 0, topline = topline })
  end)
end

--- Fills the list; where it is ours already, in place.
local function fill(workspace, result)
  local all = entries(result.changes)
  local what = {
    title = TITLE,
    items = items(workspace, all),
    quickfixtextfunc = "v:lua.require'airlock.changes'.text",
    context = { airlock = true },
  }
  local current = vim.fn.getqflist({ id = 0, idx = 0, context = 0 })
  local replaces = shown.id == current.id and type(current.context) == "table" and current.context.airlock
  local line, is_same, topline
  if replaces then
    local window = vim.fn.getqflist({ winid = 0 }).winid
    line = window ~= 0 and vim.api.nvim_win_get_cursor(window)[1] or current.idx
    topline = window ~= 0 and vim.fn.getwininfo(window)[1].topline or nil
    line, is_same = line_of(shown.entries[line], line, all)
    what.idx = line
  end
  shown.entries = all
  vim.fn.setqflist({}, replaces and "r" or " ", what)
  shown.id, shown.workspace = vim.fn.getqflist({ id = 0 }).id, workspace
  shown.result = result
  if replaces then
    put_cursor(line, topline)
    if not is_same then
      shown.unread = all[line] and verdict.unread(all[line].hunk)
    end
  end
end

--- Whether the quickfix list that is shown is ours.
function M.is_current()
  return shown.id ~= nil and vim.fn.getqflist({ id = 0 }).id == shown.id
end

--- The entry under the cursor of the list.
local function entry()
  return shown.entries[vim.fn.line(".")]
end

--- Whether the list is of this session, and the quickfix list of the moment.
local function is_listed(session)
  return shown.workspace == session.workspace and session.workspace.session == session and M.is_current()
end

--- The list of a session that is on the screen, in this tab.
function M.on_screen(session)
  return is_listed(session) and vim.fn.getqflist({ winid = 0 }).winid ~= 0 and shown.result or nil
end

--- Lists the changes anew, also where they are shown.
function M.refresh(session)
  M.fetch(session, function(failure, result)
    if not failure and session.listed == result and is_listed(session) then
      fill(session.workspace, result)
      M.preview()
    end
  end)
end

--- The server says that they are others.
function M.told(session)
  M.refresh(session)
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
  local function map_verdict(action, what, run)
    map(action, what, function(session, data)
      if not verdict.is_unread(shown.unread, data.hunk) then
        run(session, data)
      end
    end)
  end
  map_verdict("accept", "Accept this hunk", function(session, data)
    verdict.accept(session, data.path, { data.hunk })
  end)
  map_verdict("reject", "Reject this hunk", function(session, data)
    verdict.reject(session, { data.hunk })
  end)
  map_verdict("accept_file", "Accept this file", function(session, data)
    verdict.accept(session, data.path, data.change.hunks)
  end)
  map_verdict("reject_file", "Reject this file", function(session, data)
    verdict.reject(session, data.change.hunks)
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
    callback = function()
      local data = entry()
      if not (data and shown.unread and shown.unread.id == data.hunk.id) then
        shown.unread = nil
      end
      M.preview()
    end,
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
    shown.unread = nil
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
