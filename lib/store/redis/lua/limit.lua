-- limit.lua: all rules of a limit together (core/numbers.c). A rule and its state are one table.
-- needs: call numbers rule

-- The debt of a rule that does not fit in its state: core/debt.h.
local debts
debts = {
    due_behind = function(one, n)
        local at = one.algorithm.due(one, 0, one.owed + n)
        return at < TAKT_WINDOW_END and at or TAKT_WINDOW_END
    end,

    earliest = function(one, t, cost)
        local at = one.algorithm.earliest(one, t, cost)
        if at ~= NEVER and one.owed > 0 and not one.algorithm.owes then
            at = math.max(at, debts.due_behind(one, cost))
        end
        return at
    end,

    room = function(one, from, till)
        if one.owed == 0 or one.algorithm.owes then
            return one.algorithm.room(one, from, till)
        end
        return till < from and 0 or math.max(one.algorithm.room(one, 0, till) - one.owed, 0)
    end,

    due = function(one, from, n)
        if one.owed == 0 or one.algorithm.owes then
            return one.algorithm.due(one, from, n)
        end
        return math.max(from, debts.due_behind(one, n))
    end,

    charge_at = function(one, at, n)
        if n > 0 then
            local charge = one.algorithm.charge or one.algorithm.commit
            charge(one, at, n)
        end
    end,

    pay_at = function(one, at)
        local n = math.min(one.algorithm.room(one, at, at), one.owed)
        debts.charge_at(one, at, n)
        one.owed = one.owed - n
        return n > 0
    end,

    -- Pays the debt that falls due until `till`, in parts of a period.
    pay = function(one, till)
        for _ = 1, TAKT_TAKE_STEPS_MAX do
            local at = one.owed > 0 and one.algorithm.earliest(one, 0, 1) or NEVER
            if at > till or not debts.pay_at(one, math.min(at + math.floor(one.span / TAKT_PAY_PARTS), till)) then
                break
            end
        end
    end,

    -- After many periods without calls: each period but the last ones pays all its tokens.
    pay_for_pause = function(one)
        local at = one.algorithm.earliest(one, 0, 1)
        local periods = math.floor((ledger.now - at) / one.span) - TAKT_PAY_PERIODS
        if periods > 0 then
            one.owed = periods > math.floor(one.owed / one.tokens) and 0 or one.owed - periods * one.tokens
            debts.pay_at(one, at + (periods + 1) * one.span)
        end
    end,
}

-- An amount, and those of further units after slashes ("1500/20"). Returns the number, and a list or nil.
local function read_amounts(told)
    local first, a, b, c = tonumber(told), nil, nil, nil
    if first then
        return first
    end
    first, a, b, c = told:match('^(%-?%d+)/(%-?%d+)/?(%-?%d*)/?(%-?%d*)$')
    return tonumber(first), { tonumber(a), tonumber(b) or 0, tonumber(c) or 0 }
end

