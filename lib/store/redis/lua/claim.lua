-- claim.lua: takt_ledger_claim (core/ledger_claim.c, claim_*.c). Decides which slots a worker gets now, and when it
-- claims again.
--
-- The script is this piece behind all that it needs, directly or not (embed.py). It begins with time.lua, keys.lua and
-- clock.lua. Then each fast path may answer: quick.lua, quick_line.lua, quick_permits.lua. arguments.lua splits the
-- fields. The last statement of this piece is run() of keep.lua, which reads the ledger and calls the function below.
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its holders (with permits), 5 its log; then those of inner
--       limits (inner.lua)
-- ARGV  1 rules, 2 span, 3 revision, 4 lookahead, 5 max_waiting, permits and adapt, 6 zones,
--       7 worker, 8 seq, 9 waiting; after it `*weight` of more than one process, `!` from a distant worker,
--       `,newcomers` with a bound that refuses, `/slot,cost,priority` with an offer, `@weight,process,name` with a
--       tenant; 10 holding (with permits), then for each want: count, latest (-1: any time), cost and after a slash
--       each the amounts of further units, priority
-- with KEYS 1 alone also the short form: the arguments and reply of quick.lua
-- reply flags, now, claim_again_at, next_slot_at, blocked_until, waiting, workers, refused, in_line, least_urgent,
--       the newer ledger's text or '' (with those of inner limits: inner.tell_newer), with permits: holding, fence,
--       reuses; then for each run first us, parts,
--       step us, parts, whole, count, cost (with further amounts: the text of the want)
-- needs: quick quick_line quick_permits holders tenants_claim levels inner_line overflow offers worth

