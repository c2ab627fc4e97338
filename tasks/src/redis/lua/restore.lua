#!lua flags=allow-oom
-- KEYS: index, version, recent, removed, removal
-- ARGV: channel, count
-- Puts at most `count` removed tasks back where they were, and returns how many.
local ids, places = entries(redis.call('ZRANGE', KEYS[5], 0, ARGV[2] - 1, 'WITHSCORES'))
if #ids == 0 then return 0 end
inParts('ZADD', KEYS[1], places)
inParts('ZREM', KEYS[4], ids)
inParts('ZREM', KEYS[5], ids)
changed(ARGV[1], '*')
return #ids
