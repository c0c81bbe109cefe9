-- sliding_window.lua: core/sliding_window.c, function by function.  The state is rule.start, rule.previous and
-- rule.current; a window and its two counters are three numbers.
-- needs: window

local function make_sliding_window()
    local sliding
    make_windows()
    sliding = {
        -- The window that t is in, or the state's if that is later.
        look = function(rule, t)
            local start = windows.start(rule, t)
            if start <= rule.start then
                return rule.start, rule.previous, rule.current
            end
            return start, start == rule.start + rule.span and rule.current or 0, 0
        end,

        -- The first instant of the window at which `tokens` in all may have been taken from it; past its end if none.
        instant_for = function(rule, start, previous, tokens)
            if tokens > rule.tokens then
                return start + rule.span + 1
            elseif previous == 0 then
                return start
            end
            local left = windows.divide(rule.tokens - tokens, rule.span, previous)
            return left < rule.span and start + rule.span - left or start
        end,

        -- How many tokens may have been taken from the window by t, which is in it.
        most_by = function(rule, start, previous, t)
            local counted = windows.divide_up(previous, start + rule.span - t, rule.span)
            return counted < rule.tokens and rule.tokens - counted or 0
        end,

        -- The window after this one, from which all is taken that can be, and how much that is.
        use_up = function(rule, start, previous, current)
            local most = sliding.most_by(rule, start, previous, start + rule.span - 1)
            most = most < current and current or most
            return start + rule.span, most, 0, most - current
        end,

        capacity = function(rule)
            return rule.tokens
        end,

        rest = function(rule, at)
            rule.start, rule.previous, rule.current = windows.start(rule, at), 0, 0
        end,

        earliest = function(rule, t, cost)
            if cost > rule.tokens then
                return NEVER
            end
            local start, previous, current = sliding.look(rule, t)
            local at = sliding.instant_for(rule, start, previous, current + cost)
            if at >= start + rule.span then
                at = sliding.instant_for(rule, start + rule.span, current, cost)
            end
            return at > t and at or t
        end,

        commit = function(rule, t, cost)
            local start, previous, current = sliding.look(rule, t)
            rule.start, rule.previous, rule.current = start, previous, current + cost
        end,

        -- Steps over pairs of windows that pass the same; returns the begin of the next, and what was passed.
        leap = function(rule, start, previous, current, tokens, till)
            local start1, previous1, current1, first = sliding.use_up(rule, start, previous, current)
            local _, previous2, _, second = sliding.use_up(rule, start1, previous1, current1)
            if previous2 ~= previous or current ~= 0 or till < start or first + second == 0 then
                return start, 0
            end
            local pairs_of = math.floor(tokens / (first + second))
            local in_time = math.floor(math.floor((till - start) / rule.span) / 2)
            pairs_of = pairs_of < in_time and pairs_of or in_time
            return start + 2 * pairs_of * rule.span, pairs_of * (first + second)
        end,

        room = function(rule, from, till)
            local start, previous, current = sliding.look(rule, from)
            local count, taken = 0, nil
            if till < from or till < start then
                return 0
            end
            while till >= start + rule.span and count < TAKT_ROOM_MAX do
                start, taken = sliding.leap(rule, start, previous, current, TAKT_ROOM_MAX, till)
                count = count + taken
                if taken == 0 then
                    start, previous, current, taken = sliding.use_up(rule, start, previous, current)
                    count = count + taken
                end
            end
            if count >= TAKT_ROOM_MAX then
                return TAKT_ROOM_MAX
            end
            local most = sliding.most_by(rule, start, previous, till)
            count = count + (most > current and most - current or 0)
            return count < TAKT_ROOM_MAX and count or TAKT_ROOM_MAX
        end,

        due = function(rule, from, n)
            local start, previous, current = sliding.look(rule, from)
            while true do
                local next_start, next_previous, next_current, taken = sliding.use_up(rule, start, previous, current)
                if n <= taken or start > TAKT_WINDOW_END then
                    break
                end
                n = n - taken
                start, previous, current = next_start, next_previous, next_current
                start, taken = sliding.leap(rule, start, previous, current, n - 1, TAKT_WINDOW_END)
                n = n - taken
            end
            local at = sliding.instant_for(rule, start, previous, current + n)
            return at > from and at or from
        end,

        series = function(rule, t, cost, count, till, run)
            local at = sliding.earliest(rule, t, cost)
            if at > till then
                return 0
            end
            local start, previous, current = sliding.look(rule, at)
            local n = math.floor((sliding.most_by(rule, start, previous, at) - current) / cost)
            n = n < count and n or count
            run[1], run[2], run[3], run[4], run[5], run[6], run[7] = at, 0, 0, 0, 1, n, cost
            sliding.commit(rule, at, n * cost)
            return n
        end,

        exhaust = function(rule, at)
            local start, previous, current = sliding.look(rule, at)
            if start > at then
                return
            end
            previous = previous < rule.tokens and rule.tokens or previous
            local most = sliding.most_by(rule, start, previous, at) - 1
            rule.start, rule.previous, rule.current = start, previous, current > most and current or most
        end,

        give_back = function(rule, slot, _, unused)
            local start = windows.start(rule, slot)
            if start == rule.start then
                rule.current = unused < rule.current and rule.current - unused or 0
            elseif start + rule.span == rule.start then
                rule.previous = unused < rule.previous and rule.previous - unused or 0
            end
        end,

        rest_at = function(rule)
            if rule.current > 0 then
                return rule.start + 2 * rule.span
            end
            return rule.previous > 0 and rule.start + rule.span or rule.start
        end,

        pull_back = function(rule, at, reach, ahead)
            if rule.start > at + reach then
                sliding.rest(rule, at + ahead)
                sliding.exhaust(rule, at + ahead)
            end
        end,

        read_rule = function(rule, text)
            local is_rule, more = windows.read_rule(rule, text)
            return is_rule and more == ''
        end,

        write_state = function(rule)
            return string.format('%.0f,%.0f,%.0f', rule.start, rule.previous, rule.current)
        end,

        read_state = function(rule, text)
            local start, previous, current = text:match('^(%d+),(%d+),(%d+)$')
            rule.start, rule.previous, rule.current = tonumber(start), tonumber(previous), tonumber(current)
            return start and rule.start <= TAKT_WINDOW_END and rule.previous <= TAKT_ROOM_MAX
                and rule.current <= TAKT_ROOM_MAX and rule.start % rule.span == 0
        end,

        convert = function(from, to, at)
            local later = from.start > at and from.start or at
            local start, previous, current = sliding.look(from, later)
            local counted = current + windows.divide_up(previous, start + from.span - later, from.span)
            if from.span ~= to.span then
                start = windows.start(to, later)
                previous, current = counted, windows.divide_up(counted, later - start, to.span)
            end
            to.start = start
            to.previous = previous < TAKT_ROOM_MAX and previous or TAKT_ROOM_MAX
            to.current = current < TAKT_ROOM_MAX and current or TAKT_ROOM_MAX
        end,
    }
    return sliding
end
