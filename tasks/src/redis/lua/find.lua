-- args: IDs
-- Returns the tasks; ignores unknown IDs.
local tasks = {}
for _, id in ipairs(args.ids) do tasks[#tasks + 1] = find(id) or nil end
return cjson.encode({ tasks = tasks })
