-- KEYS: index, version, recent, removed, removal
-- ARGV: key of a task without its id, channel, seconds a removal is kept
-- Removes all finished tasks and returns how many.
local count = redis.call('ZRANGESTORE', KEYS[5], KEYS[1], '(-4503599627370496', '+inf', 'BYSCORE')
if count == 0 then return 0 end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '(-4503599627370496', '+inf')
forget(KEYS[4], ARGV[1], ARGV[3])
keep(KEYS[4], KEYS[5], ARGV[3], redis.call('ZRANGE', KEYS[5], 0, -1))
changed(ARGV[2], '*')
return count
