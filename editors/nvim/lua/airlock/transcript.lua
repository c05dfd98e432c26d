--- The text of a conversation: blocks of lines in a buffer. Changes gather here, and `write` brings all of them into
--- the buffer at once: the lines between the first and the last changed one.
local colours = require("airlock.colours")
local folds = require("airlock.folds")

local Transcript = {}
Transcript.__index = Transcript

local by_buffer = {}
local namespace = vim.api.nvim_create_namespace("airlock.transcript")

function Transcript.new()
  return setmetatable({
    lines = {},
    blocks = {},
    --- For the colours: the code fence that is open behind each line.
    fences = {},
    --- The first line that differs from the buffer, and how many at the end do not.
    dirty = nil,
    clean_tail = 0,
    --- How many lines the buffer has of ours.
    written = 0,
    buf = nil,
  }, Transcript)
end

function Transcript.blocks_of(buf)
  return by_buffer[buf] and by_buffer[buf].blocks or {}
end

--- The buffer that shows it; made anew if the user wiped it out.
function Transcript:buffer()
  if self.buf and vim.api.nvim_buf_is_valid(self.buf) then
    return self.buf
  end
  local buf = vim.api.nvim_create_buf(false, true)
  self.buf = buf
  by_buffer[buf] = self
  vim.api.nvim_buf_set_name(buf, ("airlock://chat/%d"):format(buf))
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = false
  vim.bo[buf].filetype = "airlock"
  colours.add(buf, self)
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = buf,
    callback = function()
      by_buffer[buf] = nil
      colours.remove(buf)
    end,
  })
  self.written, self.dirty, self.clean_tail = 0, 1, 0
  for _, block in ipairs(self.blocks) do
    block.painted, block.mark, block.written_first = nil, nil, nil
  end
  self:write()
  return buf
end

function Transcript:clear()
  self.lines, self.blocks = {}, {}
  self.dirty, self.clean_tail = 1, 0
  if self.buf and vim.api.nvim_buf_is_loaded(self.buf) then
    folds.remove_all(self.buf)
  end
end

--- Nobody will look at it again.
function Transcript:discard()
  if self.buf and vim.api.nvim_buf_is_valid(self.buf) then
    vim.api.nvim_buf_delete(self.buf, { force = true })
  end
end

