-- claim_view.lua: what is left to a place beside the others in line (core/view.c).
-- needs: claim_state

-- The shares of the head that take the need of its first waiter: to `plan` only if all its waiters need the same.
local function full_shares(head, wanting, need, plan)
    return (plan and wanting / math.max(head.waiting, 1) ~= need) and 1 or shares_of(head)
end

-- Of a unit other than tokens: what the other workers of the priority want, what is wanted more urgently, and what
-- the head needs.
local function look_at(unit, priority, first, head)
    local urgent, wanted = 0, 0
    for higher = 0, first and -1 or priority - 1 do
        local own = claim.own[higher]
        urgent = urgent + (own and wanted_by(own, unit) or 0) + (line and line.totals(unit)[higher] or 0)
    end
    if line and not first then
        wanted = line.totals(unit)[priority]
    end
    return { urgent = urgent, wanted = wanted, need = head and needed_by(head, unit) or 0 }
end

-- The situation of a place in tokens. The place is the worker's place of a priority, or the head of the line if
-- that is another worker's (`first`). Fills and returns `seen`, or claim.seen until the next look: its `share`, the
-- tokens left to the places before it (`ahead`; to `plan` the next claim, the least that these take), the `permits`
-- that it may take, the `room`, the least that the places before it want (`first`), the tokens wanted more urgently
-- (`urgent`), the number of its `shares`, the permits of a share (`permits_of`), and, if rules count other units, a
-- table with the same values by unit (`others`).
function claim.look(priority, first, plan, seen)
    local place, own = claim.own[priority], claim.own
    local urgent, before, weight, wanted, head = 0, 0, 0, 0, nil
    local shares, shares_before = 1, 0
    if first then
        if line.all.active[priority] + (place and 1 or 0) > 1 then
            weight, shares = line.all.weight[priority] + (place and place.weight or 0), shares_of(first)
        end
    else
        for higher = 0, priority - 1 do
            urgent = urgent + (own[higher] and own[higher].wanting or 0)
        end
    end
    if line and not first then
        local all = line.all
        for higher = 0, priority - 1 do
            urgent = urgent + all.wanting[higher]
        end
        local others, before_end = all.active[priority], nil
        wanted = all.wanting[priority]
        if others > 0 then
            if place.between then
                place.before, before_end = line.before_end(priority, place.turn)
            else
                place.before = place.last and others or place.before or line.before(priority, place.turn)
            end
            before = place.before
            head = before > 0 and line.first_other(priority)
            weight, shares = place.weight + all.weight[priority], shares_of(place)
            shares_before = before_end or before
        end
    end
    local is_weighed = weight > 0 and weight > line.all.active[priority] + (place and 1 or 0)
    weight = weight > 0 and weight or 1
    local room, rooms = claim.room(claim.from, ledger.now + limit.lookahead)
    local through, throughs = limit.throughput(limit.lookahead)
    local share = share_of(room, through, weight)
    local first_need, permits, permits_of, others = head and head.need or 0, NEVER, 1, nil
    local first_shares = head and full_shares(head, head.wanting, head.need, plan) or 0
    if limit.units then
        others = {}
        for _, unit in ipairs(limit.units) do
            others[unit] = look_at(unit, priority, first, head)
            others[unit].share = share_of(rooms[unit], throughs[unit], weight)
            others[unit].room = rooms[unit]
        end
    end
    if limit.concurrency > 0 then
        permits_of = permit_share(limit.concurrency, weight)
    end
    if is_weighed and not first then -- shares_in_reach() of core/view.c
        local soon, soons = limit.throughput(TAKT_KEEPALIVE_US + limit.lookahead)
        local most = math.max(math.ceil(math.max(room, soon) / share), 1)
        for unit, view in pairs(others or {}) do
            most = math.max(most, math.ceil(math.max(view.room, soons[unit]) / view.share))
        end
        if limit.concurrency > 0 then
            most = math.max(most, math.ceil(held.free() / permits_of))
        end
        if not place.between then
            shares_before = place.last and line.all.shares[priority]
                or before > 0 and line.shares_before(priority, place.turn, most) or 0
        end
        shares_before = math.min(shares_before, most)
    end
    local owed, owed_of = 0, {}
    if plan and head and place.turn > ledger.turn then
        owed, owed_of = worth.before(place.turn - head.turn, line.all.active[priority])
    end
    if limit.concurrency > 0 then
        permits = permits_beside(held.free() - urgent, shares_before, permits_of, wanted)
        permits = math.min(permits, shares * permits_of)
    end
    for unit, view in pairs(others or {}) do
        local full = head and full_shares(head, wanted_by(head, unit), view.need, plan) or 0
        local least = owed_of[unit] or 0
        view.ahead = ahead_of(shares_before, view.share, view.need, full, view.wanted, view.urgent, least)
        view.first = first_of(before, view.need, view.urgent)
    end
    seen = seen or claim.seen
    seen.share, seen.permits, seen.room, seen.urgent = share, permits, room, urgent
    seen.ahead = ahead_of(shares_before, share, first_need, first_shares, wanted, urgent, owed)
    seen.first = first_of(before, first_need, urgent)
    seen.shares, seen.permits_of, seen.others = shares, permits_of, others
    return seen
