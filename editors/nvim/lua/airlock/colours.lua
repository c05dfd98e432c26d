--- Colours of a conversation: the markdown that answers are full of, line by line and only where it is shown.
---
--- Neither Neovim's parser for markdown nor its syntax file is used: on a long conversation each piece that is added
--- costs them from a thirtieth to a tenth of a second, in which no key is heard.
local M = {}

local namespace = vim.api.nvim_create_namespace("airlock.colours")

--- Transcripts, by their buffers.
local transcripts = {}

function M.add(buf, transcript)
  transcripts[buf] = transcript
end

function M.remove(buf)
  transcripts[buf] = nil
end

--- The code fence that is open behind a line, or false.
local function fence_after(line, before)
  local fence = line:match("^ ? ? ?(```+)") or line:match("^ ? ? ?(~~~+)")
  if not fence then
    return before
  end
  if not before then
    return fence
  end
  return not (fence:sub(1, 1) == before:sub(1, 1) and #fence >= #before) and before
end

--- Brings `fences`, the open fence behind each line, up to a line. `write` cuts it off where lines changed.
local function know_fences(transcript, last)
  local fences = transcript.fences
  for number = #fences + 1, math.min(last, #transcript.lines) do
    fences[number] = fence_after(transcript.lines[number], fences[number - 1] or false)
  end
end

--- Pairs of a pattern and the look of what it finds in a line.
local SPANS = {
  { "()`[^`]+`()", "AirlockCode" },
  { "()%*%*[^%s*][^*]-%*%*()", "AirlockStrong" },
  { "()%f[%w_*]_[^%s_][^_]-_%f[^%w_]()", "AirlockEmphasis" },
  { "%f[*]()%*[^%s*][^*]-%*()%f[^*]", "AirlockEmphasis" },
  { "^%s*()[-*+]() ", "AirlockBullet" },
  { "^%s*()%d+[.)]() ", "AirlockBullet" },
}

local function whole_line(line)
  if line:find("^#+ ") then
    return "AirlockHeading"
  elseif line:find("^> ") then
    return "AirlockThought"
  elseif line:find("^    ") then
    return "AirlockOutput"
  end
end

local function paint(buf, row, from, to, group)
  vim.api.nvim_buf_set_extmark(buf, namespace, row, from, {
    end_col = to,
    hl_group = group,
    ephemeral = true,
    priority = 100,
  })
end

local function paint_line(buf, row, line, in_code)
  local whole = in_code and "AirlockCode" or whole_line(line)
  if whole then
    return paint(buf, row, 0, #line, whole)
  end
  for _, span in ipairs(SPANS) do
    for from, to in line:gmatch(span[1]) do
      paint(buf, row, from - 1, to - 1, span[2])
    end
  end
end

--- Lines that are longer than this are not looked at: nobody reads them.
local LINE_MAX_BYTES = 2000

function M.start()
  vim.api.nvim_set_decoration_provider(namespace, {
    on_win = function(_, _, buf, _, last)
      local transcript = transcripts[buf]
      if not transcript then
        return false
      end
      know_fences(transcript, last + 1)
    end,
    on_line = function(_, _, buf, row)
      local transcript = transcripts[buf]
      local line = transcript and transcript.lines[row + 1]
      -- What is not written yet is not shown yet.
      if not line or row >= transcript.written or #line > LINE_MAX_BYTES then
        return
      end
      local in_code = transcript.fences[row + 1] or transcript.fences[row]
      pcall(paint_line, buf, row, line, in_code)
    end,
  })
end

return M
