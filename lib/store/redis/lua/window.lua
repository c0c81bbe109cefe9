-- window.lua: windows by the clock (rules/window.c).
-- needs: numbers zone

local windows
local function make_windows()
    windows = windows or {
        divide = function(a, b, c)
            local n = numbers.divide(a, b, 0, c)
            return n > TAKT_WINDOW_END and TAKT_WINDOW_END or n
        end,

        divide_up = function(a, b, c)
            local n = numbers.divide_up(a, b, c)
            return n > TAKT_WINDOW_END and TAKT_WINDOW_END or n
        end,

        -- Reads "100/60000000+50000". Returns whether it is the text of a rule, and the text after it.
        read_rule = function(rule, text)
            local tokens, period, guarded, guard, more = text:match('^(%d+)/(%d+)(%+?)(%d*)(.*)$')
            rule.tokens, period, rule.guard = tonumber(tokens), tonumber(period), tonumber(guard) or 0
            if not period or (guarded ~= '') ~= (rule.guard > 0) or rule.guard > math.floor(period / 2) then
                return false
            end
            rule.span = period + rule.guard
            return rule.tokens >= 1 and rule.tokens <= TAKT_ROOM_MAX and period >= 1 and rule.span <= TAKT_SPAN_MAX_US,
                more
        end,

        -- Whole local days.
        first_day = function(rule, t)
            local days = math.floor(rule.span / TAKT_DAY_US)
            return math.floor(zones.day_of(rule.zone, t) / days) * days
        end,

        days_after = function(rule, start, n)
            local days = math.floor(rule.span / TAKT_DAY_US)
            local most = math.floor(math.floor(TAKT_WINDOW_END / TAKT_DAY_US) / days)
            local at = zones.midnight(rule.zone, windows.first_day(rule, start) + (n < most and n or most) * days)
            return at < TAKT_WINDOW_END and at or TAKT_WINDOW_END
        end,

        days_count = function(rule, start, till)
            local days = windows.first_day(rule, till) - windows.first_day(rule, start)
            return math.floor(days / math.floor(rule.span / TAKT_DAY_US))
        end,

        -- Parts of a local day.
        part_start = function(rule, t)
            return t - (t - zones.midnight(rule.zone, zones.day_of(rule.zone, t))) % rule.span
        end,

        day_end = function(rule, t)
            return zones.midnight(rule.zone, zones.day_of(rule.zone, t) + 1)
        end,

        -- Days of 24 hours after a midnight, until the clocks change.
        even_days = function(rule, midnight)
            local change = zones.next_change(rule.zone, midnight)
            change = change > TAKT_WINDOW_END and 2 * TAKT_WINDOW_END or change
            return math.floor((change - midnight) / TAKT_DAY_US)
        end,

        parts_after = function(rule, start, n)
            local of_day = math.floor(TAKT_DAY_US / rule.span)
            local at = windows.part_start(rule, start)
            while true do
                local ends = windows.day_end(rule, at)
                local left = math.ceil((ends - at) / rule.span)
                if n < left then
                    return at + n * rule.span
                end
                n = n - left
                local days = math.min(windows.even_days(rule, ends), math.floor(n / of_day))
                at = ends + days * TAKT_DAY_US
                n = n - days * of_day
                if at >= TAKT_WINDOW_END then
                    return TAKT_WINDOW_END
                end
            end
        end,

        parts_count = function(rule, start, till)
            local of_day, count, at = math.floor(TAKT_DAY_US / rule.span), 0, start
            while true do
                local ends = windows.day_end(rule, at)
                if till < ends then
                    return count + math.floor((till - at) / rule.span)
                end
                count = count + math.ceil((ends - at) / rule.span)
                local days = math.min(windows.even_days(rule, ends), math.floor((till - ends) / TAKT_DAY_US))
                at = ends + days * TAKT_DAY_US
                count = count + days * of_day
            end
        end,

        -- Any period.
        start = function(rule, t)
            if not rule.zone then
                return t - t % rule.span
            end
            return rule.span >= TAKT_DAY_US and zones.midnight(rule.zone, windows.first_day(rule, t))
                or windows.part_start(rule, t)
        end,

        after = function(rule, start, n)
            if rule.zone then
                return (rule.span >= TAKT_DAY_US and windows.days_after or windows.parts_after)(rule, start, n)
            elseif n >= math.floor(TAKT_WINDOW_END / rule.span) then
                return TAKT_WINDOW_END
            end
            local at = start - start % rule.span + n * rule.span
            return at < TAKT_WINDOW_END and at or TAKT_WINDOW_END
        end,

        count = function(rule, start, till)
            if till <= start then
                return 0
            elseif not rule.zone then
                return math.floor((till - start) / rule.span)
            end
            return (rule.span >= TAKT_DAY_US and windows.days_count or windows.parts_count)(rule, start, till)
        end,
    }
end
