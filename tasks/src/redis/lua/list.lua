-- args: filter, count, known version; after (the last score of the previous page)
-- Returns the page, with the cursors of the previous and next pages (see `Page` in task.ts). Returns false if the version is known.
local version = redis.call('GET', keys.version) or '0'
if version == args.known then return false end

local start = range(args.filter)
local first, stop = range(args.filter, args.after)
local ids = redis.call('ZRANGE', keys.index, first, stop, 'BYSCORE', 'LIMIT', 0, args.count + 1)
local tasks = {}
for i = 1, math.min(#ids, args.count) do tasks[#tasks + 1] = read(ids[i]) or nil end
local before, previous = 0, nil
if args.after then
  before = redis.call('ZCOUNT', keys.index, start, args.after)
  local last = redis.call(
    'ZRANGE', keys.index, args.after, start, 'BYSCORE', 'REV', 'LIMIT', args.count, 1, 'WITHSCORES'
  )
  previous = last[2]
end
local open = redis.call('ZCOUNT', keys.index, '-inf', boundary)
return cjson.encode({
  version = version,
  open = open,
  finished = redis.call('ZCARD', keys.index) - open,
  tasks = tasks,
  before = before,
  previous = previous,
  next = #ids > args.count and redis.call('ZSCORE', keys.index, ids[args.count]) or nil,
})
