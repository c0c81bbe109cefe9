-- standing.lua: the state of a ledger; takt_ledger_peek of core/ledger_calls.c.
-- needs: keep

-- Whether the reply must say what each rule has left. A limit of one rule that counts tokens, and of no permits, is
-- that rule; a limit of permits alone has none.
local function must_tell_rules()
    local first, second = limit.rules[1], limit.rules[2]
    if not first or first == limit.brake then
        return limit.concurrency == 0
    end
    return first.unit or limit.concurrency > 0 or second and second ~= limit.brake
end

-- Appends what each of the policy's rules has left, after their number. Returns the index of the last value.
local function tell_rules(told, at, from)
    local now, count = ledger.now, at + 1
    told[1], told[count], at = told[1] + TAKT_FLAG_RULES, 0, count
    for _, one in ipairs(limit.rules) do
        if one ~= limit.brake then
            local reset_at = limit.rest_of(one)
            told[count] = told[count] + 1
            told[at + 1] = one.unit and one.unit + 1 or 0
            told[at + 2] = one.algorithm.capacity(one)
            told[at + 3] = from > now and 0 or debts.room(one, now, now)
            told[at + 4] = reset_at > now and reset_at - now or 0
            at = at + TAKT_RULE_VALUES
        end
    end
    return at
end

-- Appends the tenants that have waiters, each once, after their number: takt_tenants_tell of core/tenants.h.
local function tell_tenants(told, at)
    local found, order = {}, {}
    tenants.count_waiters()
    for _, one in ipairs(tenants.list) do
        local first = found[one.name]
        if one.waiting > 0 and first then
            first.waiting, first.since = first.waiting + one.waiting, math.min(first.since, one.since)
        elseif one.waiting > 0 then
            first = { name = one.name, weight = one.weight, waiting = one.waiting, since = one.since }
            found[one.name], order[#order + 1] = first, first
        end
    end
    if order[1] and not order[2] and order[1].name == '' then
        order = {} -- no waiter names a tenant
    end
    at = at + 1
    told[1], told[at] = told[1] + TAKT_FLAG_TENANTS, #order
    for _, one in ipairs(order) do
        told[at + 1], told[at + 2], told[at + 3], told[at + 4] = one.name, one.weight, one.waiting, one.since
        at = at + TAKT_TENANT_VALUES
    end
    return at
end

-- `flags`: flags beside the flag of a damaged ledger. `retry_at`: when the request would be given; nil: for a cost of
-- 1. `with_tenants`: whether the reply has the tenants. `change`: what was added to a tenant's tag; nil: nothing.
local function standing(flags, retry_at, with_tenants, change)
    local now, blocked, reset_at = ledger.now, ledger.blocked, limit.rest_at()
    local from = blocked > now and blocked or now
    local slot = retry_at or limit.earliest(from, 1)
    local tokens, others = limit.room(now, now)
    local only_requests = others and limit.counts_only_requests()
    reset_at = blocked > reset_at and blocked or reset_at
    local told = {
        flags + (ledger.damaged and TAKT_FLAG_DAMAGED or 0),
        now,
        limit.capacity(only_requests and 0 or nil),
        from > now and 0 or only_requests and others[0] or tokens,
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
    if must_tell_rules() then
        at = tell_rules(told, at, from)
    end
    if with_tenants and tenants and tenants.list[1] then
        at = tell_tenants(told, at)
    end
    if change then
        told[1], told[at + 1], at = told[1] + TAKT_FLAG_TAG, change, at + 1
    end
    if held then
        told[at + 1], told[at + 2], told[at + 3] = limit.concurrency, held.total, held.count
    elseif held_named then -- an inner limit without permits
        told[at + 1], told[at + 2], told[at + 3] = limit.concurrency, 0, 0
    end
    if held and limit.concurrency > 0 then
        told[3] = math.min(told[3], limit.concurrency)
        told[4] = math.min(told[4], held.free())
    end
    return told
end
