-- args: count
-- Returns up to `count` removals that can be undone, latest first.
local found = redis.call('ZRANGE', keys.removals, 0, args.count - 1, 'REV', 'WITHSCORES')
local removals = {}
for i = 1, #found, 2 do
  local removal = removalOf(found[i])
  if removal then
    removal.time = found[i + 1]
    removals[#removals + 1] = removal
  end
end
return cjson.encode({ removals = removals })
