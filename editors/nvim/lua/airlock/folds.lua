--- Folds of a transcript: a tool call, or a thought, is one.
---
--- They are made by hand: Neovim computes none while the user is in Insert mode, and that is where they chat.
--- It also drops those whose lines are written anew, so each write makes them again, open if they were.
local M = {}

--- Calls `act` in each window that shows the buffer, and leaves the view as it was. Where the user has folds of
--- another kind, none can be made.
local function in_windows(buf, act)
  for _, window in ipairs(vim.fn.win_findbuf(buf)) do
    if vim.wo[window].foldmethod == "manual" then
      vim.api.nvim_win_call(window, function()
        local view = vim.fn.winsaveview()
        act(window)
        vim.fn.winrestview(view)
      end)
    end
  end
end

--- Which of these blocks are open, by window. They stand where they were last written.
function M.open_ones(buf, blocks)
  local open = {}
  in_windows(buf, function(window)
    open[window] = {}
    for _, block in ipairs(blocks) do
      local line = block.written_first
      open[window][block] = line ~= nil and vim.fn.foldlevel(line) > 0 and vim.fn.foldclosed(line) == -1
    end
  end)
  return open
end

local function unfold(line)
  if vim.fn.foldlevel(line) > 0 then
    vim.api.nvim_win_set_cursor(0, { line, 0 })
    vim.cmd("normal! zD")
  end
end

local function fold(block, is_open)
  local first, last = block.first, block.first + block.count - 1
  vim.cmd(("%d,%dfold"):format(first, last))
  if is_open then
    vim.cmd(("%dfoldopen"):format(first))
  end
end

--- Folds these blocks, all of them in the lines from `from` to `to`, in every window: closed unless they are in `open`.
function M.make(buf, blocks, open, from, to)
  in_windows(buf, function(window)
    -- Folds stay, or go astray, when the lines below them become others.
    for line = from, to do
      unfold(line)
    end
    for _, block in ipairs(blocks) do
      fold(block, open[window] ~= nil and open[window][block] == true)
      block.written_first = block.first
    end
  end)
end

local function block_at(line)
  for _, block in ipairs(require("airlock.transcript").blocks_of(vim.api.nvim_get_current_buf())) do
    if block.first == line then
      return block
    end
  end
  return {}
end

--- As much of a text as fits.
local function cut(text, width)
  if vim.fn.strdisplaywidth(text) <= width then
    return text
  end
  text = vim.fn.strcharpart(text, 0, width)
  local count = vim.fn.strchars(text)
  repeat
    count = count - 1
    local short = vim.fn.strcharpart(text, 0, count)
  until count <= 1 or vim.fn.strdisplaywidth(short) < width
  return vim.fn.strcharpart(text, 0, count) .. "…"
end

--- 'foldtext': the header, what came of it, and how much is behind it. Where there is no room, the header is cut.
function M.text()
  local block = block_at(vim.v.foldstart)
  local header, outcome = vim.fn.getline(vim.v.foldstart), block.outcome or ""
  local behind = vim.v.foldend - vim.v.foldstart
  local size = behind > 0 and (behind == 1 and "  1 line" or ("  %d lines"):format(behind)) or ""
  local title = header:sub(1, #header - #outcome)
  local room = vim.api.nvim_win_get_width(0) - vim.fn.strdisplaywidth(outcome .. size)
  return { { cut(title, room) .. outcome, block.highlight or "Folded" }, { size, "Comment" } }
end

--- There are none any more.
function M.remove_all(buf)
  in_windows(buf, function()
    vim.cmd("normal! zE")
  end)
end

--- Makes a window ready for folds.
function M.set(window)
  require("airlock.window").set(window, {
    foldmethod = "manual",
    foldtext = "v:lua.require'airlock.folds'.text()",
    foldminlines = 0,
    foldenable = true,
    fillchars = "fold: ,eob: ",
  })
end

return M
