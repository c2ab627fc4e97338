-- What the scripts share; it stands in front of each of them.

-- The score of a task in the index. Ascending, scores are the order of the list: unfinished first, then
-- _id descending. Ids stay below 2^52, so a double holds every score exactly.
local function position(id, finished)
  if finished == '1' then return -id end
  return -id - 4503599627370496
end

local function read(key)
  return redis.call('HMGET', key, 'title', 'finished', 'created_at', 'updated_at', 'revision')
end

-- The task, where the index has its id and there is one.
local function find(index, key, id)
  local task = redis.call('ZSCORE', index, id) and read(key)
  return task and task[1] and task
end

-- Whether the task has one of the revisions of an If-Match: '"3", "4"', or '*' for any.
local function matches(revisions, task)
  return revisions == '*' or string.find(revisions, '"' .. task[5] .. '"', 1, true) ~= nil
end

-- For scripts whose keys begin with index, version and recent: gives the list its next version, notes
-- which task changed ('*' for several; the last hundred and a few more), tells every replica, and returns
-- the version: the revision of what changed. Versions begin with the time, so that those from before the
-- store was emptied do not come again.
local function changed(channel, id)
  local version = redis.call('INCR', KEYS[2])
  if version == 1 then
    local now = redis.call('TIME')
    version = redis.call('INCRBY', KEYS[2], string.format('%.0f', now[1] * 1000000 + now[2]))
  end
  redis.call('LPUSH', KEYS[3], id)
  if version % 100 == 0 then redis.call('LTRIM', KEYS[3], 0, 99) end
  local revision = string.format('%.0f', version)
  redis.call('PUBLISH', channel, revision)
  return revision
end

-- Calls `command` on `key` with all of `values`, in parts that the stack of Lua holds.
local function inParts(command, key, values)
  for i = 1, #values, 4000 do
    redis.call(command, key, unpack(values, i, math.min(i + 3999, #values)))
  end
end

-- What ZRANGE found WITHSCORES: the ids, and what ZADD takes to put them there again.
local function entries(found)
  local ids, places = {}, {}
  for i = 1, #found, 2 do
    ids[#ids + 1] = found[i]
    places[#places + 1] = found[i + 1]
    places[#places + 1] = found[i]
  end
  return ids, places
end

-- A removed task has left the index and keeps its hash. Its removal, which goes after `seconds`, says where
-- in the index it was; `removed` has the ids of all removals, with the time they were removed.
local function keep(removed, removal, seconds, ids)
  local now = redis.call('TIME')[1]
  local times = {}
  for _, id in ipairs(ids) do
    times[#times + 1] = now
    times[#times + 1] = id
  end
  inParts('ZADD', removed, times)
  redis.call('EXPIRE', removal, seconds)
end

-- Deletes removed tasks whose removal is gone, a thousand at most: the next change goes on.
local function forget(removed, task, seconds)
  local before = redis.call('TIME')[1] - seconds - 60
  local ids = redis.call('ZRANGE', removed, '-inf', before, 'BYSCORE', 'LIMIT', 0, 1000)
  if #ids == 0 then return end
  for _, id in ipairs(ids) do redis.call('DEL', task .. id) end
  inParts('ZREM', removed, ids)
end
