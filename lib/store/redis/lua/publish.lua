-- publish.lua: tells a worker that it is to claim now, on a channel that nobody else listens to: to wake all who wait
-- would cost more than the claim.  A hint that may be lost.

local function publish(worker)
    local channel = KEYS[1] .. ':' .. worker
    if type(redis.pcall('SPUBLISH', channel, '')) == 'table' then
        redis.pcall('PUBLISH', channel, '') -- a server that has no sharded channels
    end
end
