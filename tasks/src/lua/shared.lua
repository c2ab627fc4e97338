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

-- Gives the list another version and tells every replica. A version begins with the time, so that one
-- from before the store was emptied does not come again.
local function changed(version, channel)
  if redis.call('EXISTS', version) == 0 then
    local now = redis.call('TIME')
    redis.call('SET', version, now[1] * 1000000 + now[2])
  end
  redis.call('PUBLISH', channel, redis.call('INCR', version))
end
