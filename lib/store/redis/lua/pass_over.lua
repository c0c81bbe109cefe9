-- pass_over.lua: the places that a claim of nested work does not wait for (core/pass_over.c).
-- needs: tenant_turns

if tenants then
    tenants.goes_before = function(one, other, asked, total, weights)
        local left = tenants.tag_after(one, one[asked], total, weights)
        local right = tenants.tag_after(other, other[asked], total, weights)
        return left < right or left == right and one.index < other.index
    end

    -- is_behind() of core/pass_over.c. `total`: what a lookahead has of the priced unit, which `asked` sums up.
    tenants.is_behind = function(mine, theirs, asked, total)
        local one, other, weights = mine.tenant, theirs.tenant, tenants.rivals(mine.priority)
        if one ~= other then
            return not tenants.goes_before(other, one, asked, total, weights)
        elseif not ledger.inner.name or not mine.inside or not theirs.inside or mine.inside == theirs.inside then
            return theirs.turn > mine.turn
        end
        local within = ledger.inner.levels[1].tenants.list
        return not tenants.goes_before(theirs.inside, mine.inside, asked, tenants.turn_of(one, total, weights),
            tenants.rivals(mine.priority, nil, within))
    end

    -- Whether others stand in the claim's inner lines, whose places have been taken out.
    tenants.has_company = function()
        for _, level in ipairs(ledger.inner.levels) do
            if level.tenants and level.tenants.places[1] then
                return true
            end
        end
        return false
    end

    -- is_idle() of core/pass_over.c.
    tenants.is_idle = function(place)
        local since, inner, gaps = ledger.now - limit.lookahead, ledger.inner, limit.gaps
        local more, permits = inner.own_more(place.need, place.first), limit.concurrency
        for _, level in ipairs(inner.levels) do
            permits = permits + level.limit.concurrency
        end
        return permits == 0 and gaps.rule() and limit.earliest(since, place.need, more) <= since
            and inner.blocked_until() <= since and inner.due(since, place.need, place.first) <= since
    end

    -- The claim does not wait for the places of these lines that have that priority.
    tenants.pass_over_every = function(lines, priority)
        for _, one in ipairs(lines) do
            one.counted = nil
            for _, place in ipairs(one.places) do
                if place.priority == priority then
                    place.behind, place.away = true, true
                end
            end
        end
    end

    -- The same of the places of inner lines that do not go before the claim's own.
    tenants.pass_over_inside = function(own)
        local room, rooms = limit.room(math.max(ledger.now, ledger.blocked), ledger.now + limit.lookahead)
        local through, throughs = limit.throughput(limit.lookahead)
        local unit, found = tenants.priced_unit(), {}
        local total = limit.units and unit and math.max(rooms[unit], throughs[unit]) or math.max(room, through)
        local asked = not unit and 'wanting' or unit == 0 and 'asking' or unit
        for _, place in ipairs(tenants.places) do
            found[place.priority] = found[place.priority] or {}
            found[place.priority][place.worker] = place
        end
        for priority = 0, 9 do
            local mine = own[priority]
            if mine and ledger.inner.name then
                tenants.look_inside(mine, own)
            end
            for i = mine and (ledger.inner.name and 2 or 1) or NEVER, #ledger.inner.levels do
                local within = ledger.inner.levels[i].tenants
                if within then
                    within.counted = nil
                end
                for _, place in ipairs(within and within.places or {}) do
                    local theirs = found[priority] and found[priority][place.worker]
                    if place.priority == priority then
                        place.away, place.behind = false, theirs and not theirs.aside
                            and tenants.is_behind(mine, theirs, asked, total)
                    end
                end
            end
        end
    end

    -- Returns whether there was one.
    tenants.clear_behind = function(one)
        local found = false
        for _, place in ipairs(one.places) do
            found, place.behind = found or place.behind, nil
        end
        if found then
            one.counted = nil
        end
        return found
    end

    -- takt_pass_over: the places that the claim does not wait for are `behind`.
    tenants.pass_over = function(own)
        local lines = { tenants }
        for _, level in ipairs(ledger.inner.levels) do
            lines[#lines + 1] = level.tenants and level.tenants.list[1] and level.tenants or nil
        end
        for _, one in ipairs(lines) do
            tenants.clear_behind(one)
        end
        tenants.count(own)
        if tenants.has_company() then
            tenants.pass_over_inside(own)
        end
        for priority = 0, 9 do
            if own[priority] and tenants.is_idle(own[priority]) then
                tenants.pass_over_every(lines, priority)
                tenants.count(own)
            end
        end
    end

    -- takt_pass_over_none, in an inner line.
    tenants.pass_over_none = function()
        if tenants.clear_behind(tenants) then
            tenants.trim()
        end
    end
end
