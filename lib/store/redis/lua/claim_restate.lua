-- claim_restate.lua: a worker's places become what its wants say (core/claim_restate.c).
-- needs: claim_wants claim_turn

-- The worker's places as its wants state them. `old`: those before the claim. `told`: on a level inside, the function
-- that gives what the amounts of a want are there.
function claim.tell(old, told)
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
end

-- Updates the worker's places to its wants.
function claim.restate()
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
end
