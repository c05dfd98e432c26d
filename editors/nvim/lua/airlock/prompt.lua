--- The buffer that the user writes to the agent in.
local completion = require("airlock.completion")
local options = require("airlock.options")

local Prompt = {}
Prompt.__index = Prompt

function Prompt.new(workspace)
  --- `said`: what was sent before, the newest last; `place`: where in it the user is, from its end.
  return setmetatable({ workspace = workspace, buf = nil, said = {}, place = 0 }, Prompt)
end

--- What the user can do now.
function Prompt.hint(session)
  local function first(action)
    return options.keys(action)[1] or "-"
  end
  if session.next_turn then
    return ("your question waits · %s stops the agent"):format(first("stop"))
  elseif session.turn then
    return ("the agent is at work · %s stops it"):format(first("stop"))
  end
  return ("%s send · %s newline · /command · @file"):format(first("send"), first("newline"))
end

function Prompt:buffer()
  if self.buf and vim.api.nvim_buf_is_valid(self.buf) then
    return self.buf
  end
  local buf = vim.api.nvim_create_buf(false, true)
  self.buf = buf
  vim.api.nvim_buf_set_name(buf, ("airlock://prompt/%d"):format(buf))
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].filetype = "airlock_prompt"
  self:map_keys()
  completion.follow(buf, self.workspace)
  return buf
end

function Prompt:map_keys()
  local function map(modes, action, what, run)
    for _, key in ipairs(options.keys(action)) do
      vim.keymap.set(modes, key, run, { buffer = self.buf, desc = what })
    end
  end
  map("n", "send", "Send to Airlock", function()
    self:send()
  end)
  map("i", "send", "Send to Airlock", function()
    if vim.fn.pumvisible() == 0 then
      return self:send()
    end
    -- With a completion chosen, the key takes it.
    if vim.fn.complete_info({ "selected" }).selected >= 0 then
      return vim.api.nvim_feedkeys(vim.keycode("<C-y>"), "in", false)
    end
    vim.fn.complete(vim.fn.col("."), {})
    self:send()
  end)
  map("i", "newline", "Begin a new line", function()
    vim.api.nvim_feedkeys(vim.keycode("<CR>"), "in", false)
  end)
  map("i", "complete", "Complete a command or a file", function()
    completion.next(self.workspace)
  end)
  map({ "n", "i" }, "stop", "Stop the agent", function()
    require("airlock.commands").stop()
  end)
  vim.keymap.set("n", "q", function()
    self.workspace.chat:close()
  end, { buffer = self.buf, desc = "Close the chat" })
  vim.keymap.set("i", "<C-p>", function()
    self:recall(1)
  end, { buffer = self.buf, desc = "What was sent before" })
  vim.keymap.set("i", "<C-n>", function()
    self:recall(-1)
  end, { buffer = self.buf, desc = "What was sent after that" })
end

function Prompt:text()
  return table.concat(vim.api.nvim_buf_get_lines(self.buf, 0, -1, false), "\n")
end

function Prompt:set_text(text)
  local lines = vim.split(text, "\n", { plain = true })
  vim.api.nvim_buf_set_lines(self.buf, 0, -1, false, lines)
  for _, window in ipairs(vim.fn.win_findbuf(self.buf)) do
    vim.api.nvim_win_set_cursor(window, { #lines, #lines[#lines] })
  end
end

function Prompt:send()
  local text = vim.trim(self:text())
  if text == "" then
    return
  end
  if self.workspace:ensure_session():prompt(text) then
    self:set_text("")
  end
end

--- Keeps a text to be brought back.
function Prompt:remember(text)
  if self.said[#self.said] ~= text then
    table.insert(self.said, text)
  end
  self.place = 0
end

--- Brings back what was sent, or moves in the menu of completions where there is one.
function Prompt:recall(step)
  if vim.fn.pumvisible() == 1 then
    return vim.api.nvim_feedkeys(vim.keycode(step > 0 and "<C-p>" or "<C-n>"), "in", false)
  end
  local place = self.place + step
  if place < 0 or place > #self.said then
    return
  end
  self.place = place
  self:set_text(place == 0 and "" or self.said[#self.said - place + 1])
end

return Prompt
