-- claim_serve.lua: which slots the worker's places get (core/claim_serve.c).
-- needs: claim_view claim_turn

-- How many waiters of a want, at most `count`, there is so much left for of the units other than tokens.
local function count_within(lefts, want, count)
    for unit, left in pairs(lefts) do
        local n = left > 0 and math.floor(left / limit.part(unit, 1, want.more)) or 0
        count = n < count and n or count
    end
    return count
end

-- What was given of units other than tokens: of requests in any case.
local function parts_of(others, slots)
    local parts = { [0] = slots }
    for unit, view in pairs(others or {}) do
        parts[unit] = view.given
    end
    return parts
end

-- Gives a place slots for the worker's wants, as far as its turn allows. Returns the tokens given.
local function serve(priority)
    local place, given, till = claim.own[priority], 0, ledger.now + limit.lookahead
    local seen = claim.look(priority)
    local share, permits, shares, others = seen.share, seen.permits, seen.shares, seen.others
    local urgent, permits_of = seen.urgent, seen.permits_of
    local near = offers.awaited(priority) and ledger.now + math.floor(limit.lookahead / TAKT_OFFERS_NEAR) or till
    local slots, use = 0, claim.usable(share, place.need)
    local large = place.need > share -- the first waiter needs more than a share
    local left = math.min(claim.turn_of(share, place.need, shares), seen.room - seen.ahead)
    local whole, lefts = math.min(shares, math.floor(left / use)), others and {}
    for unit, view in pairs(others or {}) do
        view.own, view.given = needed_by(place, unit), 0
        view.use = claim.usable(view.share, view.own)
        large = large or view.own > view.share
        lefts[unit] = math.min(claim.turn_of(view.share, view.own, shares), view.room - view.ahead)
        whole = math.min(whole, math.floor(lefts[unit] / view.use))
    end
    if whole > 0 then -- a part of a share counts as one
        left = math.min(left, claim.turn_of(share, place.need, whole))
        for unit, view in pairs(others or {}) do
            lefts[unit] = math.min(lefts[unit], claim.turn_of(view.share, view.own, whole))
        end
    end
    if claim.is_weighed(priority) then
        left = claim.is_too_little(place, left, use, lefts, others) and 0 or left
    elseif left > 0 and claim.is_shared(line and line.all.active[priority] or 0)
        and claim.turn_from(place, seen) > ledger.now then
        left = 0
    end
    local count_in_turn, take_in_turn, inner_permits
    if claim.inner then
        count_in_turn, take_in_turn, inner_permits = claim.inner.turn_of(claim, priority, till)
        permits = math.min(permits, inner_permits)
    end
    for _, want in ipairs(claim.wants) do
        if want.priority == priority and want.possible then
            local by = want.latest < till and want.latest or near
            local handed = urgent == 0 and ledger.offers[1] and not claim.inner
                and offers.take(claim.from, want, claim.reply) or 0
            place.wanting, claim.slots = place.wanting - handed * want.cost, claim.slots + handed
            local count = left > 0 and math.floor(left / want.cost) or 0
            count = count < want.count - handed and count or want.count - handed
            count = count < permits - slots and count or permits - slots
            if lefts then
                count = count_within(lefts, want, count)
            end
            if count_in_turn then
                count = math.min(count, count_in_turn(want))
            end
            local n = count > 0 and claim.take(claim.from, want, count, by, claim.reply) or 0
            if take_in_turn then
                take_in_turn(want, n)
            end
            given = given + n * want.cost
            left, slots = left - n * want.cost, slots + n
            for unit, view in pairs(others or {}) do
                local part = limit.part(unit, n, want.more)
                lefts[unit], view.given = lefts[unit] - part, view.given + part
            end
            for unit, amount in ipairs(want.needs or {}) do
                place.more[unit] = place.more[unit] - n * amount
                claim.given_of[unit] = (claim.given_of[unit] or 0) + n * amount
            end
            place.waiting = place.waiting - n - handed
            place.accepted = math.max(place.accepted - n - handed, 0)
            if n + handed < want.count and want.latest > by then
                place.need, place.needs, place.first = want.cost, want.needs, want.all
                break
            end
        end
    end
    place.wanting = place.wanting - given
    local used = math.ceil(given / use)
    for unit, view in pairs(others or {}) do
        used = math.max(used, math.ceil(view.given / view.use))
    end
    if limit.concurrency > 0 then
        used = math.max(used, math.ceil(slots / permits_of))
        held.give(claim.seq, slots)
    end
    if claim.inner and held then
        claim.inner.give(claim.seq, slots)
    end
    if given > 0 then
        place.left = math.max(shares - used, 0)
        place.moves, place.usual = 0, 0
        if line and not line.charge and (large or place.turn > ledger.turn or line.owing(priority)) then
            worth.note(priority, place, given, others)
        end
    end
    claim.slots = claim.slots + slots
    claim.given = claim.given + given
    count_taken(given)
    if claim.inner then
        claim.inner.served(claim, priority, slots)
    end
    return given, others, slots
end

function claim.serve_all()
    local own, foremost = claim.own, true
    for priority = 0, 9 do
        if own[priority] then
            if foremost then
                claim.news, foremost = offers.ask(priority, own[priority]), false
            end
            local given, others, slots = serve(priority)
            if line and line.charge then
                line.charge(own[priority], given, parts_of(others, slots))
            end
            if own[priority].waiting > 0 and given > 0 and own[priority].left == 0 then
                claim.end_turn(priority, own[priority])
            end
            if own[priority].waiting <= 0
                or claim.inner and not claim.inner.cap(claim, priority, own[priority]) then
                own[priority] = nil
            end
        end
    end
end
