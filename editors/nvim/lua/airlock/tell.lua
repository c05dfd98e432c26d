--- Messages to the user. Neovim's own way stops everything with a "Press ENTER" when a message is longer than the line
--- it has; such a one is cut, and stands in whole in `:messages`.
local M = {}

local function is_neovims_own()
  local source = debug.getinfo(vim.notify, "S").source
  return source:find("vim/_editor", 1, true) ~= nil or source:find("_editor.lua", 1, true) ~= nil
end

local HIGHLIGHTS = { [vim.log.levels.WARN] = "WarningMsg", [vim.log.levels.ERROR] = "ErrorMsg" }

local function tell(text, level)
  -- In a moment: "-- INSERT --" would be written over it otherwise.
  vim.schedule(function()
    M.now(text, level)
  end)
end

function M.now(text, level)
  text = "Airlock: " .. text:gsub("\n", " ")
  if not is_neovims_own() then
    return vim.notify(text, level)
  end
  -- What a menu left on the last lines would make two of this one.
  vim.cmd.redraw()
  local room = vim.v.echospace
  if vim.fn.strdisplaywidth(text) <= room then
    return vim.notify(text, level)
  end
  local short = vim.fn.strcharpart(text, 0, room)
  while vim.fn.strdisplaywidth(short) > room - 12 do
    short = vim.fn.strcharpart(short, 0, vim.fn.strchars(short) - 1)
  end
  vim.cmd("silent echomsg " .. vim.fn.string(text))
  vim.api.nvim_echo({ { short .. "… :messages", HIGHLIGHTS[level] } }, false, {})
end

function M.info(text)
  tell(text, vim.log.levels.INFO)
end

function M.warning(text)
  tell(text, vim.log.levels.WARN)
end

function M.error(text)
  tell(text, vim.log.levels.ERROR)
end

return M
