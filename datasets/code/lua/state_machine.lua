-- A small hierarchical state machine for game characters.
local Machine = {}
Machine.__index = Machine

function Machine.new(states, initial)
  assert(states[initial], ("unknown initial state %q"):format(tostring(initial)))
  local self = setmetatable({ states = states, current = nil, history = {} }, Machine)
  self:go(initial)
  return self
end

function Machine:go(name, ...)
  local state = self.states[name]
  if not state then
    error("unknown state: " .. tostring(name), 2)
  end
  local previous = self.current and self.states[self.current]
  if previous and previous.leave then
    previous.leave(self)
  end
  self.history[#self.history + 1] = name
  self.current = name
  if state.enter then
    state.enter(self, ...)
  end
end

function Machine:handle(event, ...)
  local name = self.current
  while name do
    local state = self.states[name]
    local handler = state.on and state.on[event]
    if handler then
      local target = type(handler) == "function" and handler(self, ...) or handler
      if type(target) == "string" then
        self:go(target, ...)
      end
      return true
    end
    name = state.parent
  end
  return false
end

local fox = Machine.new({
  alive = { on = { trapped = "caged" } },
  sleeping = { parent = "alive", on = { noise = "alert" }, enter = function() print("zzz …") end },
  alert = {
    parent = "alive",
    enter = function(_, distance) print(distance and distance < 10 and "!!" or "?") end,
    on = {
      tick = function(machine) return #machine.history > 4 and "sleeping" or nil end,
      noise = function(_, distance) return distance < 5 and "fleeing" or "alert" end,
    },
  },
  fleeing = { parent = "alive", on = { tick = "alert" } },
  caged = {},
}, "sleeping")

for _, step in ipairs({ { "noise", 8 }, { "noise", 3 }, { "tick" }, { "trapped" } }) do
  fox:handle(step[1], step[2])
end
print(table.concat(fox.history, " -> "))
