-- unblock.lua: takt_ledger_unblock of core/ledger.h. Ends a block; its pace begins.
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its holders (with permits), 5 its log
-- ARGV  1 rules, 2 span, 3 revision, 4 lookahead, 5 max_waiting, permits and adapt, 6 zones
-- reply flags, now, limit, remaining, retry_after, reset_after, blocked_until, waiting, workers, rate_percent, reason,
--       rules (standing.lua); with permits: concurrency, held, holders
-- needs: standing

return run(function()
    tidy()
    if ledger.blocked > 0 then
        unblock()
        make_brake()
        brake.pace()
        brake.exhaust(ledger.now)
    end
    tidy_rules()
    local reply = standing(0)
    keep()
    return reply
end)
