-- take.lua: takt_numbers_take of core/numbers.c. Appends runs of seven numbers each to the reply.
-- needs: limit

local reply_head = TAKT_AWARD_HEAD + (held_named and TAKT_PERMITS_VALUES or 0) -- fields of the reply before the runs

local take
take = {
    -- Adds a slot to the last run if the spacing is even. Otherwise begins a new run. Such runs have whole microseconds
    -- only.
    -- `told`: what the slot is for, as the claim has it: the cost, and behind it further amounts.
    append_slot = function(runs, slot, told)
        local last = #runs - TAKT_AWARD_RUN + 1
        if last > reply_head and runs[last + 6] == told and runs[last + 4] == 1 and slot >= runs[last] then
            local count = runs[last + 5]
            if count == 1 then
                runs[last + 2], runs[last + 3] = slot - runs[last], 0
            end
            if slot == runs[last] + count * runs[last + 2] then
                runs[last + 5] = count + 1
                return true
            end
        end
        return take.append(runs, { slot, 0, 0, 0, 1, 1, told })
    end,

    append = function(runs, run)
        local last = #runs
        if last - reply_head >= TAKT_RUNS_MAX * TAKT_AWARD_RUN then
            return false
        end
        for i = 1, TAKT_AWARD_RUN do
            runs[last + i] = run[i]
        end
        return true
    end,

    -- How often `cost` can be taken at t, at most `count` times. At one instant, taking one by one gives the same as
    -- taking all at once.
    times_at = function(t, cost, more, count)
        for _, one in ipairs(limit.rules) do
            local n = math.floor(debts.room(one, t, t) / (one.unit and limit.part(one.unit, 1, more) or cost))
            count = n < count and n or count
        end
        return count > 1 and count or 1
    end,

    -- Takes one slot, or all slots of its instant if the previous slot has the same instant; 0: the runs are full.
    take_at = function(t, want, count, runs)
        local cost, more = want.cost, want.more
        if not take.append_slot(runs, t, want.told or cost) then
            return 0
        end
        local last, n = #runs - TAKT_AWARD_RUN + 1, 1
        if runs[last + 5] > 1 and runs[last + 2] == 0 then
            n = take.times_at(t, cost, more, count)
            runs[last + 5] = runs[last + 5] + n - 1
        end
        limit.commit(t, n * cost, n, more)
        return n
    end,

    -- Takes up to `count` times what a want takes: the earliest slots between `from` and `till`. Returns their number.
    take = function(from, want, count, till, runs)
        local first, cost, more, told = limit.rules[1], want.cost, want.more, want.told or want.cost
        limit.pay(till)
        local is_even = first and not limit.rules[2] and (first.owed == 0 or first.algorithm.owes)
        local series = is_even and first.algorithm.series
        local taken, steps = 0, 0
        while taken < count and steps < TAKT_TAKE_STEPS_MAX do
            local t, n = limit.earliest(from, cost, more), nil
            if t > till then
                break
            elseif series then
                local run = {}
                if #runs - reply_head >= TAKT_RUNS_MAX * TAKT_AWARD_RUN then
                    break
                end
                local part = first.unit and limit.part(first.unit, 1, more) or cost
                n = series(first, from, part, count - taken, till, run)
                run[7] = told
                if n > 1 or not take.append_slot(runs, t, told) then
                    take.append(runs, run)
                end
            else
                n = take.take_at(t, want, count - taken, runs)
                if n == 0 then
                    break
                end
            end
            taken, steps = taken + n, steps + 1
        end
        return taken
    end,
}
