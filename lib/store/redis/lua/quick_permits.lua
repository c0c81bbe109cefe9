-- quick_permits.lua: what quick_line.lua is for those who wait for a rule, for those who share permits: no rules, a
-- line of one priority or none, waiters that want one permit each at any time.  It answers whoever releases a permit
-- and asks for the next, was woken and takes it, joins the line or leaves it, or only tells that it is still there.
-- It reads of the line its totals, the worker's place and the front, and looks at everything before it writes.
-- Whatever is different, or only comes now and then (somebody is late, silent or set aside, a lease is over or soon
-- will be, the ledger begins or ends), is left to the other pieces, which say what each step is for.  What takes its
-- time here are above all numbers that become text: what has not changed stays the text that it was.
--
-- KEYS, ARGV and reply are those of claim.lua.
-- needs: clock records share publish

-- ---- read: each returns false where the call or the ledger is of another kind ----

-- A worker's only place, which waits for permits; nil: there is more to it, or no place.
-- inline
local function read_waiter(record, priority)
    local seq, its_priority, turn, wanting, need, waiting, again, aside, foremost, lacks = read_only_place(record or '')
    if its_priority ~= priority or need ~= '1' or aside ~= '' or foremost == '' then
        return nil
    end
    return seq, turn, wanting, waiting, again, lacks
end

-- The places of those whose members of the line stand in front, which then has their names.
-- inline
local function read_front(line)
    local front = line.front
    for i = 1, #front do
        front[i] = front[i]:match('^%x*')
    end
    line.places = front[1] and redis.call('HMGET', KEYS[3], unpack(front)) or front
end

-- inline
local function read_call(call, state, held, line)
    local holding, waiting, wants, leased, turn
    call.lookahead, call.permits, call.lease, call.worker, call.seq, waiting, holding, wants =
        ARGV[1]:match('^ %d+ 0 (%d+) 0,(%d+),(%d+) [^ ]* (%x+) (%d+) (%d+) (%d+)(.*)$')
    state.fence, leased, turn = stored:match('^n(%d+)(,?%d*)(;?t?%d*)$')
    if not call.worker or not state.fence then
        return false
    end
    call.count = 0
    if wants ~= '' then
        call.count, call.priority = wants:match('^ (%d+) %-1 1 (%d)$')
        call.count = (call.count or 0) + 0
    end
    held.there, line.there = leased ~= '', turn ~= ''
    state.leased = held.there and tonumber(leased:sub(2)) or 0
    state.turn = line.there and tonumber(turn:match('^;t(%d+)$')) or 0
    call.permits, call.holding, state.fence = call.permits + 0, holding + 0, state.fence + 0
    call.waiting = call.count > 0 and waiting + 0 or 0
    return (wants ~= '') == (call.count > 0) and call.count <= call.waiting and held.there == (state.leased > 0)
        and line.there == (state.turn > 0) and state.fence >= 1 and state.fence <= TAKT_EXACT_MAX
        and state.leased <= now + TAKT_LEASE_MAX_US and state.turn <= TAKT_EXACT_MAX
end

-- What the others hold, and what the worker held.
-- inline
local function read_held(call, held)
    held.total, held.count, held.ends, held.kept, held.was = 0, 0, nil, '0', 0
    if held.there then
        local found, last_seq = redis.call('HMGET', KEYS[5], 'all', call.worker), -1
        held.total, held.count, held.ends, held.kept = read_holders(found[1] or '')
        if found[2] then
            last_seq, held.was = read_holder(found[2])
        end
        if not held.total or not last_seq or last_seq + 0 >= call.seq + 0 or now > held.ends + 0 then
            return false
        end
        held.was = held.was + 0
        held.total, held.count = held.total - held.was, held.count - (held.was > 0 and 1 or 0)
    end
    call.free = math.max(call.permits - held.total - call.holding, 0)
    return call.holding <= held.was
end

