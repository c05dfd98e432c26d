--- `workspace/applyEdit`, word for word: an edit is made to exactly the text that it was made for, or not at all.
---
--- Neovim's own handler skips an edit of a stale version and still says that it was applied; the change would be lost.
local M = {}

local function refused(why)
  return { applied = false, failureReason = why }
end

local function version_of(buf)
  return vim.lsp.util.buf_versions[buf]
end

local function check(edit)
  if type(edit.documentChanges) ~= "table" then
    return "it names no version of a document"
  end
  for _, change in ipairs(edit.documentChanges) do
    if change.kind then
      return "it is more than an edit of open documents"
    end
    local document = change.textDocument
    local buf = vim.uri_to_bufnr(document.uri)
    if not vim.api.nvim_buf_is_loaded(buf) then
      return vim.uri_to_fname(document.uri) .. " is not open"
    end
    if not vim.bo[buf].modifiable then
      return vim.uri_to_fname(document.uri) .. " cannot be modified here ('nomodifiable')"
    end
    if document.version and document.version ~= version_of(buf) then
      return "it was changed meanwhile"
    end
  end
end

--- One step of undo of its own, apart from what the user typed before it.
local function separate_undo(buf)
  vim.api.nvim_buf_call(buf, function()
    vim.cmd("let &l:undolevels = &l:undolevels")
  end)
end

function M.apply(_, params, context)
  local why = check(params.edit)
  if why then
    return refused(why)
  end
  local client = assert(vim.lsp.get_client_by_id(context.client_id))
  for _, change in ipairs(params.edit.documentChanges) do
    local buf = vim.uri_to_bufnr(change.textDocument.uri)
    separate_undo(buf)
    local ok, failure = pcall(vim.lsp.util.apply_text_edits, change.edits, buf, client.offset_encoding)
    if not ok then
      return refused(tostring(failure))
    end
  end
  return { applied = true }
end

return M
