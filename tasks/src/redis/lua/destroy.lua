#!lua flags=allow-oom
-- args: ID, match ('*' or allowed revisions), removal, its lifetime in seconds
-- Returns the task and whether its revision matched, or false for an unknown ID.
local task = find(args.id)
-- A retry finds the task in its removal.
local isRetry = not task and redis.call('ZSCORE', keys.removal .. args.removal, args.id)
if isRetry then return cjson.encode({ matched = true, task = read(args.id) }) end
if not task then return false end
local matched = matches(args.match, task)
if matched then
  remove({ args.id, redis.call('ZSCORE', keys.index, args.id) }, args.removal, args.seconds)
end
return cjson.encode({ matched = matched, task = task })
