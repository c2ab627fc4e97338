#!lua flags=allow-oom
-- args: removal, count
-- Restores at most `count` tasks to their positions and returns their number.
local removal = keys.removal .. args.removal
local ids, places = entries(redis.call('ZRANGE', removal, 0, args.count - 1, 'WITHSCORES'))
if #ids > 0 then
  inParts('ZADD', keys.index, places)
  inParts('ZREM', keys.removed, ids)
  inParts('ZREM', removal, ids)
  if redis.call('EXISTS', removal) == 0 then redis.call('ZREM', keys.removals, args.removal) end
  changed()
end
return cjson.encode({ restored = #ids })
