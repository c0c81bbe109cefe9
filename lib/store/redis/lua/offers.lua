-- offers.lua: slots in hand that workers hand on to more urgent work (core/offers.c).
-- needs: line take

-- A slot that also needs a permit, or takes further units, is not handed on.
local function offers_nothing()
    return limit.concurrency > 0 or limit.count_more() > 0
end

local claim_is_distant = (ARGV[9] or ''):find('!', 1, true)
local offers
offers = {
    -- Whether the ledger keeps the claim's offer: more urgent waiters of other workers need it.
    accept = function(offer)
        if not offer or ledger.asked == 0 or not line or #ledger.offers == TAKT_OFFERS_MAX
            or offers_nothing() or not offer_can_be_used(offer) then
            return false
        end
        local needed = 0
        for _, other in ipairs(ledger.offers) do
            needed = needed - other.cost
        end
        for priority = 0, offer.priority - 1 do
            needed = needed + line.all.wanting[priority]
        end
        if needed <= 0 then
            return false
        end
        ledger.offers[#ledger.offers + 1] = offer
        return true
    end,

    -- The number of other workers' places with a lower priority. 0 if another worker has a place with a higher
    -- priority.
    behind = function(priority)
        local count = 0
        for other = 0, line and 9 or -1 do
            if line.all.active[other] > 0 and other < priority then
                return 0
            end
            count = count + (other > priority and line.all.active[other] or 0)
        end
        return count
    end,

    -- Whether the other workers must offer slots to the caller's most urgent place.
    ask = function(priority, place)
        local from = math.max(ledger.now, ledger.blocked)
        if claim_is_distant or place.accepted > 0 or ledger.asked > 0 or ledger.offers[1] or offers_nothing() then
            return false
        end
        local behind = offers.behind(priority)
        if behind == 0 then
            return false
        end
        local slots, others = limit.throughput(limit.lookahead)
        slots = others and math.min(slots, others[0]) or slots
        if slots < TAKT_OFFERS_SLOTS_MIN or behind > TAKT_OFFERS_WORKERS_MAX * slots then
            return false
        end
        local first = limit.earliest(from, place.need)
        if first <= from + math.floor(limit.lookahead / TAKT_OFFERS_NEAR) or first > from + 2 * limit.lookahead then
            return false
        end
        ledger.asked, ledger.asker = ledger.now, ARGV[7]
        return true
    end,

    -- Whether the worker's place still waits for the offers that were asked for it.
    awaited = function(priority)
        return ledger.asked > 0 and ledger.asker == ARGV[7] and offers.behind(priority) > 0
            and ledger.asked + math.floor(limit.lookahead / TAKT_OFFERS_AWAITED) >= ledger.now
    end,

    -- Appends offers for a want to the runs. Returns their number.
    take = function(from, want, runs)
        local count = 0
        while count < want.count and ledger.offers[1] and not offers_nothing() do
            local best
            for i, offer in ipairs(ledger.offers) do
                if offer.cost == want.cost and offer.slot >= from and offer.slot <= want.latest
                    and not (best and ledger.offers[best].slot <= offer.slot) then
                    best = i
                end
            end
            local told = want.told or want.cost
            if not best or not take.append(runs, { ledger.offers[best].slot, 0, 0, 0, 1, 1, told }) then
                break
            end
            table.remove(ledger.offers, best)
            count = count + 1
        end
        return count
    end,
}
