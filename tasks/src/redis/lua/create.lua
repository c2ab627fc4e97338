-- KEYS: index, version, recent, last id, nonce
-- ARGV: key of a task without its id, channel, title, now, seconds the nonce is kept: 0 if there is none
-- Returns the id and the revision, and the task if the nonce had made it before.
local made = redis.call('GET', KEYS[5])
local task = made and find(KEYS[1], ARGV[1] .. made, made)
if task then return { made, task[5], task } end

local id = string.format('%.0f', redis.call('INCR', KEYS[4]))
local revision = changed(ARGV[2], id)
redis.call('HSET', ARGV[1] .. id, 'title', ARGV[3], 'finished', '0', 'created_at', ARGV[4], 'revision', revision)
redis.call('ZADD', KEYS[1], position(id, '0'), id)
if ARGV[5] ~= '0' then redis.call('SET', KEYS[5], id, 'EX', ARGV[5]) end
return { id, revision }
