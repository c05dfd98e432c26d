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

--- What the server's own doctor found. It starts a sandbox to prove what it says, which may take a while.
local DOCTOR_TIME_MAX_MS = 90000

local function doctor(program)
  local options = { text = true, timeout = DOCTOR_TIME_MAX_MS, env = require("airlock.options").get().env }
  local ok, result = pcall(function()
    return vim.system({ program, "doctor", "--json" }, options):wait()
  end)
  if not ok then
    return nil, tostring(result)
  end
  local decoded, report = pcall(vim.json.decode, result.stdout or "", { luanil = { object = true } })
  if not decoded or type(report) ~= "table" or report.version ~= 1 then
    return nil, vim.trim(result.stderr or "")
  end
  return report
end

local function check_server()
  local program, missing = require("airlock.server").program(vim.fn.getcwd())
  if not program then
    return health.error(missing)
  end
  local report, why = doctor(program)
  if not report then
    return health.error(program .. " does not run: " .. why, "Try it in a terminal: " .. program .. " doctor")
  end
  health.ok(("airlock %s (%s)"):format(report.airlock, program))
  local tell = { hint = health.warn, failed = health.error }
  for _, check in ipairs(report.checks) do
    local text = ("%s: %s"):format(check.title, check.text)
    if check.state == "ok" then
      health.ok(text)
    else
      (tell[check.state] or health.warn)(text, check.remedy and { check.remedy.text } or nil)
    end
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
  health.start("Airlock: server and sandbox")
  check_server()
  health.start("Airlock: sessions")
  check_sessions()
end

return M
