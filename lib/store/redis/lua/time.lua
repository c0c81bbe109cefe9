-- time.lua: the time, which the server's clock alone tells.

local clock = redis.call('TIME') -- seam: now
local now = clock[1] * 1000000 + clock[2]
