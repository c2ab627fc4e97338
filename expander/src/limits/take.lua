-- KEYS: the key of a client   ARGV: milliseconds per expansion, period in milliseconds
-- Charges one expansion to the client (GCRA). The key's value is the time when the full burst is available again.
-- Returns 0, or the milliseconds to wait if the client has reached its limit.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local interval, period = tonumber(ARGV[1]), tonumber(ARGV[2])
-- The previous rate may have had a longer period.
local due = math.min(math.max(tonumber(redis.call('GET', KEYS[1]) or now), now), now + period) + interval
local wait = due - now - period
if wait >= math.min(1, interval / 2) then return math.ceil(wait) end
redis.call('SET', KEYS[1], string.format('%.3f', due), 'PX', math.ceil(due - now))
return 0
