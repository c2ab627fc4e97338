-- KEYS: index, version
-- ARGV: key of a task without its id, first position, last position, count, known version or -1
-- Returns the version and, where it is not the known one, the counts, the ids, and the task of each id:
-- false where it is as it was in the known version, empty where an id has none. The last one is always there:
-- it is the one that moves up when a task is removed.
local version = redis.call('GET', KEYS[2]) or '0'
local count, known = tonumber(ARGV[4]), tonumber(ARGV[5])
if tonumber(version) == known then return version end
if tonumber(version) < known then known = -1 end

local ids = redis.call('ZRANGE', KEYS[1], ARGV[2], ARGV[3], 'BYSCORE', 'LIMIT', 0, ARGV[4])
local tasks = {}
for i, id in ipairs(ids) do
  local key = ARGV[1] .. id
  local revision = redis.call('HGET', key, 'revision')
  if not revision then tasks[i] = {}
  elseif tonumber(revision) > known or i == count then tasks[i] = read(key)
  else tasks[i] = false end
end
local open = redis.call('ZCOUNT', KEYS[1], '-inf', '(-4503599627370496')
return { version, open, redis.call('ZCARD', KEYS[1]) - open, ids, tasks }
