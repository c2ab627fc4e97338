-- args: filter, count, bytes; after (`next` of the previous call)
-- Returns the IDs and titles of at most `count` tasks, and `next` if any matched. Stops after `bytes` of titles.
local start, stop = range(args.filter, args.after)
local ids = redis.call('ZRANGE', keys.index, start, stop, 'BYSCORE', 'LIMIT', 0, args.count)
local titles, bytes, last = {}, 0, nil
for _, id in ipairs(ids) do
  if bytes >= args.bytes then break end
  local title = redis.call('HGET', keys.task .. id, 'title')
  if title then
    titles[#titles + 1] = { id, title }
    bytes = bytes + #title
  end
  last = id
end
return cjson.encode({ titles = titles, next = last and redis.call('ZSCORE', keys.index, last) })
