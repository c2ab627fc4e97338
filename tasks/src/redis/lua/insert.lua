-- args: tasks; nonce, its lifetime in seconds
-- Returns the first task. If the nonce is known, inserts nothing and returns the task from the earlier call, even if removed.
local nonce = args.nonce and keys.nonce .. args.nonce
local made = nonce and redis.call('GET', nonce)
local task = made and read(made)
if task then return cjson.encode(task) end

local revision = changed()
local count = #args.tasks
local first = redis.call('INCRBY', keys.lastId, count) - count + 1
local places = {}
for i, new in ipairs(args.tasks) do
  local id = number(first + i - 1)
  new.revision = revision
  write(id, new)
  places[#places + 1] = number(position(id, new.finished))
  places[#places + 1] = id
end
inParts('ZADD', keys.index, places)
if nonce then redis.call('SET', nonce, number(first), 'EX', args.seconds) end
return cjson.encode(read(number(first)))
