-- args: tasks; nonce, form and key (hashes), lifetime of all three in seconds
-- Returns the first task and the insert. If the nonce is known, inserts nothing and returns the task from the earlier call, even
-- if removed. For a form, inserts only tasks that no earlier call had for this form. A call that inserts nothing returns the
-- insert of the earlier call. The key gets the same insert.
local once = args.form or args.nonce

local function reply(task, insert)
  if insert and once then redis.call('SET', keys.added .. once, insert, 'EX', args.seconds) end
  if insert and args.key then redis.call('SET', keys.added .. args.key, insert, 'EX', args.seconds) end
  return '{"task":' .. (task and cjson.encode(task) or 'null') .. ',"insert":' .. (insert or 'null') .. '}'
end

local function earlier() return redis.call('GET', keys.added .. once) end

local nonce = args.nonce and keys.nonce .. args.nonce
local made = nonce and redis.call('GET', nonce)
local task = made and read(made)
if task then return reply(task, earlier()) end

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
if count == 0 then return reply(nil, earlier()) end

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
local insert = { first = number(first), count = count, revision = revision }
return reply(read(number(first)), cjson.encode(insert))
