-- try.lua: takt_ledger_try and takt_ledger_try_permit of core/try.c. Takes an amount now from all levels, with a permit
-- of each that has any, if that overtakes no waiter of any; or takes nothing.
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its holders (with permits), 5 its log; then those of inner
--       limits (inner.lua)
-- ARGV  1 rules, 2 span, 3 revision, 4 lookahead, 5 max_waiting, permits and adapt, 6 zones, 7 cost, and
--       after a slash each the amounts of further units,
--       with permits: 8 worker, 9 seq, 10 holding (missing if the caller's older policy has no permits)
-- reply flags (2: stale, 8: taken, 64: watched), now, limit, remaining, retry_after, reset_after, blocked_until,
--       waiting, workers, rate_percent, reason; if it is watched: since, taken; rules (standing.lua); with permits:
--       concurrency, held, holders; for a worker that states its permits: holding, fence, reuses; with inner limits
--       also the level that all this is said of: 0 the outermost, from 1 on the inner ones
-- needs: inner standing

local inner = ledger.inner
if inner then
    inner.void = function()
        local worker, reply = inner.outermost.fields[8], standing(0)
        if held_named and worker then
            reply[1], reply[#reply + 1], reply[#reply + 2], reply[#reply + 3] = reply[1] + TAKT_FLAG_STALE, 0, 0, 0
        end
        reply[#reply + 1] = inner.current.number
        return reply
    end
end

return run(function()
    local worker, seq, stated = ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10])
    local cost, all = read_amounts(ARGV[7])
    local now, levels, stale, holding = ledger.now, inner and inner.all, false, 0
    local own, more, retry_at, tight, reply = cost, not inner and limit.more_of(all) or nil, now, nil, nil
    tidy(worker)
    if inner then
        inner.tidy(worker)
    end
    if held and worker then
        local place = line and line.record_of(worker)
        stale = held.own and held.own.seq >= seq or place and place.seq >= seq or inner and inner.is_stale(seq)
        if not stale then
            holding = (inner or held).state(seq, stated)
        end
    end
    for i = 1, stale and 0 or levels and #levels or 1 do
        if levels then
            inner.enter(levels[i])
            own, more = inner.told(cost, all)
        end
        local from, ahead, before = ledger.blocked > now and ledger.blocked or now, 0, {}
        for priority = 0, line and 9 or -1 do
            ahead = ahead + line.all.wanting[priority]
        end
        for _, unit in ipairs(limit.units or {}) do
            before[unit] = limit.part(unit, 1, more)
            for priority = 0, line and 9 or -1 do
                before[unit] = before[unit] + line.totals(unit)[priority]
            end
        end
        local at = limit.earliest(from, own, more)
        if ahead > 0 and at ~= NEVER then
            local due = limit.due(from, ahead + own, before)
            at = due > at and due or at
        end
        -- A worker that does not state its permits gets none.
        if limit.concurrency > 0 and not (worker and held.free() > ahead) then
            local soonest = now + (limit.lookahead > 1 and limit.lookahead or 1)
            at = at > soonest and at or soonest
        end
        if at > retry_at then
            retry_at, tight = at, levels and levels[i]
        end
    end
    local taken = retry_at <= now and not stale
    for i = 1, taken and (levels and #levels or 1) or 0 do
        if levels then
            inner.enter(levels[i])
            own, more = inner.told(cost, all)
        end
        limit.commit(now, own, 1, more)
        count_taken(own)
        if held and limit.concurrency > 0 then
            held.give(seq, 1)
        end
    end
    local numbered = held and worker and not stale and { held.number(holding, taken and 1 or 0) }
    if numbered and inner and numbered[1] > 0 then
        numbered[2] = inner.number(taken and 1 or 0) or numbered[2]
    end
    for i = 1, taken and levels and #levels or 1 do
        if levels then
            inner.enter(taken and levels[i] or tight or inner.outermost)
        end
        tidy_rules()
        local told = standing((taken and TAKT_FLAG_TAKEN or 0) + (stale and TAKT_FLAG_STALE or 0), retry_at)
        if not reply or told[4] < reply[4] then
            reply, tight = told, levels and inner.current
        end
    end
    if levels then
        inner.enter(inner.outermost)
        if inner.is_damaged() and not tight.ledger.damaged then
            reply[1] = reply[1] + TAKT_FLAG_DAMAGED
        end
    end
    if held and worker then
        held.wake()
        wakes.publish()
        for i = 1, 3 do
            reply[#reply + 1] = numbered and numbered[i] or 0
        end
    end
    if held and worker and inner then
        inner.wake()
    end
    if inner then
        reply[#reply + 1] = tight.number
    end
    keep()
    return reply
end)
