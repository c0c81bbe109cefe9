-- limit.lua: all rules of a limit together (core/numbers.c). A rule and its state are one table.
-- needs: call numbers rule

-- The debt of a rule that does not fit in its state: earliest_of and its neighbours of core/numbers.c.
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
    adapt = nil, -- the effects of penalties
    brake = nil, -- the last of the rules, if the ledger has a brake

    -- Whether some rules count requests, of which each takes one; and whether no rule counts tokens.
    counts_requests = function()
        local some, only = false, limit.rules[1] ~= nil
        for _, one in ipairs(limit.rules) do
            some, only = some or one.requests, only and one.requests
        end
        return some, only
    end,

    -- The most tokens, or requests, that can be taken at one instant.
    capacity = function(requests)
        local least = NEVER
        for _, one in ipairs(limit.rules) do
            local n = one.requests == (requests or false) and one.algorithm.capacity(one) or NEVER
            least = n < least and n or least
        end
        return least == NEVER and TAKT_ROOM_MAX or least
    end,

    -- Returns tokens and requests.
    throughput = function(span)
        local tokens, requests = TAKT_ROOM_MAX, TAKT_ROOM_MAX
        for _, one in ipairs(limit.rules) do
            local n = numbers.divide(span, one.tokens, 0, one.span)
            if one.requests then
                requests = n < requests and n or requests
            else
                tokens = n < tokens and n or tokens
            end
        end
        return tokens, requests
    end,

    rest = function()
        for _, one in ipairs(limit.rules) do
            one.algorithm.rest(one, ledger.now)
            one.owed = 0
        end
    end,

    earliest = function(t, cost)
        for _, one in ipairs(limit.rules) do -- one round: later instants suit, too
            t = debts.earliest(one, t, one.requests and 1 or cost)
            if t == NEVER then
                break
            end
        end
        return t
    end,

    -- Takes `cost` tokens for `requests` requests together.
    commit = function(t, cost, requests)
        for _, one in ipairs(limit.rules) do
            one.algorithm.commit(one, t, one.requests and requests or cost)
        end
    end,

    -- Returns tokens and requests.
    room = function(from, till)
        local tokens, requests = TAKT_ROOM_MAX, TAKT_ROOM_MAX
        if limit.rules[2] then
            from = limit.earliest(from, 1)
        end
        for _, one in ipairs(limit.rules) do
            local n = debts.room(one, from, till)
            if one.requests then
                requests = n < requests and n or requests
            else
                tokens = n < tokens and n or tokens
            end
        end
        return tokens, requests
    end,

    due = function(from, tokens, requests)
        if limit.rules[2] then
            from = limit.earliest(from, 1)
        end
        local latest = from
        for _, one in ipairs(limit.rules) do
            local n = one.requests and requests or tokens
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
