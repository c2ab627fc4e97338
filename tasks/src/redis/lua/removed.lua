-- args: removal
-- Returns the removal, or false if the removal has expired or was restored.
local removal = removalOf(args.removal)
return removal and cjson.encode(removal)
