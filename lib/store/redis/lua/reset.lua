-- reset.lua: takt_ledger_reset of core/ledger.h. Sets the rules to rest and removes the brake of a penalty. The line, a
-- block and its pace stay.
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its holders (with permits), 5 its log
-- ARGV  1 rules, 2 span, 3 revision, 4 lookahead, 5 max_waiting, permits and adapt, 6 zones
-- reply flags, now, limit, remaining, retry_after, reset_after, blocked_until, waiting, workers, rate_percent, reason,
--       rules (standing.lua); with permits: concurrency, held, holders
-- needs: standing

return run(function()
    tidy()
    if brake then
        brake.reset()
    end
    local braked = limit.brake
    if braked then -- slots given under the brake stay given
        brake.take_off()
    end
    limit.rest()
    if braked then
        brake.add(braked)
    end
    tidy_rules()
    local reply = standing(0)
    keep()
    return reply
end)
