-- sliding_log.lua: rules/sliding_log.c, function by function. The state is rule.log.
-- needs: window log

local function make_sliding_log()
    local sliding
    make_windows()
    make_logs()
    sliding = {
        is_paced = function(rule, t)
            local log = rule.log
            return log.full > 0 and t < log.full + rule.span
        end,

        -- The earliest instant for a slot: not before the latest entry, and not before the rule was full.
        not_before = function(rule, t)
            local log = rule.log
            if t < log.last then
                t = log.last
            end
            if sliding.is_paced(rule, t) and t < log.full then
                t = log.full
            end
            return t
        end,

        -- The time of the n-th token from t on, n <= limit. t is a result of not_before.
        slot_of = function(rule, t, n)
            local log = rule.log
            local leaving = logs.held(log) + n - rule.tokens
            if leaving > 0 then
                local at = logs.slot_of(log, leaving) + rule.span
                t = at > t and at or t
            end
            if sliding.is_paced(rule, t) then
                local since = logs.between(log.full_at, log.total) + n - 1
                local at = since < rule.tokens and windows.divide_up(since, rule.span, rule.tokens) or rule.span
                at = at + log.full
                t = at > t and at or t
            end
            return t
        end,

        -- The number of tokens that may have been taken by `till`, which is less than a period later.
        count_by = function(rule, till)
            local log = rule.log
            local count = rule.tokens - logs.held(log) + logs.count_to(log, till - rule.span)
            if sliding.is_paced(rule, till) then
                local paced = windows.divide(till - log.full, rule.tokens, rule.span) + 1
                    - logs.between(log.full_at, log.total)
                count = paced < count and paced or count
            end
            return count > 0 and count or 0
        end,

        capacity = function(rule)
            return rule.tokens
        end,

        rest = function(rule, at)
            rule.log = logs.clear(rule.log)
            rule.log.last = at
        end,

        earliest = function(rule, t, cost)
            if cost > rule.tokens then
                return NEVER
            end
            return sliding.slot_of(rule, sliding.not_before(rule, t), cost)
        end,

        commit = function(rule, t, cost)
            local log = rule.log
            logs.drop(log, t - rule.span)
            if not sliding.is_paced(rule, t) then
                log.full, log.full_at = 0, 0
            end
            logs.append(log, t, cost)
        end,

        room = function(rule, from, till)
            local t = sliding.not_before(rule, from)
            if t > till then
                return 0
            end
            local periods = math.floor((till - t) / rule.span)
            local count = sliding.count_by(rule, till - periods * rule.span)
            local over = periods > math.floor((TAKT_ROOM_MAX - count) / rule.tokens)
            return over and TAKT_ROOM_MAX or periods * rule.tokens + count
        end,

        due = function(rule, from, n)
            local t = sliding.not_before(rule, from)
            local periods = math.floor((n - 1) / rule.tokens)
            local at = sliding.slot_of(rule, t, n - periods * rule.tokens)
            return periods > math.floor(TAKT_WINDOW_END / rule.span) and TAKT_WINDOW_END or at + periods * rule.span
        end,

        series = function(rule, t, cost, count, till, run)
            local at = sliding.earliest(rule, t, cost)
            if at > till then
                return 0
            end
            local n = math.floor(sliding.count_by(rule, at) / cost)
            n = n < count and n or count
            run[1], run[2], run[3], run[4], run[5], run[6], run[7] = at, 0, 0, 0, 1, n, cost
            sliding.commit(rule, at, n * cost)
            return n
        end,

        exhaust = function(rule, at)
            local log = rule.log
            if at > log.full then
                log.full, log.full_at = at, log.total
            end
        end,

        give_back = function(rule, slot, _, unused)
            if rule.log.full == 0 then
                logs.take_back(rule.log, slot, unused)
            end
        end,

        rest_at = function(rule)
            local log = rule.log
            local at = logs.held(log) > 0 and log.last + rule.span or log.last
            local paced_till = log.full > 0 and log.full + rule.span or 0
            return paced_till > at and paced_till or at
        end,

        pull_back = function(rule, at, reach, ahead)
            if rule.log.last > at + reach or rule.log.full > at + reach then
                sliding.rest(rule, at)
                sliding.exhaust(rule, at + ahead)
            end
        end,

        read_rule = function(rule, text)
            local is_rule, more = windows.read_rule(rule, text)
            return is_rule and more == ''
        end,

        write_state = function(rule)
            local log = rule.log
            local text = string.format('%.0f,%.0f,%.0f', log.last, log.total, log.before)
            if log.book > 0 then
                text = text .. string.format('#%d,%.0f,%.0f', log.book, log.first, log.next)
            end
            if log.full > 0 then
                text = text .. string.format('^%.0f,%.0f', log.full, log.full_at)
            end
            return text
        end,

        read_state = function(rule, text)
            local last, total, before, more = text:match('^(%d+),(%d+),(%d+)(.*)$')
            if not last then
                return false
            end
            local log = logs.new()
            log.last, log.total, log.before = tonumber(last), tonumber(total), tonumber(before)
            local book, first, next_one, paced = more:match('^#(%d+),(%d+),(%d+)(.*)$')
            if book then
                log.book, log.first, log.next, more = tonumber(book), tonumber(first), tonumber(next_one), paced
                if log.book < 1 or log.book > TAKT_BOOKS_MAX or log.first > log.next or log.next > TAKT_WINDOW_END
                    or not logs.take(log.book) then
                    return false
                end
            end
            if more ~= '' then
                local full, full_at = more:match('^%^(%d+),(%d+)$')
                log.full, log.full_at = tonumber(full), tonumber(full_at)
                if not full or log.full < 1 or log.full > TAKT_WINDOW_END or log.full_at >= TAKT_LOG_WRAP then
                    return false
                end
            end
            rule.log = log
            return log.last <= TAKT_WINDOW_END and log.total < TAKT_LOG_WRAP and log.before < TAKT_LOG_WRAP
                and logs.held(log) <= TAKT_ROOM_MAX
        end,

        convert = function(from, to, at)
            to.log = from.log
            logs.drop(to.log, at - to.span)
        end,
    }
    return sliding
end
