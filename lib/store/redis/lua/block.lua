-- block.lua: takt_ledger_block of core/ledger.h: no slot for a while; only extends a block.
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its log, 5 its holders (with permits)
-- ARGV  1 rules, 2 span, 3 revision, 4 lookahead, 5 max_waiting, permits and adapt, 6 zones, 7 for how long,
--       8 why (as the text has it; empty: nobody says)
-- reply flags, now, limit, remaining, retry_after, reset_after, blocked_until, waiting, workers, rate_percent, reason,
--       with permits: concurrency, held, holders
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