local claim
claim = {
    inner = ledger.inner, -- the ledgers of inner limits; nil: none
    levels = levels, -- how slots are found with these or with gaps; nil: there are neither
    worker = ARGV[7],
    seq = tonumber(ARGV[8]),
    waiting = tonumber(ARGV[9]),
    weight = 1,
    newcomers = 0, -- the waiters among them that no award has counted
    offer = nil, -- a slot offered to more urgent work
    taken = false, -- the ledger keeps the offer
    holding = held_named and tonumber(ARGV[10]),
    first_want = held_named and 11 or 10, -- index in ARGV
    wants = {},
    largest = 0, -- the highest cost that the rules can ever give
    largest_of = {}, -- likewise, of further units
    from = 0, -- the earliest instant for slots
    old = {}, -- the worker's places by priority before the claim
    own = {}, -- the worker's places by priority after the claim
    refused = 0,
    slots = 0,
    given = 0, -- tokens
    given_of = {}, -- by further unit
    news = false, -- the head no longer needs what the others left to it
    in_line = 0,
    least_urgent = -1,
    again_at = -1,
    parked = false, -- it does not stand in line
    prompt = false, -- if it claims later than at again_at, its slot is later
    crowded = false, -- an inner line has more waiters than half of its bound
    unlisted = false, -- too many tenants wait
    turn_at = 0, -- the earliest slot of its first waiter
    reply = {},
    seen = {}, -- what look() saw last

    -- The situation of a place in tokens. The place is the worker's place of a priority, or the head of the line if
    -- that is another worker's (`first`). Fills and returns `seen`, or claim.seen until the next look: its `share`, the
    -- tokens left to the places before it (`ahead`; to `plan` the next claim, the least that these take), the `permits`
    -- that it may take, the `room`, the least that the places before it want (`first`), the tokens wanted more urgently
    -- (`urgent`), the number of its `shares`, the permits of a share (`permits_of`), and, if rules count other units, a
    -- table with the same values by unit (`others`).
    look = function(priority, first, plan, seen)
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
        local first_shares = head and claim.full_shares(head, head.wanting, head.need, plan) or 0
        if limit.units then
            others = {}
            for _, unit in ipairs(limit.units) do
                others[unit] = claim.look_at(unit, priority, first, head)
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
            local full = head and claim.full_shares(head, wanted_by(head, unit), view.need, plan) or 0
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
    end,

    -- The shares of the head that take the need of its first waiter: to `plan` only if all its waiters need the same.
    full_shares = function(head, wanting, need, plan)
        return (plan and wanting / math.max(head.waiting, 1) ~= need) and 1 or shares_of(head)
    end,

    -- Of a unit other than tokens: what the other workers of the priority want, what is wanted more urgently, and what
    -- the head needs.
    look_at = function(unit, priority, first, head)
        local urgent, wanted = 0, 0
        for higher = 0, first and -1 or priority - 1 do
            local own = claim.own[higher]
            urgent = urgent + (own and wanted_by(own, unit) or 0) + (line and line.totals(unit)[higher] or 0)
        end
        if line and not first then
            wanted = line.totals(unit)[priority]
        end
        return { urgent = urgent, wanted = wanted, need = head and needed_by(head, unit) or 0 }
    end,

    -- What waiters that need so much can use of a share.
    usable = function(share, need)
        return math.max(share - share % need, need)
    end,

    -- What a turn of that many shares may take.
    turn_of = function(share, need, shares)
        return (shares - 1) * claim.usable(share, need) + math.max(share, need)
    end,

    to_the_back = function(priority, place)
        local turn = ledger.turn + 1
        if line and not line.charge and line.owing(priority) then -- as after a share
            local step = math.max(math.floor(TAKT_WORTH_STEP / (line.all.active[priority] + 1)), 1)
            turn = line.free_turn(priority, ledger.turn + step)
        end
        claim.stand(priority, place, turn)
        ledger.turn = turn
    end,

    stand = function(priority, place, turn)
        local owed = line and not line.charge and line.all.owed[priority] or 0
        place.turn, place.last, place.before, place.former = turn, owed < turn, nil, 0
    end,

    -- takt_line_is_weighed of core/line.h.
    is_weighed = function(priority)
        local others = line and line.all.active[priority] or 0
        return others > 0 and line.all.weight[priority] + claim.own[priority].weight > others + 1
    end,

    -- takt_line_end_turn of core/line.h.
    end_turn = function(priority, place)
        local turn = place.turn
        if turn > ledger.turn and (not line or line.before(priority, turn) == 0) then
            ledger.turn = turn -- the number of one that owed turns is reached
        end
        if claim.is_weighed(priority) then
            place.turn, place.between = line.next_turn(priority, turn)
            place.last, place.former = not place.between, turn
        elseif line and not line.charge then
            claim.move_on(priority, place)
        else
            claim.to_the_back(priority, place)
        end
    end,

    -- move_on() of core/line.c.
    move_on = function(priority, place)
        local all, early, far = line.all, place.turn > ledger.turn, place.moves > place.usual
        local owing = line.owing(priority)
        if not (early or far or owing) then
            claim.to_the_back(priority, place)
            return
        end
        local turn = math.max(ledger.turn + 1, place.turn + place.moves)
        turn = line.free_turn(priority, math.min(turn, ledger.turn + TAKT_OWED_MAX))
        claim.stand(priority, place, turn)
        if early or far then
            all.owed[priority] = math.max(all.owed[priority], turn)
        else
            ledger.turn = turn
        end
    end,

    -- The worker's places as its wants tell of them. `old`: those before the claim. `told`: on a level inside, what
    -- amounts of the claim are there.
    tell = function(old, told)
        local unlisted, last, own = claim.waiting, -1, {}
        for _, want in ipairs(claim.wants) do
            unlisted, last = unlisted - want.count, want.priority
            if want.possible then
                local place = own[want.priority]
                    or { wanting = 0, need = 0, waiting = 0, held_back = 0, again = ledger.now }
                local was, cost, needs = old[want.priority], want.cost, want.needs
                if told then
                    cost, needs = told(cost, want.all)
                end
                own[want.priority], place.unheard = place, was and was.unheard
                place.weight, place.left = claim.weight, was and was.left < claim.weight and was.left or 0
                place.former = was and was.former or 0
                place.wanting = place.wanting + want.count * cost
                place.waiting = place.waiting + want.count
                if needs then
                    place.more, place.needs = place.more or {}, place.needs or needs
                    for unit, amount in ipairs(needs) do
                        place.more[unit] = (place.more[unit] or 0) + want.count * amount
                    end
                end
                if place.need == 0 then
                    place.need, place.first = cost, want.all
                end
            end
        end
        for priority = 0, 9 do
            local place = own[priority]
            if place and place.wanting == 0 then
                own[priority] = nil
            elseif place then
                place.waiting = place.waiting + ((priority == last and unlisted > 0) and unlisted or 0)
                if old[priority] then
                    place.turn = old[priority].turn
                else
                    claim.to_the_back(priority, place)
                end
                place.came = place.turn -- the turn before this claim is served
                if claim.inner then
                    place.stated = place.wanting -- less what the claim is given
                    place.stated_more = place.more and { unpack(place.more) }
                end
                place.accepted = old[priority] and old[priority].waiting or 0
            end
        end
        return own
    end,

    -- Updates the worker's places to its wants.
    restate = function()
        if claim.inner then
            claim.inner.stand(claim)
        end
        claim.own = claim.tell(claim.old)
        if line and line.assign then
            line.assign(claim.own, claim.seq)
            if claim.inner then
                tenants.pass_over(claim.own)
            end
        end
        for priority = 0, claim.inner and 9 or -1 do
            if claim.own[priority] and not claim.inner.cap(claim, priority, claim.own[priority]) then
                claim.own[priority] = nil
            end
        end
    end,

    -- Gives a place slots for the worker's wants, as far as its turn allows. Returns the tokens given.
    serve = function(priority)
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
                    count = claim.count_within(lefts, want, count)
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
    end,

    -- What was given of units other than tokens: of requests in any case.
    parts_of = function(others, slots)
        local parts = { [0] = slots }
        for unit, view in pairs(others or {}) do
            parts[unit] = view.given
        end
        return parts
    end,

    -- How many waiters of a want, at most `count`, there is so much left for of the units other than tokens.
    count_within = function(lefts, want, count)
        for unit, left in pairs(lefts) do
            local n = left > 0 and math.floor(left / limit.part(unit, 1, want.more)) or 0
            count = n < count and n or count
        end
        return count
    end,

    -- In a line with weights a place waits for room for a share, or for what it will plan for.
    is_too_little = function(place, left, use, lefts, others)
        local half, halves = limit.throughput(math.floor(limit.lookahead / 2))
        local enough, parts = math.min(use, place.wanting, half), {}
        for unit, view in pairs(others or {}) do
            parts[unit] = math.min(view.use, wanted_by(place, unit), halves[unit])
        end
        enough = others and claim.match(place, enough, parts) or enough
        local less = left < enough
        for unit, part in pairs(parts) do
            less = less or lefts[unit] < part
        end
        return less
    end,

    serve_all = function()
        local own, foremost = claim.own, true
        for priority = 0, 9 do
            if own[priority] then
                if foremost then
                    claim.news, foremost = offers.ask(priority, own[priority]), false
                end
                local given, others, slots = claim.serve(priority)
                if line and line.charge then
                    line.charge(own[priority], given, claim.parts_of(others, slots))
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
    end,

    -- A turn ends with the unit that is used up first. The others need only as much as requests of the place's average
    -- amounts take. Returns the tokens, and changes the amounts of the other units.
    match = function(place, tokens, turns)
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
    end,

    -- Whether a place is in turn with so many others, and there are neither tenants nor permits.
    is_shared = function(others)
        return others > 0 and not line.charge and limit.concurrency == 0
    end,

    -- takt_view_turn_from of core/view.h: the time when there is room for the next turn of a place that look() has
    -- `seen`. A `weighed` place takes nothing before there is room for a share. To `plan` the next claim of a shared
    -- place its turn is a share.
    turn_from = function(place, seen, weighed, plan)
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
            wanted = claim.match(place, wanted, turns)
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
    end,

    -- The time of its next claim: not at once.
    when = function(place, seen, weighed, plan)
        local at, lookahead = claim.turn_from(place, seen, weighed, plan), limit.lookahead
        local fraction = seen.ahead > 0 and TAKT_LOOKAHEAD_FRACTION or TAKT_LOOKAHEAD_FRACTION_FIRST
        local soonest = ledger.now + math.floor(lookahead / fraction)
        return at > soonest and at or soonest
    end,

    plan = function(priority)
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

    -- The need of the head of the line, if the head is one of these places and needs more than a token; and what it
    -- needs of further units (nil: nothing).
    need_of_head = function(places)
        for priority = 0, 9 do
            local own = places[priority]
            own = own and not own.aside and own or nil
            local other = line and line.all.active[priority] > 0 and line.first_other(priority)
            if own and not (other and other.turn < own.turn) then
                return own.need > 1 and own.need or 0, own.needs
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
    end,

    -- If the inner rules give nothing soon, and the worker has no other place, it does not stand in line.
    park = function()
        local at = claim.refused + claim.slots < claim.waiting and claim.inner.parked_at or NEVER
        claim.parked = at ~= NEVER and claim.in_line == 0
        if at ~= NEVER and (claim.again_at < 0 or at < claim.again_at) then
            claim.again_at = at
        end
        claim.prompt = (claim.prompt or claim.parked) and claim.is_full()
    end,

    -- takt_claim_is_full of core/claim_plan.h.
    is_full = function()
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

    -- The permits held, and the numbers of those given. `holding`: what the worker held before.
    number = function(reply, holding)
        local fence
        if claim.inner and held and holding + claim.slots > 0 then
            fence = claim.inner.number(claim.slots)
        end
        if held then
            reply[12], reply[13], reply[14] = held.number(holding, claim.slots, claim.least_urgent >= 0)
            reply[13] = fence or reply[13]
        end
    end,

    run = function(reply)
        local holding = held and (claim.inner or held).state(claim.seq, claim.holding)
        if tenants and (tenants.name or tenants.list[1]) and not tenants.lead(claim, offers) then
            claim.number(reply, holding)
            return
        end
        if line then
            line.count(claim.old, -1)
        end
        local needed, needed_of = claim.need_of_head(claim.old)
        claim.restate()
        claim.taken = offers.accept(claim.offer)
        claim.serve_all()
        if claim.inner and (claim.inner.bounded or limit.max_waiting > 0) then
            claim.refused = claim.inner.enforce(claim)
        elseif limit.max_waiting > 0 then
            claim.refused = overflow.enforce(claim.own, claim.newcomers)
        end
        if line and line.trim then
            line.trim(claim.own)
            local one = claim.wants[1] and tenants.find(claim.wants[1].priority, tenants.name or '')
            claim.tag = one and one.tag or 0
        end
        if claim.inner and claim.inner.name then
            tenants.arrange(claim.own)
        end
        if claim.inner and line and line.charge then
            claim.inner.note_due(claim)
        end
        if claim.inner and line and line.assign then
            tenants.pass_over(claim.own) -- its turns may be over
        end
        claim.plan_all()
        if claim.inner then
            claim.park()
        end
        if overflow.moves_front() then
            claim.hurry_first()
        end
        if (needed > 0 or needed_of) and claim.least_urgent >= 0 then
            local needs, needs_of = claim.need_of_head(claim.own)
            claim.news = claim.news or needed > claim.given and needed > needs
            for unit = 1, needed_of and limit.count_more() or 0 do
                local need, other = needed_of[unit] or 0, needs_of and needs_of[unit] or 0
                claim.news = claim.news or need > 1 and need > (claim.given_of[unit] or 0) and need > other
            end
        end
        if claim.own.seq and not line then
            name_line()
            open_line(claim.worker, true)
        end
        if line then
            line.put_back(claim.own)
        end
        if claim.inner then
            tenants.clear_behind(tenants)
            claim.inner.put_back()
            claim.crowded = claim.inner.bounded and claim.inner.is_near()
        end
        claim.number(reply, holding)
    end,

    -- Reads the wants, and finds the lowest cost that can ever be given. The cost is 1 if not all wants are listed.
    read_wants = function()
        if not claim.waiting then
            local told = tenants and tenants.split(ARGV[9]) or ARGV[9]
            local waiting, weight, newcomers, offer = told:match('^(%d+)%*?(%d*)!?,?(%d*)/?([%d,]*)$')
            local slot, cost, priority = offer:match('^(%d+),(%d+),(%d)$')
            claim.waiting, claim.newcomers = tonumber(waiting), tonumber(newcomers) or 0
            claim.weight = math.max(math.min(tonumber(weight) or 1, TAKT_WEIGHT_MAX), 1)
            claim.offer = slot and { slot = tonumber(slot), cost = tonumber(cost), priority = tonumber(priority) }
        end
        local unlisted, least, least_more = claim.waiting, nil, nil
        for i = claim.first_want, #ARGV - 3, 4 do
            local latest, told = tonumber(ARGV[i + 1]), ARGV[i + 2]
            claim.wants[#claim.wants + 1] = {
                count = tonumber(ARGV[i]),
                latest = latest < 0 and NEVER or latest,
                cost = tonumber(told),
                priority = tonumber(ARGV[i + 3]),
            }
            local want = claim.wants[#claim.wants]
            if not want.cost or limit.count_more() > 0 then
                claim.read_more(want, told)
            end
            unlisted, want.possible = unlisted - want.count, claim.can_give(want)
            if want.possible then
                want.possible = not claim.inner or claim.inner.can_give(want)
                least = least and least <= want.cost and least or want.cost
                least_more = want.more and claim.least_of(want.more, least_more)
            end
        end
        claim.least_cost = unlisted <= 0 and least or 1
        claim.least_more = unlisted <= 0 and least_more or nil
    end,

    -- Reads the cost and the amounts of further units. `told` is what the slots of the want are told to be for.
    read_more = function(want, told)
        local more
        want.cost, more = read_amounts(told)
        want.told, want.all = more and told, more
        want.more = claim.inner and claim.inner.own_more(want.cost, more) or limit.more_of(more)
        want.needs = want.more and { unpack(want.more) }
    end,

    -- Whether no rule gives less than a waiter of the want takes.
    can_give = function(want)
        for unit, amount in ipairs(want.more or {}) do
            if amount > claim.largest_of[unit] then
                return false
            end
        end
        return want.cost <= claim.largest
    end,

    least_of = function(more, least)
        local found = {}
        for unit, amount in ipairs(more) do
            found[unit] = math.min(amount, least and least[unit] or amount)
        end
        return found
    end,
}

return run(function()
    local reply = { 0, ledger.now, 0, 0, 0, 0, 0, 0, 0, 0, '' }
    tidy(claim.worker)
    if claim.inner then
        claim.inner.tidy(claim.worker)
    end
    wakes.names = {}
    claim.reply, claim.own, claim.wants, claim.refused, claim.in_line, claim.slots = reply, {}, {}, 0, 0, 0
    claim.least_urgent, claim.again_at, claim.turn_at, claim.given, claim.news = -1, -1, 0, 0, false
    claim.offer, claim.taken, claim.tag = nil, false, 0
    claim.largest, claim.from = limit.capacity(), math.max(ledger.blocked, ledger.now)
    claim.room, claim.due, claim.take = limit.room, limit.due, take.take
    if claim.levels then
        claim.room, claim.due, claim.take = limit.gaps.room, limit.gaps.due, claim.levels.take
    end
    claim.given_of = {}
    for unit = 1, limit.count_more() do
        claim.largest_of[unit] = limit.capacity(unit)
    end
    claim.old = line and line.record_of(claim.worker) or {}
    claim.read_wants()
    local seq, stale = claim.seq, nil
    if held then
        reply[12], reply[13], reply[14] = 0, 0, 0
        stale = held.own and held.own.seq >= seq
    end
    stale = stale or claim.old.seq and claim.old.seq >= seq or held and claim.inner and claim.inner.is_stale(seq)
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
    if claim.inner and (held or claim.inner.bounded) then
        claim.inner.wake()
    end
    reply[11] = tell_newer() .. (claim.inner and claim.inner.tell_newer() or '')
    local blocked, damaged, next_of = ledger.blocked, ledger.damaged, limit.earliest
    if claim.inner then
        blocked, damaged = claim.inner.blocked_until(), claim.inner.is_damaged()
    end
    if claim.levels then
        next_of = claim.levels.next
    end
    local next_slot = next_of(math.max(blocked, ledger.now), claim.least_cost, claim.least_more)
    next_slot = math.max(next_slot, claim.turn_at)
    reply[1] = (damaged and TAKT_FLAG_DAMAGED or 0) + (stale and TAKT_FLAG_STALE or 0)
        + (reply[11] ~= '' and TAKT_FLAG_OUTDATED or 0) + (held and TAKT_FLAG_PERMITS or 0)
        + (claim.news and TAKT_FLAG_NEWS or 0) + (claim.taken and TAKT_FLAG_TAKEN or 0)
        + (claim.parked and TAKT_FLAG_PARKED or 0) + (claim.crowded and TAKT_FLAG_CROWDED or 0)
        + (claim.unlisted and TAKT_FLAG_UNLISTED or 0) + (claim.prompt and TAKT_FLAG_PROMPT or 0)
        + (claim.tag > 0 and TAKT_FLAG_TAG or 0)
    reply[3], reply[4], reply[5] = claim.again_at, next_slot == NEVER and -1 or next_slot, blocked
    reply[6], reply[7] = line and line.all.waiting or 0, line and line.all.workers or 0
    reply[8] = claim.inner and claim.inner.leaves or claim.refused
    reply[9], reply[10] = claim.in_line, claim.least_urgent
    if claim.tag > 0 then
        reply[#reply + 1] = claim.tag
    end
    keep(not stale and claim.own or nil)
    return reply
end)
