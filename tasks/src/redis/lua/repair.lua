-- args: ids, fix: whether to repair
-- Returns the number of removed tasks among them, and the ids of each kind of fault.
local faults = { ghosts = {}, orphans = {}, misplaced = {}, damaged = {}, unassigned = {} }
local removed, count = 0, 0
local last = tonumber(redis.call('GET', keys.lastId) or '0')
local function found(kind, id)
  table.insert(faults[kind], id)
  count = count + 1
  return args.fix
end

-- The hash of a task with a valid id; false for a stray key or one of another type.
local function hash(id)
  local valid = #id <= 15 and id:match('^[1-9]%d*$') and redis.call('TYPE', keys.task .. id).ok == 'hash'
  return valid and (read(id) or {})
end

local function sound(task)
  return task and (task.finished == '0' or task.finished == '1') and task.created_at and tonumber(task.revision)
end

for _, id in ipairs(args.ids) do
  local score = redis.call('ZSCORE', keys.index, id)
  if redis.call('EXISTS', keys.task .. id) == 0 then
    if score and found('ghosts', id) then redis.call('ZREM', keys.index, id) end
  else
    local task = hash(id)
    if task and not score and redis.call('ZSCORE', keys.removed, id) then
      removed = removed + 1
    elseif not sound(task) then
      if found('damaged', id) then
        redis.call('ZREM', keys.index, id)
        redis.call('RENAME', keys.task .. id, keys.damaged .. id)
      end
    else
      local place = position(id, task.finished)
      local fault = not score and 'orphans' or tonumber(score) ~= place and 'misplaced'
      if fault and found(fault, id) then redis.call('ZADD', keys.index, place, id) end
    end
    if task and tonumber(id) > last and found('unassigned', id) then
      last = tonumber(id)
      redis.call('SET', keys.lastId, id)
    end
  end
end

if args.fix and count > 0 then changed() end
return cjson.encode({ removed = removed, faults = faults })
