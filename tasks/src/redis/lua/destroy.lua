#!lua flags=allow-oom
-- KEYS: index, version, recent, task, removed, removal
-- ARGV: id, key of a task without its id, channel, the revisions it may have or '*', seconds a removal is kept
-- Returns whether the revision was one of them, and the task.
local task = find(KEYS[1], KEYS[4], ARGV[1])
if not task then return false end
if not matches(ARGV[4], task) then return { 0, task } end

redis.call('ZADD', KEYS[6], redis.call('ZSCORE', KEYS[1], ARGV[1]), ARGV[1])
redis.call('ZREM', KEYS[1], ARGV[1])
forget(KEYS[5], ARGV[2], ARGV[5])
keep(KEYS[5], KEYS[6], ARGV[5], { ARGV[1] })
changed(ARGV[3], ARGV[1])
return { 1, task }
