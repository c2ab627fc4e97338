-- args: tasks; nonce, form and key (hashes), lifetime of all three in seconds
-- Returns the first task. If the nonce is known, inserts nothing and returns the task from the earlier call, even if removed.
-- For a form, inserts only tasks that no earlier call had for this form. Returns false if there are none.
-- Keeps the first 100 ids under the key, newest first.
local function name(first, count)
  if not args.key then return end
  local ids = {}
  for id = first + count - 1, math.max(first, first + count - 100), -1 do ids[#ids + 1] = number(id) end
  redis.call('SET', keys.added .. args.key, table.concat(ids, ' '), 'EX', args.seconds)
end

local nonce = args.nonce and keys.nonce .. args.nonce
local made = nonce and redis.call('GET', nonce)
local task = made and read(made)
if task then
  name(tonumber(made), #args.tasks)
  return cjson.encode(task)
end

local tasks = args.tasks
if args.form then
  local sent, times = keys.sent .. args.form, {}
  tasks = {}
  for _, new in ipairs(args.tasks) do
    times[new.title] = (times[new.title] or 0) + 1
    if redis.call('SADD', sent, times[new.title] .. ' ' .. new.title) == 1 then tasks[#tasks + 1] = new end
  end
  redis.call('EXPIRE', sent, args.seconds)
end

local count = #tasks
if count == 0 then
  name(0, 0)
  return false
end

local revision = changed()
local first = redis.call('INCRBY', keys.lastId, count) - count + 1
local places = {}
for i, new in ipairs(tasks) do
  local id = number(first + i - 1)
  new.revision = revision
  write(id, new)
  places[#places + 1] = number(position(id, new.finished))
  places[#places + 1] = id
end
inParts('ZADD', keys.index, places)
if nonce then redis.call('SET', nonce, number(first), 'EX', args.seconds) end
name(first, count)
return cjson.encode(read(number(first)))
