-- claim_plan.lua: when the worker claims again (core/claim_plan.c).
-- needs: claim_view claim_turn

-- The time of its next claim: not at once.
function claim.when(place, seen, weighed, plan)
    local at, lookahead = claim.turn_from(place, seen, weighed, plan), limit.lookahead
    local fraction = seen.ahead > 0 and TAKT_LOOKAHEAD_FRACTION or TAKT_LOOKAHEAD_FRACTION_FIRST
    local soonest = ledger.now + math.floor(lookahead / fraction)
    return at > soonest and at or soonest
end

local function plan(priority)
    local seen = claim.look(priority, nil, true)
    local place, others, over_at = claim.own[priority], seen.others, 0
    place.lacking = seen.permits <= 0
    if claim.in_line == 0 and seen.first > 0 and not place.lacking then
        local before = others and {}
        for _, unit in ipairs(limit.units or {}) do
            before[unit] = (others[unit] and others[unit].first or 0) + limit.part(unit, 1, claim.least_more)
        end
        claim.turn_at = claim.due(claim.from, seen.first + claim.least_cost, before)
    end
    if place.lacking then -- a lease that ends wakes nobody, so the head claims when one ends
        over_at = seen.ahead == 0 and held.over_at(ledger.now + TAKT_KEEPALIVE_US) or NEVER
    end
    if over_at == NEVER then
        return NEVER
    end
    local weighed, active = claim.is_weighed(priority), line and line.all.active[priority] or 0
    local whole = not weighed and claim.is_shared(active)
    local at = math.max(over_at, claim.when(place, seen, weighed, whole))
    if claim.inner and not place.lacking then
        local due = claim.levels.put_off_until(place)
        claim.prompt = claim.prompt or due > at
        at = math.max(at, due, claim.inner.turn_from(claim, priority, true))
    end
    return at
end

-- The time when the second in line claims because the head is late. NEVER: its keepalive is earlier, or it is not
-- the second.
function claim.head_late_at(priority)
    local before, first, lookahead = 0, nil, limit.lookahead
    for higher = 0, line and priority or -1 do
        local others = line.all.active[higher]
        if higher == priority and others > 0 then
            others = claim.own[priority].before
        end
        first = first or others > 0 and higher or nil
        before = before + others
    end
    if before ~= 1 then
        return NEVER
    end
    local head = line.first_other(first)
    local soonest = ledger.now + math.floor(lookahead / TAKT_LOOKAHEAD_FRACTION)
    local late_at = math.max(head.again + lookahead + 1, soonest)
    return late_at < ledger.now + TAKT_KEEPALIVE_US and late_at or NEVER
end

function claim.plan_all()
    local foremost, keepalive_at = true, ledger.now + TAKT_KEEPALIVE_US
    for priority = 0, 9 do
        local place = claim.own[priority]
        if line and line.all.places[priority] > 0 then
            claim.least_urgent = priority
        end
        if place then
            local at = plan(priority)
            place.foremost, foremost = foremost, false
            place.again = at < keepalive_at and at or keepalive_at
            if claim.inner then
                claim.inner.plan(priority, place.again)
            end
            if place.lacking then
                place.leased = at < keepalive_at
                at = math.min(at, claim.head_late_at(priority))
            end
            if offers.awaited(priority) then
                at = math.min(at, ledger.now + math.floor(limit.lookahead / TAKT_LOOKAHEAD_FRACTION_FIRST))
            end
            claim.in_line = claim.in_line + 2 ^ priority
            if at ~= NEVER and (claim.again_at < 0 or at < claim.again_at) then
                claim.again_at = at
            end
        end
    end
    claim.own.seq = not foremost and claim.seq or nil
end

-- After the oldest waiters are dropped, the head of another worker may have its turn earlier than the ledger
-- announced.
function claim.hurry_first()
    for priority = 0, 9 do
        local own = claim.own[priority]
        if line and line.all.active[priority] > 0 then
            local place, name = line.first_other(priority)
            if not place or own and own.turn < place.turn then
                return
            end
            local seen = claim.look(priority, place, true)
            local whole = claim.is_shared(line.all.active[priority] - (own and 0 or 1))
            if seen.permits > 0 and place.again > claim.when(place, seen, false, whole)
                + math.floor(limit.lookahead / TAKT_LOOKAHEAD_FRACTION) then
                wakes.add(name)
            end
            return
        elseif own then
            return
        end
    end
end

-- takt_claim_is_full of core/claim_plan.h.
local function is_full()
    local through, throughs = limit.throughput(2 * limit.lookahead)
    local function exceed(wanting, most)
        local sum = 0
        for priority = 0, 9 do
            sum = sum + wanting[priority]
        end
        return sum > most and most >= TAKT_FULL_MIN
    end
    local full = line and exceed(line.all.wanting, through)
    for _, unit in ipairs(line and limit.units or {}) do
        full = full or exceed(line.totals(unit), throughs[unit])
    end
    return full
end

-- If the inner rules give nothing soon, and the worker has no other place, it does not stand in line.
function claim.park()
    local at = claim.refused + claim.slots < claim.waiting and claim.inner.parked_at or NEVER
    claim.parked = at ~= NEVER and claim.in_line == 0
    if at ~= NEVER and (claim.again_at < 0 or at < claim.again_at) then
        claim.again_at = at
    end
    claim.prompt = (claim.prompt or claim.parked) and is_full()
end

-- A place before the worker was set aside. A permit that was left to it may now go to the worker.
function claim.come_soon()
    local soonest = ledger.now + math.floor(limit.lookahead / TAKT_LOOKAHEAD_FRACTION_FIRST)
    for priority = 0, 9 do
        local place = claim.own[priority]
        if place and place.lacking and (claim.again_at < 0 or soonest < claim.again_at) then
            claim.again_at = soonest
        end
    end
end
