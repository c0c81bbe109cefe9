-- fixed_window.lua: core/fixed_window.c, function by function.  The state is rule.start, rule.count and rule.unopened.
-- needs: window

local function fixed_window()
    local windows

    local function start_at(rule, t)
        return (rule.zone and windows.start or even_start)(rule, t)
    end

    -- Begin of the n-th window after this one, if each is used up.
    local function after(rule, start, n)
        if rule.zone then
            return windows.after(rule, start, n)
        elseif not rule.first_use then
            return even_after(rule, start, n)
        elseif n >= floor(WINDOW_END / rule.span) then
            return WINDOW_END
        end
        return start + n * rule.span
    end

    -- Where tokens taken from t on fall: that instant or the begin of the state's window if that is later, the
    -- window's begin, what is taken from it, and whether it is not opened yet and to be opened with that.
    local function find(rule, t)
        local start, count = rule.start, rule.count
        if rule.first_use then
            local over = t >= start + rule.span
            if rule.unopened then
                return t, t, over and 0 or count, not over and count > 0
            elseif over or count == 0 then
                return t, t, 0, false
            end
            return t > start and t or start, start, count, false
        end
        local here = start_at(rule, t)
        if start < here then
            return t, here, 0, false
        end
        return t > start and t or start, start, count, false
    end

    local function capacity(rule)
        return rule.tokens
    end

    local function rest(rule, at)
        rule.start = rule.first_use and at or start_at(rule, at)
        rule.count, rule.unopened = 0, rule.first_use
    end

    local function earliest(rule, t, cost)
        if cost > rule.tokens then
            return NEVER
        end
        local at, start, used, owes = find(rule, t)
        return used + cost <= rule.tokens and at or after(rule, owes and rule.start or start, 1)
    end

    local function commit(rule, t, cost)
        local _, start, used = find(rule, t)
        rule.start, rule.count, rule.unopened = start, used + cost, false
    end

    local function room(rule, from, till)
        local at = earliest(rule, from, 1)
        if at > till then
            return 0
        end
        local _, start, used = find(rule, at)
        local count
        if rule.zone then
            count = windows.count(rule, start, till)
        elseif rule.first_use then
            count = floor((till - start) / rule.span)
        else
            count = even_count(rule, start, till)
        end
        local left = rule.tokens - used
        return count > floor((ROOM_MAX - left) / rule.tokens) and ROOM_MAX or left + count * rule.tokens
    end

    local function due(rule, from, n)
        local at = earliest(rule, from, 1)
        local _, start, used = find(rule, at)
        local beyond = n - (rule.tokens - used)
        return beyond <= 0 and at or after(rule, start, math.ceil(beyond / rule.tokens))
    end

    local function series(rule, t, cost, count, till, run)
        local at = earliest(rule, t, cost)
        if at > till then
            return 0
        end
        local _, _, used = find(rule, at)
        local n = floor((rule.tokens - used) / cost)
        n = n < count and n or count
        run[1], run[2], run[3], run[4], run[5], run[6], run[7] = at, 0, 0, 0, 1, n, cost
        commit(rule, at, n * cost)
        return n
    end

    local function exhaust(rule, at)
        local found_at, start, used, owes = find(rule, at)
        local part
        if found_at > at or (owes and rule.start > at) then
            return
        elseif rule.first_use and start == at and (rule.unopened or used == 0) then
            part, rule.unopened = floor(rule.tokens / 2), true
        else
            part = divide_window(rule.tokens, at - start, after(rule, start, 1) - start)
        end
        rule.start, rule.count = start, used > part and used or part
    end

    local function rest_at(rule)
        return rule.count > 0 and after(rule, rule.start, 1) or rule.start
    end

    local function pull_back(rule, at, reach, ahead)
        if rule.start > at + reach then
            rest(rule, at + ahead)
            exhaust(rule, at + ahead)
        end
    end

    local function read_rule(rule, text)
        local tokens, span, first_use, name = text:match('^(%d+)/(%d+)(!?)(.*)$')
        if not read_window_rule(rule, tokens, span) then
            return false
        end
        rule.first_use = first_use == '!'
        if name == '' then
            return true
        elseif name:sub(1, 1) ~= '@' or rule.first_use or (rule.span % DAY ~= 0 and DAY % rule.span ~= 0) then
            return false
        end
        windows = windows or zone_windows()
        rule.zone_name, rule.zone = name, windows.named(name:sub(2))
        return rule.zone ~= nil
    end

    local function write_state(rule)
        return digits(rule.start) .. (rule.unopened and '~' or ',') .. digits(rule.count)
    end

    local function read_state(rule, text)
        local start, mark, count = text:match('^(%d+)([,~])(%d+)$')
        rule.start, rule.count, rule.unopened = tonumber(start), tonumber(count), mark == '~'
        return start and rule.start <= WINDOW_END and rule.count <= ROOM_MAX
            and (not rule.unopened or rule.first_use)
    end

    -- What a window of other length that begins there will have had taken from it before the old one's, at most.
    local function unknown_before(from, to, start, till)
        if till <= start then
            return 0
        end
        local length = after(to, start, 1) - start
        local old = divide_window_up(from.tokens, till - start, from.span)
        local new = divide_window(to.tokens, till - start, length)
        return old < new and old or new
    end

    local function convert(from, to, at)
        local start, count = from.start, from.count
        local ends = after(from, start, 1)
        local later = start > at and start or at
        to.start, to.unopened = start, from.unopened
        if to.first_use and not from.first_use then
            to.start, to.unopened = later, true
            count = ends <= at and 0 or count
        elseif not to.first_use and (from.first_use or from.span ~= to.span or from.zone_name ~= to.zone_name) then
            to.start, to.unopened = start_at(to, later), false
            count = ends <= to.start and 0 or count
            if not from.first_use then
                count = count + unknown_before(from, to, to.start, start)
            end
        end
        to.count = count < ROOM_MAX and count or ROOM_MAX
    end

    return {
        capacity = capacity,
        rest = rest,
        earliest = earliest,
        commit = commit,
        room = room,
        due = due,
        series = series,
        exhaust = exhaust,
        rest_at = rest_at,
        pull_back = pull_back,
        read_rule = read_rule,
        write_state = write_state,
        read_state = read_state,
        convert = convert,
    }
end
