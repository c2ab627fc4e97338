-- KEYS: index, task   ARGV: id
-- Returns the task, or nothing where there is none.
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return read(KEYS[2]) end
return false
