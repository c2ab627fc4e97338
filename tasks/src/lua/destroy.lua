-- KEYS: index, version, recent, task, task among the removed, removal
-- ARGV: id, channel, the revisions it may have or '*', seconds a removal is kept
-- Returns whether the revision was one of them, and the task.
local task = read(KEYS[4])
if not task[1] then return false end
if not matches(ARGV[3], task) then return { 0, task } end

redis.call('RENAME', KEYS[4], KEYS[5])
redis.call('EXPIRE', KEYS[5], ARGV[4])
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('SADD', KEYS[6], ARGV[1])
redis.call('EXPIRE', KEYS[6], ARGV[4])
changed(ARGV[2], ARGV[1])
return { 1, task }