-- The limit whose numbers the state follows.
local limit
limit = {
    rules = {},
    lookahead = 0,
    max_waiting = 0,
    when_full = '', -- who leaves a full queue: 'o' the oldest, 'u' the less urgent, '' the claimer's newcomers
    concurrency = 0, -- bound of permits held at once; 0: no bound
    lease = 0,
    revision = 0,
    span = 0, -- duration of the block of a malformed ledger
    units = nil, -- the units to look at beside tokens: 0 is requests, then further ones; nil: tokens alone
    adapt = nil, -- the effects of penalties
    gaps = nil, -- the functions of gaps.lua; nil: there can be none
    brake = nil, -- the last of the rules, if the ledger has a brake

    -- Sets `units`: takt_numbers_units of core/numbers.h.
    find_units = function()
        local last = nil
        for _, one in ipairs(limit.rules) do
            last = one.unit and math.max(one.unit, last or 0) or last
        end
        limit.units = last and {}
        for unit = 0, last or -1 do
            limit.units[unit + 1] = unit
        end
    end,

    -- The number of further units, which rules count beside tokens and requests.
    count_more = function()
        return limit.units and #limit.units - 1 or 0
    end,

    -- What a request takes of each further unit that is counted, and at least 1; nil: none is counted.
    more_of = function(told)
        local each = limit.count_more() > 0 and {} or nil
        for unit = 1, limit.count_more() do
            each[unit] = math.max(told and told[unit] or 0, 1)
        end
        return each
    end,

    -- Whether no rule counts anything else.
    counts_only_requests = function()
        local only = limit.rules[1] ~= nil
        for _, one in ipairs(limit.rules) do
            only = only and one.unit == 0
        end
        return only
    end,

    -- The most of a unit that can be taken at one instant; nil: of tokens.
    capacity = function(unit)
        local least = NEVER
        for _, one in ipairs(limit.rules) do
            local n = one.unit == unit and one.algorithm.capacity(one) or NEVER
            least = n < least and n or least
        end
        return least == NEVER and TAKT_ROOM_MAX or least
    end,

    -- What `requests` like requests take of a unit other than tokens. `more`: what one takes of further units; nil: one
    -- of each.
    part = function(unit, requests, more)
        return (unit == 0 or not more) and requests or requests * more[unit]
    end,

    -- No bound, for each of the units beside tokens. Nil: there are none.
    unbounded = function()
        local others = limit.units and {}
        for _, unit in ipairs(limit.units or {}) do
            others[unit] = TAKT_ROOM_MAX
        end
        return others
    end,

    -- Returns tokens, and what there is of the other units.
    throughput = function(span)
        local tokens, others = TAKT_ROOM_MAX, limit.units and limit.unbounded()
        for _, one in ipairs(limit.rules) do
            local n, unit = numbers.divide(span, one.tokens, 0, one.span), one.unit
            if unit then
                others[unit] = n < others[unit] and n or others[unit]
            else
                tokens = n < tokens and n or tokens
            end
        end
        return tokens, others
    end,

    -- The inverse: in how long the rules give so much.
    worth = function(tokens, others)
        local longest = 0
        for _, one in ipairs(limit.rules) do
            local amount = one.unit and others[one.unit] or not one.unit and tokens or 0
            local us = numbers.divide(amount, one.span, 0, one.tokens)
            longest = us > longest and us or longest
        end
        return math.min(longest, TAKT_SPAN_MAX_US)
    end,

    rest = function()
        for _, one in ipairs(limit.rules) do
            one.algorithm.rest(one, ledger.now)
            one.owed = 0
        end
    end,

    -- `more`: as in part().
    earliest = function(t, cost, more)
        for _, one in ipairs(limit.rules) do -- one round: later instants suit, too
            t = debts.earliest(one, t, one.unit and limit.part(one.unit, 1, more) or cost)
            if t == NEVER then
                break
            end
        end
        return t
    end,

    -- Takes `cost` tokens for `requests` requests together, each of which takes `more`.
    commit = function(t, cost, requests, more)
        for _, one in ipairs(limit.rules) do
            one.algorithm.commit(one, t, one.unit and limit.part(one.unit, requests, more) or cost)
        end
    end,

    -- Returns tokens, and what there is of the other units.
    room = function(from, till)
        local tokens, others = TAKT_ROOM_MAX, limit.units and limit.unbounded()
        if limit.rules[2] then
            from = limit.earliest(from, 1)
        end
        for _, one in ipairs(limit.rules) do
            local n, unit = debts.room(one, from, till), one.unit
            if unit then
                others[unit] = n < others[unit] and n or others[unit]
            else
                tokens = n < tokens and n or tokens
            end
        end
        return tokens, others
    end,

    -- `others`: the sums of the other units; 1 where they are not told.
    due = function(from, tokens, others)
        if limit.rules[2] then
            from = limit.earliest(from, 1)
        end
        local latest = from
        for _, one in ipairs(limit.rules) do
            local n = one.unit and (others[one.unit] or 1) or not one.unit and tokens
            local at = debts.due(one, from, n > TAKT_ROOM_MAX and TAKT_ROOM_MAX or n)
            latest = at > latest and at or latest
        end
        return latest < TAKT_EXACT_MAX and latest or TAKT_EXACT_MAX
    end,

    exhaust = function(at)
        for _, one in ipairs(limit.rules) do
            one.algorithm.exhaust(one, at)
        end
    end,

    rest_of = function(one)
        local at = one.algorithm.rest_at(one)
        if one.owed > 0 and not one.algorithm.owes then
            at = math.max(at, math.min(debts.due_behind(one, 0) + 2 * one.span, TAKT_WINDOW_END))
        end
        return at
    end,

    rest_at = function()
        local latest = 0
        for _, one in ipairs(limit.rules) do
            local at = limit.rest_of(one)
            latest = at > latest and at or latest
        end
        return latest
    end,

    -- Pays the debts that fall due until `till`. Nil: until now, possibly after a long pause.
    pay = function(till)
        for _, one in ipairs(limit.rules) do
            if one.owed > 0 and not one.algorithm.owes then
                if till == nil then
                    debts.pay_for_pause(one)
                end
                debts.pay(one, till or ledger.now)
            end
        end
    end,

    pull_back = function()
        local reach = TAKT_LOOKAHEAD_MAX_US + 2 * limit.lookahead
        for _, one in ipairs(limit.rules) do
            one.algorithm.pull_back(one, ledger.now, reach, limit.lookahead)
        end
    end,
}
