-- tenants_claim.lua: what a claim decides otherwise among tenants.
-- needs: tenant_turns pass_over

if tenants then
    -- A claim begins: it stands in line among tenants. What it decides otherwise there is put into `claim`. False:
    -- there is no space for it.
    tenants.lead = function(claim, offers)
        local joined = tenants.join(claim.wants)
        claim.old = line.record_of(claim.worker) or {}
        if not joined then
            claim.again_at, claim.parked = ledger.now + TAKT_KEEPALIVE_US, claim.waiting > 0
            claim.unlisted = true
            for _, place in ipairs(tenants.places) do
                claim.least_urgent = place.worker == claim.worker and claim.least_urgent or place.priority
            end
        end
        offers.ask = function()
            return false
        end
        claim.is_weighed = offers.ask
        for name, decide in pairs(tenants.decisions(claim)) do
            claim[name] = decide
        end
        return joined
    end

    tenants.decisions = function(claim)
        return {
            look = function(priority, first, plan, seen)
                local place, own, all = first or claim.own[priority], claim.own, line.all
                local urgent, permits, permits_of, others = 0, NEVER, 1, nil
                for higher = 0, priority - 1 do
                    local mine = own[higher]
                    urgent = urgent + all.wanting[higher] + (mine and mine.wanting or 0)
                end
                if not plan or tenants.is_inner then -- otherwise trim() has counted
                    tenants.count(own)
                end
                if not tenants.is_inner and ledger.inner and ledger.inner.name then
                    tenants.look_inside(place, own)
                end
                local room, rooms = claim.room(claim.from, ledger.now + limit.lookahead)
                local through, throughs = limit.throughput(limit.lookahead)
                local share, shares, ahead, before =
                    tenants.turn(place, own, 'wanting', math.max(room, through), plan)
                if limit.concurrency > 0 then
                    local kept, free = nil, held.free()
                    local _
                    permits_of, _, kept = tenants.turn(place, own, 'wanting', limit.concurrency)
                    permits = math.min(free - urgent - kept, shares * permits_of)
                end
                others = limit.units and {}
                for _, unit in ipairs(limit.units or {}) do
                    local asked, before_it, totals = unit == 0 and 'asking' or unit, 0, line.totals(unit)
                    local turn, _, kept, needed =
                        tenants.turn(place, own, asked, math.max(rooms[unit], throughs[unit]), plan)
                    for higher = 0, priority - 1 do
                        local mine = own[higher]
                        before_it = before_it + totals[higher] + (mine and wanted_by(mine, unit) or 0)
                    end
                    others[unit] = { share = turn, ahead = before_it + kept, room = rooms[unit],
                        first = before_it + needed }
                end
                seen = seen or claim.seen
                seen.share, seen.permits, seen.room, seen.urgent = share, permits, room, urgent
                seen.ahead, seen.first = urgent + ahead, urgent + before
                seen.shares, seen.permits_of, seen.others = shares, permits_of, others
                return seen
            end,

            head_late_at = function(priority)
                local head, lookahead = nil, limit.lookahead
                for _, place in ipairs(tenants.places) do
                    if not place.aside and tenants.precede(place, claim.own[priority]) then
                        if head then
                            return NEVER
                        end
                        head = place
                    end
                end
                if not head then
                    return NEVER
                end
                local soonest = ledger.now + math.floor(lookahead / TAKT_LOOKAHEAD_FRACTION)
                local late_at = math.max(head.again + lookahead + 1, soonest)
                return late_at < ledger.now + TAKT_KEEPALIVE_US and late_at or NEVER
            end,

            need_of_head = function(places)
                local first = tenants.first(places)
                if not first or first ~= places[first.priority] then
                    return 0
                end
                return first.need > 1 and first.need or 0, first.needs
            end,

            hurry_first = function()
                local first = tenants.first(claim.own)
                if not first or first == claim.own[first.priority] then
                    return
                end
                local seen = claim.look(first.priority, first, true)
                if seen.permits > 0 and first.again > claim.when(first, seen)
                    + math.floor(limit.lookahead / TAKT_LOOKAHEAD_FRACTION) then
                    wakes.add(tenants.waker(first))
                end
            end,
        }
    end
end
