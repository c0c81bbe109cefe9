-- reset.lua: takt_ledger_reset of core/ledger.h: the rules as from rest, without a brake but that of a block; the line
-- and a block stay.
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its log, 5 its holders (with permits)
-- ARGV  1 rules, 2 span, 3 revision, 4 lookahead, 5 max_waiting, permits and adapt, 6 zones
-- reply flags, now, limit, remaining, retry_after, reset_after, blocked_until, waiting, workers, rate_percent, reason,
--       with permits: concurrency, held, holders
-- needs: standing

return run(function()
    tidy()
    if brake then
        brake.reset()
    end
    local braked = limit.brake
    if braked then -- what was given at its pace stays given
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
