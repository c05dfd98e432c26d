--- Code actions: "Ask Airlock…", "Fix with Airlock", "Explain with Airlock".
local M = {}

--- A diagnostic as LSP has it, wherever it came from.
local function to_lsp(diagnostic, buf)
  local own = vim.tbl_get(diagnostic, "user_data", "lsp")
  if own and own.range then
    return own
  end
  local function position(line, column)
    local text = vim.api.nvim_buf_get_lines(buf, line, line + 1, false)[1] or ""
    local _, utf16 = vim.str_utfindex(text, math.min(column, #text))
    return { line = line, character = utf16 }
  end
  return {
    range = {
      start = position(diagnostic.lnum, diagnostic.col),
      ["end"] = position(diagnostic.end_lnum or diagnostic.lnum, diagnostic.end_col or diagnostic.col),
    },
    severity = diagnostic.severity,
    message = diagnostic.message,
    source = diagnostic.source,
    code = diagnostic.code,
  }
end

local function on_lines(buf, range)
  local found = vim.tbl_filter(function(diagnostic)
    local last = diagnostic.end_lnum or diagnostic.lnum
    return diagnostic.lnum <= range["end"].line and last >= range.start.line
  end, vim.diagnostic.get(buf))
  return vim.tbl_map(function(diagnostic)
    return to_lsp(diagnostic, buf)
  end, found)
end

--- A connection that tells the server of all diagnostics at the cursor. Neovim tells each server only of its own, and
--- Airlock has none: it fixes those of others.
function M.with_all_diagnostics(rpc)
  return setmetatable({
    request = function(method, params, ...)
      if method == "textDocument/codeAction" then
        params = vim.deepcopy(params)
        local buf = vim.uri_to_bufnr(params.textDocument.uri)
        params.context = params.context or {}
        params.context.diagnostics = on_lines(buf, params.range)
      end
      return rpc.request(method, params, ...)
    end,
  }, { __index = rpc })
end

local function run(command, text)
  local argument = vim.deepcopy((command.arguments or {})[1] or {})
  require("airlock.ask").command_of_action(command.command, argument, text)
end

--- What runs when a code action is chosen: the same as in the server, in the chat's session.
M.commands = {
  ["airlock.ask"] = function(command)
    require("airlock.ask").question(function(text)
      command = vim.deepcopy(command)
      command.arguments[1].prompt = text
      run(command, text)
    end)
  end,
  ["airlock.fix"] = function(command)
    run(command, command.title)
  end,
  ["airlock.explain"] = function(command)
    run(command, command.title)
  end,
}

return M
