-- gaps.lua: slots of the paced rule that were passed over, because an inner limit puts off the next slot
-- (core/gaps.c). The table, limit.gaps, is made only if the ledger may have gaps. The runs are ledger.gaps, each with
-- `us`, `parts`, `till` and `count`, and beside them `unused` (takt_gaps.unused_us; nil: 0).
-- needs: limit

if inner_keys or stored and stored:find(';v', 1, true) then
    local gaps
    gaps = {
        -- The only paced rule beside the brake; nil: there is none, or more than one.
        find_rule = function(rules)
            local found
            for _, one in ipairs(rules) do
                if one ~= limit.brake and one.algorithm == rule.made.g then
                    if found or (one.unit or 0) > 0 then
                        return nil
                    end
                    found = one
                end
            end
            return found
        end,

        -- The rule whose slots are passed over; nil: there are no gaps at present. A block's pace adds nothing to a
        -- rule without a burst.
        rule = function()
            local one, braked = gaps.find_rule(limit.rules), limit.brake
            local is_pace = braked and braked.algorithm ~= rule.made.g
            return (not braked or is_pace and one == limit.rules[1] and one.burst == 1) and one or nil
        end,

        -- The emission intervals of `own`, which is what rule() is of the outermost level, and of the inner level in
        -- place, in the same parts. Nil: the inner one counts others, or they are too long to compare.
        compare = function(own)
            local theirs = gaps.find_rule(limit.rules)
            if not own or not theirs or (own.unit or -1) ~= (theirs.unit or -1) then
                return nil
            end
            local interval, other = own.span * theirs.tokens, theirs.span * own.tokens
            if interval > TAKT_EXACT_MAX / 2 or other > TAKT_EXACT_MAX / 2 then
                return nil
            end
            return interval, other
        end,

        -- takt_gaps_suit, of the inner level in place.
        suit = function(own)
            local interval, theirs = gaps.compare(own)
            return interval and theirs % interval == 0 or false
        end,

        -- takt_gaps_leave, of the inner level in place.
        leave = function(own, tokens)
            local interval, theirs = gaps.compare(own)
            if not interval or theirs <= interval then
                return tokens
            end
            return (numbers.divide(tokens, theirs, 0, math.ceil(theirs / interval) * interval))
        end,

        slot_of = function(run, i)
            local one = gaps.rule()
            local parts = run.parts + i * one.interval_parts
            local part = parts % one.tokens
            return run.us + i * one.interval_us + (parts - part) / one.tokens, part
        end,

        -- How many emission intervals fit between two instants; -1: none.
        intervals_between = function(us, parts, till, one)
            one = one or gaps.rule()
            if till < us or till == us and parts > 0 then
                return -1
            end
            return math.min((numbers.divide(till - us, one.tokens, -parts, one.span)), TAKT_GAP_MAX)
        end,

        -- takt_gaps_run, under the ledger's rule or that one.
        run = function(us, parts, till, one)
            local count = (one or gaps.rule()).interval_us > 0 and gaps.intervals_between(us, parts, till, one) or 0
            return { us = us, parts = parts, till = till, count = count }
        end,

        -- How many slots of a run are not later than that.
        count_until = function(run, till)
            if till < run.us then
                return 0
            elseif till >= run.till then
                return run.count
            end
            return math.min(gaps.intervals_between(run.us, run.parts, till) + 1, run.count)
        end,

        -- Drops the first slots of a run.
        skip = function(at, count)
            local run = ledger.gaps[at]
            run.us, run.parts = gaps.slot_of(run, count)
            run.count = run.count - count
            if run.count <= 0 then
                table.remove(ledger.gaps, at)
            end
        end,

        unused_enough = function()
            return TAKT_GAPS_UNUSED_LOOKAHEADS * limit.lookahead
        end,

        -- By how much an unused gap moves the instant on.
        unused_step = function()
            return math.min(TAKT_GAPS_UNUSED_INTERVALS * (gaps.rule().interval_us + 1), 2 * gaps.unused_enough())
        end,

        note_unused = function(count)
            local enough, step, now = gaps.unused_enough(), gaps.unused_step(), ledger.now
            if step == 0 or not gaps.are_used(now) then
                return
            end
            local unused = math.max(ledger.gaps.unused or 0, now)
                + math.min(count, math.floor(enough / step) + 1) * step
            ledger.gaps.unused = unused > now + enough and now + 3 * enough or unused
        end,

        note_used = function(now)
            if gaps.are_used(now) and ledger.gaps.unused then
                local unused = ledger.gaps.unused - gaps.unused_step() / 2
                ledger.gaps.unused = unused > now and unused or nil
            end
        end,

        -- takt_gaps_are_used.
        are_used = function(now)
            return (ledger.gaps.unused or 0) <= now + 2 * gaps.unused_enough()
        end,

        -- The instant that counts unused gaps when nothing but time has passed.
        unused_now = function()
            local unused, enough, now = ledger.gaps.unused or 0, gaps.unused_enough(), ledger.now
            local anew = unused > now + enough and gaps.are_used(now)
            return unused > now and not anew and math.min(unused, now + 3 * enough) or nil
        end,

        tidy = function()
            local runs, one = ledger.gaps, gaps.rule()
            runs.unused = gaps.unused_now()
            local last = runs[#runs]
            if not last then
                return
            elseif one then
                local us, parts = gaps.slot_of(last, last.count - 1)
                if us < one.us or us == one.us and parts < one.parts then
                    for at = #runs, 1, -1 do
                        local past = gaps.count_until(runs[at], ledger.now - 1)
                        if past > 0 then
                            gaps.note_unused(past)
                            gaps.skip(at, past)
                        end
                    end
                    return
                end
            end
            ledger.gaps = { unused = runs.unused }
        end,

        -- The first instant at which a token moves TAT.
        first_from = function(from)
            local one = gaps.rule()
            if one.us < from then
                return from, 0
            end
            return one.us, one.parts
        end,

        -- takt_gaps_whole.
        whole = function(from, t)
            local us, parts = gaps.first_from(from)
            local before = gaps.intervals_between(us, parts, t - 1)
            if before < 0 or before >= TAKT_GAP_MAX then
                return t
            end
            us, parts = gaps.slot_of({ us = us, parts = parts }, before + 1)
            return parts > 0 and us + 1 or us
        end,

        -- Keeps a run if a slot fits into it, and if there is space.
        insert = function(at, run)
            if run.count > 0 and #ledger.gaps < TAKT_GAPS_MAX then
                table.insert(ledger.gaps, at, run)
            end
        end,

        -- Before a token is taken at t: keeps the slots from `from` on that the rule passes over.
        pass_over = function(from, t)
            if gaps.rule() then
                local us, parts = gaps.first_from(from)
                gaps.insert(#ledger.gaps + 1, gaps.run(us, parts, t))
            end
        end,

        count = function(from, till)
            local count = 0
            for _, run in ipairs(till >= from and ledger.gaps or {}) do
                count = count + gaps.count_until(run, till) - gaps.count_until(run, from - 1)
            end
            return count
        end,

        -- The n-th gap from `from` on; NEVER: there are fewer.
        nth = function(from, n)
            for _, run in ipairs(ledger.gaps) do
                local before = gaps.count_until(run, from - 1)
                if n <= run.count - before then
                    local us, parts = gaps.slot_of(run, before + n - 1)
                    return parts > 0 and us + 1 or us
                end
                n = n - run.count + before
            end
            return NEVER
        end,

        -- Whether a slot at an instant fits into a run, wherever the run's own ones are.
        fits = function(run, t)
            return t >= run.us + (run.parts > 0 and 1 or 0) and gaps.intervals_between(t, 0, run.till) > 0
        end,

        -- takt_gaps_next.
        next = function(now, t)
            local whole = gaps.are_used(now)
            for _, run in ipairs(ledger.gaps) do
                local before = gaps.count_until(run, t - 1)
                if not whole and gaps.fits(run, t) then
                    return t
                elseif before < run.count then
                    local us, parts = gaps.slot_of(run, before)
                    return parts > 0 and us + 1 or us
                end
            end
            return NEVER
        end,

        -- Uses a gap at such an instant. Without space for two runs, the slots before it are lost.
        use = function(t)
            local runs, at = ledger.gaps, 1
            while runs[at].till <= t do
                at = at + 1
            end
            local run = table.remove(runs, at)
            local us, parts = gaps.slot_of(run, math.max(gaps.count_until(run, t) - 1, 0))
            if us + (parts > 0 and 1 or 0) ~= t then
                us, parts = t, 0
            end
            us, parts = gaps.slot_of({ us = us, parts = parts }, 1)
            gaps.insert(at, gaps.run(us, parts, run.till))
            gaps.insert(at, gaps.run(run.us, run.parts, t))
        end,

        -- limit.room() with the gaps.
        room = function(from, till)
            local tokens, others = limit.room(from, till)
            if ledger.gaps[1] then
                local count, unit = gaps.count(from, till), gaps.rule().unit
                if unit then
                    others[unit] = others[unit] + count
                else
                    tokens = tokens + count
                end
            end
            return tokens, others
        end,

        -- limit.due() with the gaps.
        due = function(from, tokens, others)
            local count = ledger.gaps[1] and gaps.count(from, TAKT_EXACT_MAX) or 0
            if count > 0 then
                local unit, left = gaps.rule().unit, {}
                local n = unit and others[unit] or not unit and tokens or 1
                if n <= count then
                    return gaps.nth(from, math.max(n, 1))
                end
                for one, amount in pairs(others or {}) do
                    left[one] = amount
                end
                left[unit or 'tokens'], others = n - count, others and left
                tokens = unit and tokens or n - count
            end
            return limit.due(from, tokens, others)
        end,

        -- The first gap from an instant on at which the other rules give a request; NEVER: none.
        earliest = function(now, from, cost, more)
            local one = gaps.rule()
            if not ledger.gaps[1] or (one.unit and 1 or cost) ~= 1 then
                return NEVER
            end
            for _ = 1, TAKT_GAPS_MAX do
                local at = from ~= NEVER and gaps.next(now, from) or NEVER
                from = at
                for _, other in ipairs(limit.rules) do
                    if other ~= one and other ~= limit.brake and from ~= NEVER then
                        from = debts.earliest(other, from, other.unit and limit.part(other.unit, 1, more) or cost)
                    end
                end
                if from == at then
                    return at
                end
            end
            return NEVER
        end,

        -- Uses the gap at an instant: the other rules count it.
        take = function(now, at, cost, more)
            local one = gaps.rule()
            gaps.note_used(now)
            gaps.use(at)
            for _, other in ipairs(limit.rules) do
                if other ~= one and other ~= limit.brake then
                    other.algorithm.commit(other, at, other.unit and limit.part(other.unit, 1, more) or cost)
                end
            end
        end,

        -- When all rules let a request start that may start at `due` by its inner limits, and whether that is a gap.
        slot_from = function(from, due, cost, more)
            local at, gap_at = limit.earliest(due, cost, more), gaps.earliest(from, due, cost, more)
            return math.min(at, gap_at), gap_at < at
        end,

        -- Reads "[US,PARTS,LENGTH[,US,PARTS,LENGTH]...][+UNUSED]" under the rule of the text that has gaps. False:
        -- the text is malformed.
        read = function(told, one)
            local at, runs, plus, unused = 1, {}, nil, nil
            told, plus, unused = told:match('^([%d,]*)(%+?)(%d*)$')
            if not one or not told then
                return false
            elseif plus == '+' then
                runs.unused = tonumber(unused)
                if not runs.unused or runs.unused < 1 or runs.unused > TAKT_EXACT_MAX then
                    return false
                elseif told == '' then
                    ledger.gaps = runs
                    return true
                end
            end
            repeat
                local us, parts, length, stop = told:match('^(%d+),(%d+),(%d+),?()', at)
                us, parts, length = tonumber(us), tonumber(parts), tonumber(length)
                if not us or us < 1 or us > TAKT_EXACT_MAX or parts >= one.tokens or length < 1
                    or length > TAKT_EXACT_MAX - us or #runs == TAKT_GAPS_MAX then
                    return false
                end
                runs[#runs + 1], at = gaps.run(us, parts, us + length, one), stop
                if runs[#runs].count < 1 then
                    return false
                end
            until at > #told
            ledger.gaps = runs
            return told:sub(-1) ~= ','
        end,

        write = function()
            local told = {}
            for i, run in ipairs(ledger.gaps) do
                told[i] = string.format('%.0f,%.0f,%.0f', run.us, run.parts, run.till - run.us)
            end
            local unused = ledger.listed and ledger.gaps.unused
            return (told[1] or unused) and ';v' .. table.concat(told, ',')
                .. (unused and '+' .. numbers.digits(unused) or '') or ''
        end,
    }
    limit.gaps, ledger.gaps = gaps, {}
end