-- The others in line: how many they are, what they want, how many lack a permit.  The worker: its turn, and how many of
-- them stand before it.
-- inline
local function read_waiting(call, line)
    line.waiting, line.others, line.wanted, line.lacking, line.latest, line.kept = 0, 0, 0, 0, 0, '0'
    if not line.there then
        return true
    end
    local found = redis.call('HMGET', KEYS[3], 'all', call.worker)
    local workers, late, priority, active
    line.waiting, workers, line.latest, line.silent_at, line.kept, late, priority, line.others, active, line.wanted,
        line.lacking = read_only_totals(found[1] or '')
    if late ~= '' or workers ~= line.others or active ~= line.others or (call.priority or priority) ~= priority
        or now > line.silent_at + 0 or line.latest + 0 > now + TAKT_SILENT_US then
        return false
    end
    call.priority, line.others, line.latest, line.wanted = priority, line.others + 0, line.latest + 0, line.wanted + 0
    line.lacking = line.lacking == '' and 0 or line.lacking + 0
    -- first all are listed by name, to tell who is silent, then as NAME:PRIORITY, in their order
    line.front = redis.call('ZRANGE', KEYS[2], line.others, line.others + math.min(call.free + 1, TAKT_WAKES_MAX))
    local head_again
    if found[2] then
        local last_seq, turn, wanting, waiting, again, lacks = read_waiter(found[2], priority)
        if not last_seq or last_seq + 0 >= call.seq + 0 then
            return false
        end
        -- who lacks a permit comes again a keepalive later, if not at a lease's end: it was heard then, or before that
        line.own_turn = turn + 0
        line.own_heard = lacks:find('^pu?$') and again - TAKT_KEEPALIVE_US or now
        line.others, line.lacking = line.others - 1, line.lacking - (lacks == '' and 0 or 1)
        line.unheard = lacks:find('u', 1, true) and 'u' or ''
        line.waiting, line.wanted = line.waiting - waiting, line.wanted - wanting
        if line.front[1] == call.worker .. ':' .. priority then
            line.before, head_again = 0, again
        end
    end
    if not line.before then
        read_front(line)
        local _, _, _, _, again = read_waiter(line.places[1], priority)
        head_again, line.head_again = again, again
    end
    return head_again and head_again + call.lookahead >= now
end

-- When the second in line comes because the first one is late; -1: it comes before that, or is not the second.  False:
-- the first cannot be read.
-- inline
local function head_late_at(call, line)
    local late = -1
    if call.lacks and line.before == 1 then
        if not line.head_again then -- the worker stood there before it was served
            if not line.places then
                read_front(line)
            end
            local _, _, _, _, again = read_waiter(line.places[2], call.priority)
            line.head_again = again
        end
        late = line.head_again and math.max(line.head_again + call.lookahead + 1,
            now + math.floor(call.lookahead / TAKT_LOOKAHEAD_FRACTION))
        late = late and late >= now + TAKT_KEEPALIVE_US and -1 or late
    end
    return late
end

-- ---- decide: false where that is a matter of the other pieces ----

-- The worker's turn: what its share and those before it leave.
-- inline
local function take_permits(call, state, line)
    if (call.count + line.wanted) * (line.others + 1) > TAKT_ROOM_MAX
        or call.waiting + line.waiting > TAKT_ROOM_MAX then
        return false -- where it is more, tokens would have to be shared as well
    end
    line.was_listed, line.member = line.own_turn, call.worker .. ':' .. (call.priority or '')
    if line.own_turn and call.count > 0 and not line.before then
        local first = call.priority * TURNS
        local own = first + line.own_turn
        line.before = redis.call('ZCOUNT', KEYS[2], digits(first), '(' .. digits(own))
    end
    call.given, call.lacks, call.again = 0, false, now
    if call.count > 0 then
        local share = permit_share(call.permits, line.others + 1)
        state.turn = state.turn + (line.own_turn and 0 or 1)
        line.own_turn, line.before = line.own_turn or state.turn, line.before or line.others
        local left = permits_beside(call.free, line.before, share, line.wanted)
        local given = math.max(math.min(call.count, share, left), 0)
        call.given, call.free = given, call.free - given
        call.count, call.waiting = call.count - given, call.waiting - given
        if call.waiting > 0 and given > 0 then
            state.turn, line.before = state.turn + 1, line.others
            line.own_turn = state.turn
        end
        call.lacks = call.waiting > 0 and permits_beside(call.free, line.before, share, line.wanted) <= 0
        local others_wait = line.before > 0 and line.wanted > 0
        call.again = now + math.floor(call.lookahead
            / (others_wait and TAKT_LOOKAHEAD_FRACTION or TAKT_LOOKAHEAD_FRACTION_FIRST))
    end
    line.own_turn = call.waiting > 0 and line.own_turn or nil
    line.active = line.others + (line.own_turn and 1 or 0)
    return true
end

