--- Questions of the agent that only the user may answer.
---
--- A question never takes the cursor: a key that was meant for something else must not answer it. It stands in a window
--- of its own with the whole text, and is answered there with <CR> on an option. Everything else is a refusal.
local neutral = require("airlock.neutral")
local tell = require("airlock.tell")
local windows = require("airlock.window")

local M = {}

local namespace = vim.api.nvim_create_namespace("airlock.permission")
local HEIGHT_MAX = 0.5

--- The open questions, the oldest first.
local questions = {}

local function lines_of(question)
  local params = question.params
  local lines = { neutral.line(params.title), "" }
  question.options = {}
  for _, option in ipairs(params.options) do
    table.insert(lines, "  " .. neutral.line(option.label))
    question.options[#lines] = option
    if option.kind == "reject" or not question.first_line then
      question.first_line = #lines
    end
  end
  local detail = vim.split(neutral.text(params.detail), "\n", { plain = true })
  local size = #detail == 1 and "the whole text, 1 line" or ("the whole text, %d lines"):format(#detail)
  vim.list_extend(lines, { "", ("──── %s ────"):format(size) })
  question.rule = #lines
  return vim.list_extend(lines, detail)
end

local function paint(question)
  local function mark(line, group)
    vim.api.nvim_buf_set_extmark(question.buf, namespace, line - 1, 0, { line_hl_group = group })
  end
  mark(1, "AirlockQuestion")
  mark(question.rule, "AirlockHint")
  for line in pairs(question.options) do
    mark(line, "AirlockOption")
  end
end

local function make_buffer(question)
  local buf = vim.api.nvim_create_buf(false, true)
  question.buf = buf
  vim.api.nvim_buf_set_name(buf, ("airlock://question/%d"):format(buf))
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines_of(question))
  vim.bo[buf].modifiable = false
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].filetype = "airlock_question"
  paint(question)
  vim.keymap.set("n", "<CR>", function()
    local option = question.options[vim.api.nvim_win_get_cursor(0)[1]]
    if option then
      M.answer(question, option.id)
    else
      tell.info("put the cursor on an answer, then press Enter; q refuses")
    end
  end, { buffer = buf, desc = "Give this answer" })
  vim.keymap.set("n", "q", function()
    M.answer(question, nil)
  end, { buffer = buf, nowait = true, desc = "Refuse" })
end

local function show(question)
  if question.window and vim.api.nvim_win_is_valid(question.window) then
    return question.window
  end
  local rows = 1
  for _, line in ipairs(vim.api.nvim_buf_get_lines(question.buf, 0, -1, false)) do
    rows = rows + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / vim.o.columns))
  end
  local height = math.min(rows, math.floor(vim.o.lines * HEIGHT_MAX))
  local window = vim.api.nvim_open_win(question.buf, false, { split = "below", win = -1, height = height })
  question.window = window
  windows.set(window, windows.PLAIN)
  windows.set(window, { foldenable = false, cursorline = true, winfixheight = true, winfixbuf = true })
  windows.hint(window, "Airlock asks · Enter on an answer gives it · q refuses")
  -- Neovim makes windows equally high when one is opened.
  vim.api.nvim_win_set_height(window, height)
  vim.api.nvim_win_set_cursor(window, { question.first_line, 0 })
  return window
end

--- Takes it off the screen.
local function remove(question)
  questions = vim.tbl_filter(function(other)
    return other ~= question
  end, questions)
  local back = vim.api.nvim_get_current_win() == question.window and question.came_from
  if vim.api.nvim_buf_is_valid(question.buf) then
    -- The last window cannot be closed, but it can show something else.
    pcall(vim.api.nvim_set_option_value, "winfixbuf", false, { win = question.window, scope = "local" })
    pcall(vim.api.nvim_win_close, question.window, true)
    vim.api.nvim_buf_delete(question.buf, { force = true })
  end
  if back and vim.api.nvim_win_is_valid(back) then
    vim.api.nvim_set_current_win(back)
  end
  require("airlock.status").redraw()
end

--- `nil` is a refusal.
function M.answer(question, option_id)
  if question.done then
    return
  end
  question.done = true
  remove(question)
  coroutine.resume(question.waiting, { optionId = option_id or vim.NIL })
end

--- Handles `airlock/permission`; runs in the coroutine that Neovim handles a request in, and waits in it.
function M.ask(workspace, params)
  local question = { workspace = workspace, params = params, waiting = coroutine.running() }
  table.insert(questions, question)
  make_buffer(question)
  show(question)
  require("airlock.status").redraw()
  tell.warning((":AirlockAnswer: %s"):format(neutral.line(params.title)))
  return coroutine.yield()
end

--- The question of a session, if it has one.
function M.of(session)
  for _, question in ipairs(questions) do
    if question.params.sessionId == session.id then
      return question
    end
  end
end

--- Goes to the oldest question.
function M.focus()
  if not questions[1] then
    return tell.info("there is no question to answer")
  end
  vim.cmd.stopinsert()
  local question = questions[1]
  local window = show(question)
  if vim.api.nvim_get_current_win() ~= window then
    question.came_from = vim.api.nvim_get_current_win()
    vim.api.nvim_set_current_win(window)
  end
end

--- The server takes a question back.
function M.withdrawn(workspace, id)
  for _, question in ipairs(vim.list_slice(questions)) do
    if question.workspace == workspace and question.params.requestId == id then
      M.answer(question, nil)
    end
  end
end

--- The server is gone, and nobody waits for an answer.
function M.forget(workspace)
  for _, question in ipairs(vim.list_slice(questions)) do
    if question.workspace == workspace then
      question.done = true
      remove(question)
    end
  end
end

return M
