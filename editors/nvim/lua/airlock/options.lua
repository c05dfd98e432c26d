--- What the user chose in `setup{}`. Nothing of a workspace is ever read here.
local tell = require("airlock.tell")

local M = {}

local defaults = {
  --- The server. A plain name is looked up in PATH.
  cmd = { "airlock", "lsp" },
  --- Further environment variables for it.
  env = {},
  --- Whether files are attached, so that code actions work and the agent sees unsaved text: true, false or a
  --- function(buf) that says so.
  attach = true,
  --- The workspace folder of a buffer: nil, or a function(buf) that gives a path.
  root = nil,
  --- Files and folders that a workspace is known by.
  root_markers = { ".git", ".hg", ".jj" },
  chat = {
    --- "right", "left", "bottom" or "tab"
    position = "right",
    --- Columns, or lines at the bottom; below 1, a share of the screen.
    size = 0.45,
    prompt_height = 5,
  },
  --- Keys of the prompt and of the review. false takes one away.
  keys = {
    send = "<CR>",
    newline = { "<M-CR>", "<C-j>" },
    complete = "<Tab>",
    stop = "<C-c>",
    accept = "ga",
    reject = "gr",
    accept_file = "gA",
    reject_file = "gR",
    diff = "gd",
  },
}

local chosen = vim.deepcopy(defaults)

local function check(options)
  vim.validate({
    cmd = { options.cmd, "table" },
    env = { options.env, "table" },
    attach = { options.attach, { "boolean", "function" } },
    root = { options.root, "function", true },
    root_markers = { options.root_markers, "table" },
    ["chat.position"] = {
      options.chat.position,
      function(position)
        return vim.list_contains({ "right", "left", "bottom", "tab" }, position)
      end,
      '"right", "left", "bottom" or "tab"',
    },
    ["chat.size"] = { options.chat.size, "number" },
    ["chat.prompt_height"] = { options.chat.prompt_height, "number" },
    keys = { options.keys, "table" },
  })
end

--- Names that nobody knows are mistakes, and a mistake that is silent is not found.
local function unknown(given, known, prefix)
  local names = {}
  for name, value in pairs(given) do
    local is_list = type(name) == "number"
    if not is_list and known[name] == nil and name ~= "root" then
      table.insert(names, prefix .. name)
    elseif name == "chat" or name == "keys" then
      vim.list_extend(names, unknown(value, known[name], prefix .. name .. "."))
    end
  end
  return names
end

function M.set(given)
  given = given or {}
  local names = unknown(given, defaults, "")
  if #names > 0 then
    table.sort(names)
    tell.error(("setup{} knows no %s; see :help airlock-options"):format(table.concat(names, ", ")))
  end
  local options = vim.tbl_deep_extend("force", defaults, given)
  -- Lists are taken as they are, not merged item by item.
  options.cmd = given.cmd or defaults.cmd
  options.root_markers = given.root_markers or defaults.root_markers
  check(options)
  chosen = options
end

function M.get()
  return chosen
end

--- What a hint says of these actions: `ga accept · gr reject`. One without a key is left out.
function M.key_hint(actions)
  local parts = {}
  for _, action in ipairs(actions) do
    local key = M.keys(action[1])[1]
    if key then
      table.insert(parts, (" · %s %s"):format(key, action[2]))
    end
  end
  return table.concat(parts)
end

--- The keys of one action, as a list.
function M.keys(action)
  local keys = chosen.keys[action]
  if not keys then
    return {}
  end
  return type(keys) == "table" and keys or { keys }
end

return M
