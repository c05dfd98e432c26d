--- Airlock in Neovim: chat with an agent that works in a sandbox, and review what it did. See `:help airlock`.
local M = {}

local function attach_files()
  local workspaces = require("airlock.workspace")
  local group = vim.api.nvim_create_augroup("airlock", {})
  local function attach(buf)
    if workspaces.is_attachable(buf) then
      workspaces.of_buffer(buf):attach(buf)
    end
  end
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufFilePost", "BufWritePost" }, {
    group = group,
    callback = function(event)
      attach(event.buf)
    end,
  })
  vim.api.nvim_create_autocmd("VimLeavePre", { group = group, callback = workspaces.leave })
  vim.api.nvim_create_autocmd("ColorScheme", { group = group, callback = require("airlock.highlights").set })
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) then
      attach(buf)
    end
  end
end

--- Sets Airlock up. See `:help airlock-options`.
function M.setup(options)
  if vim.fn.has("nvim-0.10") == 0 then
    return vim.notify("Airlock needs Neovim 0.10 or later", vim.log.levels.ERROR)
  end
  require("airlock.options").set(options)
  require("airlock.highlights").set()
  require("airlock.colours").start()
  require("airlock.commands").define()
  attach_files()
end

--- The state of this workspace's session, for 'statusline': `%{%v:lua.require'airlock'.statusline()%}`
function M.statusline()
  local workspace = require("airlock.workspace").of_buffer(0)
  return require("airlock.status").line(workspace.session)
end

return M
