-- KEYS: index, task   ARGV: id
-- Returns the task, or false if there is none.
return find(KEYS[1], KEYS[2], ARGV[1]) or false
