-- tenant_turns.lua: whose turn it is among tenants (core/tenant_turns.c, tenant_inside.c), and who is woken
-- (core/wake_next.c).
-- needs: tenants

if tenants then
    tenants.turn_of = function(one, total, weights)
        return math.max(math.floor(total * one.weight / weights), 1)
    end

    tenants.tag_after = function(one, wanting, total, weights)
        return one.tag
            + math.floor(math.min(tenants.turn_of(one, total, weights), wanting) * TAKT_TENANT_STEP / one.weight)
    end

    -- What a tenant gets until it has had as much, by its weight, as a tag says.
    tenants.until_even = function(one, tag)
        local less = math.max(tag - one.tag, 0)
        return math.floor(less / TAKT_TENANT_STEP) * one.weight
            + math.floor(less % TAKT_TENANT_STEP * one.weight / TAKT_TENANT_STEP)
    end

    -- What a place wants, and what its first waiter needs. `asked`: the field of a tenant that sums it up, which is
    -- wanting for tokens, asking for requests, and the number of a further unit.
    tenants.wanted = function(place, asked)
        return asked == 'wanting' and place.wanting or wanted_by(place, tonumber(asked) or 0)
    end

    tenants.needed = function(place, asked)
        return asked == 'wanting' and place.need or needed_by(place, tonumber(asked) or 0)
    end

    -- What is left to the tenants that go before one. `asked`: as above. `tag`: when this one has had as much, they
    -- have had it, too.
    tenants.left_to_others = function(mine, asked, total, weights, tag, list)
        local left, my_tag = 0, tenants.tag_after(mine, mine[asked], total, weights)
        local max, min, floor = math.max, math.min, math.floor -- this is done for each tenant
        for _, one in ipairs(list or tenants.list) do
            if one ~= mine and one.priority == mine.priority and one.places > 0 then
                local turn, usable, kept = max(floor(total * one.weight / weights), 1), one.usable[asked], 0
                local after = one.tag + floor(min(turn, one[asked]) * TAKT_TENANT_STEP / one.weight)
                if after < my_tag or after == my_tag and one.index < mine.index then
                    local behind = mine.tag > one.tag and tenants.until_even(one, mine.tag) or 0
                    kept = min(max(turn, min(behind, 2 * turn), tenants.needed(one.head, asked)), usable)
                end
                if tag > one.tag then
                    kept = max(kept, min(tenants.until_even(one, tag), usable))
                end
                left = left + kept
            end
        end
        return left
    end

    tenants.share = function(one, total, weights)
        local processes = one.in_turn > 1 and math.max(one.processes, 1) or 1
        return math.max(math.floor(tenants.turn_of(one, total, weights) / processes), 1)
    end

    -- takt_tenant_turn_among: share, shares, ahead and first. `list`, `field`: as of count().
    tenants.among = function(place, own, asked, total, plan, list, field)
        local mine, tag = place[field], 0
        local weights = tenants.rivals(mine.priority, nil, list)
        local share, before, shares, head = tenants.share(mine, total, weights), 0, 0, nil
        for _, other in tenants.each(own) do
            if other[field] == mine and not other.aside and not other.behind and other.turn < place.turn then
                head = head and head.turn < other.turn and head or other
                before, shares = before + 1, shares + shares_of(other)
            end
        end
        local need = head and tenants.needed(head, asked) or 0
        local ahead = shares * share + (head and shares_of(head) * math.max(need - share, 0) or 0)
        ahead = math.min(ahead, plan and mine[asked] - tenants.wanted(place, asked)
            or mine.usable[asked] - tenants.usable(place, asked))
        if plan and head then
            tag = mine.tag + math.floor(math.min(ahead, TAKT_SETTLED_MAX) * TAKT_TENANT_STEP / mine.weight)
        end
        return share, mine.in_turn > 1 and shares_of(place) or 1,
            tenants.left_to_others(mine, asked, total, weights, tag, list) + ahead,
            head and need + before - 1 or 0
    end

    -- takt_tenants_look_inside: sets `inside` of the places of a place's subject to their tenants in the innermost
    -- line.
    tenants.look_inside = function(place, own)
        local level, found = ledger.inner.levels[1], {}
        local within = level.tenants
        for _, other in ipairs(within and within.places or {}) do
            found[other.worker .. ',' .. other.priority] = other
        end
        for priority, other in pairs(level.own or {}) do
            found[other.worker .. ',' .. priority] = other
        end
        for _, other in tenants.each(own) do
            local theirs = other.tenant == place.tenant and found[other.worker .. ',' .. other.priority]
            other.inside = theirs and not theirs.aside and theirs.tenant or nil
            other.turn_inside = other.inside and theirs.turn
        end
        if within then
            tenants.count_inside(own, within)
        end
    end

    -- takt_tenants_turn. What a place has `inside` is of an earlier claim if this one has no subject.
    tenants.turn = function(place, own, asked, total, plan)
        local within = place.inside and ledger.inner and ledger.inner.name and ledger.inner.levels[1].tenants.list
        if not within then
            return tenants.among(place, own, asked, total, plan, tenants.list, 'tenant')
        end
        local subject, tag = place.tenant, 0
        local weights = tenants.rivals(subject.priority)
        local share, shares, ahead, before = tenants.among(place, own, asked,
            tenants.turn_of(subject, total, weights), plan, within, 'inside')
        if plan and ahead > 0 then
            tag = subject.tag
                + math.floor(math.min(ahead, TAKT_SETTLED_MAX) * TAKT_TENANT_STEP / subject.weight)
        end
        return share, shares, ahead + tenants.left_to_others(subject, asked, total, weights, tag), before
    end

    -- goes_after() of core/tenant_inside.c.
    tenants.goes_after = function(a, b)
        local one, other = a.inside, b.inside
        if not one or not other then
            return not one and other ~= nil
        elseif one == other then
            return a.turn_inside > b.turn_inside
        end
        return one.tag > other.tag or one.tag == other.tag and one.index > other.index
    end

    -- takt_tenants_arrange.
    tenants.arrange = function(own)
        local subjects, turns = {}, {}
        tenants.counted = nil
        for _, place in tenants.each(own) do
            local priority = place.priority
            if place.tenant.name == tenants.name then
                subjects[priority], turns[priority] = subjects[priority] or {}, turns[priority] or {}
                table.insert(subjects[priority], place)
                table.insert(turns[priority], place.turn)
            end
        end
        for priority, places in pairs(subjects) do
            tenants.look_inside(places[1], own)
            table.sort(places, tenants.stands_before)
            table.sort(turns[priority])
            for i = 2, #places do
                local place, at = places[i], i
                while at > 1 and tenants.goes_after(places[at - 1], place) do
                    places[at], at = places[at - 1], at - 1
                end
                places[at] = place
            end
            for i, place in ipairs(places) do
                if place.turn ~= turns[priority][i] then
                    place.turn, place.written = turns[priority][i], nil
                end
            end
        end
        table.sort(tenants.places, tenants.stands_before)
    end

    -- Whether a place goes before another one: takt_tenants_precede.
    tenants.precede = function(other, place)
        local one, mine = other.tenant, place.tenant
        if other.priority ~= place.priority then
            return other.priority < place.priority
        elseif one == mine then
            return other.turn < place.turn
        end
        return one.tag < mine.tag or one.tag == mine.tag and one.index < mine.index
    end

    tenants.first = function(own)
        local first
        for _, place in tenants.each(own) do
            if not place.aside and (not first or tenants.precede(place, first)) then
                first = place
            end
        end
        return first
    end

    -- wake_tenants() of core/wake_next.c.
    tenants.wake = function()
        local free, urgent, same, priority, before, ahead = held.free(), 0, 0, -1, {}, {}
        tenants.count()
        for _, place in ipairs(tenants.places) do
            local one = place.tenant
            if free <= urgent then
                break
            elseif place.priority ~= priority then
                urgent, same, priority = urgent + same, 0, place.priority
            end
            if not place.aside then
                local weights = tenants.rivals(priority)
                local kept = (before[one] or 0) * tenants.share(one, limit.concurrency, weights)
                same, before[one] = same + place.wanting, (before[one] or 0) + shares_of(place)
                if place.lacking and place.worker ~= tenants.worker then
                    ahead[one] = ahead[one]
                        or tenants.left_to_others(one, 'wanting', limit.concurrency, weights, 0)
                    if free - urgent - ahead[one] > math.min(kept, one.wanting - place.wanting) then
                        wakes.add(tenants.waker(place))
                    end
                end
            end
        end
    end

    tenants.waker = function(place)
        return place.process ~= '0' and place.process or place.worker
    end
end
