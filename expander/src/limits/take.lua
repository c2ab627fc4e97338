-- KEYS: a client   ARGV: milliseconds for one expansion, and milliseconds of the whole period
-- Takes one expansion from the client's rate (GCRA). The key holds the time from which the client has its full rate again.
-- Returns 0, or the milliseconds until the next expansion.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local interval, period = tonumber(ARGV[1]), tonumber(ARGV[2])
-- A rate that the client had before may have had a longer period.
local due = math.min(math.max(tonumber(redis.call('GET', KEYS[1]) or now), now), now + period) + interval
local wait = due - now - period
if wait > 0 then return math.ceil(wait) end
redis.call('SET', KEYS[1], string.format('%.0f', due), 'PX', math.ceil(due - now))
return 0
