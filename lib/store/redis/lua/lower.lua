-- lower.lua: takt_ledger_lower of core/ledger.h: leaves at most so much of each unit.
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its holders (with permits), 5 its log
-- ARGV  1 rules, 2 span, 3 revision, 4 lookahead, 5 max_waiting, permits and adapt, 6 zones,
--       7 tokens, and after a slash each what is left of further units, 8 requests; below 0: as many as now
-- reply flags, now, limit, remaining, retry_after, reset_after, blocked_until, waiting, workers, rate_percent, reason,
--       rules (standing.lua); with permits: concurrency, held, holders
-- needs: charge standing

return run(function()
    local most, left = read_amounts(ARGV[7])
    left = left or {}
    left[0] = tonumber(ARGV[8])
    tidy()
    local braked = limit.brake
    if braked then -- the brake bounds the starts, not what the quota has left
        brake.take_off()
    end
    local tokens, others = limit.room(ledger.now, ledger.now)
    local used = most < 0 and 0 or math.max(0, tokens - most)
    for unit, room in pairs(others or {}) do
        local kept = left[unit] or 0
        others[unit] = kept < 0 and 0 or math.max(0, room - kept)
    end
    charge(used, others)
    if braked then
        brake.add(braked)
    end
    tidy_rules()
    local reply = standing(0)
    keep()
    return reply
end)
