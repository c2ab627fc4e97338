-- KEYS: index, version, recent, last id, removed
-- ARGV: key of a task without its id, key of a damaged one, channel, '1' to repair, then ids
-- Returns the number of removed tasks among them, and the ids of each kind of fault: ghosts, orphans,
-- misplaced, damaged, and those above the last id.
local faults, removed = { {}, {}, {}, {}, {} }, 0
local last = tonumber(redis.call('GET', KEYS[4]) or '0')
local repair = ARGV[4] == '1'
local function found(kind, id) table.insert(faults[kind], id) end

-- The hash of a task with a valid id; false for a stray key or one of another type.
local function hash(key, id)
  return #id <= 15 and id:match('^[1-9]%d*$') and redis.call('TYPE', key).ok == 'hash' and read(key)
end

for i = 5, #ARGV do
  local id = ARGV[i]
  local key = ARGV[1] .. id
  local score = redis.call('ZSCORE', KEYS[1], id)
  if redis.call('EXISTS', key) == 0 then
    if score then
      found(1, id)
      if repair then redis.call('ZREM', KEYS[1], id) end
    end
  else
    local task = hash(key, id)
    if task and not score and redis.call('ZSCORE', KEYS[5], id) then
      removed = removed + 1
    elseif not (task and task[1] and (task[2] == '0' or task[2] == '1') and task[3] and tonumber(task[5])) then
      found(4, id)
      if repair then
        redis.call('ZREM', KEYS[1], id)
        redis.call('RENAME', key, ARGV[2] .. id)
      end
    else
      local place = position(id, task[2])
      if not score then found(2, id)
      elseif tonumber(score) ~= place then found(3, id) end
      if repair then redis.call('ZADD', KEYS[1], place, id) end
    end
    if task and tonumber(id) > last then
      found(5, id)
      if repair then
        last = tonumber(id)
        redis.call('SET', KEYS[4], id)
      end
    end
  end
end

local count = 0
for _, ids in ipairs(faults) do count = count + #ids end
if repair and count > 0 then changed(ARGV[3], '*') end
return { removed, faults }
