-- KEYS: index, version, recent, removed, removal
-- ARGV: channel
-- Puts removed tasks back where they were and returns how many.
local found = redis.call('ZRANGE', KEYS[5], 0, -1, 'WITHSCORES')
if #found == 0 then return 0 end
local ids, places = {}, {}
for i = 1, #found, 2 do
  ids[#ids + 1] = found[i]
  places[#places + 1] = found[i + 1]
  places[#places + 1] = found[i]
end
inParts('ZADD', KEYS[1], places)
inParts('ZREM', KEYS[4], ids)
redis.call('DEL', KEYS[5])
changed(ARGV[1], '*')
return #ids
