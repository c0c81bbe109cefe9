-- zone.lua: what the clocks on the wall say in a timezone; core/zone.c.  The caller tells the changes of its offset.
-- needs: numbers

local DAY = 86400000000
local zone_wanted -- the name of a zone that the ledger's text names and the caller has not told

local function zone()
    local OFFSET_MAX = 26 * 3600000000

    -- The zone of that name in ARGV[6] ("NAME,AT,OFFSET,AT,OFFSET;NAME..."); nil: it is not there.
    local function zone_named(name)
        for told, changes in ARGV[6]:gmatch('([^,;]+)([^;]*)') do
            if told == name then
                local at, offset = {}, {}
                for instant, shift in changes:gmatch(',(%-?%d+),(%-?%d+)') do
                    at[#at + 1], offset[#offset + 1] = tonumber(instant), tonumber(shift)
                end
                return at[1] and { name = name, at = at, offset = offset }
            end
        end
        zone_wanted = name
        return nil
    end

    -- The last change at or before t; the first of all before it.
    local function holds_at(z, t)
        local low, high = 1, #z.at
        while low < high do
            local middle = low + floor((high - low + 1) / 2)
            if z.at[middle] <= t then
                low = middle
            else
                high = middle - 1
            end
        end
        return low
    end

    local function next_change(z, t)
        return z.at[t < z.at[1] and 1 or holds_at(z, t) + 1] or NEVER
    end

    local function midnight(z, day)
        local shown = day * DAY
        local i = holds_at(z, shown - OFFSET_MAX)
        while true do
            local at = shown - z.offset[i]
            if not z.at[i + 1] or at < z.at[i + 1] then
                return (i > 1 and at < z.at[i]) and z.at[i] or at
            end
            i = i + 1
        end
    end

    local function day_of(z, t)
        local day = floor((t + z.offset[holds_at(z, t)]) / DAY)
        while midnight(z, day + 1) <= t do
            day = day + 1
        end
        return day
    end

    return { named = zone_named, next_change = next_change, midnight = midnight, day_of = day_of }
end
