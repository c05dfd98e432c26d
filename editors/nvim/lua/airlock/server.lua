--- Starts `airlock lsp` for a workspace, by Neovim's own LSP client.
local code_actions = require("airlock.code_actions")
local edits = require("airlock.edits")
local options = require("airlock.options")
local transport = require("airlock.transport")

local M = {}

--- The program to start, or nil and why not. A plain name is looked up in PATH, but never found in the workspace: a
--- repository must not bring the server that guards against it.
function M.program(root)
  local name = options.get().cmd[1]
  local found = vim.fn.exepath(name)
  if found == "" then
    local hint = "put it into PATH, or name it in setup{ cmd = { \"/path/to/airlock\", \"lsp\" } }"
    return nil, ("%s was not found: %s"):format(name, hint)
  end
  local is_plain = not name:find("/", 1, true)
  local real, real_root = vim.uv.fs_realpath(found) or found, root and vim.uv.fs_realpath(root) or root
  if is_plain and real_root and vim.startswith(real, real_root .. "/") then
    return nil, ("%s in PATH is %s, a file of this workspace, and is not started"):format(name, found)
  end
  return found
end

local function capabilities()
  local wanted = vim.lsp.protocol.make_client_capabilities()
  wanted.experimental = { airlock = { permission = true } }
  -- One encoding for all clients of a buffer: Neovim warns of several.
  wanted.general.positionEncodings = { "utf-16" }
  return wanted
end

--- Starts it. `on` has update(params), permission(params), withdrawn(id), ready(client) and
--- ended(code, signal, last_words).
--- Gives the client's id, or nil and why not.
function M.start(root, on)
  local program, missing = M.program(root)
  if not program then
    return nil, missing
  end
  local command = vim.list_extend({ program }, options.get().cmd, 2)
  local config = {
    name = "airlock",
    cmd = function(dispatchers)
      local place = { cwd = root, env = options.get().env }
      local rpc = transport.start(command, place, dispatchers, function(code, signal, last_words)
        -- Neovim would tell of a crash in a message that waits for Enter. We start the server again instead.
        dispatchers.on_exit(0, 0)
        on.ended(code, signal, last_words)
      end)
      return code_actions.with_all_diagnostics(rpc)
    end,
    root_dir = root,
    workspace_folders = { { uri = vim.uri_from_fname(root), name = root } },
    capabilities = capabilities(),
    commands = code_actions.commands,
    handlers = {
      ["airlock/session/update"] = function(_, params)
        on.update(params)
      end,
      ["airlock/permission"] = function(_, params)
        return on.permission(params)
      end,
      ["$/cancelRequest"] = function(_, params)
        on.withdrawn(params.id)
      end,
      ["workspace/applyEdit"] = edits.apply,
    },
    on_init = function(client)
      on.ready(client)
    end,
  }
  local ok, id, failure = pcall(function()
    if vim.fn.has("nvim-0.11") == 1 then
      return vim.lsp.start(config, { attach = false })
    end
    return vim.lsp.start_client(config)
  end)
  if not ok or not id then
    return nil, ("%s does not start: %s"):format(program, tostring(ok and failure or id))
  end
  return id
end

return M
