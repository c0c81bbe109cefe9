-- limit.lua: all rules of a limit together; core/limit.c.  A rule and its state are one table.
-- needs: numbers rule

local LOOKAHEAD_MAX = 10000000

-- The limit whose numbers the state is kept under, and the instant of this call.
local rules, lookahead, max_waiting, revision
local now

local function capacity()
    local least = NEVER
    for i = 1, #rules do
        local n = rules[i].algorithm.capacity(rules[i])
        least = n < least and n or least
    end
    return least
end

local function throughput(span)
    local least = ROOM_MAX
    for i = 1, #rules do
        local n = divide(span, rules[i].tokens, 0, rules[i].span)
        least = n < least and n or least
    end
    return least
end

local function rest()
    for i = 1, #rules do
        rules[i].algorithm.rest(rules[i], now)
    end
end

local function earliest(t, cost)
    local agreed, i, count = 0, 1, #rules
    while agreed < count do
        local at = rules[i].algorithm.earliest(rules[i], t, cost)
        if at == NEVER then
            return NEVER
        end
        agreed = at > t and 1 or agreed + 1
        t = at
        i = i < count and i + 1 or 1
    end
    return t
end

local function commit(t, cost)
    for i = 1, #rules do
        rules[i].algorithm.commit(rules[i], t, cost)
    end
end

local function room(from, till)
    local least = ROOM_MAX
    if #rules > 1 then
        from = earliest(from, 1)
    end
    for i = 1, #rules do
        local n = rules[i].algorithm.room(rules[i], from, till)
        least = n < least and n or least
    end
    return least
end

local function due(from, n)
    n = n > ROOM_MAX and ROOM_MAX or n
    if #rules > 1 then
        from = earliest(from, 1)
    end
    local latest = from
    for i = 1, #rules do
        local at = rules[i].algorithm.due(rules[i], from, n)
        latest = at > latest and at or latest
    end
    return latest < EXACT and latest or EXACT
end

local function exhaust(at)
    for i = 1, #rules do
        rules[i].algorithm.exhaust(rules[i], at)
    end
end

local function rest_at()
    local latest = 0
    for i = 1, #rules do
        local at = rules[i].algorithm.rest_at(rules[i])
        latest = at > latest and at or latest
    end
    return latest
end

local function pull_back()
    for i = 1, #rules do
        rules[i].algorithm.pull_back(rules[i], now, LOOKAHEAD_MAX, lookahead)
    end
end
