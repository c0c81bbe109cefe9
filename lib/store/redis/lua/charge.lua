-- charge.lua: takt_numbers_charge of core/numbers.c: tokens that were used without having been asked for.
-- needs: keep

local function charge(tokens)
    for _, one in ipairs(limit.rules) do
        local algorithm, till, is_brake = one.algorithm, ledger.now, one == limit.brake
        if algorithm.owes then
            till = ledger.now + (is_brake and TAKT_LOOKAHEAD_MAX_US or TAKT_SPAN_MAX_US - one.tolerance_us)
        end
        local n = math.min(algorithm.room(one, ledger.now, till), tokens)
        debts.charge_at(one, ledger.now, n)
        if not algorithm.owes then
            one.owed = math.min(one.owed + tokens - n, TAKT_ROOM_MAX)
        elseif not is_brake then
            one.owed = math.min(one.owed + tokens, TAKT_ROOM_MAX) -- pull_back keeps what is out of the reach of slots
        end
    end
end
