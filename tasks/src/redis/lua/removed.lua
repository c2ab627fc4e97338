-- KEYS: removal   ARGV: key of a task without its id
-- Returns how many tasks the removal holds, and the title of one of them.
local id = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
return { redis.call('ZCARD', KEYS[1]), id and redis.call('HGET', ARGV[1] .. id, 'title') or false }
