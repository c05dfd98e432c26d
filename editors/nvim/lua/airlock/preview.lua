--- The window beside the list of changes that shows the hunk under the cursor.
local neutral = require("airlock.neutral")
local options = require("airlock.options")
local windows = require("airlock.window")

local M = {}

--- More of a hunk is read in a diff.
local SHOWN_MAX_BYTES = 64 * 1024

local state = { buf = nil, window = nil }

local function buffer()
  if state.buf and vim.api.nvim_buf_is_valid(state.buf) then
    return state.buf
  end
  state.buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(state.buf, "airlock://hunk")
  vim.bo[state.buf].bufhidden = "hide"
  vim.bo[state.buf].modifiable = false
  -- Only colours: what belongs to a diff file may do more.
  vim.bo[state.buf].syntax = "diff"
  return state.buf
end

local function close()
  if state.window and vim.api.nvim_win_is_valid(state.window) then
    pcall(vim.api.nvim_win_close, state.window, true)
  end
  state.window = nil
end

local function open(list)
  if state.window and vim.api.nvim_win_is_valid(state.window) then
    return
  end
  local width = math.floor(vim.api.nvim_win_get_width(list) / 2)
  state.window = vim.api.nvim_open_win(buffer(), false, { split = "right", win = list, width = width })
  windows.set(state.window, windows.PLAIN)
  windows.set(state.window, { foldenable = false })
  vim.api.nvim_create_autocmd("WinClosed", {
    pattern = tostring(list),
    once = true,
    callback = vim.schedule_wrap(close),
  })
end

--- Shows a hunk beside the list; nothing, where there is none.
function M.show(list, data)
  if not data then
    return close()
  end
  open(list)
  local text = data.hunk.text
  local is_cut = #text > SHOWN_MAX_BYTES
  local lines = vim.split(neutral.text(text:sub(1, SHOWN_MAX_BYTES)):gsub("\n$", ""), "\n", { plain = true })
  if is_cut then
    table.insert(lines, "… there is more" .. options.key_hint({ { "diff", "shows all of it" } }))
  end
  vim.bo[state.buf].modifiable = true
  vim.api.nvim_buf_set_lines(state.buf, 0, -1, false, lines)
  vim.bo[state.buf].modifiable = false
  local where = ("%s · hunk %d of %d"):format(data.path, data.number, #data.change.hunks)
  local title = where .. options.key_hint({ { "accept", "accept" }, { "reject", "reject" }, { "diff", "diff" } })
  windows.hint(state.window, title)
  vim.api.nvim_win_set_cursor(state.window, { 1, 0 })
end

return M
