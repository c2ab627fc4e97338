-- args: tasks, the last line first; nonce of these tasks, nonce of their list, lifetime of both in seconds
-- Returns the first task. If the nonce is known, inserts nothing and returns the task from the earlier call, even if removed.
-- If lines were added to the list since an earlier call, inserts only those.
local nonce = args.nonce and keys.nonce .. args.nonce
local made = nonce and redis.call('GET', nonce)
local task = made and read(made)
if task then return cjson.encode(task) end

local function digest(from)
  local titles = {}
  for i = from, #args.tasks do titles[#titles + 1] = args.tasks[i].title end
  return redis.sha1hex(table.concat(titles, '\n'))
end

local count = #args.tasks
local list = args.list and keys.nonce .. args.list
if list then
  local sent, known = string.match(redis.call('GET', list) or '', '(%d+) (%x+)')
  redis.call('SET', list, count .. ' ' .. digest(1), 'EX', args.seconds)
  sent = tonumber(sent)
  if sent and sent < count and digest(count - sent + 1) == known then count = count - sent end
end

local revision = changed()
local first = redis.call('INCRBY', keys.lastId, count) - count + 1
local places = {}
for i = 1, count do
  local id, new = number(first + i - 1), args.tasks[i]
  new.revision = revision
  write(id, new)
  places[#places + 1] = number(position(id, new.finished))
  places[#places + 1] = id
end
inParts('ZADD', keys.index, places)
if nonce then redis.call('SET', nonce, number(first), 'EX', args.seconds) end
return cjson.encode(read(number(first)))
