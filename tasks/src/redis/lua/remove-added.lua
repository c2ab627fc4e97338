#!lua flags=allow-oom
-- args: first ID, count, match (the revision of the insert); removal, its lifetime in seconds
-- Removes the tasks of `count` consecutive IDs that nobody has changed since. Returns the number of tasks in the removal,
-- which includes those of earlier calls, and the number of tasks that somebody has changed.
local found, kept = {}, 0
for id = args.first, args.first + args.count - 1 do
  local score = redis.call('ZSCORE', keys.index, number(id))
  local task = score and { revision = redis.call('HGET', keys.task .. number(id), 'revision') }
  if task and matches(args.match, task) then
    found[#found + 1] = number(id)
    found[#found + 1] = score
  elseif task then
    kept = kept + 1
  end
end
if #found > 0 then remove(found, args.removal, args.seconds) end
return cjson.encode({ removed = redis.call('ZCARD', keys.removal .. args.removal), kept = kept })
