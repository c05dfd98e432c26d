--- `:AirlockAsk`: a question about a document, a range, or what a motion moves over.
local chat = require("airlock.chat")
local workspaces = require("airlock.workspace")

local M = {}

--- Asks the user what to ask.
function M.question(on_text)
  vim.ui.input({ prompt = "Ask Airlock: " }, function(text)
    text = text and vim.trim(text) or ""
    if text ~= "" then
      on_text(text)
    end
  end)
end

--- What a piece of context is, for the user.
local function about(workspace, context)
  local names = {}
  for _, part in ipairs(context) do
    local path = vim.uri_to_fname(part.uri)
    local inside = vim.startswith(path, workspace.root .. "/")
    local name = inside and path:sub(#workspace.root + 2) or path
    if part.range then
      local first, last = part.range.start.line + 1, part.range["end"].line + 1
      if part.range["end"].character == 0 and last > first then
        last = last - 1
      end
      name = first == last and ("%s, line %d"):format(name, first) or ("%s, lines %d–%d"):format(name, first, last)
    end
    table.insert(names, name)
  end
  return "about " .. table.concat(names, "; ")
end

--- Asks the agent, in the chat of the workspace.
function M.send(workspace, text, context)
  chat.of(workspace):open()
  workspace.session:prompt(text, context, about(workspace, context))
end

--- Does what a code action says.
function M.command_of_action(name, argument, text)
  local workspace = workspaces.of_uri(argument.uri)
  chat.of(workspace):open()
  workspace.session:command(name, argument, text, about(workspace, { argument }))
end

--- The range from one mark to the other, in UTF-16. `kind` is that of 'operatorfunc'.
local function range(buf, first, last, kind)
  local function position(row, column)
    local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ""
    local _, utf16 = vim.str_utfindex(line, math.min(column, #line))
    return { line = row, character = utf16 }
  end
  if kind == "line" then
    return { start = { line = first[1] - 1, character = 0 }, ["end"] = { line = last[1], character = 0 } }
  end
  -- The last character is in it, all of its bytes.
  local line = vim.api.nvim_buf_get_lines(buf, last[1] - 1, last[1], false)[1] or ""
  local after = last[2] + math.max(1, #vim.fn.strpart(line, last[2], 1, true))
  return { start = position(first[1] - 1, first[2]), ["end"] = position(last[1] - 1, after) }
end

local function ask_about(buf, where, text)
  local context = { { uri = vim.uri_from_bufnr(buf), range = where } }
  local function send(question)
    M.send(workspaces.of_buffer(buf), question, context)
  end
  if text and text ~= "" then
    send(text)
  else
    M.question(send)
  end
end

--- The command; `arguments` as Neovim gives them.
function M.command(arguments)
  local buf = vim.api.nvim_get_current_buf()
  local where
  if arguments.range > 0 then
    where = range(buf, { arguments.line1, 0 }, { arguments.line2, 0 }, "line")
  end
  ask_about(buf, where, arguments.args)
end

--- The operator: `kind` is "line", "char" or "block".
function M.operator(kind)
  local buf = vim.api.nvim_get_current_buf()
  local first, last = vim.api.nvim_buf_get_mark(buf, "["), vim.api.nvim_buf_get_mark(buf, "]")
  ask_about(buf, range(buf, first, last, kind))
end

--- For an expression mapping: the motion follows.
function M.begin_operator()
  vim.o.operatorfunc = "v:lua.require'airlock.ask'.operator"
  return "g@"
end

return M
