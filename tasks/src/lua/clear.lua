-- KEYS: index, version, recent, removal
-- ARGV: key of a task without its id, the same among the removed, channel, most tasks, seconds a removal is kept
-- Removes finished tasks, the newest first, and returns how many.
local ids = redis.call('ZRANGE', KEYS[1], '(-4503599627370496', '+inf', 'BYSCORE', 'LIMIT', 0, ARGV[4])
if #ids == 0 then return 0 end
for _, id in ipairs(ids) do
  if redis.call('EXISTS', ARGV[1] .. id) == 1 then
    redis.call('RENAME', ARGV[1] .. id, ARGV[2] .. id)
    redis.call('EXPIRE', ARGV[2] .. id, ARGV[5])
    redis.call('SADD', KEYS[4], id)
  end
  redis.call('ZREM', KEYS[1], id)
end
redis.call('EXPIRE', KEYS[4], ARGV[5])
changed(ARGV[3], '*')
return #ids
