-- block.lua: takt_ledger_block of core/ledger.c: no slot for a while from now on; only ever extends.
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its log, 5 its holders (with permits)
-- ARGV  1 rules, 2 span, 3 revision, 4 lookahead, 5 max_waiting and permits, 6 zones, 7 for how long
-- reply flags, now, limit, remaining, retry_after, reset_after, blocked_until, waiting, workers,
--       with permits: concurrency, held, holders
-- needs: standing

return run(function()
    local ends = ledger.now + ARGV[7]
    tidy()
    ledger.blocked = ledger.blocked > ends and ledger.blocked or ends
    tidy_rules()
    local reply = standing(0)
    keep()
    return reply
end)
