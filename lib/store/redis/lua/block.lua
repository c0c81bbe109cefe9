-- block.lua: takt_ledger_block of core/ledger.h. Gives no slots for a time. A block is only ever extended.
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its holders (with permits), 5 its log
-- ARGV  1 rules, 2 span, 3 revision, 4 lookahead, 5 max_waiting, permits and adapt, 6 zones, 7 duration,
--       8 reason (in the form of the ledger's text; empty: none)
-- reply flags, now, limit, remaining, retry_after, reset_after, blocked_until, waiting, workers, rate_percent, reason,
--       rules (standing.lua); with permits: concurrency, held, holders
-- needs: extend

return run(function()
    local span, reason = tonumber(ARGV[7]), ARGV[8]
    tidy()
    extend_block(span, reason)
    tidy_rules()
    local reply = standing(0)
    keep()
    return reply
end)
