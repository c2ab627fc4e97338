-- KEYS: a client   ARGV: milliseconds between two expansions, how many at once
-- Takes one expansion from what the client may have (GCRA): the key holds when, at an even rate, it would have none owed.
-- Returns how many are left, or -1, and the milliseconds until one more may be taken.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local due = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now) + interval
local room = now + interval * burst - due
if room < 0 then return { -1, -room } end
redis.call('SET', KEYS[1], string.format('%.0f', due), 'PX', math.ceil(due - now))
return { math.floor(room / interval), math.max(0, interval - room) }
