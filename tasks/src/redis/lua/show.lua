-- args: id
-- Returns the task, or false if there is none.
local task = find(args.id)
return task and cjson.encode(task)
