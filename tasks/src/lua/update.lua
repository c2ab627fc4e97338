-- KEYS: task, index, version   ARGV: id, channel, title or '', finished or '', now
local task = read(KEYS[1])
local title, finished = task[1], task[2]
if not title then return false end

if ARGV[4] ~= '' and ARGV[4] ~= finished then
  redis.call('HSET', KEYS[1], 'finished', ARGV[4], 'updated_at', ARGV[5])
  redis.call('ZADD', KEYS[2], position(ARGV[1], ARGV[4]), ARGV[1])
elseif ARGV[3] == '' or ARGV[3] == title then
  return task
end
if ARGV[3] ~= '' then redis.call('HSET', KEYS[1], 'title', ARGV[3]) end
redis.call('HINCRBY', KEYS[1], 'revision', 1)
changed(KEYS[3], ARGV[2])
return read(KEYS[1])
