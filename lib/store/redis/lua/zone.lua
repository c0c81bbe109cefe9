-- zone.lua: local time in a timezone (zone/zone.c). The caller sends the changes of the offset.
-- needs: call numbers

local zones
local function make_zones()
    zones = zones or {
        -- The zone of a name in ARGV[6] ("NAME,AT,OFFSET,AT,OFFSET;NAME..."). Nil: ARGV[6] does not have it.
        named = function(name)
            for told, changes in ARGV[6]:gmatch('([^,;]+)([^;]*)') do
                if told == name then
                    local at, offset = {}, {}
                    for instant, shift in changes:gmatch(',(%-?%d+),(%-?%d+)') do
                        at[#at + 1], offset[#offset + 1] = tonumber(instant), tonumber(shift)
                    end
                    return at[1] and { name = name, at = at, offset = offset }
                end
            end
            ledger.zone_wanted = name
            return nil
        end,

        -- The last change at or before t; before the first change, the first.
        holds_at = function(zone, t)
            local low, high = 1, #zone.at
            while low < high do
                local middle = low + math.floor((high - low + 1) / 2)
                if zone.at[middle] <= t then
                    low = middle
                else
                    high = middle - 1
                end
            end
            return low
        end,

        next_change = function(zone, t)
            return zone.at[t < zone.at[1] and 1 or zones.holds_at(zone, t) + 1] or NEVER
        end,

        midnight = function(zone, day)
            local shown = day * TAKT_DAY_US
            local i = zones.holds_at(zone, shown - TAKT_ZONE_OFFSET_MAX)
            while true do
                local at = shown - zone.offset[i]
                if not zone.at[i + 1] or at < zone.at[i + 1] then
                    return (i > 1 and at < zone.at[i]) and zone.at[i] or at
                end
                i = i + 1
            end
        end,

        day_of = function(zone, t)
            local day = math.floor((t + zone.offset[zones.holds_at(zone, t)]) / TAKT_DAY_US)
            while zones.midnight(zone, day + 1) <= t do
                day = day + 1
            end
            return day
        end,
    }
    return zones
end
