-- take.lua: takt_limit_take of core/limit.c.  Runs are seven numbers each, appended to the reply.
-- needs: limit

local RUN_FIELDS = 7
local RUNS_MAX = 64
local STEPS_MAX = 1000

-- One slot: as one more of the last run where it is evenly spaced from it.  Such runs have whole microseconds only.
local function append_slot(runs, before, slot, cost)
    local last = #runs - RUN_FIELDS + 1
    if last > before and runs[last + 6] == cost and runs[last + 4] == 1 then
        local count = runs[last + 5]
        if count == 1 then
            runs[last + 2], runs[last + 3] = slot - runs[last], 0
        end
        if slot == runs[last] + count * runs[last + 2] then
            runs[last + 5] = count + 1
            return true
        end
    end
    if #runs - before >= RUNS_MAX * RUN_FIELDS then
        return false
    end
    last = #runs
    runs[last + 1], runs[last + 2], runs[last + 3], runs[last + 4] = slot, 0, 0, 0
    runs[last + 5], runs[last + 6], runs[last + 7] = 1, 1, cost
    return true
end

-- How often `cost` can be taken at t, at most `count` times.  Taken at one instant it is as if it were taken at once.
local function times_at(t, cost, count)
    for i = 1, #rules do
        local n = floor(rules[i].algorithm.room(rules[i], t, t) / cost)
        count = n < count and n or count
    end
    return count > 1 and count or 1
end

-- One slot, or all that there are at its instant where the one before was there as well; 0: there is no run for them.
local function take_at(t, cost, count, runs, before)
    if not append_slot(runs, before, t, cost) then
        return 0
    end
    local last, n = #runs - RUN_FIELDS + 1, 1
    if runs[last + 5] > 1 and runs[last + 2] == 0 then
        n = times_at(t, cost, count)
        runs[last + 5] = runs[last + 5] + n - 1
    end
    commit(t, n * cost)
    return n
end

-- Takes up to `count` times `cost` tokens, the earliest slots from `from` on that are <= till; runs has `before`
-- fields that are none.  Returns the number taken.
local function take(from, cost, count, till, runs, before)
    local rule = rules[1]
    local series = #rules == 1 and rule.algorithm.series
    local taken, steps, run = 0, 0, {}
    while taken < count and steps < STEPS_MAX do
        local t, n = earliest(from, cost), nil
        if t > till then
            break
        elseif series then
            if #runs - before >= RUNS_MAX * RUN_FIELDS then
                break
            end
            n = series(rule, from, cost, count - taken, till, run)
            if n > 1 or not append_slot(runs, before, t, cost) then
                for i = 1, RUN_FIELDS do
                    runs[#runs + 1] = run[i]
                end
            end
        else
            n = take_at(t, cost, count - taken, runs, before)
            if n == 0 then
                break
            end
        end
        taken, steps = taken + n, steps + 1
    end
    return taken
end
