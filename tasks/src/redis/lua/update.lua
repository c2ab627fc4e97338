-- args: ID, match ('*' or allowed revisions), change (fields by name), now
-- Returns the task and whether its revision matched, or false for an unknown ID.
local id, change = args.id, args.change
local task = find(id)
if not task then return false end
if not matches(args.match, task) then return cjson.encode({ matched = false, task = task }) end

local differs = false
for name, value in pairs(change) do
  change[name] = tostring(value)
  differs = differs or task[name] ~= change[name]
end
if differs then
  if change.finished and change.finished ~= task.finished then
    change.updated_at = args.now
    redis.call('ZADD', keys.index, position(id, change.finished), id)
  end
  change.revision = changed()
  write(id, change)
end
return cjson.encode({ matched = true, task = read(id) })
