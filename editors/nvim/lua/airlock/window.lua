--- Options of a window that are its own, and do not go on to the next buffer that is shown in it.
local neutral = require("airlock.neutral")

local M = {}

function M.set(window, values)
  for name, value in pairs(values) do
    vim.api.nvim_set_option_value(name, value, { win = window, scope = "local" })
  end
end

--- Writes a hint above a window; where there is no room, its end is cut.
function M.hint(window, text)
  M.set(window, { winbar = "%#AirlockHint# " .. neutral.bar(text) .. "%<" })
end

--- What all windows of ours have: the text, and nothing beside it.
M.PLAIN = {
  number = false,
  relativenumber = false,
  signcolumn = "no",
  foldcolumn = "0",
  spell = false,
  list = false,
  wrap = true,
  cursorline = false,
  colorcolumn = "",
}

return M
