-- worth.lua: what a turn is worth, core/worth.c.
-- needs: line limit

local worth
worth = {
    step = function()
        return math.max(limit.lookahead, TAKT_WORTH_STEP)
    end,

    of = function(span)
        local numbers_of = numbers.divide(span, TAKT_WORTH_STEP, 0, worth.step())
        return math.max(math.min(numbers_of, TAKT_OWED_MAX), 1)
    end,

    -- What the first waiter of a place needs, in the time in which the rules give it.
    need_of = function(place)
        local needs = {}
        for _, unit in ipairs(limit.units or {}) do
            needs[unit] = needed_by(place, unit)
        end
        return limit.worth(place.need, needs)
    end,

    -- takt_worth_note. `others`: what was given of other units than tokens, by unit.
    note = function(priority, place, given, others)
        local amounts, least = {}, worth.need_of(place)
        for unit, view in pairs(others or {}) do
            amounts[unit] = view.given
        end
        line.each_other(priority, function(other)
            least = math.min(least, worth.need_of(other))
        end)
        local share = math.floor(limit.lookahead / (line.all.active[priority] + 1))
        place.moves, place.usual = worth.of(limit.worth(given, amounts)), worth.of(math.max(share, least))
    end,

    -- takt_worth_before. Returns tokens, and a table of the other units.
    before = function(count, others)
        local part = TAKT_WORTH_AHEAD_PART * TAKT_WORTH_STEP
        local span = numbers.divide(math.min(count, TAKT_WORTH_AHEAD_MAX) * others, worth.step(), 0, part)
        local tokens, others_of = limit.throughput(span)
        return tokens, others_of or {}
    end,
}
