-- args: key (its hash). Returns the insert of a request, or false for an unknown key.
return redis.call('GET', keys.added .. args.key)
