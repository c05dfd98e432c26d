--- The chat: a window with the conversation, and one below it to write in.
local folds = require("airlock.folds")
local options = require("airlock.options")
local Prompt = require("airlock.prompt")
local status = require("airlock.status")
local windows = require("airlock.window")

local Chat = {}
Chat.__index = Chat

function Chat.new(workspace)
  local self = setmetatable({ workspace = workspace, window = nil, prompt_window = nil, bar = nil, hint = nil }, Chat)
  self.prompt = Prompt.new(workspace)
  return self
end

local function is_open(window)
  return window ~= nil and vim.api.nvim_win_is_valid(window)
end

function Chat:owns(buf)
  local session = self.workspace.session
  return buf == self.prompt.buf or (session ~= nil and buf == session.conversation.transcript.buf)
end

local SPLITS = { right = "botright vertical", left = "topleft vertical", bottom = "botright" }

local function split()
  local chat = options.get().chat
  if chat.position == "tab" then
    vim.cmd.tabnew()
    return
  end
  local whole = chat.position == "bottom" and vim.o.lines or vim.o.columns
  local size = chat.size < 1 and math.floor(whole * chat.size) or chat.size
  vim.cmd(("%s %dsplit"):format(SPLITS[chat.position], math.max(10, size)))
end

local function keys_of_transcript(chat, buf)
  local function map(key, what, action)
    vim.keymap.set("n", key, action, { buffer = buf, nowait = true, desc = what })
  end
  local function write()
    chat:focus()
  end
  map("i", "Write to Airlock", write)
  map("a", "Write to Airlock", write)
  map("q", "Close the chat", function()
    chat:close()
  end)
  map("<CR>", "Answer Airlock's question", function()
    require("airlock.permission").focus()
  end)
  for _, key in ipairs(options.keys("stop")) do
    map(key, "Stop the agent", function()
      require("airlock.commands").stop()
    end)
  end
end

--- Opens it, or goes to it where it is open, to write.
function Chat:open()
  local session = self.workspace:ensure_session()
  if not is_open(self.window) then
    split()
    self.window = vim.api.nvim_get_current_win()
  end
  self:show(session)
  if not is_open(self.prompt_window) then
    vim.api.nvim_set_current_win(self.window)
    vim.cmd(("belowright %dsplit"):format(options.get().chat.prompt_height))
    self.prompt_window = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_buf(self.prompt_window, self.prompt:buffer())
    windows.set(self.prompt_window, windows.PLAIN)
    windows.set(self.prompt_window, { winfixheight = true, winfixbuf = true, linebreak = true })
    self.hint = nil
    self:refresh()
    self:keep_height()
  end
  self:focus()
end

--- A window that closes gives its room to a neighbour, and the prompt needs none.
function Chat:keep_height()
  vim.api.nvim_create_autocmd("WinClosed", {
    group = vim.api.nvim_create_augroup("airlock.prompt." .. self.prompt_window, {}),
    callback = vim.schedule_wrap(function()
      if is_open(self.prompt_window) and is_open(self.window) then
        vim.api.nvim_win_set_height(self.prompt_window, options.get().chat.prompt_height)
      end
    end),
  })
end

--- Shows a session in the chat's window, if it is open.
function Chat:show(session)
  if not is_open(self.window) then
    return
  end
  local buf = session.conversation.transcript:buffer()
  if vim.api.nvim_win_get_buf(self.window) ~= buf then
    windows.set(self.window, { winfixbuf = false })
    vim.api.nvim_win_set_buf(self.window, buf)
    windows.set(self.window, windows.PLAIN)
    windows.set(self.window, { winfixbuf = true, winfixwidth = true, linebreak = true, breakindent = true })
    folds.set(self.window)
    session.conversation.transcript:fold_all()
    keys_of_transcript(self, buf)
  end
  self.bar = nil
  self:refresh()
  vim.api.nvim_win_set_cursor(self.window, { vim.api.nvim_buf_line_count(buf), 0 })
end

--- Writes the state above the conversation, and what can be done above the prompt.
function Chat:refresh()
  local session = self.workspace.session
  if not is_open(self.window) or not session then
    return
  end
  local bar = " " .. status.bar(session) .. "%<"
  if bar ~= self.bar then
    self.bar = bar
    windows.set(self.window, { winbar = bar })
  end
  local hint = Prompt.hint(session)
  if hint ~= self.hint and is_open(self.prompt_window) then
    self.hint = hint
    windows.hint(self.prompt_window, hint)
  end
end

function Chat:focus()
  if not is_open(self.prompt_window) then
    return self:open()
  end
  vim.api.nvim_set_current_win(self.prompt_window)
  vim.cmd.startinsert({ bang = true })
end

function Chat:close()
  for _, window in ipairs({ self.prompt_window, self.window }) do
    -- The last window stays; Neovim says so.
    if is_open(window) then
      pcall(vim.api.nvim_win_close, window, false)
    end
  end
end

local M = {}

function M.of(workspace)
  workspace.chat = workspace.chat or Chat.new(workspace)
  return workspace.chat
end

return M
