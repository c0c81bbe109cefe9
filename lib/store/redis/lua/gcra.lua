-- gcra.lua: rules/gcra.c, function by function. TAT is rule.us + rule.parts / rule.tokens. A fraction is two numbers.
-- needs: numbers lows

local function make_gcra()
    local gcra
    make_lows()
    gcra = {
        plus = function(us, parts, more_us, more_parts, whole)
            us, parts = us + more_us, parts + more_parts
            if parts >= whole then
                return us + 1, parts - whole
            end
            return us, parts
        end,

        minus = function(us, parts, less_us, less_parts, whole)
            us, parts = us - less_us, parts - less_parts
            if parts < 0 then
                return us - 1, parts + whole
            end
            return us, parts
        end,

        ceil = function(us, parts)
            return parts > 0 and us + 1 or us
        end,

        intervals = function(rule, n)
            if n * rule.interval_us > 2 * TAKT_SPAN_MAX_US then
                return 2 * TAKT_SPAN_MAX_US, 0
            end
            return numbers.divide(n, rule.span, 0, rule.tokens)
        end,

        tat_at = function(rule, t)
            if t > gcra.ceil(rule.us, rule.parts) then
                return t, 0
            end
            return rule.us, rule.parts
        end,

        conforms = function(rule, us, parts, cost)
            local more_us, more_parts = gcra.intervals(rule, cost)
            us, parts = gcra.plus(us, parts, more_us, more_parts, rule.tokens)
            return gcra.minus(us, parts, rule.tolerance_us, rule.tolerance_parts, rule.tokens)
        end,

        capacity = function(rule)
            return rule.burst
        end,

        rest = function(rule, now)
            rule.us, rule.parts, rule.lows = now, 0, nil
        end,

        -- Notes the backlog of a slot at t that is given when TAT is `us`.
        note_low = function(rule, t, us)
            if rule.lows then
                lows.note(rule.lows, t, us > t and us - t or 0, rule.tolerance_us)
            end
        end,

        earliest = function(rule, t, cost)
            if cost > rule.burst then
                return NEVER
            end
            local due = gcra.ceil(gcra.conforms(rule, rule.us, rule.parts, cost))
            return due > t and due or t
        end,

        commit = function(rule, t, cost)
            local us, parts = gcra.tat_at(rule, t)
            local more_us, more_parts = gcra.intervals(rule, cost)
            gcra.note_low(rule, t, us)
            rule.us, rule.parts = gcra.plus(us, parts, more_us, more_parts, rule.tokens)
        end,

        room = function(rule, from, till)
            local us, parts = gcra.tat_at(rule, from)
            us, parts = gcra.minus(till + rule.tolerance_us, rule.tolerance_parts, us, parts, rule.tokens)
            if till < from or us < 0 then
                return 0
            end
            local n = numbers.divide(us, rule.tokens, parts, rule.span)
            return n > TAKT_ROOM_MAX and TAKT_ROOM_MAX or n
        end,

        due = function(rule, from, n)
            local us, parts = gcra.tat_at(rule, from)
            local at = gcra.ceil(gcra.conforms(rule, us, parts, n))
            return at > from and at or from
        end,

        series = function(rule, t, cost, count, till, run)
            local us, parts = gcra.tat_at(rule, t)
            local first_us, first_parts = gcra.conforms(rule, us, parts, cost)
            local at_once = gcra.ceil(first_us, first_parts) <= t
            local last = at_once and t or till
            if cost > rule.burst or t > till or gcra.ceil(first_us, first_parts) > last then
                return 0
            end
            -- A step has cost * span parts. The difference is divided by span first, then by cost.
            local n = numbers.divide(last - first_us, rule.tokens, -first_parts, rule.span)
            n = math.floor(n / cost) + 1
            if n > count then
                n = count
            end
            if n * cost > TAKT_ROOM_MAX then
                n = math.floor(TAKT_ROOM_MAX / cost)
            end
            if at_once then
                run[1], run[2], run[3], run[4] = t, 0, 0, 0
            else
                run[1], run[2] = first_us, first_parts
                run[3], run[4] = gcra.intervals(rule, cost)
            end
            run[5], run[6], run[7] = rule.tokens, n, cost
            gcra.note_low(rule, gcra.ceil(run[1], run[2]), us)
            if rule.lows and not at_once and n > 1 then -- all slots have the same backlog, up to part of a microsecond
                local ahead_us, ahead_parts = gcra.intervals(rule, (n - 1) * cost)
                local last_slot = gcra.ceil(gcra.plus(first_us, first_parts, ahead_us, ahead_parts, rule.tokens))
                gcra.note_low(rule, last_slot, last_slot - 2 - run[3] + rule.tolerance_us)
            end
            local more_us, more_parts = gcra.intervals(rule, n * cost)
            rule.us, rule.parts = gcra.plus(us, parts, more_us, more_parts, rule.tokens)
            return n
        end,

        exhaust = function(rule, at)
            local us, parts = gcra.plus(at, 0, rule.tolerance_us, rule.tolerance_parts, rule.tokens)
            us, parts = gcra.minus(us, parts, rule.interval_us, rule.interval_parts, rule.tokens)
            if us > rule.us or (us == rule.us and parts > rule.parts) then
                rule.us, rule.parts, rule.lows = us, parts, nil
            end
        end,

        owes = true,

        give_back = function(rule, slot, cost, unused, till, now)
            local us, parts = gcra.intervals(rule, cost)
            local least_us, least_parts = gcra.minus(rule.us, rule.parts, us, parts, rule.tokens)
            local least = gcra.ceil(least_us, least_parts)
            local low = lows.of(rule.lows, slot)
            if least < slot then
                return
            end
            if till >= slot and (rule.interval_us == 0 or least > slot) then
                least_us = least_us + (till - slot) + 1 -- least_us + till would not be exact
            end
            if low == NEVER then
                least_us, least_parts = 0, rule.parts
            elseif low and rule.us - low < least_us then
                least_us, least_parts = rule.us - low, rule.parts
            end
            us, parts = gcra.intervals(rule, unused)
            us, parts = gcra.minus(rule.us, rule.parts, us, parts, rule.tokens)
            if least_us > us or (least_us == us and least_parts > parts) then
                us, parts = least_us, least_parts
            end
            if us < rule.us or (us == rule.us and parts < rule.parts) then
                if rule.lows then
                    lows.lower(rule.lows, slot, gcra.ceil(gcra.minus(rule.us, rule.parts, us, parts, rule.tokens)))
                end
                rule.us, rule.parts = us, parts
            end
            rule.lows = lows.learn(rule.lows, now, slot, till)
        end,

        rest_at = function(rule)
            return gcra.ceil(rule.us, rule.parts)
        end,

        -- The number of tokens by which TAT exceeds an instant plus the burst.
        tokens_beyond = function(rule, furthest)
            local us, parts = gcra.minus(rule.us, rule.parts, furthest + rule.tolerance_us, rule.tolerance_parts,
                rule.tokens)
            if us < 0 then
                return 0
            end
            local whole, rest = numbers.divide(us, rule.tokens, parts, rule.span)
            return rest > 0 and whole + 1 or whole
        end,

        pull_back = function(rule, now, reach, lookahead)
            if rule.us < now + reach + rule.tolerance_us then
                rule.owed = 0
                return
            end
            local beyond = gcra.tokens_beyond(rule, now + reach)
            if beyond > rule.owed then
                local us, parts = gcra.intervals(rule, rule.owed)
                rule.us, rule.parts = gcra.plus(now + lookahead + rule.tolerance_us, rule.tolerance_parts, us, parts,
                    rule.tokens)
                rule.lows = nil
                beyond = gcra.tokens_beyond(rule, now + reach)
            end
            rule.owed = beyond
        end,

        read_rule = function(rule, text)
            local tokens, span, burst = text:match('^(%d+)/(%d+)%*(%d+)$')
            tokens, span, burst = tonumber(tokens), tonumber(span), tonumber(burst)
            if not tokens or tokens < 1 or tokens > TAKT_ROOM_MAX or span < 1 or span > TAKT_EXACT_MAX or burst < 1
                or burst > TAKT_ROOM_MAX then
                return false
            end
            rule.tokens, rule.span, rule.burst = tokens, span, burst
            rule.interval_us, rule.interval_parts = numbers.divide(1, span, 0, tokens)
            rule.tolerance_us, rule.tolerance_parts = numbers.divide(burst, span, 0, tokens)
            return rule.tolerance_us <= TAKT_SPAN_MAX_US
        end,

        write_state = function(rule)
            local text = rule.parts > 0 and string.format('%.0f+%.0f', rule.us, rule.parts) or numbers.digits(rule.us)
            return rule.lows and text .. lows.write(rule.lows) or text
        end,

        read_state = function(rule, text)
            local us, more, parts, kept = text:match('^(%d+)(%+?)(%d*)(.*)$')
            us, parts = tonumber(us), tonumber(parts)
            if not us or us > TAKT_EXACT_MAX or (more == '+') ~= (parts ~= nil) then
                return false
            elseif parts and (parts < 1 or parts >= rule.tokens) then
                return false
            end
            rule.us, rule.parts, rule.lows = us, parts or 0, kept ~= '' and lows.read(kept) or nil
            return kept == '' or rule.lows ~= nil
        end,

        -- The time that the rule needs to give this many millionths of a token.
        time_of = function(rule, millionths)
            local us = numbers.divide_up(millionths, rule.span, rule.tokens * 1000000)
            return us < 2 * TAKT_SPAN_MAX_US and us or 2 * TAKT_SPAN_MAX_US
        end,

        -- Converts the state of `from` to a state of `to`. rules/gcra.c uses one fraction of three factors each; this
        -- function takes two steps.
        convert = function(from, to, now)
            local backlog = gcra.ceil(from.us, from.parts) - now
            if from.tokens == to.tokens and from.span == to.span then
                to.us, to.parts, to.lows = from.us, from.parts, from.lows
                return
            elseif backlog <= 0 then
                to.us, to.parts = now + backlog, 0
                return
            end
            local whole, part = numbers.divide(backlog, from.tokens, 0, from.span)
            local millionths = TAKT_ROOM_MAX * 1000000
            if whole < TAKT_ROOM_MAX then
                millionths = whole * 1000000 + numbers.divide_up(part, 1000000, from.span)
                millionths = millionths > TAKT_ROOM_MAX * 1000000 and TAKT_ROOM_MAX * 1000000 or millionths
            end
            to.us, to.parts = now + gcra.time_of(to, millionths), 0
            if to.owed > 0 then
                to.owed = numbers.divide_up(millionths, 1, 1000000)
            end
        end,

        -- Converts to a bucket of another size. The tokens in the bucket stay, up to the new burst; slots awarded ahead
        -- stay awarded.
        pour = function(from, to, now)
            if from.text == to.text then
                to.us, to.parts = from.us, from.parts
                return
            end
            local us, parts = gcra.tat_at(from, now)
            local empty = gcra.ceil(gcra.minus(us, parts, from.tolerance_us, from.tolerance_parts, from.tokens))
            local lacking = to.burst * 1000000 -- in millionths of a token
            if empty < now then
                local whole, part = numbers.divide(now - empty, from.tokens, 0, from.span)
                lacking = lacking - whole * 1000000 - numbers.divide(part, 1000000, 0, from.span)
            end
            local from_us = empty < now and now or empty
            to.us, to.parts = math.min(from_us + (lacking > 0 and gcra.time_of(to, lacking) or 0), TAKT_EXACT_MAX), 0
        end,
    }
    return gcra
end
