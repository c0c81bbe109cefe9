-- publish.lua: tells a worker to claim now, on a channel that only this worker listens to: waking all waiting workers
-- would cost more than the claim.  A hint that may be lost.

-- Returns whether a client may have received it.
local function publish(worker)
    local channel = KEYS[1] .. ':' .. worker
    local heard = redis.pcall('SPUBLISH', channel, '')
    if type(heard) == 'table' then
        heard = redis.pcall('PUBLISH', channel, '') -- a server that has no sharded channels
    end
    return heard ~= 0
end
