-- KEYS: index, version, recent
-- ARGV: key of a task without its id, first position, last position, count, known version or -1
-- Returns the version and, if it is not the known one, the counts, the ids, and each task that may have changed since
-- the known version: its place among the ids, and its fields.
local version = redis.call('GET', KEYS[2]) or '0'
local count, known = tonumber(ARGV[4]), tonumber(ARGV[5])
local behind = tonumber(version) - known
if behind == 0 then return version end

-- What changed since the known version, one entry per version; everything if that is no longer on record.
local fresh, all = {}, true
if known >= 0 and behind > 0 and behind <= 100 then
  local recent = redis.call('LRANGE', KEYS[3], 0, behind - 1)
  all = #recent < behind
  for _, id in ipairs(recent) do
    fresh[id] = true
    all = all or id == '*'
  end
end

local ids = redis.call('ZRANGE', KEYS[1], ARGV[2], ARGV[3], 'BYSCORE', 'LIMIT', 0, ARGV[4])
local places, tasks = {}, {}
for i, id in ipairs(ids) do
  -- The last one is always read: it moves up when a task is removed.
  if all or fresh[id] or i == count then
    places[#places + 1] = i
    tasks[#tasks + 1] = read(ARGV[1] .. id)
  end
end
local open = redis.call('ZCOUNT', KEYS[1], '-inf', '(-4503599627370496')
return { version, open, redis.call('ZCARD', KEYS[1]) - open, ids, places, tasks }
