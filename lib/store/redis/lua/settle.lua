-- settle.lua: takt_ledger_settle of core/ledger.c. Corrects the tokens of a slot whose work has cost more or less.
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its log, 5 its holders (with permits)
-- ARGV  1 rules, 2 span, 3 revision, 4 lookahead, 5 max_waiting, permits and adapt, 6 zones, 7 slot, 8 number of
--       requests, 9 their cost, 10 their actual cost
-- reply flags, now, limit, remaining, retry_after, reset_after, blocked_until, waiting, workers, rate_percent, reason,
--       rules (standing.lua); with permits: concurrency, held, holders
-- needs: charge standing

return run(function()
    local slot, requests, cost, actual = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
    tidy()
    charge(actual - cost, 0)
    for _, one in ipairs(limit.rules) do
        local known_at = one == limit.brake and slot or ledger.now
        local unused = cost - actual
        if one.requests then
            unused = actual == 0 and requests or 0
        end
        if unused > 0 then
            one.algorithm.give_back(one, slot, one.requests and requests or cost, unused,
                ledger.now + limit.lookahead, known_at)
            if one.owed > 0 and not one.algorithm.owes then
                debts.pay_at(one, ledger.now)
            end
        end
    end
    count_taken(actual - cost)
    tidy_rules()
    local reply = standing(0)
    keep()
    return reply
end)
