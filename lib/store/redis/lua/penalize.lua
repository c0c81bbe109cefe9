-- penalize.lua: takt_ledger_penalize of core/ledger.h. Blocks the ledger, and lowers the rate if the limit has `adapt`.
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its holders (with permits), 5 its log
-- ARGV  1 rules, 2 span, 3 revision, 4 lookahead, 5 max_waiting, permits and adapt, 6 zones, 7 duration,
--       8 reason (in the form of the ledger's text; empty: none)
-- reply flags, now, limit, remaining, retry_after, reset_after, blocked_until, waiting, workers, rate_percent, reason,
--       rules (standing.lua); with permits: concurrency, held, holders
-- needs: extend

-- takt_brake_penalize of core/brake.h.
local function penalize()
    local now, adapt = ledger.now, limit.adapt
    if not adapt or not limit.rules[1] then
        return
    end
    make_brake()
    local since = now - brake.counted
    if brake.percent > 0 and (ledger.blocked > now or (since >= 0 and since < TAKT_SAME_PENALTY_US)) then
        return
    end
    local percent = brake.percent > 0 and brake.percent or TAKT_WHOLE_PERCENT
    percent = math.floor(percent * adapt.backoff / TAKT_WHOLE_PERCENT)
    percent = percent > adapt.floor and percent or adapt.floor
    brake.change(limit.brake, percent)
    if brake.percent > 0 then
        brake.since, brake.counted = now, now
        local first, till = limit.earliest(now, 1), now + limit.lookahead
        limit.brake.algorithm.exhaust(limit.brake, first < till and first or till)
    end
end

return run(function()
    local span, reason = tonumber(ARGV[7]), ARGV[8]
    tidy()
    penalize()
    if span > 0 then
        extend_block(span, reason)
    end
    tidy_rules()
    local reply = standing(0)
    keep()
    return reply
end)
