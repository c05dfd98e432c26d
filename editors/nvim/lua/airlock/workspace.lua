--- A workspace folder: its server, which is started again when it crashes, and the session that is open in it.
local neutral = require("airlock.neutral")
local options = require("airlock.options")
local server = require("airlock.server")
local Session = require("airlock.session")
local status = require("airlock.status")
local tell = require("airlock.tell")

local Workspace = {}
Workspace.__index = Workspace

local M = {}
local all = {}
local leaving = false

function M.all()
  return all
end

local function at(root)
  root = vim.fs.normalize(root)
  all[root] = all[root]
    or setmetatable({
      root = root,
      client_id = nil,
      client = nil,
      --- The session that the chat shows.
      session = nil,
      --- All that are open, by their ids.
      sessions = {},
      chat = nil,
      --- Who waits for the server to be ready.
      waiting = {},
      --- Requests without an answer.
      pending = {},
      --- Updates of sessions that are being opened.
      early = {},
      --- When the server crashed, in seconds.
      crashes = {},
    }, Workspace)
  return all[root]
end

--- The folder that a path belongs to.
local function root_of(path)
  return vim.fs.root(path, options.get().root_markers)
end

--- The workspace of a buffer. One that is no file belongs to where the user is.
function M.of_buffer(buf)
  buf = buf == 0 and vim.api.nvim_get_current_buf() or buf
  for _, workspace in pairs(all) do
    if workspace.chat and workspace.chat:owns(buf) then
      return workspace
    end
  end
  local name = vim.api.nvim_buf_get_name(buf)
  local is_file = vim.bo[buf].buftype == "" and name ~= "" and not name:find("^%a+://")
  local own = options.get().root and options.get().root(buf)
  if own then
    return at(own)
  end
  local here = vim.fn.getcwd()
  if not is_file then
    return at(root_of(here) or here)
  end
  local inside = vim.startswith(name, here .. "/")
  return at(root_of(name) or (inside and here) or vim.fs.dirname(name))
end

function M.of_uri(uri)
  return M.of_buffer(vim.uri_to_bufnr(uri))
end

--- Whether a buffer is to be known to the server.
function M.is_attachable(buf)
  local attach = options.get().attach
  local name = vim.api.nvim_buf_get_name(buf)
  local is_file = vim.bo[buf].buftype == "" and name ~= "" and not name:find("^%a+://")
  if not is_file or not vim.api.nvim_buf_is_loaded(buf) then
    return false
  end
  return type(attach) == "function" and attach(buf) or attach == true
end

--- Neovim is about to end: a server that ends now did not crash.
function M.leave()
  leaving = true
end

--- Starts the server if need be. `on_ready(failure)` is called when it runs or cannot.
function Workspace:start(on_ready)
  on_ready = on_ready or function() end
  if self.client then
    return on_ready()
  end
  table.insert(self.waiting, on_ready)
  if self.client_id then
    return
  end
  local id, failure = server.start(self.root, {
    update = function(params)
      self:take(params)
    end,
    permission = function(params)
      return require("airlock.permission").ask(self, params)
    end,
    withdrawn = function(id)
      require("airlock.permission").withdrawn(self, id)
    end,
    ready = function(client)
      self.client = client
      self:release_waiting()
    end,
    ended = function(code, signal, last_words)
      self:ended(code, signal, last_words)
    end,
  })
  self.client_id = id
  if not id then
    self:release_waiting({ message = failure })
  end
end

function Workspace:release_waiting(failure)
  local waiting = self.waiting
  self.waiting = {}
  for _, on_ready in ipairs(waiting) do
    on_ready(failure)
  end
end

local function is_new_client()
  return vim.fn.has("nvim-0.11") == 1
end

--- Asks the server. `on_answer(failure, result)` is called once, also when the server dies meanwhile.
function Workspace:request(method, params, on_answer)
  self:start(function(failure)
    if failure then
      return on_answer(failure)
    end
    local pending = { on_answer }
    self.pending[pending] = true
    local function answered(error, result)
      if self.pending[pending] then
        self.pending[pending] = nil
        on_answer(error, result)
      end
    end
    local client = self.client
    local sent
    -- Neovim tells of changes to a document a little later. With a notification, any of them, it tells at once.
    self:notify("$/setTrace", { value = "off" })
    if is_new_client() then
      sent = client:request(method, params, answered, 0)
    else
      sent = client.request(method, params, answered, 0)
    end
    if not sent then
      answered({ message = "Airlock's process has ended" })
    end
  end)
