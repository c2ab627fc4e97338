-- Functions that the scripts share; this file is put in front of each of them.

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

-- For scripts whose keys begin with index, version and recent: gives the list its next version, records which task
-- changed ('*': several; at least the last hundred are kept), announces it to all replicas, and returns the version,
-- which is the revision of what changed. The first version is the time, so that an emptied store repeats none.
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

-- Calls `command` on `key` with all of `values`, in parts that fit on Lua's stack.
local function inParts(command, key, values)
  for i = 1, #values, 4000 do
    redis.call(command, key, unpack(values, i, math.min(i + 3999, #values)))
  end
end

-- Takes a result of ZRANGE WITHSCORES; returns the ids, and the arguments of the ZADD that inserts them again.
local function entries(found)
  local ids, places = {}, {}
  for i = 1, #found, 2 do
    ids[#ids + 1] = found[i]
    places[#places + 1] = found[i + 1]
    places[#places + 1] = found[i]
  end
  return ids, places
end

-- A removed task leaves the index and keeps its hash. Its removal, which expires after `seconds`, holds its entries of
-- the index; `removed` holds the ids of all removals by the time of removal.
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

-- Deletes removed tasks whose removal has expired, at most a thousand: the next removal continues.
local function forget(removed, task, seconds)
  local before = redis.call('TIME')[1] - seconds - 60
  local ids = redis.call('ZRANGE', removed, '-inf', before, 'BYSCORE', 'LIMIT', 0, 1000)
  if #ids == 0 then return end
  for _, id in ipairs(ids) do redis.call('DEL', task .. id) end
  inParts('ZREM', removed, ids)
end
