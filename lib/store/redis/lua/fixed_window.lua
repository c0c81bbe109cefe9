-- fixed_window.lua: rules/fixed_window.c, function by function. The state is rule.start, rule.count, rule.late and
-- rule.unopened.
-- needs: window

local function make_fixed_window()
    local fixed
    make_windows()
    fixed = {
        -- The start of the n-th window after this one, if each window is used up.
        after = function(rule, start, n)
            if not rule.first_use then
                return windows.after(rule, start, n)
            elseif n >= math.floor(TAKT_WINDOW_END / rule.span) then
                return TAKT_WINDOW_END
            end
            return start + n * rule.span
        end,

        -- The window from which tokens are taken at t. Returns t, or the start of the state's window if that is later;
        -- the start of the window; the tokens taken from it; the part of them that also counts in the next window; and
        -- whether the window is not open yet and will open with these tokens taken.
        find = function(rule, t)
            local start, count = rule.start, rule.count
            if rule.first_use then
                local over = t >= start + rule.span
                if rule.unopened then
                    t = t > start and t or start
                    return t, t, over and 0 or count, 0, not over and count > 0
                elseif over then
                    return t, t, 0, 0, false
                end
                t = t > start and t or start
                return t, count == 0 and t or start, count, 0, false
            end
            local here = windows.start(rule, t)
            if start < here then
                local follows = rule.late > 0 and windows.after(rule, start, 1) == here
                return t, here, follows and rule.late or 0, 0, false
            end
            return t > start and t or start, start, count, rule.late, false
        end,

        -- Whether tokens taken from the window at t also count in the next window.
        is_late = function(rule, start, t)
            return rule.guard > 0 and not rule.first_use and t >= windows.after(rule, start, 1) - rule.guard
        end,

        -- The tokens that count in the next window when all tokens of this one are taken.
        carried = function(rule, at, start, used, late)
            return late + (fixed.is_late(rule, start, at) and rule.tokens - used or 0)
        end,

        capacity = function(rule)
            return rule.tokens
        end,

        rest = function(rule, at)
            rule.start = rule.first_use and at or windows.start(rule, at)
            rule.count, rule.late, rule.unopened = 0, 0, rule.first_use
        end,

        earliest = function(rule, t, cost)
            if cost > rule.tokens then
                return NEVER
            end
            local at, start, used, late, owes = fixed.find(rule, t)
            if used + cost <= rule.tokens then
                return at
            end
            return fixed.after(rule, owes and rule.start or start, late + cost <= rule.tokens and 1 or 2)
        end,

        commit = function(rule, t, cost)
            local _, start, used, late = fixed.find(rule, t)
            rule.start, rule.count, rule.unopened = start, used + cost, false
            rule.late = late + (fixed.is_late(rule, start, t) and cost or 0)
        end,

        -- A debt does not open a window. The next window opens with work, and the debt counts in it.
        charge = function(rule, t, cost)
            local ends = fixed.after(rule, rule.start, 1)
            local unopened = rule.first_use and (rule.unopened or t >= ends)
            fixed.commit(rule, t, cost)
            rule.unopened = unopened
        end,

        room = function(rule, from, till)
            local at = fixed.earliest(rule, from, 1)
            if at > till then
                return 0
            end
            local _, start, used, late = fixed.find(rule, at)
            local count
            if rule.first_use then
                count = math.floor((till - start) / rule.span)
            else
                count = windows.count(rule, start, till)
            end
            local left = rule.tokens - used
            local less = count > 0 and fixed.carried(rule, at, start, used, late) or 0
            local over = count > math.floor((TAKT_ROOM_MAX - left + less) / rule.tokens)
            return over and TAKT_ROOM_MAX or left + count * rule.tokens - less
        end,

        due = function(rule, from, n)
            local at = fixed.earliest(rule, from, 1)
            local _, start, used, late = fixed.find(rule, at)
            local beyond = n - (rule.tokens - used)
            if beyond <= 0 then
                return at
            end
            beyond = beyond + fixed.carried(rule, at, start, used, late)
            return fixed.after(rule, start, math.ceil(beyond / rule.tokens))
        end,

        series = function(rule, t, cost, count, till, run)
            local at = fixed.earliest(rule, t, cost)
            if at > till then
                return 0
            end
            local _, _, used = fixed.find(rule, at)
            local n = math.floor((rule.tokens - used) / cost)
            n = n < count and n or count
            run[1], run[2], run[3], run[4], run[5], run[6], run[7] = at, 0, 0, 0, 1, n, cost
            fixed.commit(rule, at, n * cost)
            return n
        end,

        exhaust = function(rule, at)
            local found_at, start, used, late, owes = fixed.find(rule, at)
            local part
            if found_at > at or (owes and rule.start > at) then
                return
            elseif rule.first_use and start == at and (rule.unopened or used == 0) then
                part, rule.unopened = math.floor(rule.tokens / 2), true
            else
                part = windows.divide(rule.tokens, at - start, fixed.after(rule, start, 1) - start)
            end
            rule.start, rule.count, rule.late = start, used > part and used or part, late
        end,

        give_back = function(rule, slot, _, unused)
            if slot < rule.start or slot >= fixed.after(rule, rule.start, 1) or rule.unopened then
                return
            end
            local was_late = fixed.is_late(rule, rule.start, slot)
            local back = math.min(unused, was_late and rule.late or rule.count - rule.late)
            rule.count = rule.count - back
            rule.late = rule.late - (was_late and back or 0)
        end,

        rest_at = function(rule)
            return rule.count > 0 and fixed.after(rule, rule.start, rule.late > 0 and 2 or 1) or rule.start
        end,

        pull_back = function(rule, at, reach, ahead)
            if rule.start > at + reach then
                fixed.rest(rule, at + ahead)
                fixed.exhaust(rule, at + ahead)
            end
        end,

        read_rule = function(rule, text)
            local is_rule, more = windows.read_rule(rule, text)
            if not is_rule then
                return false
            end
            local first_use, name = more:match('^(!?)(.*)$')
            rule.first_use = first_use == '!'
            rule.span = rule.span - (rule.first_use and 0 or rule.guard)
            if name == '' then
                return true
            elseif name:sub(1, 1) ~= '@' or rule.first_use
                or (rule.span % TAKT_DAY_US ~= 0 and TAKT_DAY_US % rule.span ~= 0) then
                return false
            end
            rule.zone_name, rule.zone = name, make_zones().named(name:sub(2))
            return rule.zone ~= nil
        end,

        write_state = function(rule)
            return numbers.digits(rule.start) .. (rule.unopened and '~' or ',') .. numbers.digits(rule.count)
                .. (rule.late > 0 and '+' .. numbers.digits(rule.late) or '')
        end,

        read_state = function(rule, text)
            local start, mark, count, more = text:match('^(%d+)([,~])(%d+)(.*)$')
            local late = more and more:match('^%+(%d+)$')
            rule.start, rule.count, rule.unopened = tonumber(start), tonumber(count), mark == '~'
            rule.late = tonumber(late) or 0
            return start and rule.start <= TAKT_WINDOW_END and rule.count <= TAKT_ROOM_MAX
                and (not rule.unopened or rule.first_use)
                and (more == '' or (rule.late > 0 and rule.late <= rule.count and not rule.first_use))
        end,

        -- The most tokens that were possibly taken from that start on, before the old window began.
        unknown_before = function(from, to, start, till)
            if till <= start then
                return 0
            end
            local length = fixed.after(to, start, 1) - start
            local old = windows.divide_up(from.tokens, till - start, from.span)
            local new = windows.divide(to.tokens, till - start, length)
            return old < new and old or new
        end,

        convert = function(from, to, at)
            local start, count = from.start, from.count
            local ends = fixed.after(from, start, 1)
            local later = start > at and start or at
            to.start, to.late, to.unopened = start, from.late, from.unopened
            if to.first_use and not from.first_use then
                to.start, to.unopened = later, true
                count, to.late = ends <= at and to.late or count, 0
            elseif not to.first_use and (from.first_use or from.span ~= to.span or from.zone_name ~= to.zone_name) then
                to.start, to.unopened = windows.start(to, later), false
                if ends <= to.start then
                    count, to.late = to.late, 0
                end
                if not from.first_use then
                    count = count + fixed.unknown_before(from, to, to.start, start)
                end
            end
            to.count = count < TAKT_ROOM_MAX and count or TAKT_ROOM_MAX
        end,
    }
    return fixed
end
