-- KEYS: index, last id   ARGV: key of a task without its id, first id, count
-- Returns the id to continue from (false at the end), and the tasks from the first id on.
local first, last = tonumber(ARGV[2]), tonumber(redis.call('GET', KEYS[2]) or '0')
local stop = math.min(first + ARGV[3] - 1, last)
local ids, tasks = {}, {}
for number = first, stop do
  local id = string.format('%.0f', number)
  local task = find(KEYS[1], ARGV[1] .. id, id)
  if task then
    ids[#ids + 1] = id
    tasks[#tasks + 1] = task
  end
end
return { stop < last and string.format('%.0f', stop + 1) or false, ids, tasks }