--- The lines from `first` to `last` changed; `last` counts in the text as it is now.
function Transcript:touch(first, last)
  if not self.dirty then
    self.dirty, self.clean_tail = first, math.huge
  end
  self.dirty = math.min(self.dirty, first)
  self.clean_tail = math.min(self.clean_tail, #self.lines - last)
end

--- Puts lines into a block, before line `at` of the text.
function Transcript:insert_lines(index, at, lines)
  local block = self.blocks[index]
  table.move(self.lines, at, #self.lines, at + #lines)
  table.move(lines, 1, #lines, at, self.lines)
  block.count = block.count + #lines
  for later = index + 1, #self.blocks do
    self.blocks[later].first = self.blocks[later].first + #lines
  end
  self:touch(at, at + #lines - 1)
end

--- Closes a code fence that a text left open, so that it does not swallow what follows.
function Transcript:close_fence()
  local block = self.blocks[#self.blocks]
  if not block or block.prefix ~= "" then
    return
  end
  local open
  for number = block.first, block.first + block.count - 1 do
    local fence = self.lines[number]:match("^ ? ? ?(```+)") or self.lines[number]:match("^ ? ? ?(~~~+)")
    if fence and not open then
      open = fence
    elseif fence and fence:sub(1, 1) == open:sub(1, 1) and #fence >= #open then
      open = nil
    end
  end
  if open then
    self:insert_lines(#self.blocks, block.first + block.count, { open })
  end
end

--- Begins a block at the end. `options`: header, folds, prefix (of the lines below the header), highlight
function Transcript:open(kind, options)
  self:close_fence()
  local last = self.blocks[#self.blocks]
  if last and not (last.folds and options.folds) then
    table.insert(self.lines, "")
    self:touch(#self.lines, #self.lines)
  end
  local block = {
    kind = kind,
    first = #self.lines + 1,
    count = 0,
    folds = options.folds or false,
    prefix = options.prefix or "",
    highlight = options.highlight,
    --- Whether the next piece of text goes on in the last line.
    in_line = false,
  }
  table.insert(self.blocks, block)
  if options.header then
    self:insert_lines(#self.blocks, block.first, { options.header })
  end
  return block
end

function Transcript:last()
  return self.blocks[#self.blocks]
end

local function index_of(self, block)
  for index = #self.blocks, 1, -1 do
    if self.blocks[index] == block then
      return index
    end
  end
end

--- Appends a piece of text to a block, wherever it stands.
function Transcript:append(block, text)
  local index = index_of(self, block)
  if not index or text == "" then
    return
  end
  local pieces = vim.split(text, "\n", { plain = true })
  local ends_line = pieces[#pieces] == ""
  if block.in_line then
    local at = block.first + block.count - 1
    self.lines[at] = self.lines[at] .. pieces[1]
    self:touch(at, at)
    table.remove(pieces, 1)
  end
  -- A newline at the end begins a line only when more follows.
  if ends_line and #pieces > 0 then
    pieces[#pieces] = nil
  end
  for number, piece in ipairs(pieces) do
    pieces[number] = block.prefix .. piece
  end
  if #pieces > 0 then
    self:insert_lines(index, block.first + block.count, pieces)
  end
  block.in_line = not ends_line
end

--- Another header for a block that has one.
function Transcript:set_header(block, header, highlight)
  self.lines[block.first] = header
  block.highlight, block.painted = highlight, nil
  self:touch(block.first, block.first)
end

local function windows_at_the_end(buf)
  local last = vim.api.nvim_buf_line_count(buf)
  return vim.tbl_filter(function(window)
    return vim.api.nvim_win_get_cursor(window)[1] == last
  end, vim.fn.win_findbuf(buf))
end

--- The blocks of which lines from `from` to `to` are a part.
function Transcript:blocks_in(from, to)
  local found = {}
  for index = #self.blocks, 1, -1 do
    local block = self.blocks[index]
    if block.first + block.count - 1 < from then
      break
    end
    if block.first <= to then
      table.insert(found, block)
    end
  end
  return found
end

function Transcript:paint(blocks)
  for _, block in ipairs(blocks) do
    if block.highlight then
      block.mark = vim.api.nvim_buf_set_extmark(self.buf, namespace, block.first - 1, 0, {
        id = block.mark,
        end_col = #self.lines[block.first],
        hl_group = block.highlight,
        priority = 200,
      })
    end
  end
end

local function folded(blocks)
  return vim.tbl_filter(function(block)
    return block.folds
  end, blocks)
end

--- Brings what changed into the buffer, with one write. Windows that stood at the end stay there.
function Transcript:write()
  local buf = self.buf
  if not self.dirty or not buf or not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  local from, tail = self.dirty, math.min(self.clean_tail, #self.lines - self.dirty + 1)
  local to = #self.lines - tail
  -- A fold beside what changes may be moved by it.
  local fold_from, fold_to = math.max(1, from - 2), math.min(#self.lines, to + 2)
  local touched = self:blocks_in(fold_from, fold_to)
  local following, open = windows_at_the_end(buf), folds.open_ones(buf, folded(touched))
  local new = {}
  table.move(self.lines, from, to, 1, new)
  for number = #self.fences, from, -1 do
    self.fences[number] = nil
  end
  -- An empty buffer has one line, which is not ours.
  local old_end = self.written == 0 and -1 or self.written - tail
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, from - 1, old_end, false, new)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
  self.written, self.dirty, self.clean_tail = #self.lines, nil, 0
  self:paint(touched)
  folds.make(buf, folded(touched), open, fold_from, fold_to)
  for _, window in ipairs(following) do
    vim.api.nvim_win_set_cursor(window, { math.max(1, #self.lines), 0 })
  end
end

--- Folds everything, in a window that did not show it before.
function Transcript:fold_all()
  local blocks = folded(self:blocks_in(1, #self.lines))
  folds.make(self.buf, blocks, folds.open_ones(self.buf, blocks), 1, #self.lines)
end

return Transcript
