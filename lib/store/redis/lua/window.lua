-- window.lua: windows by the clock; core/window.c.
-- needs: numbers zone

local WINDOW_END = EXACT

local function divide_window(a, b, c)
    local n = divide(a, b, 0, c)
    return n > WINDOW_END and WINDOW_END or n
end

local function divide_window_up(a, b, c)
    local n = divide_up(a, b, c)
    return n > WINDOW_END and WINDOW_END or n
end

local function read_window_rule(rule, tokens, span)
    rule.tokens, rule.span = tonumber(tokens), tonumber(span)
    return rule.tokens and rule.span and rule.tokens >= 1 and rule.tokens <= ROOM_MAX and rule.span >= 1
        and rule.span <= SPAN_MAX
end

-- Windows that no timezone shifts.
local function even_start(rule, t)
    return t - t % rule.span
end

local function even_after(rule, start, n)
    if n >= floor(WINDOW_END / rule.span) then
        return WINDOW_END
    end
    local at = even_start(rule, start) + n * rule.span
    return at < WINDOW_END and at or WINDOW_END
end

local function even_count(rule, start, till)
    return till <= start and 0 or floor((till - start) / rule.span)
end

-- Windows by the clocks of a zone.
local function zone_windows()
    local zones = zone()

    local function first_day(rule, t)
        local days = floor(rule.span / DAY)
        return floor(zones.day_of(rule.zone, t) / days) * days
    end

    local function days_after(rule, start, n)
        local days = floor(rule.span / DAY)
        local most = floor(floor(WINDOW_END / DAY) / days)
        local at = zones.midnight(rule.zone, first_day(rule, start) + (n < most and n or most) * days)
        return at < WINDOW_END and at or WINDOW_END
    end

    local function days_count(rule, start, till)
        return floor((first_day(rule, till) - first_day(rule, start)) / floor(rule.span / DAY))
    end

    local function part_start(rule, t)
        return t - (t - zones.midnight(rule.zone, zones.day_of(rule.zone, t))) % rule.span
    end

    local function day_end(rule, t)
        return zones.midnight(rule.zone, zones.day_of(rule.zone, t) + 1)
    end

    -- Days of 24 hours that follow from a midnight, before the clocks are changed next.
    local function even_days(rule, midnight)
        local change = zones.next_change(rule.zone, midnight)
        change = change > WINDOW_END and 2 * WINDOW_END or change
        return floor((change - midnight) / DAY)
    end

    local function parts_after(rule, start, n)
        local of_day = floor(DAY / rule.span)
        local at = part_start(rule, start)
        while true do
            local ends = day_end(rule, at)
            local left = math.ceil((ends - at) / rule.span)
            if n < left then
                return at + n * rule.span
            end
            n = n - left
            local days = math.min(even_days(rule, ends), floor(n / of_day))
            at = ends + days * DAY
            n = n - days * of_day
            if at >= WINDOW_END then
                return WINDOW_END
            end
        end
    end

    local function parts_count(rule, start, till)
        local of_day, count, at = floor(DAY / rule.span), 0, start
        while true do
            local ends = day_end(rule, at)
            if till < ends then
                return count + floor((till - at) / rule.span)
            end
            count = count + math.ceil((ends - at) / rule.span)
            local days = math.min(even_days(rule, ends), floor((till - ends) / DAY))
            at = ends + days * DAY
            count = count + days * of_day
        end
    end

    local function start(rule, t)
        return rule.span >= DAY and zones.midnight(rule.zone, first_day(rule, t)) or part_start(rule, t)
    end

    local function after(rule, start_of, n)
        return (rule.span >= DAY and days_after or parts_after)(rule, start_of, n)
    end

    local function count(rule, start_of, till)
        return till <= start_of and 0 or (rule.span >= DAY and days_count or parts_count)(rule, start_of, till)
    end

    return { named = zones.named, start = start, after = after, count = count }
end
