-- wakes.lua: the workers to wake; award->wakes of core/ledger.h. A wake-up is a hint; losing it does no harm.
-- needs: line publish

local held -- the holders of permits (holders.lua); nil: the limit has no permits
local wakes
wakes = {
    names = {},
    sent = 0, -- to those of other levels

    full = function()
        return #wakes.names + wakes.sent == TAKT_WAKES_MAX
    end,

    -- Adds a worker once, if there is space.
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

    -- Publishes the wake-ups. A worker without a subscription is set aside, and the next one is woken. `own`: the
    -- caller's places. Returns whether a worker was set aside.
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
