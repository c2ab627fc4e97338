-- args: removal
-- Returns the removal; false if it has expired or was restored.
local removal = removalOf(args.removal)
return removal and cjson.encode(removal)
