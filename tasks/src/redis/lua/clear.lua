#!lua flags=allow-oom
-- KEYS: index, version, recent, removed, removal
-- ARGV: key of a task without its id, channel, seconds a removal is kept, count
-- Removes at most `count` finished tasks under the removal. Returns how many, and how many are left.
local ids, places = entries(
  redis.call('ZRANGE', KEYS[1], '(-4503599627370496', '+inf', 'BYSCORE', 'LIMIT', 0, ARGV[4], 'WITHSCORES')
)
if #ids == 0 then return { 0, 0 } end
inParts('ZADD', KEYS[5], places)
inParts('ZREM', KEYS[1], ids)
forget(KEYS[4], ARGV[1], ARGV[3])
keep(KEYS[4], KEYS[5], ARGV[3], ids)
changed(ARGV[2], '*')
return { #ids, redis.call('ZCOUNT', KEYS[1], '(-4503599627370496', '+inf') }
