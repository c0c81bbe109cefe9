-- time.lua: the time of the server's clock.

local clock = redis.call('TIME') -- seam: now
local now = clock[1] * 1000000 + clock[2]
