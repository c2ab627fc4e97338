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

-- Whether the task has one of the revisions of an If-Match: '"3", "4"', or '*' for any.
local function matches(revisions, task)
  return revisions == '*' or string.find(revisions, '"' .. task[5] .. '"', 1, true) ~= nil
end

-- For scripts whose keys begin with index, version and recent: gives the list its next version, notes
-- which task changed ('*' for several), tells every replica, and returns the version: the revision of what
-- changed. Versions begin with the time, so that those from before the store was emptied do not come again.
local function changed(channel, id)
  if redis.call('EXISTS', KEYS[2]) == 0 then
    local now = redis.call('TIME')
    redis.call('SET', KEYS[2], now[1] * 1000000 + now[2])
  end
  local revision = redis.call('INCR', KEYS[2])
  redis.call('LPUSH', KEYS[3], id)
  redis.call('LTRIM', KEYS[3], 0, 99)
  redis.call('PUBLISH', channel, revision)
  return revision
end
