-- publish.lua: tells those who listen to the ledger's channel which workers are to claim now.  A hint that may be lost.

local WAKES_MAX = 8 -- names in a message

-- `names`: parted by spaces.
local function publish(names)
    if names ~= '' and type(redis.pcall('SPUBLISH', KEYS[1], names)) == 'table' then
        redis.pcall('PUBLISH', KEYS[1], names) -- a server that has no sharded channels
    end
end
