-- wakes.lua: the workers that are told to claim now: award->wakes of core/ledger.h.  A hint that may be lost.
-- needs: line publish

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

    publish = function()
        for _, name in ipairs(wakes.names) do
            publish(name)
        end
    end,
}
