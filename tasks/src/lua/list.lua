-- KEYS: index, version   ARGV: key of a task without its id, first position, last position, count, known version
local version = redis.call('GET', KEYS[2]) or '0'
if version == ARGV[5] then return version end

local ids = redis.call('ZRANGE', KEYS[1], ARGV[2], ARGV[3], 'BYSCORE', 'LIMIT', 0, ARGV[4])
local tasks = {}
for i, id in ipairs(ids) do tasks[i] = read(ARGV[1] .. id) end
local open = redis.call('ZCOUNT', KEYS[1], '-inf', '(-4503599627370496')
return { version, open, redis.call('ZCARD', KEYS[1]) - open, ids, tasks }
