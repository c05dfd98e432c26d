--- `:checkhealth airlock`
local M = {}

local health = vim.health

local function check_neovim()
  if vim.fn.has("nvim-0.10") == 1 then
    health.ok("Neovim " .. tostring(vim.version()))
  else
    health.error("Neovim is older than 0.10", "Install Neovim 0.10 or later")
  end
end

local function run(command)
  local ok, result = pcall(function()
    return vim.system(command, { text = true, timeout = 5000 }):wait()
  end)
  if ok and result.code == 0 then
    return vim.trim(result.stdout)
  end
end

local function check_server()
  local program, missing = require("airlock.server").program(vim.fn.getcwd())
  if not program then
    return health.error(missing)
  end
  local version = run({ program, "--version" })
  if version then
    health.ok(("%s (%s)"):format(version, program))
  else
    health.error(program .. " does not run", "Try it in a terminal: " .. program .. " --version")
  end
end

local function check_key()
  local own = require("airlock.options").get().env
  if vim.env.ANTHROPIC_API_KEY or own.ANTHROPIC_API_KEY then
    health.ok("ANTHROPIC_API_KEY is set")
  else
    health.warn("ANTHROPIC_API_KEY is not set", "Set it, or put api_key into ~/.config/airlock/config.toml")
  end
end

local function check_podman()
  local version = vim.fn.executable("podman") == 1 and run({ "podman", "--version" })
  if version then
    health.ok(version)
  else
    local hint = "sudo apt install podman crun uidmap (Debian, Ubuntu), or sudo dnf install podman (Fedora)"
    health.error("podman was not found: the agent can talk, but has no sandbox to work in", hint)
  end
  if vim.fn.executable("krun") == 1 then
    health.ok("krun is there: sandboxes can be microVMs")
  else
    health.info("krun was not found: sandboxes are containers, not microVMs")
  end
end

local function check_sessions()
  local any = false
  for root, workspace in pairs(require("airlock.workspace").all()) do
    if workspace.client then
      any = true
      local line = require("airlock.status").line(workspace.session)
      health.ok(("%s: the server runs. %s"):format(root, (line:gsub("%%%%", "%%"))))
    end
  end
  if not any then
    health.info("no server runs; one starts with the first file, or with :Airlock")
  end
end

function M.check()
  health.start("Airlock: Neovim")
  check_neovim()
  health.start("Airlock: server")
  check_server()
  check_key()
  health.start("Airlock: sandbox")
  check_podman()
  health.start("Airlock: sessions")
  check_sessions()
end

return M
