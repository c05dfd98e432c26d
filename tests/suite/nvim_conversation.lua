-- Draws a queue a few updates at a time, as a busy frame does, while more come in. Gives what is lost first, or nothing.
local Conversation = require("airlock.conversation")

local function notice(number)
  return { kind = "notice", level = "info", text = ("number %d."):format(number) }
end

for queued = 1, 16 do
  for drawn = 0, queued do
    local conversation = Conversation.new(function() end)
    conversation.ask_frame = function() end
    for number = 1, queued do
      conversation:push(notice(number))
    end
    -- A frame whose time is up after this many.
    local show, left, now = conversation.show_notice, drawn, vim.uv.hrtime
    conversation.show_notice = function(...)
      left = left - 1
      if left == 0 then
        vim.uv.hrtime = function()
          return now() + 1e12
        end
      end
      return show(...)
    end
    if drawn > 0 then
      conversation:draw()
    end
    vim.uv.hrtime = now
    for number = queued + 1, queued + 3 do
      conversation:push(notice(number))
    end
    while conversation:draw() do
    end
    local text = table.concat(conversation.transcript.lines, "\n")
    for number = 1, queued + 3 do
      if not text:find(("number %d."):format(number), 1, true) then
        return ("number %d is lost, with %d queued and %d drawn"):format(number, queued, drawn)
      end
    end
  end
end

-- An output that is too long shows its beginning and its end, in lines or in bytes.
for _, output in ipairs({ ("line\n"):rep(20000), ("é"):rep(2000000) }) do
  local conversation = Conversation.new(function() end)
  conversation.ask_frame = function() end
  conversation:push({ kind = "tool_call", toolCallId = "a", title = ("x"):rep(100000) })
  for from = 1, #output, 65536 do
    conversation:push({ kind = "tool_call_update", toolCallId = "a", status = "in_progress", output = output:sub(from, from + 65535) })
  end
  conversation:push({ kind = "tool_call_update", toolCallId = "a", status = "completed", output = "\nthe very end\n" })
  while conversation:draw() do
  end
  local text = table.concat(conversation.transcript.lines, "\n")
  if not text:find("the very end", 1, true) or not text:find("more is not shown", 1, true) then
    return "the end is not shown"
  end
  if #text > 600 * 1024 then
    return ("%d bytes are shown"):format(#text)
  end
end
return ""
