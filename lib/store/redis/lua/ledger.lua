-- ledger.lua: reads and writes the ledger's text, and applies changes that only depend on time (core/ledger.c and
-- core/ledger_text.c).
-- needs: limit convert brake gaps

-- Detects callers whose rules differ at the same revision: takt_contest of core/ledger.c.
local contest = {
    uphold = function()
        ledger.stated = ledger.now
        if ledger.contested > ledger.now or ledger.contested + TAKT_CONTEST_US < ledger.now then
            ledger.stated, ledger.contested = 0, 0
        end
    end,

    withstands = function()
        if ledger.contested == 0 or ledger.stated > ledger.now then
            ledger.stated = ledger.now
        end
        ledger.contested = ledger.now
        return ledger.stated + TAKT_CONTEST_US >= ledger.now
    end,
}

local text
text = {
    -- The rules at the start of a text, as two lists of texts, and the position after them. Nil: the text is malformed.
    split_rules = function(stored)
        local heads, states, at = {}, {}, 1
        repeat
            if at <= #stored and not rule.algorithm(stored:sub(at, at)) then
                return heads, states, at
            end
            local head, state, stop = stored:match('^([^ ;]+) ([^;]+)()', at)
            if not head or #heads == TAKT_RULES_MAX then
                return nil
            end
            heads[#heads + 1], states[#states + 1] = head, state
            at = stop + 1
        until stop > #stored
        return heads, states, at
    end,

    -- The four numbers of `adapt`. Nil: the text is malformed.
    read_adapt = function(told)
        local backoff, recover, time, floor = (told or ''):match('^(%d+),(%d+),(%d+),(%d+)$')
        backoff, recover, time, floor = tonumber(backoff), tonumber(recover), tonumber(time), tonumber(floor)
        if not backoff or backoff < 1 or backoff > 99 or recover < 1 or recover > 100 or time < 1
            or time > TAKT_RECOVER_MAX_US or floor < 1 or floor > 99 then
            return nil
        end
        return { backoff = backoff, recover = recover, recover_us = time, floor = floor }
    end,

    read_offers = function(told)
        local at = 1
        while at <= #told do
            local slot, cost, priority, stop = told:match('^,(%d+),(%d+),(%d+)()', at)
            slot, cost, priority, at = tonumber(slot), tonumber(cost), tonumber(priority), stop
            if not slot or slot > TAKT_EXACT_MAX or cost < 1 or cost > TAKT_COST_MAX or priority > 9
                or #ledger.offers == TAKT_OFFERS_MAX then
                return false
            end
            ledger.offers[#ledger.offers + 1] = { slot = slot, cost = cost, priority = priority }
        end
        return true
    end,

    -- Reads the text after the rules. Returns the fields of the limit, the revision (0: none), and the text of the
    -- brake. Nil: the text is malformed.
    read_rest = function(stored, at)
        local told, ahead, most, permits, lease, full, adapt, braked = 0, nil, nil, 0, 0, '', nil, nil
        stored = stored:sub(-1) == ';' and stored or stored .. ';'
        local a, b, c, letter, more, stop = stored:match('^r(%d+),(%d+),(%d+)([ou]?)([^;]*);()', at)
        if a then
            told, ahead, most, full, at = tonumber(a), tonumber(b), tonumber(c), letter, stop
            if more ~= '' then
                permits, lease = more:match('^,(%d+),(%d+)$')
                permits, lease = tonumber(permits), tonumber(lease)
                if not permits or permits < 1 or permits > TAKT_ROOM_MAX or lease < 1 or lease > TAKT_SPAN_MAX_US then
                    return nil
                end
            end
            if told < 1 or told > TAKT_EXACT_MAX or ahead > TAKT_LOOKAHEAD_MAX_US or most > TAKT_EXACT_MAX then
                return nil
            end
            a, stop = stored:match('^a([^;]*);()', at)
            if a then
                adapt, at = text.read_adapt(a), stop
                if not adapt then
                    return nil
                end
            end
        end
        a, more, stop = stored:match('^n(%d+)([^;]*);()', at)
        if a then
            b = more == '' and 0 or tonumber(more:match('^,(%d+)$'))
            ledger.fence, ledger.leased, at = tonumber(a), b, stop
            if ledger.fence < 1 or ledger.fence > TAKT_EXACT_MAX or not b or b > TAKT_EXACT_MAX
                or (more ~= '' and b < 1) then
                return nil
            end
        end
        a, stop = stored:match('^t(%d+);()', at)
        if a then
            ledger.turn, ledger.listed, at = tonumber(a), true, stop
        end
        a, b, more, stop = stored:match('^b(%d+)(,?)([^;]*);()', at)
        if a then
            ledger.blocked, ledger.reason, at = tonumber(a), more, stop
            if ledger.blocked < 1 or (b == ',') ~= (more ~= '') or #more > TAKT_REASON_TEXT_MAX then
                return nil
            end
        end
        a, stop = stored:match('^k([^;]*);()', at)
        if a then
            braked, at = a, stop
        end
        if at <= #stored then
            a, b, c, stop = stored:match('^m(%d+),(%d+),(%d+);()', at)
            if a then
                ledger.meter, at = { ends = tonumber(a), since = tonumber(b), taken = tonumber(c) }, stop
                b, c = ledger.meter.ends, ledger.meter.since
                if b < 1 or b > TAKT_EXACT_MAX or c < 1 or c > TAKT_EXACT_MAX
                    or ledger.meter.taken > TAKT_EXACT_MAX then
                    return nil
                end
            end
        end
        if at <= #stored then
            a, b, stop = stored:match('^c(%d+),(%d+);()', at)
            if a then
                ledger.stated, ledger.contested, at = tonumber(a), tonumber(b), stop
                if ledger.stated < 1 or ledger.stated > TAKT_EXACT_MAX or ledger.contested < 1
                    or ledger.contested > TAKT_EXACT_MAX then
                    return nil
                end
            end
        end
        if at <= #stored then
            a, b, more, stop = stored:match('^e(%d+),(%x+)([^;]*);()', at)
            if a then
                ledger.asked, ledger.asker, at = tonumber(a), b, stop
                if not text.read_offers(more) or ledger.asked > TAKT_EXACT_MAX
                    or ledger.asked == 0 and not ledger.offers[1] then
                    return nil
                end
            end
        end
        if at <= #stored then
            ledger.passed_over, stop = stored:match('^v([%d,+]*);()', at)
            at = stop or at
        end
        if at <= #stored or ledger.turn > TAKT_EXACT_MAX or ledger.blocked > TAKT_EXACT_MAX
            or (braked and told > 0 and not adapt and not braked:find('^0+,')) then
            return nil
        end
        return told, ahead, most, permits, lease, full, adapt, braked
    end,

    -- Reads the text into the state of the caller's rules. If these are older, the text's own rules are used.
    decode = function(stored)
        local wanted = limit.rules
        local heads, states, at = text.split_rules(stored)
        if not heads then
            return false
        end
        local told, ahead, most, permits, lease, full, adapt, braked = 0, nil, nil, 0, 0, '', nil, nil
        if at <= #stored then
            told, ahead, most, permits, lease, full, adapt, braked = text.read_rest(stored, at)
            if not told then
                return false
            end
        end
        local same = table.concat(heads, ';') == ARGV[1]
        local kept = wanted
        if not same then
            kept = {}
            for i = 1, #heads do
                heads[i] = heads[i]:gsub('%f[%d]0+(%d)', '%1') -- without leading zeros, as scripts write
                kept[i] = rule.new(heads[i])
                if not kept[i] then
                    return false
                end
            end
            same = table.concat(heads, ';') == ARGV[1]
        end
        for i = 1, #kept do
            if not rule.read_state(kept[i], states[i]) then
                return false
            end
        end
        if braked then
            make_brake()
            braked = brake.read(braked, kept)
            if not braked then
                return false
            end
        end
        if ledger.passed_over and not limit.gaps.read(ledger.passed_over, limit.gaps.find_rule(kept)) then
            return false
        end
        local newer = told > limit.revision
        if newer or (not same and told == limit.revision and contest.withstands()) then
            limit.rules, ledger.others = kept, true
            if told > 0 then
                limit.revision, limit.lookahead, limit.max_waiting = told, ahead, most
                limit.concurrency, limit.lease, limit.when_full, limit.adapt = permits, lease, full, adapt
            end
            if newer and braked then
                brake.add(braked)
                return true
            end
        elseif not same then
            convert(kept, wanted)
            ledger.stated, ledger.contested, ledger.gaps = 0, 0, limit.gaps and {}
        elseif ledger.contested > 0 then
            contest.uphold()
        end
        if braked then
            brake.follow(braked)
        end
        return true
    end,

    encode = function()
        local parts = ''
        for i, one in ipairs(limit.rules) do
            if one ~= limit.brake then
                parts = parts .. (i > 1 and ';' or '') .. one.text .. ' ' .. rule.write_state(one)
            end
        end
        if limit.revision > 0 then
            parts = parts .. string.format(';r%.0f,%.0f,%.0f', limit.revision, limit.lookahead, limit.max_waiting)
                .. limit.when_full
            if limit.concurrency > 0 then
                parts = parts .. string.format(',%.0f,%.0f', limit.concurrency, limit.lease)
            end
            local adapt = limit.adapt
            if adapt then
                parts = parts .. string.format(';a%.0f,%.0f,%.0f,%.0f', adapt.backoff, adapt.recover, adapt.recover_us,
                    adapt.floor)
            end
        end
        if ledger.fence > 0 then
            parts = parts .. ';n' .. numbers.digits(ledger.fence)
            parts = parts .. (ledger.leased > 0 and ',' .. numbers.digits(ledger.leased) or '')
        end
        if ledger.listed then
            parts = parts .. ';t' .. numbers.digits(ledger.turn)
        end
        if ledger.blocked > 0 then
            parts = parts .. ';b' .. numbers.digits(ledger.blocked)
            parts = parts .. (ledger.reason ~= '' and ',' or '') .. ledger.reason
        end
        if limit.brake then
            parts = parts .. brake.write()
        end
        local meter = ledger.meter
        if meter then
            parts = parts .. string.format(';m%.0f,%.0f,%.0f', meter.ends, meter.since, meter.taken)
        end
        if ledger.contested > 0 then
            parts = parts .. ';c' .. numbers.digits(ledger.stated) .. ',' .. numbers.digits(ledger.contested)
        end
        if ledger.asked > 0 or ledger.offers[1] then
            parts = parts .. ';e' .. numbers.digits(ledger.asked) .. ',' .. ledger.asker
            for _, offer in ipairs(ledger.offers) do
                parts = parts .. string.format(',%.0f,%.0f,%.0f', offer.slot, offer.cost, offer.priority)
            end
        end
        if limit.gaps then
            parts = parts .. limit.gaps.write()
        end
        return limit.rules[1] and parts or parts:sub(2)
    end,
}

-- The text of a ledger whose numbers are newer than the caller's, without the pages of logs, which stay in this store;
-- of another one ''.
local function tell_newer()
    return ledger.others and text.encode():gsub('#%d+,%d+,%d+', '') or ''
end

-- Reads the caller's policy. False: the arguments are malformed.
local function read_arguments()
    local rules, heads, span, revision, lookahead, bounds, zones_told = {}, unpack(ARGV, 1, 6)
    for head in (heads or ''):gmatch('[^;]+') do
        rules[#rules + 1] = rule.new(head)
    end
    limit.rules, limit.revision = rules, tonumber(revision)
    limit.lookahead, limit.span = tonumber(lookahead), tonumber(span)
    local most, full, permits, lease, adapt = (bounds or ''):match('^(%d+)([ou]?),?(%d*),?(%d*);?([%d,]*)$')
    limit.adapt, limit.brake = adapt ~= '' and text.read_adapt(adapt) or nil, nil
    limit.max_waiting, limit.concurrency, limit.lease = tonumber(most), tonumber(permits) or 0, tonumber(lease) or 0
    limit.when_full = full
    return (rules[1] or limit.concurrency > 0) and limit.span and limit.revision and limit.lookahead
        and limit.max_waiting and zones_told
end

-- Replaces a malformed ledger by a fresh one. Its block lasts for its span (the longest period or the lease), counted
-- from the last slot that was possibly given.
local function begin_anew()
    read_arguments()
    if logs then
        logs.forget()
    end
    if tenants then
        tenants.reset()
    end
    limit.rest()
    ledger.turn, ledger.listed, ledger.damaged = 0, false, true
    ledger.fence, ledger.leased, ledger.meter = 0, 0, nil
    ledger.stated, ledger.contested, ledger.others = 0, 0, false
    ledger.asked, ledger.asker, ledger.offers, ledger.gaps = 0, '0', {}, limit.gaps and {}
    local given_until = ledger.now + limit.lookahead
    limit.exhaust(given_until)
    ledger.blocked, ledger.reason = given_until + limit.span, ''
    make_brake()
    brake.release()
    brake.pace()
end

-- Reads the ledger from its text.
local function open_ledger()
    if not ledger.stored then
        limit.rest()
    elseif not (text.decode(tenants and tenants.head or ledger.stored) and (not tenants or tenants.read()))
        and not ledger.zone_wanted then
        begin_anew()
    end
    limit.find_units()
end

-- Ends a block.
local function unblock()
    ledger.blocked, ledger.reason = 0, ''
end

-- takt_meter_add of core/meter.h.
local function count_taken(tokens)
    local meter = ledger.meter
    if meter then
        local taken = meter.taken + tokens
        meter.taken = taken > TAKT_EXACT_MAX and TAKT_EXACT_MAX or taken < 0 and 0 or taken
    end
end

local function offer_can_be_used(offer)
    return offer.slot >= math.max(ledger.now, ledger.blocked) and offer.slot <= ledger.now + TAKT_LOOKAHEAD_MAX_US
end

-- takt_offers_tidy of core/offers.h.
local function tidy_offers()
    local kept = {}
    for _, offer in ipairs(ledger.offers) do
        if offer_can_be_used(offer) then
            kept[#kept + 1] = offer
        end
    end
    ledger.offers = kept
    if ledger.asked > ledger.now or ledger.asked + limit.lookahead < ledger.now then
        ledger.asked, ledger.asker = 0, '0'
    end
end

local function tidy_rules()
    if brake then
        brake.tidy()
    end
    limit.pull_back()
    limit.pay()
    if ledger.blocked > 0 and ledger.blocked <= ledger.now + limit.lookahead then
        if brake then
            brake.exhaust(ledger.blocked)
        end
        if ledger.blocked <= ledger.now then
            unblock()
        end
    end
    if limit.gaps then
        limit.gaps.tidy()
    end
    local meter, now = ledger.meter, ledger.now
    if meter and (meter.ends <= now or meter.ends > now + TAKT_WATCH_MAX_US or meter.since > now) then
        ledger.meter = nil
    end
    tidy_offers()
end
