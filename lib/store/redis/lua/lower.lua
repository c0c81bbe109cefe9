-- lower.lua: takt_ledger_lower of core/ledger.h. Leaves at most a number of tokens (requests, if no rule counts
-- tokens).
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its log, 5 its holders (with permits)
-- ARGV  1 rules, 2 span, 3 revision, 4 lookahead, 5 max_waiting, permits and adapt, 6 zones, 7 the number
-- reply flags, now, limit, remaining, retry_after, reset_after, blocked_until, waiting, workers, rate_percent, reason,
--       with permits: concurrency, held, holders
-- needs: charge standing

return run(function()
    local most = tonumber(ARGV[7])
    tidy()
    local braked = limit.brake
    if braked then -- the brake bounds the starts, not what the quota has left
        brake.take_off()
    end
    local tokens, requests = limit.room(ledger.now, ledger.now)
    local _, only_requests = limit.counts_requests()
    charge(only_requests and 0 or tokens - most, only_requests and requests - most or 0)
    if braked then
        brake.add(braked)
    end
    tidy_rules()
    local reply = standing(0)
    keep()
    return reply
end)
