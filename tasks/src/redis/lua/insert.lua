-- KEYS: index, version, recent, last id
-- ARGV: key of a task without its id, channel, then title, finished, created_at, updated_at or '' of each task
local count = (#ARGV - 2) / 4
local revision = changed(ARGV[2], '*')
local last = redis.call('INCRBY', KEYS[4], count)
for i = 1, count do
  local id = string.format('%.0f', last - count + i)
  local title, finished, created, updated = unpack(ARGV, 4 * i - 1, 4 * i + 2)
  local key = ARGV[1] .. id
  redis.call('HSET', key, 'title', title, 'finished', finished, 'created_at', created, 'revision', revision)
  if updated ~= '' then redis.call('HSET', key, 'updated_at', updated) end
  redis.call('ZADD', KEYS[1], position(id, finished), id)
end
