--- Completes slash commands and `@files` in the prompt.
local neutral = require("airlock.neutral")

local M = {}

--- Names in one folder that are looked at, and completions that are offered.
local NAMES_MAX = 10000
local OFFERED_MAX = 100

--- Where a word to complete begins (in bytes, from 0) and what of it is there: "command" or "file", or nil.
function M.word(line, row, column)
  local before = line:sub(1, column)
  if row == 1 and before:find("^/%S*$") then
    return "command", 0, before
  end
  local at, word = before:match("()@([^%s@]*)$")
  if at and (at == 1 or before:sub(at - 1, at - 1):find("%s")) then
    return "file", at - 1, "@" .. word
  end
end

local function sorted(completions)
  table.sort(completions, function(one, other)
    return one.word < other.word
  end)
  return completions
end

local function commands(workspace, word)
  local found = {}
  for _, command in ipairs(workspace.session and workspace.session.commands or {}) do
    local name = "/" .. command.name
    if vim.startswith(name, word) then
      table.insert(found, {
        word = name,
        abbr = neutral.line(name .. (command.hint and " " .. command.hint or "")),
        menu = neutral.line(command.description or ""),
      })
    end
  end
  return sorted(found)
end

--- The names in a folder of the workspace that begin as the word does. A path that leaves it completes to nothing.
local function files(workspace, word)
  local path = word:sub(2)
  local folder, beginning = path:match("^(.*/)([^/]*)$")
  folder, beginning = folder or "", beginning or path
  if vim.startswith(path, "/") or ("/" .. folder):find("/%.%./") then
    return {}
  end
  local found, looked = {}, 0
  for name, kind in vim.fs.dir(workspace.root .. "/" .. folder) do
    looked = looked + 1
    if looked > NAMES_MAX or #found >= OFFERED_MAX then
      break
    end
    local hidden = vim.startswith(name, ".") and beginning == ""
    -- A name with blanks or stranger things cannot be mentioned in a prompt.
    if vim.startswith(name, beginning) and not hidden and not name:find("[%s%c]") then
      local whole = "@" .. folder .. name .. (kind == "directory" and "/" or "")
      table.insert(found, { word = whole, abbr = neutral.line(whole), menu = kind == "directory" and "folder" or "" })
    end
  end
  return sorted(found)
end

--- What can be completed at the cursor of a prompt: the column (from 1) and the completions.
local function at_cursor(workspace)
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  local kind, start, word = M.word(vim.api.nvim_get_current_line(), row, column)
  if not kind then
    return nil, {}
  end
  local found = kind == "command" and commands(workspace, word) or files(workspace, word)
  -- What is written in full needs no offer.
  if #found == 1 and found[1].word == word then
    found = {}
  end
  return start + 1, found
end

--- The key: takes the next completion, or the first one where none are shown yet.
function M.next(workspace)
  if vim.fn.pumvisible() == 0 then
    local column, found = at_cursor(workspace)
    if #found == 0 then
      return
    end
    vim.fn.complete(column, found)
  end
  vim.api.nvim_feedkeys(vim.keycode("<C-n>"), "in", false)
end

--- Offers completions as the user types, without choosing one.
function M.follow(buf, workspace)
  local before
  vim.api.nvim_create_autocmd("InsertEnter", {
    buffer = buf,
    callback = function()
      before = before or vim.o.completeopt
      vim.o.completeopt = "menuone,noselect"
    end,
  })
  vim.api.nvim_create_autocmd({ "InsertLeave", "BufLeave" }, {
    buffer = buf,
    callback = function()
      vim.o.completeopt = before or vim.o.completeopt
      before = nil
    end,
  })
  vim.api.nvim_create_autocmd({ "TextChangedI", "TextChangedP" }, {
    buffer = buf,
    callback = function()
      if vim.fn.complete_info({ "selected" }).selected >= 0 then
        return
      end
      local column, found = at_cursor(workspace)
      if #found > 0 then
        vim.fn.complete(column, found)
      elseif vim.fn.pumvisible() == 1 then
        vim.fn.complete(vim.fn.col("."), {})
      end
    end,
  })
end

return M
