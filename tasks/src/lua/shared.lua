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

-- Gives the list its next version, tells every replica, and returns it: the revision of the tasks that
-- change. Versions begin with the time, so that those from before the store was emptied do not come again.
local function changed(version, channel)
  if redis.call('EXISTS', version) == 0 then
    local now = redis.call('TIME')
    redis.call('SET', version, now[1] * 1000000 + now[2])
  end
  local revision = redis.call('INCR', version)
  redis.call('PUBLISH', channel, revision)
  return revision
end
