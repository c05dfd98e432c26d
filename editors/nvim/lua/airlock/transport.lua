--- JSON-RPC with the server over its pipes, in the form that Neovim's LSP client takes (|vim.lsp.rpc|).
---
--- Neovim's own decodes all that has arrived before it looks at a key again, so a burst of small messages is a stall.
--- This one decodes for a few milliseconds at a time, and reads no further while much waits, so that the server joins
--- what it has to say. It also keeps the server's last words, and tells a handler the id of the request it answers.
local M = {}

--- How long messages are decoded and handled before keys have their turn.
local SLICE_NS = 4e6
--- Reading stops while more than this waits.
local WAITING_MAX_BYTES = 128 * 1024
--- A message that is longer than that is none.
local MESSAGE_MAX_BYTES = 64 * 1024 * 1024
--- What is kept of the server's stderr.
local LAST_WORDS_MAX_BYTES = 2048

local Transport = {}
Transport.__index = Transport

--- Takes the next message off what was read: its body, or nil when it is not whole yet.
function Transport:next_body()
  if self.bytes < self.needed then
    return nil
  end
  if #self.chunks > 1 then
    self.chunks = { table.concat(self.chunks) }
  end
  local text = self.chunks[1] or ""
  local header_end, body_start = text:find("\r\n\r\n", self.at, true)
  if not header_end then
    return nil
  end
  local length = tonumber(text:sub(self.at, header_end):lower():match("content%-length: *(%d+)"))
  if not length or length > MESSAGE_MAX_BYTES then
    self:fail("it says something that is no message")
    return nil
  end
  if #text < body_start + length then
    self.needed = body_start + length
    return nil
  end
  self.needed, self.at = 0, body_start + length + 1
  return text:sub(body_start + 1, body_start + length)
end

--- Drops what was handled.
function Transport:forget_handled()
  if self.at > 1 then
    self.chunks = { self.chunks[1]:sub(self.at), unpack(self.chunks, 2) }
    self.bytes = self.bytes - self.at + 1
    self.needed = math.max(0, self.needed - self.at + 1)
    self.at = 1
  end
end

--- Handles messages for a while; what is left has its turn after the keys.
function Transport:pump()
  self.pumping = false
  local begun = vim.uv.hrtime()
  local more = true
  while more and vim.uv.hrtime() - begun < SLICE_NS do
    local body = self:next_body()
    more = body ~= nil
    if body then
      self:handle(body)
    end
  end
  self:forget_handled()
  if self.is_paused and not self.closing and (not more or self.bytes < WAITING_MAX_BYTES) then
    self.is_paused = false
    self:read()
  end
  if more then
    self:pump_soon()
  end
end

function Transport:pump_soon()
  if not self.pumping then
    self.pumping = true
    vim.schedule(function()
      self:pump()
    end)
  end
end

function Transport:read()
  self.stdout:read_start(function(_, chunk)
    if not chunk then
      return
    end
    table.insert(self.chunks, chunk)
    self.bytes = self.bytes + #chunk
    if self.bytes > WAITING_MAX_BYTES then
      self.is_paused = true
      self.stdout:read_stop()
    end
    self:pump_soon()
  end)
end

function Transport:handle(body)
  local ok, message = pcall(vim.json.decode, body, { luanil = { object = true } })
  if not ok or type(message) ~= "table" then
    return self:fail("it says something that is no JSON")
  end
  if message.method and message.id ~= nil then
    self:answer(message)
  elseif message.method then
    self:safely(self.dispatchers.notification, message.method, message.params)
  elseif message.id ~= nil then
    local callback = self.callbacks[message.id]
    self.callbacks[message.id] = nil
    if callback then
      self:safely(callback, message.error, message.result)
    end
  end
end

--- An error in a handler is shown, and costs nothing but that message.
function Transport:safely(handler, ...)
  local ok, failure = xpcall(handler, debug.traceback, ...)
  if not ok then
    self.dispatchers.on_error(vim.lsp.rpc.client_errors.NOTIFICATION_HANDLER_ERROR, failure)
  end
end

--- A request of the server; its handler may wait for the user, in a coroutine.
function Transport:answer(message)
  if type(message.params) == "table" then
    message.params.requestId = message.id
  end
  coroutine.wrap(function()
    local ok, result, failure = pcall(self.dispatchers.server_request, message.method, message.params)
    if not ok then
      local internal = vim.lsp.protocol.ErrorCodes.InternalError
      result, failure = nil, vim.lsp.rpc.rpc_response_error(internal, tostring(result))
    end
    if result == nil and not failure then
      result = vim.NIL
    end
    self:send({ id = message.id, result = result, error = failure })
  end)()
end

function Transport:send(message)
  if self.closing then
    return false
  end
  message.jsonrpc = "2.0"
  local body = vim.json.encode(message)
  self.stdin:write(("Content-Length: %d\r\n\r\n%s"):format(#body, body))
  return true
end

--- The server speaks another language: it is ended, and the user told.
function Transport:fail(why)
  table.insert(self.words, "Airlock was ended: " .. why)
  self:terminate()
end

function Transport:terminate()
  if not self.closing then
    self.closing = true
    self.process:kill("sigterm")
  end
end

function Transport:listen_to_stderr()
  self.stderr:read_start(function(_, chunk)
    if chunk then
      table.insert(self.words, chunk)
      local all = table.concat(self.words)
      self.words = { all:sub(-LAST_WORDS_MAX_BYTES) }
    end
  end)
end

local function environment(own)
  local list = {}
  for name, value in pairs(vim.tbl_extend("force", vim.fn.environ(), own)) do
    table.insert(list, name .. "=" .. value)
  end
  return list
end

--- Starts a program, or errors. `on_exit(code, signal, last_words)` comes once, on the main loop.
function M.start(command, options, dispatchers, on_exit)
  local self = setmetatable({
    dispatchers = dispatchers,
    callbacks = {},
    next_id = 0,
    --- What was read, and how much that is; the first has been handled up to `at`.
    chunks = {},
    bytes = 0,
    at = 1,
    --- How much there must be for the next message to be whole.
    needed = 0,
    words = {},
    closing = false,
  }, Transport)
  self.stdin, self.stdout, self.stderr = vim.uv.new_pipe(), vim.uv.new_pipe(), vim.uv.new_pipe()
  local process, failure = vim.uv.spawn(command[1], {
    args = vim.list_slice(command, 2),
    stdio = { self.stdin, self.stdout, self.stderr },
    cwd = options.cwd,
    env = environment(options.env),
    detached = true,
  }, function(code, signal)
    self.closing = true
    vim.schedule(function()
      -- What it still said is heard first.
      self:pump()
      for _, pipe in ipairs({ self.stdin, self.stdout, self.stderr }) do
        pipe:close()
      end
      self.process:close()
      on_exit(code, signal, vim.trim(table.concat(self.words)))
    end)
  end)
  if not process then
    error(failure, 0)
  end
  self.process = process
  self:read()
  self:listen_to_stderr()
  return self:public()
end

--- What Neovim's client calls.
function Transport:public()
  return {
    request = function(method, params, callback, on_answered)
      local id = self.next_id
      self.next_id = id + 1
      if not self:send({ id = id, method = method, params = params }) then
        return false
      end
      self.callbacks[id] = function(...)
        if on_answered then
          on_answered(id)
        end
        callback(...)
      end
      return true, id
    end,
    notify = function(method, params)
      return self:send({ method = method, params = params })
    end,
    is_closing = function()
      return self.closing
    end,
    terminate = function()
      self:terminate()
    end,
  }
end

return M