end

-- What waiters that need so much can use of a share.
function claim.usable(share, need)
    return math.max(share - share % need, need)
end

-- What a turn of that many shares may take.
function claim.turn_of(share, need, shares)
    return (shares - 1) * claim.usable(share, need) + math.max(share, need)
end

-- A turn ends with the unit that is used up first. The others need only as much as requests of the place's average
-- amounts take. Returns the tokens, and changes the amounts of the other units.
local function match(place, tokens, turns)
    local waiting, each = math.max(place.waiting, 1), {}
    local cost = math.max(numbers.divide_up(place.wanting, 1, waiting), 1)
    local requests = math.floor(tokens / cost)
    for unit, turn in pairs(turns) do
        each[unit] = math.max(numbers.divide_up(wanted_by(place, unit), 1, waiting), 1)
        requests = math.min(requests, math.floor(turn / each[unit]))
    end
    requests = math.max(requests, 1)
    for unit, turn in pairs(turns) do
        turns[unit] = math.max(math.min(turn, requests * each[unit]), needed_by(place, unit))
    end
    return math.max(math.min(tokens, requests * cost), place.need, 1)
end

-- In a line with weights a place waits for room for a share, or for what it will plan for.
function claim.is_too_little(place, left, use, lefts, others)
    local half, halves = limit.throughput(math.floor(limit.lookahead / 2))
    local enough, parts = math.min(use, place.wanting, half), {}
    for unit, view in pairs(others or {}) do
        parts[unit] = math.min(view.use, wanted_by(place, unit), halves[unit])
    end
    enough = others and match(place, enough, parts) or enough
    local less = left < enough
    for unit, part in pairs(parts) do
        less = less or lefts[unit] < part
    end
    return less
end

-- Whether a place is in turn with so many others, and there are neither tenants nor permits.
function claim.is_shared(others)
    return others > 0 and not line.charge and limit.concurrency == 0
end

-- takt_view_turn_from of core/view.h: the time when there is room for the next turn of a place that look() has
-- `seen`. A `weighed` place takes nothing before there is room for a share. To `plan` the next claim of a shared
-- place its turn is a share.
function claim.turn_from(place, seen, weighed, plan)
    local share, ahead, shares, others = seen.share, seen.ahead, seen.shares, seen.others
    local lookahead = limit.lookahead
    local half, halves = limit.throughput(math.floor(lookahead / 2))
    local need = place.need > 1 and place.need or 1
    local whole = math.min(shares, math.floor(half / claim.usable(share, need)))
    for unit, view in pairs(others or {}) do
        whole = math.min(whole, math.floor(halves[unit] / claim.usable(view.share, needed_by(place, unit))))
    end
    whole = math.max(whole, 1)
    local most, needs, turns = claim.turn_of(share, need, whole), nil, nil
    local wanted = math.max(math.min(plan and most or math.min(most, place.wanting), half), need)
    if others then
        needs, turns = {}, {}
        for unit, view in pairs(others) do
            local own = needed_by(place, unit)
            most = claim.turn_of(view.share, own, whole)
            most = plan and most or math.min(most, wanted_by(place, unit))
            needs[unit], turns[unit] = own, math.max(math.min(most, halves[unit]), own)
        end
        wanted = match(place, wanted, turns)
        for unit, view in pairs(others) do
            needs[unit], turns[unit] = view.ahead + needs[unit], view.ahead + turns[unit]
        end
    end
    local at = claim.due(claim.from, ahead + wanted, turns)
    if not weighed and (wanted > need or others) then
        local first = claim.due(claim.from, ahead + need, needs) + math.floor(lookahead / 2)
        at = first < at and first or at
    end
    return at - lookahead
end
