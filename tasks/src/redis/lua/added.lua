-- args: key (its hash). Returns the ids that a request has added, or false for an unknown key.
local ids = redis.call('GET', keys.added .. args.key)
return ids and cjson.encode({ ids = ids })
