-- standing.lua: the state of a ledger; takt_ledger_peek of core/ledger_calls.c.
-- needs: keep

-- `flags`: flags beside the flag of a damaged ledger. `retry_at`: when the request would be given; nil: for a cost of
-- 1.
local function standing(flags, retry_at)
    local now, blocked, reset_at = ledger.now, ledger.blocked, limit.rest_at()
    local from = blocked > now and blocked or now
    local slot = retry_at or limit.earliest(from, 1)
    local tokens, requests = limit.room(now, now)
    local _, only_requests = limit.counts_requests()
    reset_at = blocked > reset_at and blocked or reset_at
    local told = {
        flags + (ledger.damaged and TAKT_FLAG_DAMAGED or 0),
        now,
        limit.capacity(only_requests),
        from > now and 0 or only_requests and requests or tokens,
        slot == NEVER and -1 or slot - now,
        reset_at > now and reset_at - now or 0,
        blocked,
        line and line.all.waiting or 0,
        line and line.all.workers or 0,
        brake and brake.percent > 0 and brake.percent or 100,
        ledger.reason,
    }
    local meter, at = ledger.meter, 11
    if meter then
        told[1], told[12], told[13], at = told[1] + TAKT_FLAG_WATCHED, meter.since, meter.taken, 13
    end
    if held then
        told[at + 1], told[at + 2], told[at + 3] = limit.concurrency, held.total, held.count
    end
    if held and limit.concurrency > 0 then
        told[3] = math.min(told[3], limit.concurrency)
        told[4] = math.min(told[4], held.free())
    end
    return told
end
