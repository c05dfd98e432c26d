--- A file beside what the agent makes of it, in a tab of their own.
local changes = require("airlock.changes")
local neutral = require("airlock.neutral")
local options = require("airlock.options")
local tell = require("airlock.tell")
local verdict = require("airlock.verdict")
local window = require("airlock.window")

local M = {}

--- Those that are shown, by the buffer of the proposed text.
local views = {}

local function find(result, path)
  for _, change in ipairs(result.changes) do
    if change.path == path then
      return change
    end
  end
end

--- The hunk at a line of the proposed text.
local function hunk_at(change, line)
  for _, hunk in ipairs(change.hunks) do
    -- Where lines only go, the place is the line before.
    local first, last = hunk.newStart, hunk.newStart + math.max(hunk.newLines, 1) - 1
    if line >= first and line <= last then
      return hunk
    end
  end
  local nearest
  for _, hunk in ipairs(change.hunks) do
    if not nearest or math.abs(hunk.newStart - line) < math.abs(nearest.newStart - line) then
      nearest = hunk
    end
  end
  return nearest and math.abs(nearest.newStart - line) <= 1 and nearest or nil
end

local function hunk_at_cursor(view)
  local shown_in = vim.fn.bufwinid(view.buf)
  return shown_in ~= -1 and view.change and hunk_at(view.change, vim.api.nvim_win_get_cursor(shown_in)[1])
end

local function set_lines(buf, text)
  local lines = vim.split(text:gsub("\n$", ""), "\n", { plain = true })
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
end

--- What is left of the change is shown, and nothing when nothing is.
local function refresh(view)
  changes.fetch(view.session, function(failure, result)
    if failure or not vim.api.nvim_buf_is_valid(view.buf) then
      return
    end
    local before = hunk_at_cursor(view)
    view.change = find(result, view.path)
    if not view.change then
      if vim.api.nvim_tabpage_is_valid(view.tab) and #vim.api.nvim_list_tabpages() > 1 then
        vim.cmd.tabclose({ vim.api.nvim_tabpage_get_number(view.tab) })
      end
      return
    end
    set_lines(view.buf, view.change.proposed or "")
    vim.cmd.diffupdate()
    local after = hunk_at_cursor(view)
    if after and not (before and before.id == after.id) then
      view.unread = verdict.unread(after)
    end
  end)
end

local function map_keys(view)
  local function map(action, what, run)
    for _, key in ipairs(options.keys(action)) do
      vim.keymap.set("n", key, run, { buffer = view.buf, nowait = true, desc = what })
    end
  end
  local function map_verdict(action, what, run)
    map(action, what, function()
      if not verdict.is_unread(view.unread, hunk_at_cursor(view)) then
        run(function()
          refresh(view)
        end)
      end
    end)
  end
  local function with_hunk(decide)
    return function(on_done)
      local hunk = hunk_at_cursor(view)
      if not hunk then
        return tell.info("there is no change at this line; ]c goes to the next one")
      end
      decide({ hunk }, on_done)
    end
  end
  local function accept(hunks, on_done)
    verdict.accept(view.session, view.path, hunks, on_done)
  end
  local function reject(hunks, on_done)
    verdict.reject(view.session, hunks, on_done)
  end
  map_verdict("accept", "Accept the hunk at the cursor", with_hunk(accept))
  map_verdict("reject", "Reject the hunk at the cursor", with_hunk(reject))
  map_verdict("accept_file", "Accept the whole file", function(on_done)
    accept(view.change.hunks, on_done)
  end)
  map_verdict("reject_file", "Reject the whole file", function(on_done)
    reject(view.change.hunks, on_done)
  end)
  vim.keymap.set("n", "q", vim.cmd.tabclose, { buffer = view.buf, nowait = true, desc = "Close the diff" })
end

--- The user's side. A file that is not there yet gets no buffer of its own: it would stand empty in the way when it is.
local function own_buffer(file, change)
  if change.kind == "created" and vim.fn.bufloaded(file) == 0 then
    local empty = vim.api.nvim_create_buf(false, true)
    vim.bo[empty].bufhidden = "wipe"
    vim.bo[empty].modifiable = false
    return empty
  end
  -- A name is a name here, whatever characters are in it.
  local buf = vim.fn.bufadd(file)
  vim.fn.bufload(buf)
  vim.bo[buf].buflisted = true
  return buf
end

local function show(session, change, hunk)
  local file = session.workspace.root .. "/" .. change.path
  local original = own_buffer(file, change)
  vim.cmd.tabnew()
  vim.bo.bufhidden = "wipe"
  vim.api.nvim_win_set_buf(0, original)
  vim.cmd.diffthis()
  window.hint(0, change.path .. " · yours")
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "wipe"
  vim.api.nvim_buf_set_name(buf, ("airlock://proposed/%d/%s"):format(buf, change.path))
  set_lines(buf, change.proposed or "")
  local beside = vim.api.nvim_open_win(buf, true, { split = "right", win = 0 })
  local filetype = vim.filetype.match({ filename = file, buf = original })
  if filetype then
    vim.bo[buf].syntax = filetype
  end
  vim.cmd.diffthis()
  local keys = options.key_hint({ { "accept", "accept" }, { "reject", "reject" } })
  window.hint(beside, ("the agent's%s · ]c next · q close"):format(keys))
  local view =
    { session = session, path = change.path, change = change, buf = buf, tab = vim.api.nvim_get_current_tabpage() }
  views[buf] = view
  map_keys(view)
  local line = hunk and hunk.newStart or (change.hunks[1] and change.hunks[1].newStart) or 1
  local last = vim.api.nvim_buf_line_count(buf)
  vim.api.nvim_win_set_cursor(beside, { math.max(1, math.min(line, last)), 0 })
end

--- What the diffs of a session show in this tab: digests by path.
function M.on_screen(session)
  local digests = {}
  for buf, view in pairs(views) do
    if view.session == session and view.change and vim.fn.bufwinid(buf) ~= -1 then
      digests[view.path] = view.change.digest
    end
  end
  return digests
end

--- What waits in a session is other than it was.
function M.told(session)
  for buf, view in pairs(views) do
    if not vim.api.nvim_buf_is_valid(buf) then
      views[buf] = nil
    elseif view.session == session then
      refresh(view)
    end
  end
end

--- Opens it for one file; `hunk` says where to look first.
function M.open(session, path, hunk)
  changes.fetch(session, function(failure, result)
    if failure then
      return tell.error(failure.message)
    end
    local change = find(result, path) or (path == nil and result.changes[1])
    if not change then
      local what = path and ("the agent changed nothing in %s"):format(path) or "nothing waits for review"
      return tell.info(neutral.line(what))
    end
    if change.binary then
      local keys = options.key_hint({ { "accept_file", "accepts it" }, { "reject_file", "rejects it" } })
      return tell.info(("%s is no text%s"):format(neutral.line(change.path), keys))
    end
    show(session, change, hunk)
  end)
end

return M
