-- charge.lua: takt_numbers_charge of core/numbers.c. Charges tokens that were used without a slot.
-- needs: keep

local function charge_rule(one, n)
    local algorithm, till, is_brake = one.algorithm, ledger.now, one == limit.brake
    if algorithm.owes then
        till = ledger.now + (is_brake and TAKT_LOOKAHEAD_MAX_US or TAKT_SPAN_MAX_US - one.tolerance_us)
    end
    local ready = math.min(algorithm.room(one, ledger.now, till), n)
    debts.charge_at(one, ledger.now, ready)
    if not algorithm.owes then
        one.owed = math.min(one.owed + n - ready, TAKT_ROOM_MAX)
    elseif not is_brake then
        one.owed = math.min(one.owed + n, TAKT_ROOM_MAX) -- pull_back keeps the part that exceeds the reach of slots
    end
end

-- `others`: what was used of the other units; nil: none.
local function charge(tokens, others)
    for _, one in ipairs(limit.rules) do
        local n = one.unit and (others and others[one.unit] or 0) or not one.unit and tokens
        if n > 0 then
            charge_rule(one, n)
        end
    end
end
