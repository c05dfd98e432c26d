--- The colours, as links to those that every colour scheme has.
local M = {}

local LINKS = {
  AirlockSpeaker = "Title",
  AirlockRunning = "DiagnosticInfo",
  AirlockDone = "DiagnosticOk",
  AirlockFailed = "DiagnosticError",
  AirlockWarning = "DiagnosticWarn",
  AirlockInfo = "Comment",
  AirlockThought = "Comment",
  AirlockQuestion = "WarningMsg",
  AirlockOption = "Identifier",
  AirlockHint = "Comment",
  AirlockHeading = "Title",
  AirlockCode = "String",
  AirlockOutput = "Normal",
  AirlockStrong = "@markup.strong",
  AirlockEmphasis = "@markup.italic",
  AirlockBullet = "Special",
}

function M.set()
  for name, target in pairs(LINKS) do
    vim.api.nvim_set_hl(0, name, { link = target, default = true })
  end
end

return M
