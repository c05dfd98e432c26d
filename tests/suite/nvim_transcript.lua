-- Changes a transcript at random, as updates of parallel tool calls do, and compares it with its buffer after each
-- write. Gives what differs first, or nothing.
local Transcript = require("airlock.transcript")
math.randomseed(42)

local PIECES = { "a", "b\nc", "\n", "x\ny\n", "a long line\n```\n" }

local function change(transcript, blocks, step)
  local chance = math.random()
  if chance < 0.25 or #blocks == 0 then
    local folds = math.random() < 0.5
    local options = folds and { header = "● " .. step, folds = true, prefix = "    ", highlight = "Title" } or {}
    table.insert(blocks, transcript:open("block", options))
    if not folds then
      transcript:append(blocks[#blocks], "text " .. step)
    end
  elseif chance < 0.7 then
    local block = blocks[math.random(math.max(1, #blocks - 3), #blocks)]
    transcript:append(block, PIECES[math.random(#PIECES)])
  elseif chance < 0.8 then
    local block = blocks[math.random(#blocks)]
    if block.folds then
      transcript:set_header(block, "✓ " .. step, "Comment")
    end
  elseif chance < 0.82 then
    transcript:clear()
    for index = #blocks, 1, -1 do
      blocks[index] = nil
    end
  end
end

--- Exactly the blocks that fold are folded, each by itself, and closed.
local function wrong_fold(transcript)
  local expected = {}
  for _, block in ipairs(transcript.blocks) do
    for line = block.first, block.first + block.count - 1 do
      expected[line] = block.folds and block.first or nil
    end
  end
  for line = 1, #transcript.lines do
    local closed = vim.fn.foldclosed(line)
    if closed ~= (expected[line] or -1) then
      return ("line %d is in a fold from %d, not from %d"):format(line, closed, expected[line] or -1)
    end
  end
end

local function difference(transcript, buf)
  local shown = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  local meant = #transcript.lines == 0 and { "" } or transcript.lines
  if not vim.deep_equal(shown, meant) then
    return vim.inspect({ shown = shown, meant = meant })
  end
  return wrong_fold(transcript)
end

for round = 1, 40 do
  local transcript, blocks = Transcript.new(), {}
  local buf = transcript:buffer()
  vim.api.nvim_win_set_buf(0, buf)
  require("airlock.folds").set(0)
  for step = 1, 80 do
    change(transcript, blocks, step)
    if math.random() < 0.4 then
      transcript:write()
      local found = difference(transcript, buf)
      if found then
        return ("round %d, step %d: %s"):format(round, step, found)
      end
    end
  end
  transcript:discard()
end
return ""
