-- args: removal
-- Returns the removal; false if it is empty.
local removal = removalOf(args.removal)
return removal and cjson.encode(removal)
