#!lua flags=allow-oom
-- args: removal, its lifetime in seconds, count
-- Removes at most `count` finished tasks. Returns the numbers of removed and remaining tasks.
local found = redis.call('ZRANGE', keys.index, boundary, '+inf', 'BYSCORE', 'LIMIT', 0, args.count, 'WITHSCORES')
if #found == 0 then return cjson.encode({ cleared = 0, left = 0 }) end
local cleared = remove(found, args.removal, args.seconds)
return cjson.encode({ cleared = cleared, left = redis.call('ZCOUNT', keys.index, boundary, '+inf') })
