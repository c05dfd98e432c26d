--- Text of the model, of tools and of files, made safe to show: control characters, and characters that take no room or
--- turn the reading direction, are shown instead of obeyed.
local M = {}

local CONTROL_PICTURES = 0x2400

local function is_hidden(code)
  return (code >= 0x80 and code <= 0x9f)
    or code == 0xad
    or code == 0x34f
    or code == 0x61c
    or code == 0x115f
    or code == 0x1160
    or code == 0x17b4
    or code == 0x17b5
    or (code >= 0x180b and code <= 0x180f)
    or (code >= 0x200b and code <= 0x200c)
    or (code >= 0x200e and code <= 0x200f)
    or (code >= 0x2028 and code <= 0x202e)
    or (code >= 0x2060 and code <= 0x206f)
    or code == 0x3164
    or code == 0xfeff
    or code == 0xffa0
    or (code >= 0xfff0 and code <= 0xfffb)
    or (code >= 0x1bca0 and code <= 0x1bca3)
    or (code >= 0x1d173 and code <= 0x1d17a)
    or (code >= 0xe0000 and code <= 0xe0fff)
end

local function shown(character)
  local code = vim.fn.char2nr(character, true)
  if is_hidden(code) then
    return ("<U+%04X>"):format(code)
  end
end

local function control(character)
  local code = character:byte()
  -- U+2421 stands for delete.
  return vim.fn.nr2char(code == 127 and 0x2421 or CONTROL_PICTURES + code, true)
end

--- A text of several lines. `\r\n` ends a line as `\n` does.
function M.text(untrusted)
  local text = untrusted:gsub("\r\n", "\n"):gsub("[%z\1-\8\11-\31\127]", control)
  -- What needs a closer look begins with one of these bytes; most texts have none of them.
  if text:find("[\194\205\216\225\226\227\239\240\243]") then
    text = text:gsub("[\194\205\216\225\226\227\239\240\243][\128-\191]+", shown)
  end
  return text
end

--- The same in one line.
function M.line(untrusted)
  return (M.text(untrusted):gsub("\n", "␊"):gsub("\t", " "))
end

--- The same where `%` means something: in a statusline or a winbar.
function M.bar(untrusted)
  return (M.line(untrusted):gsub("%%", "%%%%"))
end

return M