-- Names those at the front who lack a permit and would be given one.  What was not given to the worker, where it waits,
-- is not given to anybody behind it.
-- inline
local function find_woken(call, line)
    if call.free <= 0 or line.lacking <= 0 then
        return true
    elseif not line.places then
        read_front(line)
    end
    local names, deaf, before, i, lacking, wanted = {}, {}, 0, 0, line.lacking, line.wanted + call.count
    local share = permit_share(call.permits, line.active)
    while lacking > 0 and #names < TAKT_WAKES_MAX do
        i = i + 1
        local _, turn, wanting, _, _, lacks = read_waiter(line.places[i], call.priority)
        if not turn then
            names = nil
            break
        elseif line.front[i] ~= call.worker then
            if line.own_turn and line.own_turn < turn + 0
                or permits_beside(call.free, before, share, wanted - wanting) <= 0 then
                break
            end
            before = before + 1
            if lacks ~= '' then
                names[#names + 1], lacking = line.front[i], lacking - 1
                deaf[#names] = lacks:find('u', 1, true)
            end
        end
    end
    call.woken, call.deaf = names, deaf
    return names
end

-- What the worker holds from now on, and its numbers.
-- inline
local function number_permits(call, state, held, line)
    local expires = now + call.lease
    call.told, call.reuses = 0, 0
    if call.holding + call.given > 0 then
        local others_hold = held.count > 0
        state.leased = (others_hold or call.holding > 0) and state.leased > expires and state.leased or expires
        held.expires = digits(expires)
        state.leased_text = state.leased == expires and held.expires or nil
        held.ends = (others_hold and expires >= held.ends + 0) and held.ends or held.expires
        call.holding = call.holding + call.given
        held.total, held.count = held.total + call.holding, held.count + 1
        call.told = state.fence < now and now or state.fence + 1
        local reuses = math.min(TAKT_REUSES, now + TAKT_REUSES_AHEAD_US - call.told - call.given)
        call.reuses = line.others > 0 and 0 or math.max(reuses, 0)
        state.fence = call.told + call.given + call.reuses - 1
    elseif held.count == 0 then
        state.leased = 0
    end
    -- the first in line comes by itself when a lease ends, and it may be told when
    return not (call.lacks and (line.before == 0 or line.wanted == 0) and held.ends + 1 < now + TAKT_KEEPALIVE_US)
end

-- Wakes them.  False: one of them does not listen, who is to be stepped round if that is new.
-- inline
local function wake(call)
    local reached = true
    for i = 1, call.woken and #call.woken or 0 do
        local heard = publish(call.woken[i])
        reached = reached and (heard or call.deaf[i])
    end
    return reached
end

-- When the last in line is taken for dead, and until when the ledger is kept.
-- inline
local function plan_end(call, state, line)
    if line.own_turn then
        line.latest = now + TAKT_SILENT_US
    elseif line.was_listed and line.others > 0 and line.own_heard + TAKT_SILENT_US >= line.latest then
        local found = redis.call('ZRANGE', KEYS[2], 0, 1, 'WITHSCORES') -- it may have been the last
        line.latest = -found[found[1] == call.worker and 4 or 2]
    end
    state.ends = math.max(state.fence, state.leased, line.active > 0 and line.latest or 0)
    return state.ends > now
end

-- ---- write ----

-- inline
local function write_state(state, line)
    local fence, leased, turn, ends_ms = state.fence, state.leased, state.turn, math.ceil(state.ends / 1000)
    local text = 'n' .. digits(fence)
    if leased > 0 then
        text = text .. ',' .. (state.leased_text or digits(leased))
    end
    if line.active > 0 then
        text = text .. ';t' .. digits(turn)
    end
    redis.call('SET', KEYS[1], text, 'PXAT', digits(ends_ms))
end

-- inline
local function write_held(call, state, held)
    if held.count > 0 and (call.holding > 0 or held.was > 0) then
        local kept, leased, total, count = held.kept + 0, state.leased, held.total, held.count
        local holding = call.holding
        local prolong = leased > kept or kept > leased + 2 * SLACK
        if prolong then
            kept = leased + SLACK
            held.kept = digits(kept)
        end
        local all = write_holders(digits(total), digits(count), held.ends, held.kept)
        if not held.there then
            redis.call('UNLINK', KEYS[5])
        end
        if holding > 0 then
            local record = write_holder(call.seq, digits(holding), held.expires)
            redis.call('HSET', KEYS[5], 'all', all, call.worker, record)
        else
            redis.call('HSET', KEYS[5], 'all', all)
            redis.call('HDEL', KEYS[5], call.worker)
        end
        if prolong then
            local kept_ms = math.ceil(kept / 1000)
            redis.call('PEXPIREAT', KEYS[5], digits(kept_ms))
        end
    elseif held.was > 0 then
        redis.call('UNLINK', KEYS[5])
    end
end

-- The line's totals, and the worker's place, where it has one.
-- inline
local function write_line(call, line)
    local latest, kept, active = line.latest, line.kept + 0, line.active
    local waiting, wanted, lacking = line.waiting + call.waiting, line.wanted + call.count, line.lacking
    local prolong, latest_text, active_text = latest > kept or kept > latest + 2 * SLACK, digits(latest), digits(active)
    if prolong then
        kept = latest + SLACK
        line.kept = digits(kept)
    end
    lacking = call.lacks and lacking + 1 or lacking
    local all = write_totals(digits(waiting), active_text, latest_text, line.silent_at or latest_text, line.kept, '')
    all = all .. write_totals_of(call.priority, active_text, active_text, digits(wanted),
        lacking > 0 and ',' .. digits(lacking) or '', '')
    if not line.there then
        redis.call('UNLINK', KEYS[2], KEYS[3])
    end
    if line.own_turn then
        local turn, wanting, own_waiting = line.own_turn, call.count, call.waiting
        local again, score = call.lacks and now + TAKT_KEEPALIVE_US or call.again, call.priority * TURNS + turn
        local place = write_place(call.priority, digits(turn), digits(wanting), 1, digits(own_waiting), digits(again),
            call.lacks and ',fp' .. (line.unheard or '') or ',f')
        redis.call('HSET', KEYS[3], 'all', all, call.worker, call.seq .. place)
        redis.call('ZADD', KEYS[2], '-' .. latest_text, call.worker, digits(score), line.member)
    else
        redis.call('HSET', KEYS[3], 'all', all)
        redis.call('HDEL', KEYS[3], call.worker)
        redis.call('ZREM', KEYS[2], call.worker, line.member)
    end
    if prolong then
        local kept_ms = math.ceil(kept / 1000)
        local kept_text = digits(kept_ms)
        redis.call('PEXPIREAT', KEYS[2], kept_text)
        redis.call('PEXPIREAT', KEYS[3], kept_text)
    end
end

-- inline
local function tell_award(call, line)
    local listed = line.own_turn
    local reply = { TAKT_FLAG_PERMITS, now, listed and (call.lacks and call.late_at or call.again) or -1, now, 0,
        line.waiting + call.waiting, line.active, 0, listed and 2 ^ call.priority or 0,
        line.others > 0 and call.priority + 0 or -1, '', call.holding, call.told, call.reuses }
    if call.given > 0 then
        reply[15], reply[16], reply[17], reply[18], reply[19], reply[20], reply[21] = now, 0, 0, 0, 1, call.given, 1
    end
    return reply
end

-- `call`: what the worker says, and what it is given; `state`: the ledger's text; `held`: what all hold; `line`: who
-- waits.
-- flat: call state held line
local function share_permits()
    local call = {}
    local state = {}
    local held = {}
    local line = {}
    local fits = read_call(call, state, held, line)
    if not fits then
        return nil
    end
    fits = read_held(call, held)
    if not fits then
        return nil
    end
    fits = read_waiting(call, line)
    if not fits then
        return nil
    end
    fits = take_permits(call, state, line)
    if not fits then
        return nil
    end
    fits = find_woken(call, line)
    if not fits then
        return nil
    end
    call.late_at = head_late_at(call, line)
    if not call.late_at then
        return nil
    end
    fits = number_permits(call, state, held, line)
    if not fits then
        return nil
    end
    fits = plan_end(call, state, line)
    if not fits then
        return nil
    end
    fits = wake(call)
    if not fits then
        return nil
    end
    write_state(state, line)
    write_held(call, state, held)
    if line.active > 0 and (line.own_turn or line.was_listed) then
        write_line(call, line)
    elseif line.was_listed then
        redis.call('UNLINK', KEYS[2], KEYS[3])
    end
    local reply = tell_award(call, line)
    return reply
end

if #KEYS == 5 and stored and ARGV[1] then
    local reply = share_permits()
    if reply then
        return reply
    end
end
