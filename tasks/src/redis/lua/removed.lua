-- args: removal
-- Returns how many tasks the removal holds, and one of them; false if it holds none.
local id = redis.call('ZRANGE', keys.removal .. args.removal, 0, 0)[1]
local task = id and read(id)
return task and cjson.encode({ count = redis.call('ZCARD', keys.removal .. args.removal), task = task })
