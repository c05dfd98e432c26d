--- The window beside the list of changes that shows the hunk under the cursor.
local neutral = require("airlock.neutral")
local windows = require("airlock.window")

local M = {}

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
  local lines = vim.split(neutral.text(data.hunk.text):gsub("\n$", ""), "\n", { plain = true })
  vim.bo[state.buf].modifiable = true
  vim.api.nvim_buf_set_lines(state.buf, 0, -1, false, lines)
  vim.bo[state.buf].modifiable = false
  local title = ("%s · hunk %d of %d · ga accept · gr reject · gd diff"):format(data.path, data.number, data.of)
  windows.hint(state.window, title)
  vim.api.nvim_win_set_cursor(state.window, { 1, 0 })
end

return M
