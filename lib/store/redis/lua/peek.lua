-- peek.lua: takt_ledger_peek and takt_ledger_watch of core/ledger.h. Returns the state of the ledger. Changes nothing,
-- unless the ledger was damaged or the caller wants tokens counted.
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its holders (with permits), 5 its log
-- ARGV  1 rules, 2 span, 3 revision, 4 lookahead, 5 max_waiting, permits and adapt, 6 zones, 7 how long to count
--       (0: not)
-- reply flags (64: watched), now, limit, remaining, retry_after, reset_after, blocked_until, waiting, workers,
--       rate_percent, reason; if it is watched: since, taken; rules and tenants (standing.lua); with permits:
--       concurrency, held, holders
-- needs: standing

return run(function()
    local span = tonumber(ARGV[7])
    if not ledger.stored and limit.revision < 0 then
        span = 0 -- a caller that only looks has no rules
    end
    tidy()
    if span > 0 then
        local meter, ends = ledger.meter or { ends = 0, since = ledger.now, taken = 0 }, ledger.now + span
        meter.ends = ends > meter.ends and ends or meter.ends
        ledger.meter = meter
    end
    local reply = standing(0, nil, true)
    if span > 0 or ledger.damaged then
        keep()
    end
    return reply
end)
