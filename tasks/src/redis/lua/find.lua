-- args: ids
-- Returns the tasks that exist.
local tasks = {}
for _, id in ipairs(args.ids) do tasks[#tasks + 1] = find(id) or nil end
return cjson.encode({ tasks = tasks })
