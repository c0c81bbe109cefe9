-- brake.lua: the rule that penalties leave behind, and how it comes off; core/brake.c.  It is the last of limit.rules.
-- Made when a ledger is braked, or to be.
-- needs: limit

local brake
local function make_brake()
    local function common_divisor(a, b)
        while b ~= 0 do
            a, b = b, a % b
        end
        return a
    end

    local function reduce(a, b)
        local divisor = common_divisor(a, b)
        return a / divisor, b / divisor
    end

    brake = brake or {
        percent = 0, -- 0: the ledger is not braked
        since = 0,
        counted = 0,

        -- So much of the rate of a limit with these rules, as a rule; nil: its numbers are too large.
        derive = function(rules, percent)
            local first, whole, burst = rules[1], TAKT_WHOLE_PERCENT, NEVER
            if not first then
                return nil
            end
            for _, one in ipairs(rules) do
                local n = one.algorithm.capacity(one)
                burst = n < burst and n or burst
            end
            local tokens, span = reduce(first.tokens, first.span)
            percent, whole = reduce(percent, whole)
            tokens, whole = reduce(tokens, whole)
            span, percent = reduce(span, percent)
            if tokens > math.floor(TAKT_ROOM_MAX / percent) or span > math.floor(TAKT_SPAN_MAX_US / whole) then
                return nil
            end
            return rule.new(string.format('g%.0f/%.0f*%.0f', tokens * percent, span * whole, burst))
        end,

        -- The rules without it.
        take_off = function()
            if limit.brake then
                limit.rules[#limit.rules], limit.brake = nil, nil
            end
        end,

        put_on = function(new)
            limit.rules[#limit.rules + 1], limit.brake = new, new
        end,

        release = function()
            brake.take_off()
            brake.percent, brake.since, brake.counted = 0, 0, 0
        end,

        -- Another part of the rate, where `old` is the brake so far.
        change = function(old, percent)
            brake.take_off()
            local new = percent < TAKT_WHOLE_PERCENT and brake.derive(limit.rules, percent)
            if not new then
                brake.release()
                return
            end
            new.algorithm.pour(old, new, ledger.now)
            brake.put_on(new)
            brake.percent = percent
        end,

        -- The ledger has gone over to its limit from one with the brake `old`.
        follow = function(old)
            if not limit.adapt or not limit.rules[1] then
                brake.release()
                return
            end
            local floor = limit.adapt.floor
            brake.change(old, brake.percent > floor and brake.percent or floor)
        end,

        tidy = function()
            local now, blocked, adapt = ledger.now, ledger.blocked, limit.adapt
            if brake.percent == 0 then
                return
            end
            if brake.since > (now > blocked and now or blocked) then
                brake.since = now
            end
            if now > brake.since then
                local gained = numbers.divide(now - brake.since, adapt.recover, 0, adapt.recover_us)
                gained = gained < TAKT_WHOLE_PERCENT and gained or TAKT_WHOLE_PERCENT
                brake.since = brake.since + numbers.divide_up(gained, adapt.recover_us, adapt.recover)
                if gained > 0 then
                    brake.change(limit.brake, brake.percent + gained)
                end
            end
            if brake.percent > 0 and brake.since < blocked and blocked > now then
                brake.since = blocked
            end
        end,

        ends_at = function()
            if brake.percent == 0 then
                return 0
            end
            local adapt = limit.adapt
            return brake.since
                + numbers.divide_up(TAKT_WHOLE_PERCENT - brake.percent, adapt.recover_us, adapt.recover)
        end,

        -- "PERCENT,SINCE,COUNTED,STATE"; the numbers of the state follow from `rules`.  Returns the brake; nil where it
        -- cannot be read.
        read = function(text, rules)
            local percent, since, counted, state = text:match('^(%d+),(%d+),(%d+),([^,]+)$')
            percent, since, counted = tonumber(percent), tonumber(since), tonumber(counted)
            if not percent or percent < 1 or percent >= TAKT_WHOLE_PERCENT or since > TAKT_EXACT_MAX
                or counted > TAKT_EXACT_MAX then
                return nil
            end
            local read = brake.derive(rules, percent)
            if not read or not read.algorithm.read_state(read, state) then
                return nil
            end
            brake.percent, brake.since, brake.counted = percent, since, counted
            return read
        end,

        write = function()
            return string.format(';k%.0f,%.0f,%.0f,', brake.percent, brake.since, brake.counted)
                .. limit.brake.algorithm.write_state(limit.brake)
        end,
    }
end
