-- KEYS: index, version, recent, task
-- ARGV: id, channel, the revisions it may have or '*', title or '', finished or '', now
-- Returns whether the revision was one of them, and the task.
local task = find(KEYS[1], KEYS[4], ARGV[1])
if not task then return false end
local title, finished = task[1], task[2]
if not matches(ARGV[3], task) then return { 0, task } end

if ARGV[5] ~= '' and ARGV[5] ~= finished then
  redis.call('HSET', KEYS[4], 'finished', ARGV[5], 'updated_at', ARGV[6])
  redis.call('ZADD', KEYS[1], position(ARGV[1], ARGV[5]), ARGV[1])
elseif ARGV[4] == '' or ARGV[4] == title then
  return { 1, task }
end
if ARGV[4] ~= '' then redis.call('HSET', KEYS[4], 'title', ARGV[4]) end
redis.call('HSET', KEYS[4], 'revision', changed(ARGV[2], ARGV[1]))
return { 1, read(KEYS[4]) }
