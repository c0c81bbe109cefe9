-- claim_wants.lua: reads what the worker's waiters want.
-- needs: claim_state

-- Reads the cost and the amounts of further units. `told` is the text of both: a reply with slots repeats it.
local function read_cost(want, told)
    local more
    want.cost, more = read_amounts(told)
    want.told, want.all = more and told, more
    want.more = claim.inner and claim.inner.own_more(want.cost, more) or limit.more_of(more)
    want.needs = want.more and { unpack(want.more) }
end

-- Whether no rule gives less than a waiter of the want takes.
local function can_give(want)
    for unit, amount in ipairs(want.more or {}) do
        if amount > claim.largest_of[unit] then
            return false
        end
    end
    return want.cost <= claim.largest
end

local function least_of(more, least)
    local found = {}
    for unit, amount in ipairs(more) do
        found[unit] = math.min(amount, least and least[unit] or amount)
    end
    return found
end

-- Reads the wants, and finds the lowest cost that can ever be given. The cost is 1 if not all wants are listed.
function claim.read_wants()
    if not claim.waiting then
        local told = tenants and tenants.split(ARGV[9]) or ARGV[9]
        local waiting, weight, newcomers, offer = told:match('^(%d+)%*?(%d*)!?,?(%d*)/?([%d,]*)$')
        local slot, cost, priority = offer:match('^(%d+),(%d+),(%d)$')
        claim.waiting, claim.newcomers = tonumber(waiting), tonumber(newcomers) or 0
        claim.weight = math.max(math.min(tonumber(weight) or 1, TAKT_WEIGHT_MAX), 1)
        claim.offer = slot and { slot = tonumber(slot), cost = tonumber(cost), priority = tonumber(priority) }
    end
    local unlisted, least, least_more = claim.waiting, nil, nil
    for i = claim.first_want, #ARGV - 3, 4 do
        local latest, told = tonumber(ARGV[i + 1]), ARGV[i + 2]
        claim.wants[#claim.wants + 1] = {
            count = tonumber(ARGV[i]),
            latest = latest < 0 and NEVER or latest,
            cost = tonumber(told),
            priority = tonumber(ARGV[i + 3]),
        }
        local want = claim.wants[#claim.wants]
        if not want.cost or limit.count_more() > 0 then
            read_cost(want, told)
        end
        unlisted, want.possible = unlisted - want.count, can_give(want)
        if want.possible then
            want.possible = not claim.inner or claim.inner.can_give(want)
            least = least and least <= want.cost and least or want.cost
            least_more = want.more and least_of(want.more, least_more)
        end
    end
    claim.least_cost = unlisted <= 0 and least or 1
    claim.least_more = unlisted <= 0 and least_more or nil
end
