-- sliding_window.lua: rules/sliding_window.c, function by function. The state is rule.start, rule.previous,
-- rule.current, rule.held and rule.behind. A window and its counters are five numbers.
-- needs: window

local function make_sliding_window()
    local sliding
    make_windows()
    sliding = {
        -- The window after this one.
        after = function(rule, start, current, held, behind)
            local late = math.min(math.max(behind, held), current)
            return start + rule.span, current, 0, math.max(late - math.ceil(rule.tokens / 4), 0), 0
        end,

        -- The window of t, or the state's window if that is later.
        look = function(rule, t)
            local start = windows.start(rule, t)
            if start <= rule.start then
                return rule.start, rule.previous, rule.current, rule.held, rule.behind
            elseif start == rule.start + rule.span then
                return sliding.after(rule, rule.start, rule.current, rule.held, rule.behind)
            end
            return start, 0, 0, 0, 0
        end,

        keep = function(rule, start, previous, current, held, behind)
            rule.start, rule.previous, rule.current, rule.held, rule.behind = start, previous, current, held, behind
        end,

        -- The first instant of the window when `tokens` in all may have been taken from it. An instant after the
        -- window's end: impossible in this window.
        instant_for = function(rule, start, previous, held, tokens)
            local most = rule.tokens
            if tokens > most + math.ceil(most / 4) - previous then
                most = most - held
            end
            if tokens > most then
                return start + rule.span + 1
            elseif previous == 0 then
                return start
            end
            local left = windows.divide(most - tokens, rule.span, previous)
            return left < rule.span and start + rule.span - left or start
        end,

        -- The number of tokens that may have been taken from the window by t, which is inside it.
        most_by = function(rule, start, previous, held, t)
            local most = rule.tokens - windows.divide_up(previous, start + rule.span - t, rule.span)
            local bound = rule.tokens + math.ceil(rule.tokens / 4) - previous
            return math.max(math.min(most, math.max(bound, most - held)), 0)
        end,

        -- The distance by which the window is behind, if its next token is taken at t.
        note_behind = function(rule, start, previous, current, held, behind, t)
            if t > sliding.instant_for(rule, start, previous, held, current + 1) then
                return math.max(behind, windows.divide(rule.tokens, t - start, rule.span) - current)
            end
            return behind
        end,

        -- The tokens taken if all available ones are taken from `from` on, and the next window.
        use_up = function(rule, start, previous, current, held, behind, from)
            local most = math.max(sliding.most_by(rule, start, previous, held, start + rule.span - 1), current)
            if most > current then
                behind = sliding.note_behind(rule, start, previous, current, held, behind, from)
            end
            return most - current, sliding.after(rule, start, most, held, behind)
        end,

        capacity = function(rule)
            return rule.tokens
        end,

        rest = function(rule, at)
            sliding.keep(rule, windows.start(rule, at), 0, 0, 0, 0)
        end,

        earliest = function(rule, t, cost)
            if cost > rule.tokens then
                return NEVER
            end
            local start, previous, current, held, behind = sliding.look(rule, t)
            local at = sliding.instant_for(rule, start, previous, held, current + cost)
            if at >= start + rule.span then
                start, previous, current, held = sliding.after(rule, start, current, held, behind)
                at = math.min(sliding.instant_for(rule, start, previous, held, cost), start + rule.span)
            end
            return at > t and at or t
        end,

        commit = function(rule, t, cost)
            local start, previous, current, held, behind = sliding.look(rule, t)
            behind = sliding.note_behind(rule, start, previous, current, held, behind, t)
            sliding.keep(rule, start, previous, current + cost, held, behind)
        end,

        -- Skips pairs of windows that pass the same number of tokens. Returns the start of the next window, and the
        -- tokens passed.
        leap = function(rule, start, previous, current, held, behind, from, tokens, till)
            local first, start1, previous1, current1, held1 = sliding.use_up(rule, start, previous, current, held,
                behind, start)
            local second, _, previous2, _, held2 = sliding.use_up(rule, start1, previous1, current1, held1, 0, start)
            if previous2 ~= previous or held2 ~= held or current ~= 0 or behind ~= 0 or from > start or till < start
                or first + second == 0 then
                return start, 0
            end
            local pairs_of = math.floor(tokens / (first + second))
            local in_time = math.floor(math.floor((till - start) / rule.span) / 2)
            pairs_of = pairs_of < in_time and pairs_of or in_time
            return start + 2 * pairs_of * rule.span, pairs_of * (first + second)
        end,

        room = function(rule, from, till)
            local start, previous, current, held, behind = sliding.look(rule, from)
            local count, taken = 0, nil
            if till < from or till < start then
                return 0
            end
            while till >= start + rule.span and count < TAKT_ROOM_MAX do
                start, taken = sliding.leap(rule, start, previous, current, held, behind, from, TAKT_ROOM_MAX, till)
                count = count + taken
                if taken == 0 then
                    taken, start, previous, current, held, behind = sliding.use_up(rule, start, previous, current,
                        held, behind, from)
                    count = count + taken
                end
            end
            if count >= TAKT_ROOM_MAX then
                return TAKT_ROOM_MAX
            end
            local most = sliding.most_by(rule, start, previous, held, till)
            count = count + (most > current and most - current or 0)
            return count < TAKT_ROOM_MAX and count or TAKT_ROOM_MAX
        end,

        due = function(rule, from, n)
            local start, previous, current, held, behind = sliding.look(rule, from)
            while true do
                local taken, next_start, next_previous, next_current, next_held, next_behind = sliding.use_up(rule,
                    start, previous, current, held, behind, from)
                if n <= taken or start > TAKT_WINDOW_END then
                    break
                end
                n = n - taken
                start, previous, current, held, behind = next_start, next_previous, next_current, next_held, next_behind
                start, taken = sliding.leap(rule, start, previous, current, held, behind, from, n - 1, TAKT_WINDOW_END)
                n = n - taken
            end
            local at = sliding.instant_for(rule, start, previous, held, current + n)
            return at > from and at or from
        end,

        series = function(rule, t, cost, count, till, run)
            local at = sliding.earliest(rule, t, cost)
            if at > till then
                return 0
            end
            local start, previous, current, held = sliding.look(rule, at)
            local n = math.floor((sliding.most_by(rule, start, previous, held, at) - current) / cost)
            n = n < count and n or count
            run[1], run[2], run[3], run[4], run[5], run[6], run[7] = at, 0, 0, 0, 1, n, cost
            sliding.commit(rule, at, n * cost)
            return n
        end,

        exhaust = function(rule, at)
            local start, previous, current, held, behind = sliding.look(rule, at)
            if start > at then
                return
            end
            previous = previous < rule.tokens and rule.tokens or previous
            local most = sliding.most_by(rule, start, previous, held, at) - 1
            sliding.keep(rule, start, previous, math.max(current, most), held, behind)
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
            return (rule.previous > 0 or rule.held > 0) and rule.start + rule.span or rule.start
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
            local late = ''
            if rule.held > 0 or rule.behind > 0 then
                late = string.format(',%.0f,%.0f', rule.held, rule.behind)
            end
            return string.format('%.0f,%.0f,%.0f', rule.start, rule.previous, rule.current) .. late
        end,

        read_state = function(rule, text)
            local start, previous, current, late = text:match('^(%d+),(%d+),(%d+)([%d,]*)$')
            local held, behind = (late or ''):match('^,(%d+),(%d+)$')
            sliding.keep(rule, tonumber(start), tonumber(previous), tonumber(current), tonumber(held) or 0,
                tonumber(behind) or 0)
            return start and rule.start <= TAKT_WINDOW_END and rule.previous <= TAKT_ROOM_MAX
                and rule.current <= TAKT_ROOM_MAX and rule.start % rule.span == 0 and (late == '' or held ~= nil)
                and rule.held <= rule.tokens and rule.behind <= TAKT_ROOM_MAX
        end,

        convert = function(from, to, at)
            local later = from.start > at and from.start or at
            local start, previous, current, held, behind = sliding.look(from, later)
            local counted = current + held + windows.divide_up(previous, start + from.span - later, from.span)
            if from.span ~= to.span then
                start, previous, held, behind = windows.start(to, later), counted, 0, 0
                current = windows.divide_up(counted, later - start, to.span)
            end
            sliding.keep(to, start, math.min(previous, TAKT_ROOM_MAX), math.min(current, TAKT_ROOM_MAX),
                math.min(held, to.tokens), math.min(behind, to.tokens))
        end,
    }
    return sliding
end
