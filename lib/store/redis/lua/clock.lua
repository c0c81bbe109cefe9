-- clock.lua: the beginning of every script: the time, which the server's clock alone tells, and the ledger's text.

local clock = redis.call('TIME') -- seam: now
local now = clock[1] * 1000000 + clock[2]
local stored = redis.call('GET', KEYS[1]) -- false: there is none
