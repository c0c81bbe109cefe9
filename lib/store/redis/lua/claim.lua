-- claim.lua: takt_ledger_claim of core/ledger.c. Decides which slots the worker gets now, and when it claims again.
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its log, 5 its holders (with permits)
-- ARGV  1 rules, 2 span, 3 revision, 4 lookahead, 5 max_waiting, permits and adapt, 6 zones,
--       7 worker, 8 seq, 9 waiting; after it `!` from a distant worker, `,newcomers` with a bound that refuses,
--       `/slot,cost,priority` with an offer; 10 holding (with permits), then for each want: count, latest (-1: any
--       time), cost, priority
-- with KEYS 1 alone: the arguments and reply of quick.lua
-- reply flags, now, claim_again_at, next_slot_at, blocked_until, waiting, workers, refused, in_line, least_urgent,
--       the newer ledger's text or '', with permits: holding, fence, reuses; then for each run first us, parts,
--       step us, parts, whole, count, cost
-- needs: quick quick_line quick_permits keep take overflow offers

local claim
claim = {
    worker = ARGV[7],
    seq = tonumber(ARGV[8]),
    waiting = tonumber(ARGV[9]),
    newcomers = 0, -- the waiters among them that no award has counted
    offer = nil, -- a slot offered to more urgent work
    taken = false, -- the ledger keeps the offer
    holding = #KEYS == 5 and tonumber(ARGV[10]),
    first_want = #KEYS == 5 and 11 or 10, -- index in ARGV
    wants = {},
    largest = 0, -- the highest cost that the rules can ever give
    counts_requests = false, -- some rules count requests
    from = 0, -- the earliest instant for slots
    old = {}, -- the worker's places by priority before the claim
    own = {}, -- the worker's places by priority after the claim
    refused = 0,
    slots = 0,
    given = 0, -- tokens
    news = false, -- the head no longer needs what the others left to it
    in_line = 0,
    least_urgent = -1,
    again_at = -1,
    turn_at = 0, -- the earliest slot of its first waiter
    reply = {},

    -- The situation of a place in tokens. The place is the worker's place of a priority, or the head of the line if
    -- that is another worker's (`first`). Returns its share, the tokens left to the places before it, the permits that
    -- it may take, the room, the least that the places before it want, and the tokens wanted more urgently. If rules
    -- count requests, also returns a table with the same values in requests.
    look = function(priority, first)
        local place, own = claim.own[priority], claim.own
        local urgent, before, workers, wanted, head = 0, 0, 1, 0, nil
        local urgent_requests, asking = 0, 0
        if first then
            workers = line.all.active[priority] + (place and 1 or 0)
        else
            for higher = 0, priority - 1 do
                urgent = urgent + (own[higher] and own[higher].wanting or 0)
                urgent_requests = urgent_requests + (own[higher] and own[higher].waiting or 0)
            end
        end
        if line and not first then
            local all = line.all
            for higher = 0, priority - 1 do
                urgent = urgent + all.wanting[higher]
                urgent_requests = urgent_requests + all.asking[higher]
            end
            local others = all.active[priority]
            wanted, asking = all.wanting[priority], all.asking[priority]
            workers = 1 + others
            if others > 0 then
                place.before = place.last and others or place.before or line.before(priority, place.turn)
                before = place.before
                head = before > 0 and line.first_other(priority)
            end
        end
        local room, room_requests = limit.room(claim.from, ledger.now + limit.lookahead)
        local through, through_requests = limit.throughput(limit.lookahead)
        local share = share_of(room, through, workers)
        local first_need, permits, requests = head and head.need or 0, NEVER, nil
        if limit.concurrency > 0 then
            local most = permit_share(limit.concurrency, workers)
            permits = math.min(permits_beside(held.free() - urgent, before, most, wanted), most)
        end
        if claim.counts_requests then
            local turn, first_need = share_of(room_requests, through_requests, workers), head and 1 or 0
            requests = {
                share = turn,
                ahead = ahead_of(before, turn, first_need, asking, urgent_requests),
                room = room_requests,
                first = first_of(before, first_need, urgent_requests),
            }
        end
        return share, ahead_of(before, share, first_need, wanted, urgent), permits, room,
            first_of(before, first_need, urgent), urgent, requests
    end,

    to_the_back = function(place)
        ledger.turn = ledger.turn + 1
        place.turn, place.last = ledger.turn, true
    end,

    -- Updates the worker's places to its wants.
    restate = function()
        local unlisted, last, own = claim.waiting, -1, claim.own
        for _, want in ipairs(claim.wants) do
            unlisted, last = unlisted - want.count, want.priority
            if want.cost <= claim.largest then
                local place = own[want.priority] or { wanting = 0, need = 0, waiting = 0, again = ledger.now }
                local old = claim.old[want.priority]
                own[want.priority], place.unheard = place, old and old.unheard
                place.wanting = place.wanting + want.count * want.cost
                place.waiting = place.waiting + want.count
                place.need = place.need == 0 and want.cost or place.need
            end
        end
        for priority = 0, 9 do
            local place = own[priority]
            if place and place.wanting == 0 then
                own[priority] = nil
            elseif place then
                place.waiting = place.waiting + ((priority == last and unlisted > 0) and unlisted or 0)
                if claim.old[priority] then
                    place.turn = claim.old[priority].turn
                else
                    claim.to_the_back(place)
                end
                place.came = place.turn -- the turn before this claim is served
                place.accepted = claim.old[priority] and claim.old[priority].waiting or 0
            end
        end
    end,

    -- Gives a place slots for the worker's wants, as far as its turn allows. Returns the tokens given.
    serve = function(priority)
        local place, given, till = claim.own[priority], 0, ledger.now + limit.lookahead
        local share, ahead, permits, room, _, urgent, requests = claim.look(priority)
        local near = offers.awaited(priority) and ledger.now + math.floor(limit.lookahead / TAKT_OFFERS_NEAR) or till
        local slots = 0
        local left = share > place.need and share or place.need
        left = left < room - ahead and left or room - ahead
        local left_requests = requests and math.min(requests.share, requests.room - requests.ahead) or NEVER
        for _, want in ipairs(claim.wants) do
            if want.priority == priority and want.cost <= claim.largest then
                local by = want.latest < till and want.latest or near
                local handed = urgent == 0 and ledger.offers[1] and offers.take(claim.from, want, claim.reply) or 0
                place.wanting, claim.slots = place.wanting - handed * want.cost, claim.slots + handed
                local count = left > 0 and math.floor(left / want.cost) or 0
                count = count < want.count - handed and count or want.count - handed
                count = count < permits - slots and count or permits - slots
                count = count < left_requests and count or left_requests
                local n = count > 0 and take.take(claim.from, want.cost, count, by, claim.reply) or 0
                given = given + n * want.cost
                left, left_requests = left - n * want.cost, left_requests - n
                slots = slots + n
                place.waiting = place.waiting - n - handed
                place.accepted = math.max(place.accepted - n - handed, 0)
                if n + handed < want.count and want.latest > by then
                    place.need = want.cost
                    break
                end
            end
        end
        place.wanting = place.wanting - given
        if limit.concurrency > 0 then
            held.give(claim.seq, slots)
        end
        claim.slots = claim.slots + slots
        claim.given = claim.given + given
        count_taken(given)
        return given
    end,

    serve_all = function()
        local own, foremost = claim.own, true
        for priority = 0, 9 do
            if own[priority] then
                if foremost then
                    claim.news, foremost = offers.ask(priority, own[priority]), false
                end
                local given = claim.serve(priority)
                if own[priority].waiting <= 0 then
                    own[priority] = nil
                elseif given > 0 then
                    claim.to_the_back(own[priority])
                end
            end
        end
    end,

    -- A turn ends with the unit that is used up first. The other unit needs only as much as requests of the place's
    -- average cost take.
    match = function(place, tokens, requests)
        local cost = math.max(numbers.divide_up(place.wanting, 1, math.max(place.waiting, 1)), 1)
        requests = math.max(math.min(requests, math.floor(tokens / cost)), 1)
        return math.max(math.min(tokens, requests * cost), place.need, 1), requests
    end,

    -- The time when there is room for the next turn of a place. `share`, what is left to the places before it and
    -- `requests` are the values of look().
    when = function(place, share, ahead, requests)
        local lookahead = limit.lookahead
        local half, half_requests = limit.throughput(math.floor(lookahead / 2))
        local need = place.need > 1 and place.need or 1
        local wanted = place.wanting < share and place.wanting or share
        local asked, ahead_requests = 1, 0
        wanted = wanted < half and wanted or half
        wanted = wanted > need and wanted or need
        if requests then
            asked, ahead_requests = math.max(math.min(place.waiting, requests.share, half_requests), 1), requests.ahead
            wanted, asked = claim.match(place, wanted, asked)
        end
        local at = limit.due(claim.from, ahead + wanted, ahead_requests + asked)
        if wanted > need or asked > 1 then
            local first = limit.due(claim.from, ahead + need, ahead_requests + 1) + math.floor(lookahead / 2)
            at = first < at and first or at
        end
        local fraction = ahead > 0 and TAKT_LOOKAHEAD_FRACTION or TAKT_LOOKAHEAD_FRACTION_FIRST
        local soonest = ledger.now + math.floor(lookahead / fraction)
        return at - lookahead > soonest and at - lookahead or soonest
    end,

    plan = function(priority)
        local share, ahead, permits, _, first, _, requests = claim.look(priority)
        local place, over_at = claim.own[priority], 0
        place.lacking = permits <= 0
        if claim.in_line == 0 and first > 0 and not place.lacking then
            local requests_before = requests and requests.first or 0
            claim.turn_at = limit.due(claim.from, first + claim.least_cost, requests_before + 1)
        end
        if place.lacking then -- a lease that ends wakes nobody, so the head claims when one ends
            over_at = ahead == 0 and held.over_at(ledger.now + TAKT_KEEPALIVE_US) or NEVER
        end
        return over_at == NEVER and NEVER or math.max(over_at, claim.when(place, share, ahead, requests))
    end,

    -- The time when the second in line claims because the head is late. NEVER: its keepalive is earlier, or it is not
    -- the second.
    head_late_at = function(priority)
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
    end,

    -- The need of the head of the line, if the head is one of these places and needs more than a token.
    need_of_head = function(places)
        for priority = 0, 9 do
            local own = places[priority]
            own = own and not own.aside and own or nil
            local other = line and line.all.active[priority] > 0 and line.first_other(priority)
            if own and not (other and other.turn < own.turn) then
                return own.need > 1 and own.need or 0
            elseif other then
                return 0
            end
        end
        return 0
    end,

    -- After the oldest waiters are dropped, the head of another worker may have its turn earlier than the ledger
    -- announced.
    hurry_first = function()
        for priority = 0, 9 do
            local own = claim.own[priority]
            if line and line.all.active[priority] > 0 then
                local place, name = line.first_other(priority)
                if not place or own and own.turn < place.turn then
                    return
                end
                local share, ahead, permits, _, _, _, requests = claim.look(priority, place)
                if permits > 0 and place.again > claim.when(place, share, ahead, requests)
                    + math.floor(limit.lookahead / TAKT_LOOKAHEAD_FRACTION) then
                    wakes.add(name)
                end
                return
            elseif own then
                return
            end
        end
    end,

    plan_all = function()
        local foremost, keepalive_at = true, ledger.now + TAKT_KEEPALIVE_US
        for priority = 0, 9 do
            local place = claim.own[priority]
            if line and line.all.places[priority] > 0 then
                claim.least_urgent = priority
            end
            if place then
                local at = claim.plan(priority)
                place.foremost, foremost = foremost, false
                place.again = at < keepalive_at and at or keepalive_at
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
    end,

    -- A place before the worker was set aside. A permit that was left to it may now go to the worker.
    come_soon = function()
        local soonest = ledger.now + math.floor(limit.lookahead / TAKT_LOOKAHEAD_FRACTION_FIRST)
        for priority = 0, 9 do
            local place = claim.own[priority]
            if place and place.lacking and (claim.again_at < 0 or soonest < claim.again_at) then
                claim.again_at = soonest
            end
        end
    end,

    run = function(reply)
        local holding = held and held.state(claim.seq, claim.holding)
        if line then
            line.count(claim.old, -1)
        end
        local needed = claim.need_of_head(claim.old)
        claim.restate()
        claim.taken = offers.accept(claim.offer)
        claim.serve_all()
        if limit.max_waiting > 0 then
            claim.refused = overflow.enforce(claim.own, claim.newcomers)
        end
        claim.plan_all()
        if overflow.moves_front() then
            claim.hurry_first()
        end
        if needed > 0 and claim.least_urgent >= 0 then
            claim.news = claim.news or needed > claim.given and needed > claim.need_of_head(claim.own)
        end
        if claim.own.seq and not line then
            open_line(claim.worker, true)
        end
        if line then
            line.put_back(claim.own)
        end
        if held then
            reply[12], reply[13], reply[14] = held.number(holding, claim.slots, claim.least_urgent >= 0)
        end
    end,

    -- Reads the wants, and finds the lowest cost that can ever be given. The cost is 1 if not all wants are listed.
    read_wants = function()
        if not claim.waiting then
            local waiting, newcomers, offer = ARGV[9]:match('^(%d+)!?,?(%d*)/?([%d,]*)$')
            local slot, cost, priority = offer:match('^(%d+),(%d+),(%d)$')
            claim.waiting, claim.newcomers = tonumber(waiting), tonumber(newcomers) or 0
            claim.offer = slot and { slot = tonumber(slot), cost = tonumber(cost), priority = tonumber(priority) }
        end
        local unlisted, least = claim.waiting, nil
        for i = claim.first_want, #ARGV - 3, 4 do
            local latest = tonumber(ARGV[i + 1])
            claim.wants[#claim.wants + 1] = {
                count = tonumber(ARGV[i]),
                latest = latest < 0 and NEVER or latest,
                cost = tonumber(ARGV[i + 2]),
                priority = tonumber(ARGV[i + 3]),
            }
            local want = claim.wants[#claim.wants]
            unlisted = unlisted - want.count
            if want.cost <= claim.largest and not (least and least <= want.cost) then
                least = want.cost
            end
        end
        claim.least_cost = unlisted <= 0 and least or 1
    end,
}

return run(function()
    local reply = { 0, ledger.now, 0, 0, 0, 0, 0, 0, 0, 0, '' }
    tidy(claim.worker)
    wakes.names = {}
    claim.reply, claim.own, claim.wants, claim.refused, claim.in_line, claim.slots = reply, {}, {}, 0, 0, 0
    claim.least_urgent, claim.again_at, claim.turn_at, claim.given, claim.news = -1, -1, 0, 0, false
    claim.offer, claim.taken = nil, false
    claim.largest, claim.from = limit.capacity(), math.max(ledger.blocked, ledger.now)
    claim.counts_requests = limit.counts_requests()
    claim.old = line and line.record_of(claim.worker) or {}
    claim.read_wants()
    local seq, stale = claim.seq, nil
    if held then
        reply[12], reply[13], reply[14] = 0, 0, 0
        stale = held.own and held.own.seq >= seq
    end
    stale = stale or claim.old.seq and claim.old.seq >= seq
    if not stale then
        claim.run(reply)
    end
    local own = not stale and claim.own or nil
    if held then
        held.wake(own)
    end
    if wakes.publish(own) then
        claim.come_soon()
    end
    if ledger.others then
        reply[11] = text.encode():gsub('#%d+,%d+,%d+', '') -- without the pages of logs, which stay in this store
    end
    local next_slot = math.max(limit.earliest(claim.from, claim.least_cost), claim.turn_at)
    reply[1] = (ledger.damaged and TAKT_FLAG_DAMAGED or 0) + (stale and TAKT_FLAG_STALE or 0)
        + (reply[11] ~= '' and TAKT_FLAG_OUTDATED or 0) + (held and TAKT_FLAG_PERMITS or 0)
        + (claim.news and TAKT_FLAG_NEWS or 0) + (claim.taken and TAKT_FLAG_TAKEN or 0)
    reply[3], reply[4], reply[5] = claim.again_at, next_slot == NEVER and -1 or next_slot, ledger.blocked
    reply[6], reply[7] = line and line.all.waiting or 0, line and line.all.workers or 0
    reply[8], reply[9], reply[10] = claim.refused, claim.in_line, claim.least_urgent
    keep(not stale and claim.own or nil)
    return reply
end)
