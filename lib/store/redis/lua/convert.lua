-- convert.lua: takt_numbers_convert of core/convert.c. Converts the states of old rules to new rules.
-- needs: limit

-- The first old rule with the same numbers. Without `same`, the first old rule with the same algorithm and unit.
local function predecessor(old, new, same, taken)
    for i = 1, #old do
        if not taken[i] and old[i].algorithm == new.algorithm and old[i].unit == new.unit
            and (not same or old[i].text == new.text) then
            return i
        end
    end
    return nil
end

local function convert(old, new)
    local before, taken = {}, {}
    for pass = 1, 2 do
        for i = 1, #new do
            if not before[i] then
                before[i] = predecessor(old, new[i], pass == 1, taken)
                if before[i] then
                    taken[before[i]] = true
                end
            end
        end
    end
    local begins = ledger.now
    for i = 1, #old do
        if not taken[i] then
            begins = math.max(begins, old[i].algorithm.rest_at(old[i]))
        end
    end
    begins = math.min(begins, ledger.now + TAKT_PAUSE_MAX_US)
    for i = 1, #new do
        local algorithm = new[i].algorithm
        if before[i] then
            new[i].owed = old[before[i]].owed
            algorithm.convert(old[before[i]], new[i], ledger.now)
        else
            algorithm.rest(new[i], ledger.now)
            algorithm.exhaust(new[i], begins)
        end
    end
    for i = 1, #old do
        if not taken[i] then -- no new rule takes over its pages
            old[i].algorithm.rest(old[i], ledger.now)
        end
    end
end
