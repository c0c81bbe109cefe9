-- publish.lua: asks a worker to claim now, on a channel that only this worker subscribes to. Waking all waiting workers
-- would cost more than the claim. The message is a hint; losing it does no harm.

-- Returns whether a client may have received the message.
local function publish(worker)
    local channel = KEYS[1] .. ':' .. worker
    local heard = redis.pcall('SPUBLISH', channel, '')
    if type(heard) == 'table' then
        heard = redis.pcall('PUBLISH', channel, '') -- the server has no sharded channels
    end
    return heard ~= 0
end
