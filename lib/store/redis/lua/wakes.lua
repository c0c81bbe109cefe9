-- wakes.lua: the workers that are told to claim now: award->wakes of core/ledger.h.  A hint that may be lost.
-- needs: line publish

local held -- who holds permits (holders.lua); nil: the limit has none
local wakes
wakes = {
    names = {},

    full = function()
        return #wakes.names == TAKT_WAKES_MAX
    end,

    -- Names a worker once, as long as there is space.
    add = function(name)
        for _, one in ipairs(wakes.names) do
            if one == name then
                return
            end
        end
        if not wakes.full() then
            wakes.names[#wakes.names + 1] = name
        end
    end,

    -- Publishes them.  A worker that does not listen is set aside, and the next one is woken; `own`: the caller's
    -- places.  Returns whether that was so.
    publish = function(own)
        local i, stepped_round = 0, false
        while i < #wakes.names do
            i = i + 1
            if not publish(wakes.names[i]) and held and held.step_round(wakes.names[i]) then
                stepped_round = true
                held.wake(own)
            end
        end
        return stepped_round
    end,
}
