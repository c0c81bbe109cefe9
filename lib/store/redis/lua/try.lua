-- try.lua: takt_ledger_try and takt_ledger_try_permit of core/ledger.h. Takes tokens now, and with permits one permit,
-- if that overtakes no waiter.
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its holders (with permits), 5 its log
-- ARGV  1 rules, 2 span, 3 revision, 4 lookahead, 5 max_waiting, permits and adapt, 6 zones, 7 cost, and
--       after a slash each the amounts of further units,
--       with permits: 8 worker, 9 seq, 10 holding (missing if the caller's older policy has no permits)
-- reply flags (2: stale, 8: taken, 64: watched), now, limit, remaining, retry_after, reset_after, blocked_until,
--       waiting, workers, rate_percent, reason; if it is watched: since, taken; rules (standing.lua); with permits:
--       concurrency, held, holders; for a worker that states its permits: holding, fence, reuses
-- needs: standing

return run(function()
    local worker, seq, stated = ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10])
    local cost, more = read_amounts(ARGV[7])
    local now, from, ahead, before, stale, holding = ledger.now, nil, 0, {}, false, 0
    more = limit.more_of(more)
    tidy(worker)
    from = ledger.blocked > now and ledger.blocked or now
    for priority = 0, line and 9 or -1 do
        ahead = ahead + line.all.wanting[priority]
    end
    for _, unit in ipairs(limit.units or {}) do
        before[unit] = limit.part(unit, 1, more)
        for priority = 0, line and 9 or -1 do
            before[unit] = before[unit] + line.totals(unit)[priority]
        end
    end
    local retry_at = limit.earliest(from, cost, more)
    if ahead > 0 and retry_at ~= NEVER then
        local at = limit.due(from, ahead + cost, before)
        retry_at = at > retry_at and at or retry_at
    end
    if held and worker then
        local place = line and line.record_of(worker)
        stale = held.own and held.own.seq >= seq or place and place.seq >= seq
        if stale then
            retry_at = now
        else
            holding = held.state(seq, stated)
        end
    end
    -- A worker that does not state its permits gets none.
    local permitted = limit.concurrency == 0 or (worker and held.free() > ahead)
    if not permitted and not stale then
        local soonest = now + (limit.lookahead > 1 and limit.lookahead or 1)
        retry_at = retry_at > soonest and retry_at or soonest
    end
    local taken = retry_at <= now and permitted and not stale
    if taken then
        limit.commit(now, cost, 1, more)
        count_taken(cost)
    end
    if taken and held and limit.concurrency > 0 then
        held.give(seq, 1)
    end
    local numbered = held and worker and not stale and { held.number(holding, taken and 1 or 0) }
    tidy_rules()
    local reply = standing((taken and TAKT_FLAG_TAKEN or 0) + (stale and TAKT_FLAG_STALE or 0), retry_at)
    if held and worker then
        held.wake()
        wakes.publish()
        for i = 1, 3 do
            reply[#reply + 1] = numbered and numbered[i] or 0
        end
    end
    keep()
    return reply
end)
