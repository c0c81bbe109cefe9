-- quick_line.lua: the fast path of a claim by a worker that is in line and stays in line.
--
-- The fast path needs a ledger with one GCRA rule and a line of one priority with at most PLACES_MAX active places. All
-- weights are 1, and all waiters of the claim have the same cost and no deadline. The path reads all places with one
-- command and checks everything before it writes. All other claims, and rare events, are left to the other pieces,
-- which also explain each step. Rare events are: a worker joins or leaves the line, a worker is silent or late, a key
-- must be kept longer, a place owes turns.
--
-- Times here are relative to now and counted in parts: a microsecond has `tokens` parts, a token has `span` parts.
--
-- KEYS, ARGV and reply are those of claim.lua.
-- needs: clock records share

local PLACES_MAX = 32
local PARTS_MAX = 2251799813685248 -- 2^51: sums of them are exact

-- The time when the n-th token from now on is due.
-- inline
local function due_at(given, n, span, tolerance, tokens)
    return now + math.max(math.ceil((given + n * span - tolerance) / tokens), 0)
end

-- The room within the lookahead, in tokens.
-- inline
local function room_in(reach, given, span)
    return math.max(math.floor((reach - given) / span), 0)
end

-- Reads the call and the worker's own record. Returns false if the call or the ledger needs the other pieces.
-- inline
local function read_pace(call, rule, line)
    call.head, rule.tokens, rule.span, rule.burst, call.lookahead, call.worker, call.seq, call.waiting, call.count,
        call.cost, call.priority =
        ARGV[1]:match('^(g(%d+)/(%d+)%*(%d+)) %d+ 0 (%d+) 0 [^ ]* (%x+) (%d+) (%d+)!? (%d+) %-1 (%d+) (%d)$')
    if not call.head or stored:find(call.head, 1, true) ~= 1 then
        return false
    end
    rule.us, rule.more, line.turn = stored:match('^ (%d+)(%+?%d*);t(%d+)$', #call.head + 1)
    local found = rule.us and redis.call('HMGET', KEYS[3], 'all', call.worker)
    if not found or not found[1] or not found[2] then
        return false
    end
    local priority, last_seq, own_priority, _, aside, lacks
    line.waiting, line.workers, line.latest, line.least, line.kept, line.late, priority, line.places, line.active,
        line.wanted, lacks = read_only_totals(found[1])
    if priority ~= call.priority or lacks ~= '' or line.active + 0 > PLACES_MAX then
        return false
    end
    last_seq, own_priority, line.own_turn, line.own_wanted, line.own_need, line.own_waiting, line.own_again, aside,
        line.own_foremost, lacks = read_only_place(found[2])
    return last_seq and own_priority == priority and aside == '' and lacks == '' and last_seq + 0 < call.seq + 0
end

-- Reads the places of the other workers: their number, the number of places before the worker, and the first place.
-- Returns false if a worker is late or silent, or if a key must be kept longer.
-- inline
local function read_others(call, line)
    line.others, line.before, line.first_need, line.least_need = 0, 0, 0, TAKT_ROOM_MAX
    line.own_turn = line.own_turn + 0
    local found, first_turn, first_again = redis.call('HGETALL', KEYS[3]), nil, 0
    for i = 2, #found, 2 do
        local _, priority, turn, _, need, _, again, aside, _, lacks = read_only_place(found[i])
        if priority == call.priority and aside == '' and lacks == '' and found[i - 1] ~= call.worker then
            turn, need = turn + 0, need + 0
            line.others = line.others + 1
            line.least_need = need < line.least_need and need or line.least_need
            line.before = line.before + (turn < line.own_turn and 1 or 0)
            if not first_turn or turn < first_turn then
                first_turn, line.first_need, first_again = turn, need, again + 0
            end
        end
    end
    call.lookahead, call.waiting, call.count = call.lookahead + 0, call.waiting + 0, call.count + 0
    line.turn = line.turn + 0
    local head_again, kept = line.before > 0 and first_again or line.own_again + 0, line.kept + 0
    line.alive_until = now + TAKT_SILENT_US
    if line.before == 0 and line.own_need + 0 > call.cost + 0 then
        return false -- the head's waiter with a larger cost is gone; the other workers must learn this
    end
    return line.others == line.active - 1 and head_again + call.lookahead >= now and now <= line.least + 0
        and line.latest + 0 <= line.alive_until and line.alive_until <= kept
        and kept <= line.alive_until + 2 * SLACK and call.waiting >= call.count
end

-- Reads the state of the rule: the tokens given, and the limit of their times. Returns false if a number is too large
-- to be exact here.
-- inline
local function read_pace_rule(call, rule, line)
    local tokens, span, more = rule.tokens + 0, rule.span + 0, rule.more
    local parts, burst = more == '' and 0 or tonumber(more) or 0, rule.burst + 0
    rule.tokens, rule.span, rule.us, rule.parts, call.cost = tokens, span, rule.us + 0, parts, call.cost + 0
    rule.given, rule.tolerance, rule.ahead = (rule.us - now) * tokens + parts, burst * span, call.lookahead * tokens
    rule.rest_at, rule.step = rule.us + (parts > 0 and 1 or 0), call.cost * span
    line.wanted = line.wanted - line.own_wanted
    local reach = TAKT_LOOKAHEAD_MAX_US * tokens + 2 * rule.ahead + rule.tolerance
    if (more == '') ~= (parts == 0) or parts >= tokens or call.cost > burst or burst > TAKT_ROOM_MAX
        or (rule.ahead + rule.tolerance) / span > TAKT_ROOM_MAX or rule.tolerance / tokens > TAKT_SPAN_MAX_US
        or rule.given > reach or reach + rule.ahead > PARTS_MAX
        or (line.wanted + line.first_need + call.count * call.cost) * span > PARTS_MAX then
        return false
    end
    rule.given = rule.rest_at < now and 0 or rule.given
    return true
end

-- The tokens of a turn: a share, but no more than half a lookahead has.
-- inline
local function turn_of(call, rule, line)
    local half = math.floor(math.floor(call.lookahead / 2) * rule.tokens / rule.span)
    return math.max(math.min(line.share, half), call.cost)
end

-- The worker's turn. The worker gets at most its share, and at most the room that the places before it leave. A worker
-- that claims before there is room for its turn gets nothing. Returns false if the worker leaves the line, or if some
-- of its slots are due now and others later.
-- inline
local function take_turn(call, rule, line)
    local cost, count, others, n = call.cost, call.count, line.others, 0
    local through, reach = math.floor(rule.ahead / rule.span), rule.ahead + rule.tolerance
    local room = room_in(reach, rule.given, rule.span)
    line.share = share_of(room, through, others + 1)
    line.ahead = ahead_of(line.before, line.share, line.first_need, 1, line.wanted, 0, 0)
    local left = math.min(room - line.ahead, math.max(line.share, cost))
    local turn = turn_of(call, rule, line)
    if left >= (others > 0 and math.max(math.min(turn, count * cost), cost) or cost) then
        n = math.min((left - left % cost) / cost, count)
    end
    if n > 0 and cost > line.share and cost > line.least_need then
        return false -- after a turn that is larger than those of others the worker may owe turns
    end
    rule.first = rule.given + rule.step - rule.tolerance
    if call.waiting <= n or (n > 0 and rule.first <= 0 and rule.first + (n - 1) * rule.step > 0) then
        return false
    end
    rule.given, call.given = rule.given + n * rule.step, n
    call.wanting, call.waiting = count * cost - n * cost, call.waiting - n
    if n > 0 then
        rule.parts = rule.given % rule.tokens
        rule.us = now + (rule.given - rule.parts) / rule.tokens
        rule.rest_at = rule.us + (rule.parts > 0 and 1 or 0)
        line.turn = line.turn + 1
        line.own_turn, line.before = line.turn, others
        room = room_in(reach, rule.given, rule.span)
        line.share = share_of(room, through, others + 1)
        line.ahead = ahead_of(line.before, line.share, line.first_need, 1, line.wanted, 0, 0)
    end
    return true
end

-- The time of the worker's next claim.
-- inline
local function plan_pace(call, rule, line)
    local lookahead, cost = call.lookahead, call.cost
    local next_turn = turn_of(call, rule, line)
    if line.others == 0 then
        next_turn = math.max(math.min(next_turn, call.wanting), cost)
    end
    local again = due_at(rule.given, line.ahead + next_turn, rule.span, rule.tolerance, rule.tokens)
    if next_turn > cost then
        local first = due_at(rule.given, line.ahead + cost, rule.span, rule.tolerance, rule.tokens)
        again = math.min(again, first + math.floor(lookahead / 2))
    end
    local fraction = line.ahead > 0 and TAKT_LOOKAHEAD_FRACTION or TAKT_LOOKAHEAD_FRACTION_FIRST
    return math.max(again - lookahead, now + math.floor(lookahead / fraction))
end

-- inline
local function write_pace(call, rule, line, again)
    local alive, head, priority = digits(line.alive_until), call.head, call.priority
    local us, turn, own_turn = rule.us, line.turn, line.own_turn
    local wanted, wanting, waiting = line.wanted + call.wanting, call.wanting, call.waiting
    line.waiting = line.waiting - line.own_waiting + waiting
    line.workers = line.workers - (line.own_foremost == '' and 0 or 1) + 1
    local all_waiting, workers, again_at = line.waiting, line.workers, math.min(again, now + TAKT_KEEPALIVE_US)
    local late, cost = line.late == '' and '' or ',' .. line.late, call.cost
    local state = head .. ' ' .. digits(us) .. (rule.parts > 0 and '+' .. digits(rule.parts) or '')
    local totals = write_totals(digits(all_waiting), digits(workers), alive, line.least, line.kept, late)
    local of_priority = write_totals_of(priority, line.places, line.active, digits(wanted), '', '')
    local place = write_place(priority, digits(own_turn), digits(wanting), digits(cost), digits(waiting),
        digits(again_at), ',f')
    local expires_ms = math.ceil(math.max(rule.rest_at, line.alive_until) / 1000)
    redis.call('SET', KEYS[1], state .. ';t' .. digits(turn), 'PXAT', digits(expires_ms))
    redis.call('HSET', KEYS[3], 'all', totals .. of_priority, call.worker, call.seq .. place)
    local score = priority * TURNS + own_turn
    -- XX: if the key was deleted, ZADD would create a key that never expires.
    redis.call('ZADD', KEYS[2], 'XX', '-' .. alive, call.worker, digits(score), call.worker .. ':' .. priority)
end

-- inline
local function reply_of(call, rule, line, again)
    local n, tokens, first = call.given, rule.tokens, rule.first
    local before = first_of(line.before, line.first_need, 0)
    local next_slot = due_at(rule.given, before + (call.waiting + n <= call.count and call.cost or 1), rule.span,
        rule.tolerance, tokens)
    local reply = { 0, now, again, next_slot, 0, line.waiting, line.workers, 0, 2 ^ call.priority,
        line.places + 0 > 1 and call.priority + 0 or -1, '' }
    if n > 0 then
        -- The first slot and the step between two slots, in whole microseconds and parts. A single slot is rounded up.
        local late_us, late_parts, step_us, step_parts = 0, 0, 0, 0
        if first > 0 and n == 1 then
            late_us = math.ceil(first / tokens)
        elseif first > 0 then
            late_parts, step_parts = first % tokens, rule.step % tokens
            late_us, step_us = (first - late_parts) / tokens, (rule.step - step_parts) / tokens
        end
        reply[12], reply[13], reply[14], reply[15] = now + late_us, late_parts, step_us, step_parts
        reply[16], reply[17], reply[18] = n == 1 and 1 or tokens, n, call.cost
    end
    return reply
end

-- flat: call rule line
local function keep_pace()
    local call = {}
    local rule = {}
    local line = {}
    local fits = read_pace(call, rule, line)
    if not fits then
        return nil
    end
    fits = read_others(call, line)
    if not fits then
        return nil
    end
    fits = read_pace_rule(call, rule, line)
    if not fits then
        return nil
    end
    fits = take_turn(call, rule, line)
    if not fits then
        return nil
    end
    local again = plan_pace(call, rule, line)
    write_pace(call, rule, line, again)
    local reply = reply_of(call, rule, line, again)
    return reply
end

if stored and #KEYS == 3 and ARGV[1] and stored:find(';t', 1, true) then
    local reply = keep_pace()
    if reply then
        return reply
    end
end
