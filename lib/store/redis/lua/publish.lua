-- publish.lua: tells a worker that it is to claim now, on a channel that nobody else listens to: to wake all who wait
-- would cost more than the claim.  A hint that may be lost.

-- Returns whether somebody may have heard it.
local function publish(worker)
    local channel = KEYS[1] .. ':' .. worker
    local heard = redis.pcall('SPUBLISH', channel, '')
    if type(heard) == 'table' then
        heard = redis.pcall('PUBLISH', channel, '') -- a server that has no sharded channels
    end
    return heard ~= 0
end
