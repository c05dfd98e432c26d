--- The commands, as `:help airlock-commands` lists them.
local ask = require("airlock.ask")
local changes = require("airlock.changes")
local chat = require("airlock.chat")
local tell = require("airlock.tell")
local verdict = require("airlock.verdict")
local workspaces = require("airlock.workspace")

local M = {}

local function here()
  return workspaces.of_buffer(0)
end

--- The session that is open here; the user is told when there is none.
local function session()
  local open = here().session
  if open and open.id then
    return open
  end
  tell.info("there is no session here yet. :Airlock begins one")
end

function M.stop()
  local open = here().session
  if not open or not open:stop() then
    tell.info("nothing is at work")
  end
end

local function decide(verb)
  return function(arguments)
    local open = session()
    if open then
      verdict.paths(open, verb, arguments.fargs)
    end
  end
end

local function complete_paths(beginning)
  return vim.tbl_filter(function(path)
    return vim.startswith(path, beginning)
  end, changes.paths(0))
end

local COMMANDS = {
  Airlock = {
    function(arguments)
      local workspace = here()
      chat.of(workspace):open()
      if arguments.args ~= "" then
        workspace.session:prompt(arguments.args)
      end
    end,
    { nargs = "*", desc = "Open the chat; with a text, say it" },
  },
  AirlockNew = {
    function()
      local workspace = here()
      workspace:begin_session()
      chat.of(workspace):open()
    end,
    { desc = "Begin a new conversation" },
  },
  AirlockAsk = {
    ask.command,
    { nargs = "*", range = true, desc = "Ask about this document or these lines" },
  },
  AirlockStop = { M.stop, { desc = "Stop the agent" } },
  AirlockAnswer = {
    function()
      require("airlock.permission").focus()
    end,
    { desc = "Go to the question that waits for an answer" },
  },
  AirlockSessions = {
    function()
      require("airlock.sessions").choose(here())
    end,
    { desc = "Go on with an earlier conversation" },
  },
  AirlockChanges = {
    function()
      changes.open(here())
    end,
    { desc = "List what the agent changed" },
  },
  AirlockDiff = {
    function(arguments)
      local open = session()
      if open then
        require("airlock.diff").open(open, arguments.fargs[1])
      end
    end,
    { nargs = "?", complete = complete_paths, desc = "Show a file's changes side by side" },
  },
  AirlockAccept = { decide("accept"), { nargs = "*", complete = complete_paths, desc = "Accept changes" } },
  AirlockReject = { decide("reject"), { nargs = "*", complete = complete_paths, desc = "Reject changes" } },
}

function M.define()
  for name, command in pairs(COMMANDS) do
    vim.api.nvim_create_user_command(name, command[1], command[2])
  end
  vim.keymap.set({ "n", "x" }, "<Plug>(airlock-ask)", ask.begin_operator, { expr = true, desc = "Ask Airlock about…" })
end

return M
