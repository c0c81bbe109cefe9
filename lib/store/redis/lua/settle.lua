-- settle.lua: takt_ledger_settle of core/ledger.h. Corrects the tokens of a slot whose work has cost more or less.
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its holders (with permits), 5 its log
-- ARGV  1 rules, 2 span, 3 revision, 4 lookahead, 5 max_waiting, permits and adapt, 6 zones, 7 slot, 8 number of
--       requests that were not begun, 9 the amounts taken, 10 the amounts used: the cost, and after a slash each those
--       of further units, 11 with a tenant: weight,priority,name
-- reply flags, now, limit, remaining, retry_after, reset_after, blocked_until, waiting, workers, rate_percent, reason,
--       rules (standing.lua); what this adds to the tag of the tenant, if anything; with permits: concurrency, held,
--       holders
-- needs: charge standing

return run(function()
    local slot, requests = tonumber(ARGV[7]), tonumber(ARGV[8])
    local cost, taken = read_amounts(ARGV[9])
    local actual, used = read_amounts(ARGV[10])
    local begun = actual > 0
    for unit = 1, TAKT_MORE_MAX do
        begun = begun or used and used[unit] > 0
    end
    -- What was taken and used of a unit other than tokens.
    local function amounts(unit)
        if unit == 0 then
            return requests, begun and requests or 0
        end
        return taken and taken[unit] or 0, used and used[unit] or 0
    end
    tidy()
    local over = used and {}
    for unit = 1, used and TAKT_MORE_MAX or 0 do
        over[unit] = used[unit] - (taken and taken[unit] or 0)
    end
    charge(actual - cost, over)
    for _, one in ipairs(limit.rules) do
        local known_at = one == limit.brake and slot or ledger.now
        local had, unused = cost, actual
        if one.unit then
            had, unused = amounts(one.unit)
        end
        unused = had - unused
        if unused > 0 then
            one.algorithm.give_back(one, slot, had, unused, ledger.now + limit.lookahead, known_at)
            if one.owed > 0 and not one.algorithm.owes then
                debts.pay_at(one, ledger.now)
            end
        end
    end
    count_taken(actual - cost)
    tidy_rules()
    local change
    if tenants and tenants.list[1] and ARGV[11] then
        local weight, priority, name = ARGV[11]:match('^(%d+),(%d),(.*)$')
        -- as correct_tenant() of store/run.c
        local had, spent = {}, {}
        for unit = 0, TAKT_MORE_MAX do
            had[unit], spent[unit] = amounts(unit)
        end
        if requests == 0 then
            had[0], spent[0] = 1, 1
        end
        local more = tenants.price_of(actual, spent) - tenants.price_of(cost, had)
        change = tenants.correct(tonumber(priority), name, tonumber(weight), more)
    end
    local reply = standing(0, nil, false, change)
    keep()
    return reply
end)
