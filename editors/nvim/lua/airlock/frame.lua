--- Draws at most once a frame, however often it is asked to.
local M = {}

M.FRAME_MS = 16

--- Gives a function that asks for `draw` to be called soon. While `draw` answers true, there is more to do and it is
--- called again in the next frame.
function M.new(draw)
  local timer = assert(vim.uv.new_timer())
  local asked, last = false, 0
  local ask

  local function run()
    asked = false
    local more = draw()
    last = vim.uv.hrtime()
    if more then
      ask()
    end
  end

  ask = function()
    if asked then
      return
    end
    asked = true
    local since_ms = (vim.uv.hrtime() - last) / 1e6
    -- The loop's own clock stands still while Lua runs, and a timer counts from it.
    vim.uv.update_time()
    timer:start(math.max(0, math.ceil(M.FRAME_MS - since_ms)), 0, vim.schedule_wrap(run))
  end

  return ask
end

return M
