-- try.lua: takt_ledger_try of core/ledger.c: takes tokens now if nobody who waits is overtaken by it.
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its log
-- ARGV  1 rules, 2 longest period, 3 revision, 4 lookahead, 5 max_waiting, 6 zones, 7 cost
-- reply flags (8: taken), now, limit, remaining, retry_after, reset_after, blocked_until, waiting, workers
-- needs: standing

return run(function()
    local cost = tonumber(ARGV[7])
    local now, from, ahead = ledger.now, nil, 0
    tidy()
    from = ledger.blocked > now and ledger.blocked or now
    for priority = 0, line and 9 or -1 do
        ahead = ahead + line.all.wanting[priority]
    end
    local retry_at = limit.earliest(from, cost)
    if ahead > 0 and retry_at ~= NEVER then
        local at = limit.due(from, ahead + cost)
        retry_at = at > retry_at and at or retry_at
    end
    if retry_at <= now then
        limit.commit(now, cost)
    end
    tidy_rules()
    local reply = standing(retry_at <= now and 8 or 0, retry_at)
    keep()
    return reply
end)
