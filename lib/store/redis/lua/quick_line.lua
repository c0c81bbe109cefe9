-- quick_line.lua: what quick.lua is for one who is alone, for a few who keep pace together: one GCRA rule, a line of
-- one priority with not too many places, a worker in it that goes on waiting, waiters that want the same at any time.
-- It reads all places at once, makes nothing that it does not use, and looks at everything before it writes.  Whatever
-- is different, or only comes now and then (somebody comes, leaves, is silent or late, keys must live longer), is left to
-- the other pieces, which say what each step is for.  Spans, and what the rule has given, are counted from now on in
-- parts: a microsecond has `tokens` of them, a token `span`.
-- needs: clock patience

local PLACES_MAX = 32
local PARTS_MAX = 2251799813685248 -- 2^51: sums of them are exact

local function keep_pace()
    -- Rules, span, revision, lookahead, max_waiting, zones; worker, seq, waiting; count, latest, cost, priority.
    local head, tokens, span, burst, lookahead, worker, seq, waiting, count, cost, priority =
        ARGV[1]:match('^(g(%d+)/(%d+)%*(%d+)) %d+ 0 (%d+) 0 [^ ]* (%x+) (%d+) (%d+) (%d+) %-1 (%d+) (%d)$')
    if not head or stored:find(head, 1, true) ~= 1 then
        return nil
    end
    local us, more, turn = stored:match('^ (%d+)(%+?%d*);t(%d+)$', #head + 1)
    local found = us and redis.call('HMGET', KEYS[3], 'all', worker)
    if not found or not found[1] or not found[2] then
        return nil
    end
    local all_waiting, workers, latest, least, kept, late, places, standing, wanted = found[1]:match(
        '^(%d+),(%d+),(%d+),(%d+),(%d+)(,?%d*);' .. priority .. ',(%d+),(%d+),(%d+)$')
    local PLACE = '^(%d+);' .. priority .. ',(%d+),(%d+),(%d+),(%d+),(%d+),?(f?)$'
    local last_seq, own_turn, own_wanted, _, own_waiting, own_again, foremost = found[2]:match(PLACE)
    if not standing or standing + 0 > PLACES_MAX or not last_seq or last_seq + 0 >= seq + 0 then
        return nil
    end

    -- The others: how many there are, how many before the worker, and the first of them.
    local others, before, first_turn, first_need, first_again = 0, 0, nil, 0, 0
    own_turn = own_turn + 0
    found = redis.call('HGETALL', KEYS[3])
    for i = 2, #found, 2 do
        local _, its_turn, _, need, _, again = found[i]:match(PLACE)
        its_turn = its_turn and its_turn + 0
        if its_turn and found[i - 1] ~= worker then
            others = others + 1
            before = before + (its_turn < own_turn and 1 or 0)
            if not first_turn or its_turn < first_turn then
                first_turn, first_need, first_again = its_turn, need + 0, again + 0
            end
        end
    end
    lookahead, turn, waiting, count, kept = lookahead + 0, turn + 0, waiting + 0, count + 0, kept + 0
    local head_again, alive_until = before > 0 and first_again or own_again + 0, now + TAKT_SILENT_US
    if others ~= standing - 1 or head_again + lookahead < now or now > least + 0 or latest + 0 > alive_until
        or alive_until > kept or kept > alive_until + 2 * SLACK or waiting < count then
        return nil
    end

    -- The rule: what it has given, and how far that may reach.
    tokens, span, burst, cost, us = tokens + 0, span + 0, burst + 0, cost + 0, us + 0
    local parts = more == '' and 0 or tonumber(more) or 0
    local given, tolerance, ahead_parts = (us - now) * tokens + parts, burst * span, lookahead * tokens
    local rest_at, step = us + (parts > 0 and 1 or 0), cost * span
    wanted = wanted - own_wanted
    if (more == '') ~= (parts == 0) or parts >= tokens or cost > burst or burst > TAKT_ROOM_MAX
        or (ahead_parts + tolerance) / span > TAKT_ROOM_MAX or tolerance / tokens > TAKT_SPAN_MAX_US
        or given > TAKT_LOOKAHEAD_MAX_US * tokens + 2 * ahead_parts + tolerance
        or TAKT_LOOKAHEAD_MAX_US * tokens + 3 * ahead_parts + tolerance > PARTS_MAX
        or (wanted + first_need + count * cost) * span > PARTS_MAX then
        return nil
    end
    given = rest_at < now and 0 or given

    -- Its turn: as much as its share and those before it leave.
    local n, wanting = 0, count * cost
    local through, share, ahead = ahead_parts / span, nil, nil
    through = through - through % 1
    local function look()
        local room = (ahead_parts + tolerance - given) / span
        room = room > 0 and room - room % 1 or 0
        share = (room > through and room or through) / (1 + others)
        share = share < 1 and 1 or share - share % 1
        ahead = before * share + ((before > 0 and first_need > share) and first_need - share or 0)
        ahead = ahead < wanted and ahead or wanted
        return room
    end
    local left = look() - ahead
    left = left < (share > cost and share or cost) and left or (share > cost and share or cost)
    if left >= cost then
        n = (left - left % cost) / cost
        n = n < count and n or count
    end
    local first = given + step - tolerance
    if waiting <= n or (n > 0 and first <= 0 and first + (n - 1) * step > 0) then
        return nil
    end
    given, wanting, waiting = given + n * step, wanting - n * cost, waiting - n
    if n > 0 then
        local given_us = (given - given % tokens) / tokens
        us, parts = now + given_us, given % tokens
        rest_at = us + (parts > 0 and 1 or 0)
        turn = turn + 1
        own_turn, before = turn, others
        look()
    end

    -- When it is to come again, and when one more could be served.
    local function due(tokens_of)
        local at = given + tokens_of * span - tolerance
        return at > 0 and now + math.ceil(at / tokens) or now
    end
    local half = math.floor(math.floor(lookahead / 2) * tokens / span)
    local next_turn = wanting < share and wanting or share
    next_turn = next_turn < half and next_turn or half
    next_turn = next_turn > cost and next_turn or cost
    local again = due(ahead + next_turn)
    if next_turn > cost then
        again = math.min(again, due(ahead + cost) + math.floor(lookahead / 2))
    end
    local fraction = ahead > 0 and TAKT_LOOKAHEAD_FRACTION or TAKT_LOOKAHEAD_FRACTION_FIRST
    again = math.max(again - lookahead, now + math.floor(lookahead / fraction))

    all_waiting = all_waiting - own_waiting + waiting
    workers = workers - (foremost == '' and 0 or 1) + 1
    local state = parts > 0 and string.format('%s %.0f+%.0f;t%.0f', head, us, parts, turn)
        or string.format('%s %.0f;t%.0f', head, us, turn)
    local all = string.format('%.0f,%.0f,%.0f,%s,%.0f%s;%s,%s,%s,%.0f', all_waiting, workers, alive_until, least, kept,
        late, priority, places, standing, wanted + wanting)
    local place = string.format('%s;%s,%.0f,%.0f,%.0f,%.0f,%.0f,f', seq, priority, own_turn, wanting, cost, waiting,
        math.min(again, now + TAKT_KEEPALIVE_US))
    redis.call('SET', KEYS[1], state, 'PXAT', math.ceil(math.max(rest_at, alive_until) / 1000))
    redis.call('HSET', KEYS[3], 'all', all, worker, place)
    -- XX: where somebody has deleted the key, none is made that does not expire.
    redis.call('ZADD', KEYS[2], 'XX', string.format('%.0f', -alive_until), worker,
        string.format('%.0f', priority * TURNS + own_turn), worker .. ':' .. priority)

    local reply = { 0, now, again, due(waiting + n <= count and cost or 1), 0, all_waiting, workers, 0, 2 ^ priority,
        places + 0 > 1 and priority + 0 or -1, '' }
    if n > 0 then
        -- the first slot and the step between two, in whole microseconds and parts; one slot alone is rounded up
        local late_us, late_parts, step_us, step_parts = 0, 0, 0, 0
        if first > 0 and n == 1 then
            late_us = math.ceil(first / tokens)
        elseif first > 0 then
            late_parts, step_parts = first % tokens, step % tokens
            late_us, step_us = (first - late_parts) / tokens, (step - step_parts) / tokens
        end
        reply[12], reply[13], reply[14], reply[15] = now + late_us, late_parts, step_us, step_parts
        reply[16], reply[17], reply[18] = n == 1 and 1 or tokens, n, cost
    end
    return reply
end

if stored and #KEYS == 4 and ARGV[1] and stored:find(';t', 1, true) then
    local reply = keep_pace()
    if reply then
        return reply
    end
end
