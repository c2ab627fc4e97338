-- Prepended to each script, after the tables `keys` (see keys.ts) and `args`. Each script returns JSON or false.

-- Returns a task's score in the index. Scores sort open tasks first, then by descending _id. IDs are below 2^52, so doubles
-- are exact.
local function position(id, finished)
  if tonumber(finished) == 1 then return -id end
  return -id - 4503599627370496
end

-- Separates the scores of open tasks (lower) from the scores of finished tasks (higher).
local boundary = '(-4503599627370496'

-- Returns the score range for `filter`, starting after the score `after`.
local function range(filter, after)
  local start = after and '(' .. after or filter == 'finished' and boundary or '-inf'
  return start, filter == 'open' and boundary or '+inf'
end

local function number(value) return string.format('%.0f', value) end

-- Returns a task with all fields as strings, or nil if the title is missing.
local function read(id)
  local fields, task = redis.call('HGETALL', keys.task .. id), { _id = id }
  for i = 1, #fields, 2 do task[fields[i]] = fields[i + 1] end
  return task.title and task
end

-- Like read(), but returns nil if the ID is not in the index.
local function find(id) return redis.call('ZSCORE', keys.index, id) and read(id) end

local function write(id, task)
  local fields = {}
  for name, value in pairs(task) do
    fields[#fields + 1] = name
    fields[#fields + 1] = value
  end
  redis.call('HSET', keys.task .. id, unpack(fields))
end

-- Checks whether the task's revision is in `revisions`, which is a list such as '"3", "4"', or '*' for any revision.
local function matches(revisions, task)
  return revisions == '*' or string.find(revisions, '"' .. task.revision .. '"') ~= nil
end

-- Sets, publishes and returns the next version of the list. Changed tasks use this version as their revision. The version is
-- at least the current time in microseconds, so that it never repeats, even after a restore.
local function changed()
  local now = redis.call('TIME')
  local version = tonumber(redis.call('GET', keys.version) or '0')
  local revision = number(math.max(version + 1, now[1] * 1000000 + now[2]))
  redis.call('SET', keys.version, revision)
  redis.call('PUBLISH', keys.changes, revision)
  return revision
end

-- Calls `command` once per 4,000 `values`, because Lua's stack is limited.
local function inParts(command, key, values)
  for i = 1, #values, 4000 do
    redis.call(command, key, unpack(values, i, math.min(i + 3999, #values)))
  end
end

-- Returns the IDs in a reply to ZRANGE WITHSCORES, and the ZADD arguments that restore the reply.
local function entries(found)
  local ids, places = {}, {}
  for i = 1, #found, 2 do
    ids[#ids + 1] = found[i]
    places[#places + 1] = found[i + 1]
    places[#places + 1] = found[i]
  end
  return ids, places
end

-- Moves index entries to a removal that expires after `seconds`, and adds the IDs to `removed`.
local function remove(found, removal, seconds)
  local ids, places = entries(found)
  local now = redis.call('TIME')[1]
  local times = {}
  for _, id in ipairs(ids) do
    times[#times + 1] = now
    times[#times + 1] = id
  end
  inParts('ZADD', keys.removal .. removal, places)
  inParts('ZREM', keys.index, ids)
  -- Deletes at most 1,000 tasks of expired removals. The next removal deletes more.
  local old = redis.call('ZRANGE', keys.removed, '-inf', now - seconds - 60, 'BYSCORE', 'LIMIT', 0, 1000)
  for _, id in ipairs(old) do redis.call('DEL', keys.task .. id) end
  inParts('ZREM', keys.removed, old)
  inParts('ZADD', keys.removed, times)
  redis.call('EXPIRE', keys.removal .. removal, seconds, 'NX')
  redis.call('ZADD', keys.removals, 'NX', now, removal)
  redis.call('ZREMRANGEBYSCORE', keys.removals, '-inf', now - seconds)
  changed()
  return #ids
end

-- Returns a removal with the number of tasks and one title, or nil if the removal is empty.
local function removalOf(removal)
  local key = keys.removal .. removal
  local id = redis.call('ZRANGE', key, 0, 0)[1]
  local task = id and read(id)
  return task and { removal = removal, count = redis.call('ZCARD', key), title = task.title }
end

-- Scripts that write have the argument `schema` (see keys.ts).
if args.schema then
  local schema = redis.call('GET', keys.schema)
  if not schema then
    redis.call('SET', keys.schema, args.schema)
  elseif tonumber(schema) > args.schema then
    return redis.error_reply('NEWER the keys have schema ' .. schema .. ', but this release writes ' .. args.schema)
  end
end
