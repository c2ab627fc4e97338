#!lua flags=allow-oom
-- args: id, match ('*' or allowed revisions), removal, its lifetime in seconds
-- Returns the task and whether its revision matched, or false for an unknown id.
local task = find(args.id)
if not task then return false end
local matched = matches(args.match, task)
if matched then
  remove({ args.id, redis.call('ZSCORE', keys.index, args.id) }, args.removal, args.seconds)
end
return cjson.encode({ matched = matched, task = task })
