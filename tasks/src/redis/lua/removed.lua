-- args: removal
-- Returns the removal; false if it holds no task.
local removal = removalOf(args.removal)
return removal and cjson.encode(removal)
