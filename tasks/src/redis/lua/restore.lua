#!lua flags=allow-oom
-- args: removal, count; nonce, its lifetime in seconds
-- Restores at most `count` tasks to their positions. Returns their number, and the total of all calls with the nonce.
local removal, nonce = keys.removal .. args.removal, keys.nonce .. args.nonce
local ids, places = entries(redis.call('ZRANGE', removal, 0, args.count - 1, 'WITHSCORES'))
local total = #ids + (redis.call('GET', nonce) or 0)
if #ids > 0 then
  inParts('ZADD', keys.index, places)
  inParts('ZREM', keys.removed, ids)
  inParts('ZREM', removal, ids)
  if redis.call('EXISTS', removal) == 0 then redis.call('ZREM', keys.removals, args.removal) end
  redis.call('SET', nonce, total, 'EX', args.seconds)
  changed()
end
return cjson.encode({ restored = #ids, total = total })
