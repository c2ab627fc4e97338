-- KEYS: index, version, recent, removal
-- ARGV: key of a task without its id, the same among the removed, channel, most tasks
-- Puts removed tasks back and returns how many.
local ids = redis.call('SPOP', KEYS[4], ARGV[4])
if #ids == 0 then return 0 end
local revision = changed(ARGV[3], '*')
local restored = 0
for _, id in ipairs(ids) do
  local removed, key = ARGV[2] .. id, ARGV[1] .. id
  if redis.call('EXISTS', removed) == 1 then
    redis.call('RENAME', removed, key)
    redis.call('PERSIST', key)
    redis.call('HSET', key, 'revision', revision)
    redis.call('ZADD', KEYS[1], position(id, redis.call('HGET', key, 'finished')), id)
    restored = restored + 1
  end
end
return restored
