-- charge.lua: takt_numbers_charge of core/numbers.c: tokens that were used without having been asked for.
-- needs: keep

local function charge(tokens)
    for _, one in ipairs(limit.rules) do
        local algorithm = one.algorithm
        local from, till = ledger.now, ledger.now + TAKT_LOOKAHEAD_MAX_US
        from = algorithm.owes and from or algorithm.earliest(one, from, 1)
        local n = from <= till and algorithm.room(one, from, algorithm.owes and till or from) or 0
        n = n < tokens and n or tokens
        if n > 0 then
            algorithm.commit(one, from, n)
        end
    end
end
