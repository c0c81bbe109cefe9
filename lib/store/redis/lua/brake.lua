-- brake.lua: the rule that blocks and penalties add, and its removal (core/brake.c). The brake is the last of
-- limit.rules. Its functions are defined only if a ledger has or gets a brake.
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
        percent = 0, -- the percentage of the rate that penalties leave; 0: the full rate
        since = 0,
        counted = 0,
        paced_from = 0,
        paced_until = 0, -- end of the pace after a block; 0: no pace

        -- A percentage of the first rule's rate, as a rule. Nil: its numbers are too large.
        derive = function(rules, percent)
            local first, whole, burst = rules[1], TAKT_WHOLE_PERCENT, NEVER
            if not first then
                return nil
            end
            for _, one in ipairs(rules) do
                local n = one.unit == first.unit and one.algorithm.capacity(one) or NEVER
                burst = n < burst and n or burst
            end
            local tokens, span = reduce(first.tokens, first.span)
            percent, whole = reduce(percent, whole)
            tokens, whole = reduce(tokens, whole)
            span, percent = reduce(span, percent)
            if tokens > math.floor(TAKT_ROOM_MAX / percent) or span > math.floor(TAKT_SPAN_MAX_US / whole) then
                return nil
            end
            local unit = first.unit and (first.unit == 0 and '=' or string.format('&%d:', first.unit + 1)) or ''
            return rule.new(string.format('g%s%.0f/%.0f*%.0f', unit, tokens * percent, span * whole, burst))
        end,

        -- The rules without the brake.
        take_off = function()
            if limit.brake then
                limit.rules[#limit.rules], limit.brake = nil, nil
            end
        end,

        add = function(new)
            limit.rules[#limit.rules + 1], limit.brake = new, new
        end,

        release = function()
            brake.take_off()
            brake.percent, brake.since, brake.counted, brake.paced_from, brake.paced_until = 0, 0, 0, 0, 0
        end,

        -- A rule that is GCRA until an instant and lets everything through after it.
        paced = function(rule)
            local gcra, till, made = rule.algorithm, brake.paced_until, {}
            for name, one in pairs(gcra) do
                made[name] = one
            end
            made.earliest = function(rule, t, cost)
                local at, free = gcra.earliest(rule, t, cost), t > till and t or till
                return at ~= NEVER and at > free and free or at
            end
            made.commit = function(rule, t, cost)
                if t < till then
                    gcra.commit(rule, t, cost)
                end
            end
            made.room = function(rule, from, by)
                return by < till and gcra.room(rule, from, by) or TAKT_ROOM_MAX
            end
            made.due = function(rule, from, n)
                local at, free = gcra.due(rule, from, n), from > till and from or till
                return at > free and free or at
            end
            made.rest_at = function(rule)
                local at = gcra.rest_at(rule)
                return at > till and till or at
            end
            return made
        end,

        -- The brake of a ledger with these rules, without its state. Nil: no brake is needed.
        find_rule = function(rules)
            if brake.percent > 0 then
                return brake.derive(rules, brake.percent)
            end
            local new = brake.paced_until > 0 and brake.derive(rules, TAKT_WHOLE_PERCENT) or nil
            if new then
                new.algorithm = brake.paced(new)
            end
            return new
        end,

        -- Puts the new rule of the brake in force. `old`: the previous rule, or nil.
        put_on = function(old)
            brake.take_off()
            local new = brake.find_rule(limit.rules)
            if not new then
                brake.release()
                return
            end
            if old then
                new.algorithm.pour(old, new, ledger.now)
            else
                new.algorithm.rest(new, ledger.now)
            end
            brake.add(new)
        end,

        -- Changes the percentage of the rate.
        change = function(old, percent)
            brake.percent = percent < TAKT_WHOLE_PERCENT and percent or 0
            if brake.percent == 0 then
                brake.since, brake.counted = 0, 0
            end
            brake.put_on(old)
        end,

        -- Adapts the brake `old` to a new limit of the ledger.
        follow = function(old)
            if brake.percent == 0 then
                brake.put_on(old)
                return
            end
            local floor = limit.adapt and limit.adapt.floor or TAKT_WHOLE_PERCENT
            brake.change(old, brake.percent > floor and brake.percent or floor)
        end,

        -- A block begins, or its end is moved.
        pace = function()
            local now = ledger.now
            local ends = ledger.blocked > now and ledger.blocked or now
            if not limit.rules[1] then
                return
            end
            if brake.paced_until == 0 or brake.paced_from > now then
                brake.paced_from = now
            end
            local lasts = ends - brake.paced_from
            brake.paced_until = ends + (lasts < TAKT_PACED_MAX_US and lasts or TAKT_PACED_MAX_US)
            brake.put_on(limit.brake)
        end,

        exhaust = function(at)
            if limit.brake then
                limit.brake.algorithm.exhaust(limit.brake, at)
            end
        end,

        reset = function()
            if ledger.blocked <= ledger.now then
                brake.paced_from, brake.paced_until = 0, 0
            end
            brake.change(limit.brake, TAKT_WHOLE_PERCENT)
        end,

        tidy_pace = function()
            local now = ledger.now
            if brake.paced_until == 0 or ledger.blocked > now then
                return
            end
            if brake.paced_until <= now then
                brake.paced_from, brake.paced_until = 0, 0
            elseif brake.paced_until > now + TAKT_PACED_MAX_US then
                brake.paced_until = now + TAKT_PACED_MAX_US
            else
                return
            end
            brake.put_on(limit.brake)
        end,

        tidy = function()
            local now, blocked, adapt = ledger.now, ledger.blocked, limit.adapt
            brake.tidy_pace()
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
            local paced = brake.paced_until
            if brake.percent == 0 then
                return paced
            end
            local adapt = limit.adapt
            local back = brake.since
                + numbers.divide_up(TAKT_WHOLE_PERCENT - brake.percent, adapt.recover_us, adapt.recover)
            return back > paced and back or paced
        end,

        -- Reads "PERCENT,SINCE,COUNTED,STATE[,FROM,UNTIL]". The numbers of the state follow from `rules`. Returns the
        -- brake, or nil if the text is malformed.
        read = function(text, rules)
            local percent, since, counted, state, more = text:match('^(%d+),(%d+),(%d+),([^,]+)(.*)$')
            local from, till = (more or ''):match('^,(%d+),(%d+)$')
            percent, since, counted, from, till = tonumber(percent), tonumber(since), tonumber(counted), tonumber(from),
                tonumber(till)
            if not percent or percent >= TAKT_WHOLE_PERCENT or since > TAKT_EXACT_MAX or counted > TAKT_EXACT_MAX
                or (from == nil) ~= (more == '')
                or from and (from < 1 or from > TAKT_EXACT_MAX or till < 1 or till > TAKT_EXACT_MAX) then
                return nil
            end
            brake.percent, brake.since, brake.counted, brake.paced_from, brake.paced_until = percent, since, counted,
                from or 0, till or 0
            local read = brake.find_rule(rules)
            if not read or not read.algorithm.read_state(read, state) or read.lows then
                return nil
            end
            return read
        end,

        write = function()
            local pace = ''
            if brake.paced_until > 0 then
                pace = string.format(',%.0f,%.0f', brake.paced_from, brake.paced_until)
            end
            return string.format(';k%.0f,%.0f,%.0f,', brake.percent, brake.since, brake.counted)
                .. limit.brake.algorithm.write_state(limit.brake) .. pace
        end,
    }
end