end

function Workspace:notify(method, params)
  if not self.client then
    return
  end
  if is_new_client() then
    self.client:notify(method, params)
  else
    self.client.notify(method, params)
  end
end

function Workspace:attach(buf)
  self:start(function(failure)
    if failure then
      if not self.told_failure then
        self.told_failure = true
        tell.warning(failure.message)
      end
    elseif vim.api.nvim_buf_is_loaded(buf) then
      vim.lsp.buf_attach_client(buf, self.client.id)
    end
  end)
end

--- An update of the server. Those of a session that is being opened come before its name.
function Workspace:take(params)
  local session = self.sessions[params.sessionId]
  if session then
    session:take(params.update)
  elseif self.opening then
    self.early[params.sessionId] = self.early[params.sessionId] or {}
    table.insert(self.early[params.sessionId], params.update)
  end
end

--- Opens a session by `method`. `on_open(failure)` may be left out; a failure is shown in the conversation then.
function Workspace:open(session, method, params, on_open)
  self.opening = (self.opening or 0) + 1
  params.folder = vim.uri_from_fname(self.root)
  self:request(method, params, function(failure, result)
    -- Those of a session whose answer is still to come wait for that.
    self.opening = (self.opening or 0) > 1 and self.opening - 1 or nil
    if not failure then
      session:opened(result)
      self.sessions[session.id] = session
      local early = self.early[session.id] or {}
      self.early[session.id] = nil
      for _, update in ipairs(early) do
        session:take(update)
      end
      session:send_waiting()
    end
    if not self.opening then
      self.early = {}
    end
    on_open(failure)
    status.redraw()
  end)
end

--- The session, which is begun if there is none.
function Workspace:ensure_session()
  if not self.session or self.session.closed then
    self:begin_session()
  end
  return self.session
end

--- Begins a new conversation; the one before stays in the history.
function Workspace:begin_session()
  local before = self.session
  local session = Session.new(self)
  self.session = session
  if self.chat then
    self.chat:show(session)
  end
  self:open(session, "airlock/session/new", {}, function(failure)
    if failure then
      session.closed, session.turn, session.waiting_turn = true, false, nil
      session:notice("error", failure.message)
    end
  end)
  self:close(before)
end

--- Goes on with a kept conversation.
function Workspace:load_session(id, on_open)
  local before = self.session
  local session = Session.new(self)
  session.replaying = true
  self:open(session, "airlock/session/load", { sessionId = id }, function(failure)
    if failure then
      return on_open(failure)
    end
    self.session = session
    if self.chat then
      self.chat:show(session)
    end
    self:close(before)
    require("airlock.changes").count(session)
    on_open()
  end)
end

function Workspace:close(session)
  if session and session.id and not session.closed then
    session.closed = true
    self.sessions[session.id] = nil
    self:request("airlock/session/close", { sessionId = session.id }, function() end)
    session.conversation.transcript:discard()
  end
end

--- The server ended, wanted or not.
function Workspace:ended(code, signal, last_words)
  local was_ready = self.client ~= nil
  self.client, self.client_id, self.opening, self.early, self.sessions = nil, nil, nil, {}, {}
  local pending = self.pending
  self.pending = {}
  local why = ("Airlock's process ended (%s)"):format(
    signal ~= 0 and ("signal %d"):format(signal) or ("exit code %d"):format(code)
  )
  require("airlock.permission").forget(self)
  for request in pairs(pending) do
    request[1]({ message = why })
  end
  local was_wanted = was_ready and code == 0 and signal == 0
  if was_wanted and self.session then
    self.session:lost()
    self.session.closed = true
  end
  if leaving or was_wanted then
    return
  end
  if last_words ~= "" then
    why = ("%s, saying: %s"):format(why, neutral.text(last_words))
  end
  if was_ready then
    return require("airlock.crash").recover(self, why)
  end
  self:release_waiting({ message = why })
end

--- The files that are open here.
function Workspace:files()
  return vim.tbl_filter(function(buf)
    return M.is_attachable(buf) and M.of_buffer(buf) == self
  end, vim.api.nvim_list_bufs())
end

return M
