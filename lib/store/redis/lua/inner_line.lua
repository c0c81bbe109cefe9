-- inner_line.lua: the places of a claim in the lines of its inner ledgers (core/inner_line.c), what its inner rules
-- leave to a place (core/inner.c), and which waiters leave (core/overflow.c). Its functions are a part of the table of
-- inner.lua.
--
-- Work stands in these lines in the ledgers' texts, as in a line of tenants. A line in keys of its own is of workers
-- whose work is not nested: such a level has no `tenants`.
-- needs: inner overflow

if ledger.inner then
    local inner = ledger.inner
    local added = {
        -- What a place can use for so long is left to it: without a paced rule all tokens of a window may be given at
        -- its begin.
        soon = function()
            local span, ahead = TAKT_SPAN_MAX_US, 2 * limit.lookahead
            for _, one in ipairs(limit.rules) do
                if one ~= limit.brake then
                    span = one.algorithm == rule.made.g and 0 or math.min(span, one.span)
                end
            end
            return limit.rules[1] and math.max(span, ahead) or ahead
        end,

        -- takt_inner_cap: lowers what a place wants to what the inner rules give soon, or until its turn. False: that
        -- is nothing.
        fit = function(claim, priority, place, turn_at)
            local till, able = math.max(ledger.now + inner.soon(), turn_at), place.waiting
            local within = { [-1] = NEVER, [0] = NEVER, NEVER, NEVER, NEVER } -- by place
            inner.each(function(level)
                local at, need, needs = inner.place_of(level, 0), place.need, nil
                if level.told then
                    need, needs = level.told(place.need, place.first)
                end
                local seen
                local tokens, others = limit.room(math.max(ledger.now, ledger.blocked), till)
                local requests, permits = others and others[0] or TAKT_ROOM_MAX, held and held.free() or NEVER
                local own = level.own and level.own[priority]
                if own then -- others leave to it what the levels within this one give
                    own.wanting = math.min(own.stated, within[at])
                    own.held_back = math.max(own.waiting - within[-1], 0)
                    inner.bound(own, level, within)
                    own.aside = within[-1] <= 0
                    seen = not own.aside and inner.look(level, claim, priority)
                        or { ahead = 0, permits = permits }
                    permits, own.lacking = seen.permits, not own.aside and seen.permits <= 0
                    tokens = math.max(tokens - seen.ahead, 0)
                    requests = requests - (seen.others and seen.others[0].ahead or 0)
                elseif level.full then
                    permits = 0
                end
                able = math.min(able, permits, requests, math.floor(tokens / need))
                within[at] = math.min(within[at], tokens)
                for unit, amount in ipairs(needs or {}) do
                    local view = seen and seen.others and seen.others[unit]
                    local left = math.max(others[unit] - (view and view.ahead or 0), 0)
                    able, at = math.min(able, math.floor(left / amount)), inner.place_of(level, unit)
                    within[at] = math.min(within[at], left)
                end
                within[-1] = math.max(able, 0)
                for i = 0, level.told and 3 or -1 do -- of others it wants no more than so many waiters take
                    within[i] = math.min(within[i], within[-1] * inner.amount_at(i, place.need, place.first))
                end
            end)
            place.wanting = math.min(place.stated, within[0])
            inner.bound(place, inner.outermost, within)
            if inner.further and able > 0 then
                place.wanting = math.max(place.wanting, place.need)
                for unit, wanting in ipairs(place.more or {}) do
                    place.more[unit] = math.max(wanting, needed_by(place, unit))
                end
            end
            place.held_back = place.waiting - able
            return able > 0
        end,

        -- When a place that its inner rules hold up now has the first slot of its next turn in the outermost line. 0:
        -- it has no tenant, or lacks a permit.
        in_turn_at = function(claim, priority, place)
            if not line or not line.charge then
                return 0
            end
            place.wanting, place.held_back = place.stated, 0
            place.more = place.stated_more and { unpack(place.stated_more) }
            tenants.count(claim.own)
            local seen = claim.look(priority, nil, true)
            return seen.permits <= 0 and 0 or claim.turn_from(place, seen) + limit.lookahead
        end,

        -- Whether the inner rules hold up the place no longer than the others of the outermost line do.
        suits_turn = function(claim, priority, place)
            local turn_at = inner.in_turn_at(claim, priority, place)
            if turn_at > ledger.now + 2 * limit.lookahead and inner.fit(claim, priority, place, turn_at) then
                return true
            end
            inner.fit(claim, priority, place, 0)
            return false
        end,

        -- Lowers what a place wants. False: it does not stand in the outermost line, and claims again at parked_at.
        cap = function(claim, priority, place)
            if inner.fit(claim, priority, place, 0) or inner.suits_turn(claim, priority, place) then
                return true
            end
            local due = inner.due(math.max(ledger.now, ledger.blocked), place.need, place.first)
            local at = due == NEVER and ledger.now + TAKT_KEEPALIVE_US
                or math.max(due - limit.lookahead, inner.turn_from(claim, priority))
            if held or inner.levels[1].full then
                at = math.max(at, inner.permits_again_at(claim, priority))
            end
            inner.plan(priority, at)
            inner.parked_at = math.min(inner.parked_at, at)
            return false
        end,

        -- Lowers what a place of a level wants of further units to what the levels so far give of them.
        bound = function(place, level, within)
            for unit, wanting in ipairs(place.stated_more or {}) do
                place.more[unit] = math.min(wanting, within[inner.place_of(level, unit)])
            end
        end,

        -- takt_inner_stand. Sets claim.unlisted to whether a line with a bound has no place for it.
        stand = function(claim)
            local of = tenants
            inner.look_at = tenants.decisions(claim).look
            inner.each(function(level)
                if not tenants then
                    return
                end
                tenants.process = of.process
                if level ~= inner.levels[1] or inner.alike then
                    tenants.name, tenants.weight = of.name, of.weight
                elseif inner.name then
                    tenants.name, tenants.weight = inner.name, inner.weight
                end
                if tenants.join(claim.wants) then
                    local old, foremost = line.record_of(claim.worker) or {}, true
                    line.count()
                    local own = claim.tell(old, level.told or inner.plain)
                    for priority = 0, 9 do
                        if own[priority] then
                            own[priority].foremost, foremost = foremost, false
                        end
                    end
                    level.own = own
                    tenants.assign(own, claim.seq)
                    tenants.trim(own)
                else
                    line.count()
                    tenants.trim()
                    claim.unlisted, level.unlisted = claim.unlisted or limit.max_waiting > 0, true
                    level.full = level == inner.levels[1] and (inner.alike or inner.name)
                end
            end)
        end,

        -- What claim.look() says of a place in the line of the level in place.
        look = function(level, claim, priority, plan)
            local own, from = claim.own, claim.from
            claim.own, claim.from = level.own, math.max(ledger.now, ledger.blocked)
            local seen = inner.look_at(priority, nil, plan, {})
            claim.own, claim.from = own, from
            return seen
        end,

        -- Whether others are in turn in the line of the level in place.
        is_contested = function(level, priority)
            for _, place in tenants.each(level.own) do
                if place ~= level.own[priority] and not place.aside then
                    return true
                end
            end
            return false
        end,

        -- How many places the caller's worker has in the outermost line; nil: others have places there, too.
        alone_with = function(own)
            local count = 0
            for _, place in tenants.each(own) do
                if place.process ~= tenants.process then
                    return nil
                end
                count = count + 1
            end
            return count
        end,

        -- takt_inner_turn_of: returns a function that tells how many waiters of a want have slots in this turn, one
        -- that notes how many were given them, and the permits of all levels.
        turn_of = function(claim, priority, till)
            local own, permits = claim.own[priority], NEVER
            local left = { [-1] = TAKT_ROOM_MAX, [0] = TAKT_ROOM_MAX, TAKT_EXACT_MAX, TAKT_EXACT_MAX, TAKT_EXACT_MAX }
            local given = { [-1] = 0, [0] = 0, 0, 0, 0 } -- both by place, as `within` of fit()
            inner.given = given
            inner.each(function(level)
                local place = level.own and level.own[priority]
                level.turn = nil
                if not place then
                    permits = math.min(permits, level.full and 0 or held and held.free() or NEVER)
                    return
                end
                local seen = inner.look(level, claim, priority)
                local contested = inner.is_contested(level, priority)
                local room, rooms = limit.room(math.max(ledger.now, ledger.blocked), till)
                level.turn = { shares = seen.shares, usable = claim.usable(seen.share, place.need),
                    permits_of = seen.permits_of }
                permits = math.min(permits, seen.permits)
                if contested then
                    local at = inner.place_of(level, 0)
                    left[at] = math.min(left[at], claim.turn_of(seen.share, place.need, seen.shares), room - seen.ahead)
                end
                if seen.others then
                    local view = seen.others[0]
                    level.turn.requests = claim.usable(view.share, 1)
                    if contested then
                        left[-1] = math.min(left[-1], claim.turn_of(view.share, 1, seen.shares),
                            rooms[0] - view.ahead)
                    end
                end
                for unit = 1, limit.count_more() do
                    local view, need, at = seen.others[unit], needed_by(place, unit), inner.place_of(level, unit)
                    level.turn[unit] = claim.usable(view.share, need)
                    if contested then
                        left[at] = math.min(left[at], claim.turn_of(view.share, need, seen.shares),
                            rooms[unit] - view.ahead)
                    end
                end
            end)
            return function(want)
                local count = left[0] > 0 and left[-1] > 0 and math.min(math.floor(left[0] / want.cost), left[-1]) or 0
                for place = 1, inner.further and 3 or 0 do
                    local amount = inner.amount_at(place, want.cost, want.all)
                    count = left[place] > 0 and math.min(count, math.floor(left[place] / amount)) or 0
                end
                return count
            end, function(want, count)
                own.stated = own.stated - count * want.cost
                for unit, amount in ipairs(want.needs or {}) do
                    own.stated_more[unit] = own.stated_more[unit] - count * amount
                end
                for place = -1, inner.further and 3 or 0 do
                    local taken = count * inner.amount_at(place, want.cost, want.all)
                    left[place], given[place] = left[place] - taken, given[place] + taken
                end
            end, permits
        end,

        -- A place wants, and has stated, at least nothing of each unit.
        keep_positive = function(place)
            place.wanting, place.stated = math.max(place.wanting, 0), math.max(place.stated, 0)
            for unit, wanting in ipairs(place.more or {}) do
                place.more[unit] = math.max(wanting, 0)
                place.stated_more[unit] = math.max(place.stated_more[unit], 0)
            end
        end,

        -- takt_inner_served.
        served = function(claim, priority, slots)
            local served = claim.own[priority]
            inner.keep_positive(served) -- it may be given more than it wanted of some units
            inner.each(function(level)
                local turn, place = level.turn, level.own and level.own[priority]
                local given, need, needs = inner.given[inner.place_of(level, 0)], served.need, nil
                count_taken(given)
                if not turn then
                    return
                end
                place.wanting, place.stated = math.max(place.wanting - given, 0), math.max(place.stated - given, 0)
                if level.told then
                    need, needs = level.told(served.need, served.first)
                end
                place.waiting, place.need, place.needs = served.waiting, need, needs
                place.accepted = math.max(place.accepted - slots, 0)
                local used = math.ceil(given / turn.usable)
                local parts = { [0] = slots }
                for unit in ipairs(needs or {}) do
                    local part = inner.given[inner.place_of(level, unit)]
                    place.more[unit] = math.max(place.more[unit] - part, 0)
                    place.stated_more[unit] = math.max(place.stated_more[unit] - part, 0)
                    used, parts[unit] = math.max(used, math.ceil(part / turn[unit])), part
                end
                used = turn.requests and math.max(used, math.ceil(slots / turn.requests)) or used
                used = held and math.max(used, math.ceil(slots / turn.permits_of)) or used
                tenants.charge(place, given, parts)
                if given > 0 then
                    place.left = math.max(turn.shares - used, 0)
                end
                if place.waiting <= 0 then
                    level.own[priority] = nil
                elseif given > 0 and place.left == 0 then
                    claim.to_the_back(priority, place)
                end
                tenants.trim(level.own)
            end)
        end,

        -- takt_inner_turn_from.
        turn_from = function(claim, priority, in_line)
            local at, lookahead, gaps, paced = ledger.now, limit.lookahead, limit.gaps, limit.gaps.rule()
            local places = in_line and line and line.charge and inner.alone_with(claim.own)
            local function has_long_turns()
                return places and limit.lookahead == lookahead and (places == 1 or gaps.suit(paced))
            end
            inner.each(function(level)
                local place = level.own and level.own[priority]
                if not place or place.aside or not (inner.is_contested(level, priority) or has_long_turns()) then
                    return
                end
                local seen, own, from = inner.look(level, claim, priority, true), claim.own, claim.from
                claim.own, claim.from = level.own, math.max(ledger.now, ledger.blocked)
                at = math.max(at, claim.turn_from(place, seen))
                claim.own, claim.from = own, from
            end)
            return at
        end,

        -- is_scarce() of core/lend.c.
        is_scarce = function(priority, place, is_whole)
            local paced = is_whole and limit.gaps.rule()
            local span, more = TAKT_LEND_LOOKAHEADS * limit.lookahead, inner.own_more(place.need, place.first)
            local part, scarce = tenants.part(place.tenant, span, place.need, more), false
            if part == tenants.part(nil, span, place.need, more)
                or tenants.part(nil, limit.lookahead, place.need, more) < TAKT_LEND_SLOTS then
                return false
            end
            inner.each(function(level)
                local own = level.own and level.own[priority]
                local need, needs = (level.told or inner.plain)(place.need, place.first)
                local mine = own and not (level == inner.levels[1] and inner.name) and own.tenant or nil
                local theirs = inner.outermost.tenants.part(mine, span, need, needs)
                theirs = paced and limit.gaps.leave(paced, theirs) or theirs
                scarce = scarce or theirs <= part
            end)
            return scarce
        end,

        -- The places of one priority that stand in the innermost line as well are due at that instant.
        set_due = function(priority, mine, due)
            local found = {}
            local within = inner.levels[1].tenants
            for _, place in ipairs(within and within.places or {}) do
                found[place.priority == priority and place.worker] = true
            end
            for _, place in ipairs(tenants.places) do
                if place.priority == priority and found[place.worker] then
                    place.due_in = math.max(due - (place.expires - TAKT_SILENT_US), 0)
                end
            end
            mine.due_in = math.max(due - (mine.expires - TAKT_SILENT_US), 0)
        end,

        -- takt_lend_note.
        note_due = function(claim)
            local from = math.max(ledger.now, ledger.blocked)
            for priority = 0, 9 do
                local place = claim.own[priority]
                local due = place and inner.due(from, place.need, place.first) or NEVER
                if due > ledger.now and due ~= NEVER
                    and inner.is_scarce(priority, place, claim.levels.is_whole(from)) then
                    inner.set_due(priority, place, due)
                end
            end
            local lent = tenants.lends
            tenants.open(claim.own)
            if lent or tenants.lends then
                tenants.count(claim.own)
            end
        end,

        -- takt_inner_plan.
        plan = function(priority, at)
            at = math.min(math.max(at, ledger.now), ledger.now + TAKT_PARKED_MAX_US)
            for _, level in ipairs(inner.levels) do
                local place = level.own and level.own[priority]
                if place then
                    place.again, place.expires = at, at + TAKT_SILENT_US
                end
            end
        end,

        can_give = function(want)
            local can = true
            inner.each(function(level)
                local cost, more = want.cost, nil
                if level.told then
                    cost, more = level.told(want.cost, want.all)
                end
                can = can and cost <= limit.capacity()
                for unit, amount in ipairs(more or {}) do
                    can = can and amount <= limit.capacity(unit)
                end
            end)
            return can
        end,

        -- When a place that was parked claims again, as far as it lacks permits.
        permits_again_at = function(claim, priority)
            local at, keepalive_at = ledger.now, ledger.now + TAKT_KEEPALIVE_US
            inner.each(function(level)
                local place = level.own and level.own[priority]
                if place and place.lacking then
                    local first = inner.look(level, claim, priority, true).ahead <= 0
                    at = math.max(at, first and math.min(held.over_at(keepalive_at), keepalive_at) or keepalive_at)
                elseif not place and (level.full or held and held.free() == 0) then
                    at = math.max(at, keepalive_at)
                end
            end)
            return at
        end,

        -- ---- max_waiting: core/overflow.c ----

        -- Places like the caller's in the innermost line, for a level whose line has no space for the caller.
        stand_in = function()
            local own = {}
            for priority, place in pairs(inner.levels[1].own or {}) do
                own[priority] = inner.copy(place)
            end
            return own
        end,

        -- Applies the bounds of all levels, or of those that drop, or not. Returns the number of the caller's waiters
        -- that leave.
        apply = function(claim, refused, dropping)
            local function apply(own)
                local count = overflow.enforce(own, claim.newcomers - refused)
                refused = refused + count
                if count > 0 then
                    inner.leaves = (inner.leaves and inner.leaves .. ' ' or '') .. count .. limit.when_full
                end
            end
            local function concerns()
                return limit.max_waiting > 0 and (dropping == nil or (limit.when_full ~= '') == dropping)
            end
            inner.each(function(level)
                if concerns() and tenants and tenants.list[1] then
                    inner.waking(level, function()
                        apply(level.own or level.unlisted and limit.when_full == '' and inner.stand_in() or {})
                    end)
                end
            end)
            if concerns() then
                apply(claim.own)
            end
            return refused
        end,

        -- Applies the bounds of all levels. If they differ in when_full, those that refuse come first.
        enforce = function(claim)
            local refused
            inner.claim = claim
            if limit.max_waiting > 0 then
                inner.note_bound()
            end
            if inner.differ then
                refused = inner.apply(claim, inner.apply(claim, 0, false), true)
            else
                refused = inner.apply(claim, 0)
            end
            inner.each(function(level)
                if tenants and tenants.list[1] then
                    tenants.trim(level.own)
                end
            end)
            return refused
        end,

        -- Waiters of a worker (nil: of the caller) have left the level in place, and leave the others.
        leave = function(priority, count, worker)
            local from, claim = inner.current, inner.claim
            local function leave(level, own)
                if level == from then
                    return
                end
                inner.enter(level)
                if worker and limit.max_waiting > 0 and limit.when_full == '' then
                    return -- counts_dropped() of core/overflow.c
                end
                local mine, record = not worker and own and own[priority], worker and line and line.record_of(worker)
                local theirs = record and record[priority]
                if mine then
                    overflow.drop_own(priority, math.min(count, mine.waiting), own)
                end
                if theirs then
                    overflow.drop(priority, theirs, worker, math.min(count, theirs.waiting), own or {})
                end
            end
            leave(inner.outermost, claim.own)
            for _, level in ipairs(inner.levels) do
                leave(level, level.own)
            end
            inner.enter(from)
        end,

        -- A place in an inner line has lost all its waiters: the first one comes sooner than planned.
        wake_first = function(own)
            local first = inner.current ~= inner.outermost and limit.when_full == 'o' and tenants.first(own)
            if first and first.worker ~= tenants.worker then
                wakes.add(tenants.waker(first))
            end
        end,

        -- Whether a level has more waiters than half of its bound.
        is_near = function()
            local near = false
            inner.each(function()
                if limit.max_waiting > 0 and tenants and tenants.list[1] then
                    near = near or line.all.waiting > math.floor(limit.max_waiting / 2)
                end
            end)
            return near
        end,

        -- The claim's places are in the lines of the inner ledgers.
        put_back = function()
            inner.each(function(level)
                if tenants and level.own then
                    line.put_back(level.own)
                end
                if tenants then
                    tenants.pass_over_none()
                end
            end)
        end,
    }

    for name, act in pairs(added) do
        inner[name] = act
    end
end
