--- Folds of a transcript: a tool call, or a thought, is one.
local Transcript = require("airlock.transcript")

local M = {}

function M.level(line)
  local transcript = Transcript.of_buffer(vim.api.nvim_get_current_buf())
  return transcript and transcript.levels[line] or 0
end

--- The header, and how much is behind it.
function M.text()
  local header = vim.fn.getline(vim.v.foldstart)
  local behind = vim.v.foldend - vim.v.foldstart
  local transcript = Transcript.of_buffer(vim.api.nvim_get_current_buf())
  local highlight = "Folded"
  for _, block in ipairs(transcript and transcript.blocks or {}) do
    if block.first == vim.v.foldstart then
      highlight = block.highlight or highlight
    end
  end
  local size = behind > 0 and (behind == 1 and "  1 line" or ("  %d lines"):format(behind)) or ""
  return { { header, highlight }, { size, "Comment" } }
end

function M.set(window)
  local options = {
    foldmethod = "expr",
    foldexpr = "v:lua.require'airlock.folds'.level(v:lnum)",
    foldtext = "v:lua.require'airlock.folds'.text()",
    foldlevel = 0,
    foldminlines = 0,
    foldenable = true,
    fillchars = "fold: ,eob: ",
  }
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { win = window, scope = "local" })
  end
end

return M
