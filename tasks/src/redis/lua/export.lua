-- args: first ID, count
-- Returns the existing tasks of `count` consecutive IDs, and the ID to continue from, if any.
local last = tonumber(redis.call('GET', keys.lastId) or '0')
local stop = math.min(args.first + args.count - 1, last)
local tasks = {}
for id = tonumber(args.first), stop do tasks[#tasks + 1] = find(number(id)) or nil end
return cjson.encode({ tasks = tasks, next = stop < last and number(stop + 1) or nil })
