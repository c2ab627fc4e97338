-- KEYS: a client   ARGV: milliseconds between two expansions, and in which as many come as at once
-- Takes one expansion from what the client may have (GCRA): the key holds when, at an even rate, it would have none owed.
-- Returns 0, or the milliseconds until there is one.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local interval, period = tonumber(ARGV[1]), tonumber(ARGV[2])
local due = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now) + interval
local wait = due - now - period
if wait > 0 then return math.ceil(wait) end
redis.call('SET', KEYS[1], string.format('%.0f', due), 'PX', math.ceil(due - now))
return 0
