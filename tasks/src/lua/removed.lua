-- KEYS: removal   ARGV: key of a removed task without its id
-- Returns how many tasks the removal holds, and the title of one of them.
local id = redis.call('SRANDMEMBER', KEYS[1])
return { redis.call('SCARD', KEYS[1]), id and redis.call('HGET', ARGV[1] .. id, 'title') or false }
